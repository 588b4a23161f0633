//! The daemon itself: started until CRI answers, found again, stopped.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{self, Signal};
use crate::{Containerd, config};

/// The last thing that the CRI plugin logs before it answers. Its socket and `ctr plugins ls` are there earlier,
/// when every CRI call still fails with "server is not initialized yet".
const READY: &str = "Start streaming server";

const START_LIMIT: Duration = Duration::from_secs(120);
const STOP_LIMIT: Duration = Duration::from_secs(10);
const LOG_TAIL_LINES: usize = 20;

/// Its process, if it runs: the one whose command line names this configuration.
pub(crate) fn pid(containerd: &Containerd) -> Option<u32> {
    let pid = fs::read_to_string(pid_file(containerd)).ok()?.trim().parse().ok()?;
    let config = config_file(containerd).display().to_string();
    process::words(pid).contains(&config).then_some(pid)
}

pub(crate) fn start(containerd: &Containerd) -> Result<()> {
    if pid(containerd).is_some() {
        return Ok(());
    }
    for dir in ["root", "state", "plugins", "opt", "cni/net.d"] {
        fs::create_dir_all(containerd.dir.join(dir))?;
    }
    fs::write(config_file(containerd), config::text(containerd)?)?;
    let log_file = containerd.dir.join("containerd.log");
    let log = OpenOptions::new().create(true).append(true).open(&log_file)?;
    let mut from_now = fs::File::open(&log_file)?;
    from_now.seek(SeekFrom::End(0))?;
    let mut child = Command::new("containerd")
        .arg("--config")
        .arg(config_file(containerd))
        // The terminal's Ctrl-C is for the one who watches, not for the node.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("cannot start containerd")?;
    fs::write(pid_file(containerd), child.id().to_string())?;
    let mut said = Vec::new();
    let ready = process::wait_until(START_LIMIT, || {
        from_now.read_to_end(&mut said)?;
        if let Some(status) = child.try_wait()? {
            bail!("containerd ended: {status}\n{}", tail(&said));
        }
        Ok(String::from_utf8_lossy(&said).contains(READY))
    })?;
    if !ready {
        bail!("containerd was not ready after {} s\n{}", START_LIMIT.as_secs(), tail(&said));
    }
    Ok(())
}

/// `SIGTERM`, and `SIGKILL` to one that does not listen.
pub(crate) fn stop(containerd: &Containerd) -> Result<()> {
    let Some(running) = pid(containerd) else { return Ok(()) };
    process::signal(running, Signal::TERM)?;
    process::signal(running, Signal::CONT)?;
    if !process::wait_until(STOP_LIMIT, || Ok(pid(containerd).is_none()))? {
        kill(containerd)?;
    }
    Ok(())
}

/// `SIGKILL`, and waits until it is gone.
pub(crate) fn kill(containerd: &Containerd) -> Result<()> {
    let Some(running) = pid(containerd) else { return Ok(()) };
    process::signal(running, Signal::KILL)?;
    if !process::wait_until(STOP_LIMIT, || Ok(pid(containerd).is_none()))? {
        bail!("containerd, process {running}, does not end");
    }
    Ok(())
}

fn config_file(containerd: &Containerd) -> PathBuf {
    containerd.dir.join("config.toml")
}

fn pid_file(containerd: &Containerd) -> PathBuf {
    containerd.dir.join("containerd.pid")
}

fn tail(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(LOG_TAIL_LINES)..).unwrap_or_default().join("\n")
}
