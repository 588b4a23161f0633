//! Measures and prints the table of `docs/performance.md`; `cargo xtask bench` runs it.

mod measure;
mod table;

use anyhow::{Context, Result, bail};
use pleg_bench::Case;
use std::{env, path::Path};

const USAGE: &str = "\
usage: pleg-bench table MODULE.wasm    everything, as a table (needs node and valgrind on the PATH)
       pleg-bench time SECONDS         the quickest relist of each case in so many seconds, in nanoseconds
       pleg-bench count NUMBER         one relist of one case, to be run under callgrind";

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["table", module] => table::print(Path::new(module))?,
        ["time", seconds] => {
            let seconds = seconds.parse().context("SECONDS is a number")?;
            Case::all().into_iter().for_each(|case| println!("{}", measure::time(case, seconds)));
        }
        ["count", number] => {
            let number: usize = number.parse().context("NUMBER is that of a case, from 0")?;
            measure::once(*Case::all().get(number).context("there is no such case")?);
        }
        _ => bail!("{USAGE}"),
    }
    Ok(())
}
