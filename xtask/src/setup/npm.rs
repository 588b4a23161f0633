//! wasm-opt, from npm's `binaryen`: Debian 12's own is too old for what today's Rust compiler emits.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use pleg_containerd::on_path;

use crate::progress::say;
use crate::sh::{Run, create_dir};
use crate::workspace;

/// `Trunk.toml` names the same version.
const BINARYEN: &str = "132.0.0";

/// The path of wasm-opt, installed if need be; none (and a line that says so) where npm is not there or fails:
/// the page is then larger, and nothing else changes.
pub(crate) fn wasm_opt() -> Result<Option<PathBuf>> {
    let npm_dir = workspace::cache()?.join("npm");
    let package = npm_dir.join("node_modules").join("binaryen");
    let program = package.join("bin").join("wasm-opt");
    let manifest = fs::read_to_string(package.join("package.json")).unwrap_or_default();
    if program.is_file() && manifest.contains(&format!("\"version\": \"{BINARYEN}\"")) {
        return Ok(Some(program));
    }
    let Some(npm) = on_path("npm").filter(|_| on_path("node").is_some()) else {
        say("no npm here, so no wasm-opt: the page will be about a fifth larger");
        return Ok(None);
    };
    say(format!("npm: binaryen {BINARYEN} (wasm-opt)"));
    create_dir(&npm_dir)?;
    let installed = Command::new(npm)
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&npm_dir)
        .arg(format!("binaryen@{BINARYEN}"))
        .run_logged(&workspace::cache()?.join("logs").join("npm.log"));
    if let Err(error) = installed {
        say(format!("wasm-opt could not be installed, the page will be larger: {error:#}"));
        return Ok(None);
    }
    Ok(Some(program))
}
