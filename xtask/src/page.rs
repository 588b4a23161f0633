//! `cargo xtask web`: builds the page into `dist/`, as `trunk build` does and from the same `index.html`.

use std::process::Command;

use anyhow::{Context, Result, bail};
use pleg_containerd::on_path;

use crate::progress::say;
use crate::setup::{self, npm, wasm};
use crate::sh::Run;
use crate::workspace;

/// Reads the files of a directory and prints their sizes, plain and compressed.
const SIZES: &str = include_str!("sizes.mjs");

/// Builds what changed. Nothing is touched when nothing did.
pub(crate) fn build(compiler: &wasm::Compiler) -> Result<()> {
    say("page: compiling (first time about two minutes)");
    // Meanwhile: linking the page leaves all but one processor idle.
    let mut bundler = workspace::cargo()
        .args(["build", "--quiet", "--package", "xtask-bundle"])
        .spawn()
        .context("cannot start cargo")?;
    let page = compiler
        .cargo()?
        .args(["build", "--quiet", "--package", "pleg-web", "--bin", "pleg-web", "--profile", "web"])
        .run();
    let bundler = bundler.wait()?;
    page?;
    if !bundler.success() {
        bail!("the bundler (xtask/bundle) does not compile");
    }
    let wasm = workspace::wasm_target().join(wasm::TARGET).join("web").join("pleg-web.wasm");
    let mut bundle = Command::new(workspace::target().join("debug").join("xtask-bundle"));
    bundle.arg(workspace::root().join("index.html")).arg(wasm).arg(workspace::dist());
    if let Some(wasm_opt) = npm::wasm_opt()? {
        bundle.arg(wasm_opt);
    }
    bundle.run()
}

/// The command.
pub(crate) fn command(args: &[String]) -> Result<()> {
    if let Some(arg) = args.first() {
        bail!("web takes no argument, and was given {arg}");
    }
    build(&setup::build()?)?;
    say(format!("page: {}", workspace::dist().display()));
    match on_path("node") {
        Some(node) => {
            Command::new(node).args(["--input-type=module", "--eval", SIZES]).arg(workspace::dist()).run()
        }
        None => {
            say("no node here, so no table of sizes");
            Ok(())
        }
    }
}
