//! protoc, which the build of the CRI client (crate `k8s-cri`) runs.

use std::env;
use std::path::PathBuf;

use anyhow::{Result, bail};
use pleg_containerd::on_path;

use super::packages::{self, Program};
const PROTOC: Program = Program { name: "protoc", package: "protobuf-compiler" };

/// Finds protoc (`PROTOC` in the environment, then `PATH`) or installs it.
pub(crate) fn ensure() -> Result<()> {
    if let Some(path) = env::var_os("PROTOC").map(PathBuf::from) {
        if path.is_file() {
            return Ok(());
        }
        bail!("PROTOC is set to {}, where no file is", path.display());
    }
    if on_path(PROTOC.name).is_some() {
        return Ok(());
    }
    if on_path("apt-get").is_none() {
        bail!("protoc is missing, which the agent's build needs. {}", how_to_install());
    }
    packages::ensure(&[PROTOC])
}

fn how_to_install() -> &'static str {
    if cfg!(target_os = "macos") {
        "Install it with `brew install protobuf`."
    } else if cfg!(windows) {
        "Install it with `winget install protobuf`."
    } else {
        "Install it with `dnf install protobuf-compiler`, `apk add protobuf-dev`, `pacman -S protobuf` or your \
         system's equal, or set PROTOC to the path of one."
    }
}
