//! Runs tests of which some need what not every machine has. Such a test is skipped there and says why; it is never
//! counted as passed.
//!
//! `PLEGSCOPE_REQUIRE` names needs (`containerd`, `chromium`, or `all`): a test that lacks one of these fails.
//! `PLEGSCOPE_TEST_REPORT` names a file to which a line for each test is added: `passed⇥NAME` or
//! `skipped⇥NAME⇥REASON`.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use pleg_containerd::Containerd;

use crate::browser::Browser;

/// What a test needs of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A real container runtime.
    Containerd,
    /// A browser.
    Chromium,
}

impl Need {
    fn name(self) -> &'static str {
        match self {
            Self::Containerd => "containerd",
            Self::Chromium => "chromium",
        }
    }

    /// Why the machine does not have it; none if it has.
    fn missing(self) -> Option<String> {
        match self {
            Self::Containerd => Containerd::unavailable(),
            Self::Chromium => Browser::unavailable(),
        }
    }

    fn is_required(self) -> bool {
        let required = env::var("PLEGSCOPE_REQUIRE").unwrap_or_default();
        required.split(',').any(|name| name == "all" || name == self.name())
    }
}

/// The tests of one file.
#[derive(Default)]
pub struct Suite {
    trials: Vec<Trial>,
}

impl Suite {
    /// Adds a test.
    #[must_use]
    pub fn test<F>(mut self, name: &'static str, needs: &'static [Need], test: F) -> Self
    where
        F: AsyncFnOnce() -> Result<()> + Send + 'static,
    {
        self.trials.push(Trial::ignorable_test(name, move || Ok(run(name, needs, test)?)));
        self
    }

    /// Runs them, one at a time: they share the machine's one node. The value is the process's exit code.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let mut arguments = Arguments::from_args();
        arguments.test_threads = Some(1);
        libtest_mimic::run(&arguments, self.trials).exit_code()
    }
}

/// An error with its causes, as the test runner shows it.
struct Failure(anyhow::Error);

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self(error)
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Failed::from(format!("{:#}", failure.0))
    }
}

fn run<F>(name: &str, needs: &[Need], test: F) -> Result<Completion, Failure>
where
    F: AsyncFnOnce() -> Result<()>,
{
    for need in needs {
        if let Some(reason) = need.missing() {
            if need.is_required() {
                return Err(anyhow::anyhow!("{} is required, but {reason}", need.name()).into());
            }
            report(&format!("skipped\t{name}\t{reason}"))?;
            return Ok(Completion::ignored_with(reason));
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("tokio")?;
    runtime.block_on(test())?;
    report(&format!("passed\t{name}"))?;
    Ok(Completion::Completed)
}

/// Where a test leaves a file for people to look at: `target/FOLDER/NAME`.
///
/// # Errors
/// When the folder cannot be made.
pub fn artifact(folder: &str, name: &str) -> Result<PathBuf> {
    // A test's program lies in `target/PROFILE/deps`.
    let program = env::current_exe()?;
    let target = program.ancestors().nth(3).context("the test lies in no build directory")?;
    let dir = target.join(folder);
    fs::create_dir_all(&dir)?;
    Ok(dir.join(name))
}

fn report(line: &str) -> Result<()> {
    let Some(path) = env::var_os("PLEGSCOPE_TEST_REPORT") else { return Ok(()) };
    let mut file =
        OpenOptions::new().create(true).append(true).open(path).context("PLEGSCOPE_TEST_REPORT")?;
    writeln!(file, "{line}").context("PLEGSCOPE_TEST_REPORT")
}
