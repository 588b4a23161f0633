//! `cargo xtask setup`: leaves the machine able to build the page and the agent and to run every test.
//!
//! Each step looks first whether its work is done already.

pub(crate) mod npm;
pub(crate) mod wasm;

mod debian_rust;
mod packages;
mod protoc;

use anyhow::{Result, bail};

use crate::progress::say;
use packages::Program;

const VALGRIND: [Program; 1] = [Program { name: "valgrind", package: "valgrind" }];

const CHROMIUM: [Program; 2] = [
    Program { name: "chromium", package: "chromium" },
    Program { name: "chromedriver", package: "chromium-driver" },
];

const CONTAINERD: [Program; 4] = [
    Program { name: "containerd", package: "containerd" },
    Program { name: "runc", package: "runc" },
    Program { name: "busybox", package: "busybox-static" },
    Program { name: "gcc", package: "gcc libc6-dev" },
];

/// What the build of page and agent needs: a compiler for wasm32, wasm-opt where npm is there, protoc.
pub(crate) fn build() -> Result<wasm::Compiler> {
    protoc()?;
    let compiler = wasm::ensure()?;
    npm::wasm_opt()?;
    Ok(compiler)
}

/// protoc, for the build of the agent.
pub(crate) fn protoc() -> Result<()> {
    protoc::ensure()
}

/// valgrind, which counts instructions.
pub(crate) fn valgrind() -> Result<()> {
    packages::ensure(&VALGRIND)
}

/// Chromium and its WebDriver, for the tests of the page.
pub(crate) fn browser() -> Result<()> {
    packages::ensure(&CHROMIUM)
}

/// containerd with what makes its images, for the tests on a real runtime.
pub(crate) fn containerd() -> Result<()> {
    packages::ensure(&CONTAINERD)
}

/// The command.
pub(crate) fn command(args: &[String]) -> Result<()> {
    build()?;
    for arg in args {
        match arg.as_str() {
            "--browser" => browser()?,
            "--containerd" => containerd()?,
            other => bail!("setup knows --browser and --containerd, not {other}"),
        }
    }
    say("set up");
    Ok(())
}
