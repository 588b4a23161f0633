//! The table at the end: step, result, seconds.

use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::Result;

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that ran passed; `skipped` says what did not run, and why.
    Passed {
        skipped: Option<String>,
    },
    /// Nothing of it ran, for this reason.
    Skipped(String),
    Failed(String),
}

impl Outcome {
    pub(crate) const PASSED: Self = Self::Passed { skipped: None };
}

/// A step that was run.
pub(crate) struct Row {
    pub(crate) title: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

impl Row {
    /// Runs a step; its error is its failure.
    pub(crate) fn measure(title: &'static str, step: impl FnOnce() -> Result<Outcome>) -> Self {
        let began = Instant::now();
        let outcome = step().unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        Self { title, outcome, took: began.elapsed() }
    }
}

/// The table. Of an error only the first line: all of it was printed when it happened.
pub(crate) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.title.chars().count()).max().unwrap_or_default();
    let mut text = String::from("\n");
    for row in rows {
        let result = match &row.outcome {
            Outcome::Passed { skipped: None } => "passed".to_owned(),
            Outcome::Passed { skipped: Some(which) } => format!("passed, but SKIPPED: {which}"),
            Outcome::Skipped(why) => format!("SKIPPED: {why}"),
            Outcome::Failed(why) => format!("FAILED: {}", why.lines().next().unwrap_or_default()),
        };
        // Writing to a string cannot fail.
        writeln!(text, "{:width$}  {:>5}s  {result}", row.title, row.took.as_secs()).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_step_never_reads_as_passed() {
        let row = |outcome| Row { title: "step", outcome, took: Duration::from_secs(7) };
        let rows = [
            row(Outcome::PASSED),
            row(Outcome::Passed { skipped: Some("a (no root)".into()) }),
            row(Outcome::Skipped("no root".into())),
            row(Outcome::Failed("first\nsecond".into())),
        ];
        assert_eq!(
            table(&rows),
            "\nstep      7s  passed\nstep      7s  passed, but SKIPPED: a (no root)\n\
             step      7s  SKIPPED: no root\nstep      7s  FAILED: first\n"
        );
    }
}
