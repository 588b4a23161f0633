//! `cargo xtask bench`: what one relist costs, natively and as WebAssembly. Ends with the table of
//! `docs/performance.md`.

use std::process::Command;

use anyhow::{Result, bail};
use pleg_containerd::on_path;

use crate::progress::say;
use crate::setup::{self, wasm};
use crate::sh::Run;
use crate::workspace::{self, cargo};

/// The command. `--quick` leaves criterion's own, longer report out.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let quick = match args {
        [] => false,
        [quick] if quick == "--quick" => true,
        _ => bail!("usage: bench [--quick]"),
    };
    if on_path("node").is_none() {
        bail!("no node here to run the WebAssembly module: install Node.js 20 or newer");
    }
    setup::valgrind()?;
    if !quick {
        say("bench: criterion");
        cargo().args(["bench", "--quiet", "--package", "pleg-bench", "--bench", "relist"]).run()?;
    }
    say("bench: instructions, allocations, times");
    let module = build_wasm(&wasm::ensure()?)?;
    // Both programs of the package; the one finds the other beside it.
    cargo().args(["build", "--quiet", "--package", "pleg-bench", "--release", "--bins"]).run()?;
    Command::new(workspace::target().join("release").join("pleg-bench")).arg("table").arg(module).run()
}

fn build_wasm(compiler: &wasm::Compiler) -> Result<std::path::PathBuf> {
    let build = ["build", "--quiet", "--package", "pleg-bench-wasm", "--release"];
    compiler.cargo()?.args(build).run()?;
    Ok(workspace::wasm_target().join(wasm::TARGET).join("release").join("pleg_bench_wasm.wasm"))
}
