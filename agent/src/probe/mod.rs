//! `plegscope probe`: asks a runtime everything once, one by one, and says what is wrong with it.

mod ask;
mod known;
mod report;

use crate::{background::event_loop, cli::ProbeArgs, run::endpoint, runtime::cri::CriSource};
use anyhow::Context as _;
use ask::{Bounds, Prober};
use pleg_core::diagnose::{Target, diagnose};
use report::{Json, Report, Text};
use std::{
    io::{self, BufWriter},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Runs `plegscope probe`; the exit code says what was found.
///
/// # Errors
/// When no runtime is found, the endpoint is none, or a capture cannot be read.
pub(crate) fn run(args: &ProbeArgs) -> anyhow::Result<ExitCode> {
    let known = known(&args.known)?;
    let bounds = Bounds {
        timeout: args.timeout,
        concurrency: usize::from(args.concurrency),
        verbose: !args.no_verbose,
    };
    event_loop()?.block_on(async {
        let endpoint = endpoint(args.runtime_endpoint.as_deref())
            .await?
            .context("no container runtime found: name one with --runtime-endpoint")?;
        // Every call has its own, tighter bound.
        let source = CriSource::new(&endpoint, args.timeout.saturating_mul(2))?;
        let stdout = BufWriter::new(io::stdout().lock());
        let mut report: Box<dyn Report> = match args.json {
            true => Box::new(Json::new(stdout)),
            false => Box::new(Text::new(stdout)),
        };
        let calls = Prober::new(source, bounds, report.as_mut()).run(&known).await?;
        let verdict = diagnose(&calls);
        report.verdict(&verdict)?;
        Ok(ExitCode::from(verdict.exit_code()))
    })
}

/// What can be asked about when the lists do not come.
fn known(captures: &[PathBuf]) -> anyhow::Result<Vec<Target>> {
    let mut known = Vec::new();
    for capture in captures {
        known.extend(known::from_capture(capture)?);
    }
    known.extend(known::from_log_links(Path::new("/")));
    // Captures come first: they know states.
    let mut seen = std::collections::BTreeSet::new();
    known.retain(|target| seen.insert(target.id.clone()));
    Ok(known)
}
