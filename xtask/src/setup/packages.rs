//! Debian packages: what is missing is installed by apt when this process may, else named.

use std::process::Command;

use anyhow::{Result, bail};
use pleg_containerd::on_path;

use crate::progress::say;
use crate::sh::Run;
use crate::workspace;

/// A program and the Debian package that brings it.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// Name of the executable on `PATH`.
    pub(crate) name: &'static str,
    /// The package, or packages with a space between.
    pub(crate) package: &'static str,
}

/// Installs the packages of the programs that are not on `PATH`.
pub(crate) fn ensure(programs: &[Program]) -> Result<()> {
    let missing: Vec<&Program> = programs.iter().filter(|p| on_path(p.name).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|p| p.package.split(' ')).collect();
    install(&packages)?;
    match missing.iter().find(|p| on_path(p.name).is_none()) {
        Some(p) => bail!("{} is still not on PATH after installing {}", p.name, p.package),
        None => Ok(()),
    }
}

/// Installs the packages with apt. The lists are refreshed only if they turn out to be too old or absent.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!("please install: {} (names of Debian's packages)", packages.join(" "));
    }
    say(format!("apt: {}", packages.join(" ")));
    let log = workspace::cache()?.join("logs").join("apt.log");
    let attempt = || {
        as_root("apt-get")?
            .args(["install", "-y", "-q", "--no-install-recommends"])
            .args(packages)
            .run_logged(&log)
    };
    if attempt().is_err() {
        refresh()?;
        attempt()?;
    }
    Ok(())
}

/// `apt-get update`.
pub(crate) fn refresh() -> Result<()> {
    let log = workspace::cache()?.join("logs").join("apt-update.log");
    as_root("apt-get")?.args(["update", "-q"]).run_logged(&log)
}

/// The version that apt would install; none when it knows no such package.
pub(crate) fn candidate(package: &str) -> Result<Option<String>> {
    let policy = Command::new("apt-cache").args(["policy", package]).env("LC_ALL", "C").read()?;
    let version = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
    Ok(version.filter(|v| *v != "(none)").map(str::to_owned))
}

fn as_root(program: &str) -> Result<Command> {
    let mut command = if pleg_containerd::is_root() {
        Command::new("env")
    } else if on_path("sudo").is_some() {
        let mut sudo = Command::new("sudo");
        sudo.arg("env");
        sudo
    } else {
        bail!("{program} needs root: run it as root, or install sudo");
    };
    command.args(["DEBIAN_FRONTEND=noninteractive", program]);
    Ok(command)
}
