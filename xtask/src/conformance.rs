//! `cargo xtask conformance [FOLDER]`: recorded cases of the kubelet's PLEG against the engine, native and as
//! WebAssembly. Both must pass, and give out the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use pleg_containerd::on_path;

use crate::progress::say;
use crate::setup::{self, wasm};
use crate::sh::Run;
use crate::workspace::{self, cargo};

/// The command.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let folder = match args {
        [] => vectors(),
        [folder] => std::path::absolute(folder)?,
        _ => bail!("usage: conformance [FOLDER]"),
    };
    let native = run_native(&folder)?;
    match on_path("node") {
        Some(node) => {
            let wasm = run_wasm(&setup::build()?, &node, &folder)?;
            compare(&native, &wasm)
        }
        None => bail!("the native run passed; no node here for the WebAssembly module"),
    }
}

/// The full set of recorded cases, if it lies beside the repository; else the repository's own selection.
pub(crate) fn vectors() -> PathBuf {
    let full = workspace::root().join("../shared/vectors");
    if full.is_dir() { full } else { workspace::root().join("tests/vectors") }
}

/// Runs the folder natively. What it printed: a line of counts for each file.
pub(crate) fn run_native(folder: &Path) -> Result<String> {
    say(format!("conformance: {}, native", folder.display()));
    let mut native = cargo();
    native.args(["run", "--quiet", "--package", "pleg-conformance", "--"]).arg(folder);
    counts(&mut native)
}

/// Runs the folder in node. What it printed: the same lines, if all is well.
pub(crate) fn run_wasm(compiler: &wasm::Compiler, node: &Path, folder: &Path) -> Result<String> {
    say("conformance: the same in WebAssembly");
    let build = ["build", "--quiet", "--package", "pleg-conformance-wasm", "--release"];
    compiler.cargo()?.args(build).run()?;
    let module =
        workspace::wasm_target().join(wasm::TARGET).join("release").join("pleg_conformance_wasm.wasm");
    let mut run = Command::new(node);
    run.arg(workspace::root().join("tests/conformance/wasm/run.mjs")).arg(module).arg(folder);
    counts(&mut run)
}

/// # Errors
/// When the two runs differ in a count or in the hash of what the engine gave out.
pub(crate) fn compare(native: &str, wasm: &str) -> Result<()> {
    if native != wasm {
        bail!("native and WebAssembly differ:\n{native}\n{wasm}");
    }
    say("conformance: native and WebAssembly gave out the same");
    Ok(())
}

/// Runs the command and prints what it prints, which is given back too, also when a case failed in it.
fn counts(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot start the conformance run")?;
    let counts = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    println!("{counts}");
    if !output.status.success() {
        bail!("cases failed");
    }
    Ok(counts)
}
