//! The two images, made here: a pause, which holds a sandbox, and busybox. No registry is asked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{Containerd, config, process};

/// The sandbox's image.
pub const PAUSE: &str = "plegscope.local/pause:1";
/// The containers' image: a shell and the usual tools, in `/bin`.
pub const BUSYBOX: &str = "plegscope.local/busybox:1";

/// Sleeps until told to end, and reaps what the pod leaves behind, as Kubernetes' own does.
const PAUSE_SOURCE: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void stop(int s) { (void)s; _exit(0); }
static void reap(int s) { (void)s; while (waitpid(-1, NULL, WNOHANG) > 0) {} }
int main(void) {
  signal(SIGINT, stop); signal(SIGTERM, stop); signal(SIGCHLD, reap);
  for (;;) pause();
}
"#;

const ADOPTION_LIMIT: Duration = Duration::from_secs(30);

/// Makes the images' archives, unless they are there.
pub(crate) fn build(containerd: &Containerd) -> Result<()> {
    let images = containerd.dir.join("images");
    fs::create_dir_all(&images)?;
    if !archive(containerd, PAUSE).is_file() {
        let root = fresh_dir(&images.join("pause-root"))?;
        let source = images.join("pause.c");
        fs::write(&source, PAUSE_SOURCE)?;
        process::read(
            Command::new("gcc").args(["-Os", "-static", "-s", "-o"]).arg(root.join("pause")).arg(source),
        )?;
        pack(containerd, PAUSE, &root, r#"{"Entrypoint":["/pause"],"Env":["PATH=/"]}"#)?;
    }
    if !archive(containerd, BUSYBOX).is_file() {
        let root = fresh_dir(&images.join("busybox-root"))?;
        busybox_tree(&root)?;
        pack(containerd, BUSYBOX, &root, r#"{"Cmd":["sh"],"Env":["PATH=/bin"]}"#)?;
    }
    Ok(())
}

fn busybox_tree(root: &Path) -> Result<()> {
    for dir in ["bin", "etc", "tmp", "root"] {
        fs::create_dir(root.join(dir))?;
    }
    let busybox = process::read(Command::new("sh").args(["-c", "command -v busybox"]))?;
    fs::copy(busybox.trim(), root.join("bin/busybox")).context("cannot copy busybox")?;
    let applets = process::read(Command::new("busybox").arg("--list"))?;
    for applet in applets.lines().filter(|name| *name != "busybox") {
        symlink("busybox", root.join("bin").join(applet))?;
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    Ok(())
}

/// Packs a root file system as `docker save` does: one layer, its configuration, a manifest.
fn pack(containerd: &Containerd, image: &str, root: &Path, run: &str) -> Result<()> {
    let work = fresh_dir(&root.with_extension("pack"))?;
    let layer = work.join("layer.tar");
    tar(root, &layer, &["."])?;
    let sum = process::read(Command::new("sha256sum").arg(&layer))?;
    let digest = sum.split(' ').next().unwrap_or_default();
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let config = format!(
        r#"{{"architecture":"{architecture}","os":"linux","created":"1970-01-01T00:00:00Z","config":{run},"rootfs":{{"type":"layers","diff_ids":["sha256:{digest}"]}},"history":[{{"created":"1970-01-01T00:00:00Z"}}]}}"#
    );
    fs::write(work.join("config.json"), config)?;
    let manifest = format!(r#"[{{"Config":"config.json","RepoTags":["{image}"],"Layers":["layer.tar"]}}]"#);
    fs::write(work.join("manifest.json"), manifest)?;
    // Under its own name only when whole: a run that was cut short must not leave half an image.
    let whole = archive(containerd, image);
    let part = whole.with_extension("part");
    tar(&work, &part, &["manifest.json", "config.json", "layer.tar"])?;
    fs::rename(part, whole)?;
    fs::remove_dir_all(work)?;
    Ok(())
}

/// A tar that has the same bytes each time.
fn tar(dir: &Path, to: &Path, names: &[&str]) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-C"]);
    tar.arg(dir).arg("-cf").arg(to).args(names);
    process::read(&mut tar).map(drop)
}

/// Loads the images into the daemon and waits until CRI knows them.
pub(crate) fn load(containerd: &Containerd) -> Result<()> {
    for image in [PAUSE, BUSYBOX] {
        if !listed(containerd, image)?.contains(image) {
            let snapshotter = config::snapshotter(containerd)?;
            let mut import = containerd.ctr();
            import.args(["images", "import", "--snapshotter", snapshotter]).arg(archive(containerd, image));
            process::read(&mut import)?;
        }
        // CRI adopts an imported image a moment later, when the event of it arrives, and then puts this label on it.
        let adopted = || Ok(listed(containerd, image)?.contains("io.cri-containerd.image=managed"));
        if !process::wait_until(ADOPTION_LIMIT, adopted)? {
            bail!("containerd's CRI plugin did not take up the image {image}");
        }
    }
    Ok(())
}

fn listed(containerd: &Containerd, image: &str) -> Result<String> {
    process::read(containerd.ctr().args(["images", "ls", &format!("name=={image}")]))
}

fn archive(containerd: &Containerd, image: &str) -> PathBuf {
    let name = image.rsplit('/').next().unwrap_or(image).replace(':', "-");
    containerd.dir.join("images").join(format!("{name}.tar"))
}

fn fresh_dir(dir: &Path) -> Result<PathBuf> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    Ok(dir.to_owned())
}
