//! Processes: who runs, signals, and commands whose failure is an error that names them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, geteuid, kill_process};

/// Whether this process runs as root.
#[must_use]
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// The first file of this name on `PATH`.
#[must_use]
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Sends a signal. A process that is gone is no error: that is what most signals are for.
pub(crate) fn signal(pid: u32, signal: Signal) -> Result<()> {
    let raw =
        i32::try_from(pid).ok().and_then(Pid::from_raw).with_context(|| format!("{pid} is no process id"))?;
    match kill_process(raw, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot signal process {pid}")),
    }
}

/// The command line of a process, its words; empty if there is none.
pub(crate) fn words(pid: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// All processes.
pub(crate) fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// These processes and all below them.
pub(crate) fn trees(roots: &[u32]) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = all().into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found: BTreeSet<u32> = roots.iter().copied().collect();
    loop {
        let below = parents.iter().filter(|(pid, parent)| found.contains(parent) && !found.contains(pid));
        let below: Vec<u32> = below.map(|(pid, _)| *pid).collect();
        if below.is_empty() {
            return found;
        }
        found.extend(below);
    }
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state ppid …`; the name may hold anything, spaces and brackets too.
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.split(' ').nth(1)?.parse().ok()
}

/// Runs it to its end; its stdout.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command.output().with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Looks every 50 ms whether `done`; whether it was before the limit passed.
pub(crate) fn wait_until(limit: Duration, mut done: impl FnMut() -> Result<bool>) -> Result<bool> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if done()? {
            return Ok(true);
        }
        sleep(Duration::from_millis(50));
    }
    done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_holds_the_children_of_children() {
        let mut shell = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let mut tree = BTreeSet::new();
        let grown = wait_until(Duration::from_secs(10), || {
            tree = trees(&[shell.id()]);
            Ok(tree.len() == 2)
        });
        for pid in &tree {
            signal(*pid, Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
        assert!(grown.unwrap(), "{tree:?}");
    }

    #[test]
    fn a_failed_command_says_why() {
        let error = read(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3\nwhy"), "{error}");
    }
}
