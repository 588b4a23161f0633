//! Where things are: the repository, its build directories, the cache of tools.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Cargo's build directory for everything native.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// Cargo's build directory for wasm32. One of its own: the page may be built by another compiler, and a
/// directory that changes hands is rebuilt each time.
pub(crate) fn wasm_target() -> PathBuf {
    target().join("web")
}

/// The finished page.
pub(crate) fn dist() -> PathBuf {
    root().join("dist")
}

/// Where the set-up keeps what is not the project's own build output: it survives `cargo clean`.
pub(crate) fn cache() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("XDG_CACHE_HOME").filter(|d| !d.is_empty()) {
        return Ok(PathBuf::from(dir).join("plegscope"));
    }
    let home = env::home_dir().context("no home directory: set XDG_CACHE_HOME")?;
    Ok(home.join(".cache").join("plegscope"))
}

/// The cargo that runs this xtask, in the root of the repository. `PLEGSCOPE_DIST` tells the agent's build to take
/// the page in, once there is one; all commands set it, so that no two of them build the agent differently.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    if dist().join("index.html").is_file() {
        cargo.env("PLEGSCOPE_DIST", dist());
    }
    cargo
}
