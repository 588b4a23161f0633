//! The commands of the README. `cargo xtask` alone lists them.

mod bench;
mod conformance;
mod page;
mod progress;
mod serve;
mod setup;
mod sh;
mod test;
mod workspace;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  run [ARGS...]    build page and agent, then `plegscope serve ARGS...`; prints the page's address
  test [--ci] [--skip-STEP...] [STEP...]
                   format, lints, docs, every test, or only these steps or all but some; ends with a table.
                   --ci: a skipped test is a failure. any other word lists the steps
  conformance [DIR]
                   recorded cases of the kubelet's PLEG (tests/vectors) against the engine, native and wasm
  bench [--quick]  what one relist costs, native and wasm; ends with a table. --quick: without criterion
  web              build the page into dist/ and print its size
  setup [--browser] [--containerd]
                   install what the build needs, and what the tests need
  containerd start|stop|clean|status
                   a real containerd on a private socket, for trying things out (root)
";

fn main() -> ExitCode {
    progress::begin();
    let args: Vec<String> = env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = args.split_first() else {
        eprint!("{USAGE}");
        return Ok(ExitCode::FAILURE);
    };
    match command.as_str() {
        "run" => serve::command(rest)?,
        "test" => return test::command(rest),
        "conformance" => conformance::command(rest)?,
        "bench" => bench::command(rest)?,
        "web" => page::command(rest)?,
        "setup" => setup::command(rest)?,
        "containerd" => pleg_containerd::command(rest)?,
        "help" | "-h" | "--help" => print!("{USAGE}"),
        other => bail!("no such command: {other}\n\n{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}
