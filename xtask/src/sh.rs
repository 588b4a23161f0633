//! Running commands: each either succeeds or fails with an error that shows the command.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How many lines of a log are shown when its command failed.
const LOG_TAIL_LINES: usize = 30;

/// Ways to run a [`Command`] in which a failure is an error that names the command.
pub(crate) trait Run {
    /// Runs it with this process's own stdout and stderr.
    fn run(&mut self) -> Result<()>;
    /// Runs it with its output in the file `log`, the end of which is shown if it fails.
    fn run_logged(&mut self, log: &Path) -> Result<()>;
    /// Its stdout, trimmed; stderr is shown only if it fails.
    fn read(&mut self) -> Result<String>;
}

impl Run for Command {
    fn run(&mut self) -> Result<()> {
        let status = self.status().with_context(|| format!("cannot start {}", shown(self)))?;
        if !status.success() {
            bail!("{} failed: {status}", shown(self));
        }
        Ok(())
    }

    fn run_logged(&mut self, log: &Path) -> Result<()> {
        if let Some(dir) = log.parent() {
            create_dir(dir)?;
        }
        let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let err = out.try_clone()?;
        let status = self
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .status()
            .with_context(|| format!("cannot start {}", shown(self)))?;
        if !status.success() {
            bail!("{} failed: {status}\n{}\n(all of it is in {})", shown(self), tail(log), log.display());
        }
        Ok(())
    }

    fn read(&mut self) -> Result<String> {
        let output =
            self.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", shown(self)))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("{} failed: {}\n{}", shown(self), output.status, stderr.trim_end());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    format!("`{}`", line.join(" "))
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LOG_TAIL_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// Makes the directory and its parents.
pub(crate) fn create_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

/// Removes the directory with all in it; none there is fine.
pub(crate) fn remove_dir(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_command_and_its_stderr() {
        let error = Command::new("sh").args(["-c", "echo why >&2; exit 3"]).read().unwrap_err().to_string();
        assert!(error.contains("`sh -c echo why >&2; exit 3` failed: exit status: 3"), "{error}");
        assert!(error.ends_with("why"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Command::new("no-such-program").run().unwrap_err().to_string();
        assert_eq!(error, "cannot start `no-such-program`");
    }
}
