//! A compiler that builds for wasm32: the current one, the current one after `rustup target add`, or Debian's.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use pleg_containerd::on_path;

use super::debian_rust;
use crate::progress::say;
use crate::sh::Run;
use crate::workspace;

/// The target of the page.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Which compiler builds for wasm32.
pub(crate) enum Compiler {
    /// The one that also builds the agent.
    Current,
    /// A private one that lies in this directory, laid out as a rustup toolchain.
    Private(PathBuf),
}

impl Compiler {
    /// `cargo` for wasm32, with a build directory of its own.
    pub(crate) fn cargo(&self) -> Result<Command> {
        let mut cargo = workspace::cargo();
        self.select(&mut cargo)?;
        Ok(cargo)
    }

    /// `cargo clippy` for wasm32: the linter must be of the compiler's own version.
    pub(crate) fn clippy(&self) -> Result<Command> {
        let mut cargo = match self {
            Self::Current => workspace::cargo(),
            Self::Private(sysroot) => {
                let mut clippy = Command::new(sysroot.join("bin").join("cargo-clippy"));
                clippy.current_dir(workspace::root());
                clippy
            }
        };
        self.select(&mut cargo)?;
        cargo.arg("clippy");
        Ok(cargo)
    }

    fn select(&self, cargo: &mut Command) -> Result<()> {
        cargo.env("CARGO_BUILD_TARGET", TARGET).env("CARGO_TARGET_DIR", workspace::wasm_target());
        if let Self::Private(sysroot) = self {
            cargo.env("RUSTC", sysroot.join("bin").join("rustc"));
            cargo.env("LD_LIBRARY_PATH", library_path(sysroot)?);
        }
        Ok(())
    }
}

/// The library path with the private compiler's own first.
pub(super) fn library_path(sysroot: &Path) -> Result<OsString> {
    let inherited = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let dirs = std::iter::once(sysroot.join("lib")).chain(env::split_paths(&inherited));
    env::join_paths(dirs).context("the library path cannot hold the cache directory's name")
}

/// Finds such a compiler, or gets one. What is tried is said.
pub(crate) fn ensure() -> Result<Compiler> {
    if has_std(Command::new("rustc")) {
        return Ok(Compiler::Current);
    }
    if let Some(sysroot) = debian_rust::installed()? {
        return Ok(Compiler::Private(sysroot));
    }
    if add_with_rustup() {
        return Ok(Compiler::Current);
    }
    if on_path("apt-get").is_none() {
        bail!(
            "this Rust has no standard library for {TARGET}: run `rustup target add {TARGET}`, or install your \
             system's package of it (Fedora: rust-std-static-{TARGET}, Alpine: rust-wasm, Arch: rust-wasm)"
        );
    }
    Ok(Compiler::Private(debian_rust::install()?))
}

/// Whether the compiler has the standard library of [`TARGET`].
pub(super) fn has_std(mut rustc: Command) -> bool {
    let dir = rustc.args(["--print", "target-libdir", "--target", TARGET]).read();
    let Some(entries) = dir.ok().and_then(|dir| fs::read_dir(dir).ok()) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("libstd-") && name.to_string_lossy().ends_with(".rlib")
    })
}

/// The normal way. Not where `RUSTUP_AUTO_INSTALL=0` says that rustup is to fetch nothing by itself.
fn add_with_rustup() -> bool {
    if env::var_os("RUSTUP_AUTO_INSTALL").is_some_and(|v| v == "0") || on_path("rustup").is_none() {
        return false;
    }
    say(format!("rustup target add {TARGET}"));
    match Command::new("rustup").args(["target", "add", TARGET]).run() {
        Ok(()) => has_std(Command::new("rustc")),
        Err(error) => {
            say(format!("{error:#}; trying Debian's packages"));
            false
        }
    }
}
