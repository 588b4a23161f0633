//! Removing everything: daemon, shims, containers, mounts, cgroups, sockets, files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{self, Signal};
use crate::{Containerd, daemon};

const SHIMS_LIMIT: Duration = Duration::from_secs(20);
const CGROUPS_LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn clean(containerd: &Containerd) -> Result<()> {
    if !containerd.dir.exists() {
        return Ok(());
    }
    daemon::kill(containerd)?;
    kill_shims(containerd)?;
    remove_shim_sockets(containerd);
    unmount(containerd)?;
    remove_cgroups(containerd)?;
    fs::remove_dir_all(&containerd.dir).with_context(|| format!("cannot remove {}", containerd.dir.display()))
}

/// The shims that serve this daemon, by the address on their command lines.
fn shims(containerd: &Containerd) -> Vec<u32> {
    let socket = containerd.socket().display().to_string();
    let serves = |pid: &u32| {
        let words = process::words(*pid);
        words.first().is_some_and(|program| program.contains("containerd-shim")) && words.contains(&socket)
    };
    process::all().into_iter().filter(serves).collect()
}

fn kill_shims(containerd: &Containerd) -> Result<()> {
    let gone = process::wait_until(SHIMS_LIMIT, || {
        let shims = shims(containerd);
        // With the processes below them: they are the containers, and would outlive their shim.
        for pid in process::trees(&shims) {
            process::signal(pid, Signal::KILL)?;
        }
        Ok(shims.is_empty())
    })?;
    if !gone {
        bail!("shims of containerd do not end: {:?}", shims(containerd));
    }
    Ok(())
}

/// Shims make their sockets outside the daemon's directory, whatever is configured, and name them in their bundles.
fn remove_shim_sockets(containerd: &Containerd) {
    let tasks = containerd.dir.join("state/io.containerd.runtime.v2.task/k8s.io");
    let Ok(bundles) = fs::read_dir(tasks) else { return };
    for bundle in bundles.flatten() {
        let address = fs::read_to_string(bundle.path().join("address")).unwrap_or_default();
        if let Some(socket) = address.trim().strip_prefix("unix://") {
            // Most shims removed theirs when they ended.
            fs::remove_file(socket).unwrap_or_default();
        }
    }
}

fn unmount(containerd: &Containerd) -> Result<()> {
    let mounts = fs::read_to_string("/proc/mounts").context("cannot read the list of mounts")?;
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    let mut ours: Vec<&str> = points.filter(|point| Path::new(point).starts_with(&containerd.dir)).collect();
    ours.sort_unstable_by(|a, b| b.cmp(a));
    for point in ours {
        process::read(Command::new("umount").args(["--lazy", point]))?;
    }
    Ok(())
}

/// Removes the pods' cgroups. They hold no process any more, but the kernel may need a moment to see it.
fn remove_cgroups(containerd: &Containerd) -> Result<()> {
    let parent = containerd.cgroup_parent();
    let name = parent.trim_start_matches('/');
    let hierarchies = fs::read_dir("/sys/fs/cgroup").context("cannot read the cgroups")?.flatten();
    let mut ours: Vec<PathBuf> = hierarchies.map(|hierarchy| hierarchy.path().join(name)).collect();
    ours.push(Path::new("/sys/fs/cgroup").join(name));
    for dir in ours {
        let gone = process::wait_until(CGROUPS_LIMIT, || {
            remove_empty_tree(&dir);
            Ok(!dir.exists())
        })?;
        if !gone {
            bail!("the cgroup {} still holds processes", dir.display());
        }
    }
    Ok(())
}

/// Removes the directories from the leaves up, as far as it goes; their files are the kernel's and go with them.
fn remove_empty_tree(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_tree(&entry.path());
        }
    }
    // The caller looks whether it went.
    fs::remove_dir(dir).unwrap_or_default();
}
