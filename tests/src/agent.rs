//! `plegscope` as a process, and what it prints.

use std::env;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use crate::wait;

/// The line that says where the page is.
const ADDRESS: &str = "plegscope: ";

/// A running agent. It is killed when this is dropped.
pub struct Agent {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

/// Lines as they come.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn collect(stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let lines = Self::default();
        let all = lines.clone();
        tokio::spawn(async move {
            let mut stream = BufReader::new(stream).lines();
            while let Ok(Some(line)) = stream.next_line().await {
                all.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        lines
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The program under test: `PLEGSCOPE_BIN`, else the one beside the test's own.
///
/// # Errors
/// When it has not been built.
pub fn program() -> Result<PathBuf> {
    let program = match env::var_os("PLEGSCOPE_BIN") {
        Some(program) => PathBuf::from(program),
        None => env::current_exe()?.with_file_name("").join("../plegscope"),
    };
    if !program.is_file() {
        bail!("{} is not there: run these tests with `cargo xtask test runtime browser`", program.display());
    }
    Ok(program)
}

/// Runs `plegscope ARGS…` to its end; its stdout.
///
/// # Errors
/// When it fails, with what it printed on stderr.
pub async fn output(args: &[&str]) -> Result<String> {
    let (code, stdout, stderr) = run(args).await?;
    if code != 0 {
        bail!("plegscope {args:?}: exit code {code}\n{stderr}");
    }
    Ok(stdout)
}

/// Runs `plegscope ARGS…` to its end; its exit code, stdout and stderr.
///
/// # Errors
/// When it cannot be started, or was killed.
pub async fn run(args: &[&str]) -> Result<(i32, String, String)> {
    let output = Command::new(program()?).args(args).stdin(Stdio::null()).output().await?;
    let code = output.status.code().with_context(|| format!("plegscope {args:?}: {}", output.status))?;
    Ok((code, String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

impl Agent {
    /// Starts `plegscope ARGS…`. It sees nothing of the environment that would change what it does.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(args: &[&str]) -> Result<Self> {
        let mut child = Command::new(program()?)
            .args(args)
            .env_remove("CONTAINER_RUNTIME_ENDPOINT")
            .env_remove("RUST_LOG")
            .env_remove("NODE_NAME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start plegscope")?;
        let stdout = Lines::collect(child.stdout.take().context("no stdout")?);
        let stderr = Lines::collect(child.stderr.take().context("no stderr")?);
        Ok(Self { child, stdout, stderr })
    }

    /// The page's address, as soon as the agent has said it.
    ///
    /// # Errors
    /// When it ends before, with what it printed.
    pub async fn address(&mut self) -> Result<String> {
        wait::until("the page's address", async || {
            if let Some(status) = self.child.try_wait()? {
                bail!("plegscope ended: {status}\n{}", self.log());
            }
            let said = self.stdout.all().into_iter().chain(self.stderr.all());
            Ok(said
                .filter_map(|line| Some(line.strip_prefix(ADDRESS)?.to_owned()))
                .find(|url| url.starts_with("http")))
        })
        .await
    }

    /// Its process id, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// The events that it has printed so far: the lines of stdout that are JSON objects.
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        self.stdout.all().into_iter().filter(|line| line.starts_with('{')).collect()
    }

    /// Waits until it has printed this many events in all.
    ///
    /// # Errors
    /// When it prints fewer for too long, or more.
    pub async fn expect_events(&self, count: usize) -> Result<()> {
        let waited = wait::until("events", async || Ok((self.events().len() >= count).then_some(()))).await;
        let events = self.events();
        if waited.is_err() || events.len() != count {
            bail!("{count} events were expected, these came:\n{}\n{}", events.join("\n"), self.log());
        }
        Ok(())
    }

    /// What it wrote to stderr so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.stderr.all().join("\n")
    }

    /// Asks it to end, and waits for it.
    ///
    /// # Errors
    /// When it does not end well.
    pub async fn stop(mut self) -> Result<()> {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(pid.context("plegscope has ended already")?, Signal::TERM)?;
        let status = tokio::time::timeout(wait::LIMIT, self.child.wait())
            .await
            .context("plegscope does not end")??;
        if !status.success() {
            bail!("plegscope ended with {status}\n{}", self.log());
        }
        Ok(())
    }

    /// `kill -9`.
    ///
    /// # Errors
    /// When it has ended already.
    pub async fn kill(mut self) -> Result<()> {
        self.child.kill().await.context("plegscope has ended already")
    }
}
