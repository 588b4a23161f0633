//! `cargo xtask test`: every check there is, and at the end a table of what passed, failed and was skipped.

mod steps;
mod summary;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::progress::say;
use steps::{Context, STEPS};
use summary::{Outcome, Row};

/// What was asked for.
#[derive(Default)]
struct Options {
    /// A skipped test counts as a failure.
    ci: bool,
    /// Only these steps; all if empty.
    only: Vec<String>,
    skip: Vec<String>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        for arg in args {
            if arg == "--ci" {
                options.ci = true;
            } else if let Some(step) = arg.strip_prefix("--skip-") {
                options.skip.push(known(step)?);
            } else {
                options.only.push(known(arg)?);
            }
        }
        Ok(options)
    }

    fn wants(&self, step: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|name| name == step);
        !listed(&self.skip) && (self.only.is_empty() || listed(&self.only))
    }
}

fn known(step: &str) -> Result<String> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if !names.contains(&step) {
        bail!("usage: test [--ci] [--skip-STEP...] [STEP...], and the steps are: {}", names.join(" "));
    }
    Ok(step.to_owned())
}

/// The command. The exit code tells whether all is well.
pub(crate) fn command(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let mut context = Context::new(options.ci);
    let mut rows = Vec::new();
    for step in STEPS.iter().filter(|step| options.wants(step.name)) {
        say(format!("── {}", step.title));
        let row = Row::measure(step.title, || (step.run)(&mut context));
        if let Outcome::Failed(why) = &row.outcome {
            eprintln!("{}: {why}", step.title);
        }
        rows.push(row);
    }
    print!("{}", summary::table(&rows));
    let good = |row: &Row| match row.outcome {
        Outcome::Passed { skipped: None } => true,
        Outcome::Passed { skipped: Some(_) } | Outcome::Skipped(_) => !options.ci,
        Outcome::Failed(_) => false,
    };
    Ok(if rows.iter().all(good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options> {
        Options::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn steps_are_chosen_and_left_out_by_name() {
        let all = parse(&["--skip-docs"]).unwrap();
        assert!(all.wants("fmt") && !all.wants("docs") && !all.ci);
        let one = parse(&["fmt", "--ci"]).unwrap();
        assert!(one.wants("fmt") && !one.wants("docs") && one.ci);
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_known_ones() {
        let error = parse(&["--skip-nothing"]).err().unwrap().to_string();
        assert!(error.contains("fmt"), "{error}");
    }
}
