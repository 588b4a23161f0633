//! A real containerd with its CRI plugin on a private socket: started, frozen, stopped and cleaned away.
//!
//! It needs root and the programs containerd, ctr, runc, busybox (static) and gcc, and nothing else: no systemd, no
//! network plugin, no image registry. Everything lies in one directory, but for what containerd's shims put in
//! `/run/containerd/s` and the cgroups; [`Containerd::clean`] removes those too.
//!
//! It changes no pod: that is for the tests' own CRI client.

mod clean;
mod config;
mod daemon;
mod images;
mod process;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub use images::{BUSYBOX, PAUSE};
pub use process::{is_root, on_path};

/// A unix socket's path is at most this long on Linux, in bytes.
const SOCKET_PATH_LIMIT: usize = 107;

/// The programs without which it cannot run.
const PROGRAMS: [&str; 5] = ["containerd", "ctr", "runc", "busybox", "gcc"];

/// One containerd, by the directory that holds everything of it. It may be running or not.
#[derive(Clone, Debug)]
pub struct Containerd {
    dir: PathBuf,
}

impl Containerd {
    /// The one of the environment: directory `PLEGSCOPE_CRI_DIR`, by default `target/containerd`.
    #[must_use]
    pub fn from_env() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let repository = here.ancestors().nth(2).unwrap_or(here);
        let default = || repository.join("target").join("containerd");
        Self { dir: env::var_os("PLEGSCOPE_CRI_DIR").map_or_else(default, PathBuf::from) }
    }

    /// One in a directory of the caller's choice. The path must be short: sockets lie in it.
    #[must_use]
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Why this machine cannot run it; none if it can.
    #[must_use]
    pub fn unavailable() -> Option<String> {
        if !cfg!(target_os = "linux") {
            return Some("a real container runtime needs Linux".to_owned());
        }
        if !is_root() {
            return Some("a real container runtime needs root".to_owned());
        }
        let missing: Vec<&str> = PROGRAMS.into_iter().filter(|p| on_path(p).is_none()).collect();
        let advice = "run `cargo xtask setup --containerd`";
        (!missing.is_empty()).then(|| format!("not installed: {} ({advice})", missing.join(", ")))
    }

    /// Starts it, unless it runs, and loads its two images. Pods of an earlier run are still there.
    ///
    /// # Errors
    /// If it does not come up; the end of its log is in the error.
    pub fn start(&self) -> Result<()> {
        if let Some(why) = Self::unavailable() {
            bail!("{why}");
        }
        std::fs::create_dir_all(&self.dir)
            .with_context(|| format!("cannot create {}", self.dir.display()))?;
        // Containerd gives its paths to mount(2) and to the shims: they must be absolute and without `..`.
        let this = Self { dir: self.dir.canonicalize()? };
        let socket = this.socket();
        if socket.as_os_str().len() > SOCKET_PATH_LIMIT {
            bail!(
                "{} is too long for a socket (over {SOCKET_PATH_LIMIT} bytes): set PLEGSCOPE_CRI_DIR to a shorter path",
                socket.display()
            );
        }
        images::build(&this)?;
        daemon::start(&this)?;
        images::load(&this)
    }

    /// Stops the daemon; its pods keep running, as they do on a node.
    ///
    /// # Errors
    /// If it cannot be signalled.
    pub fn stop(&self) -> Result<()> {
        daemon::stop(&self.canonical())
    }

    /// `SIGSTOP`: it accepts connections and answers nothing.
    ///
    /// # Errors
    /// If it does not run.
    pub fn freeze(&self) -> Result<()> {
        process::signal(self.pid().context("containerd is not running")?, process::Signal::STOP)
    }

    /// `SIGCONT`, the end of [`Self::freeze`].
    ///
    /// # Errors
    /// If it does not run.
    pub fn thaw(&self) -> Result<()> {
        process::signal(self.pid().context("containerd is not running")?, process::Signal::CONT)
    }

    /// Stops the shim of a sandbox with `SIGSTOP`: relists go on, and what asks the shim hangs.
    ///
    /// # Errors
    /// If there is no such shim.
    pub fn freeze_shim(&self, sandbox: &str) -> Result<()> {
        process::signal(shim(sandbox)?, process::Signal::STOP)
    }

    /// `SIGCONT`, the end of [`Self::freeze_shim`].
    ///
    /// # Errors
    /// If there is no such shim.
    pub fn thaw_shim(&self, sandbox: &str) -> Result<()> {
        process::signal(shim(sandbox)?, process::Signal::CONT)
    }

    /// Kills the daemon, its pods and their shims and removes everything it made.
    ///
    /// # Errors
    /// If something of it cannot be removed.
    pub fn clean(&self) -> Result<()> {
        clean::clean(&self.canonical())
    }

    /// Its process, if it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        daemon::pid(&self.canonical())
    }

    /// The directory that everything of it lies in.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.canonical().dir
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.canonical().dir.join("containerd.sock")
    }

    /// Its socket, as CRI clients take it.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// The cgroup for its pods, below which each should have one of its own. Named by the directory, so that
    /// several do not meet.
    #[must_use]
    pub fn cgroup_parent(&self) -> String {
        let path = self.canonical().dir;
        let name: String =
            path.display().to_string().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        format!("/plegscope{name}")
    }

    fn canonical(&self) -> Self {
        Self { dir: self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone()) }
    }

    /// `ctr` on its socket.
    fn ctr(&self) -> Command {
        let mut ctr = Command::new("ctr");
        ctr.arg("--address").arg(self.socket()).args(["--namespace", "k8s.io"]);
        ctr
    }
}

/// The shim that keeps a sandbox: `containerd-shim-runc-v2 … -id SANDBOX …`.
fn shim(sandbox: &str) -> Result<u32> {
    let keeps = |pid: &u32| {
        let words = process::words(*pid);
        let is_shim = words.first().is_some_and(|program| program.contains("containerd-shim"));
        is_shim && words.windows(2).any(|pair| pair == ["-id", sandbox])
    };
    process::all().into_iter().find(keeps).with_context(|| format!("no shim keeps the sandbox {sandbox}"))
}

/// The command `containerd` of xtask.
///
/// # Errors
/// For unknown arguments, and as the methods of [`Containerd`] do.
pub fn command(args: &[String]) -> Result<()> {
    let containerd = Containerd::from_env();
    match args {
        [word] if word == "start" => {
            containerd.start()?;
            println!("{}", containerd.endpoint());
        }
        [word] if word == "stop" => containerd.stop()?,
        [word] if word == "clean" => containerd.clean()?,
        [word] if word == "status" => match containerd.pid() {
            Some(pid) => println!("running, pid {pid}, {}", containerd.endpoint()),
            None => println!("not running ({})", containerd.dir().display()),
        },
        _ => bail!("usage: containerd start|stop|clean|status"),
    }
    Ok(())
}
