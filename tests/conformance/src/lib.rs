//! Conformance: what upstream's own PLEG did with scripted scenarios, replayed against the engine.
//!
//! A vector file has one scenario a line, with everything that upstream did in each step. A line is run twice: with
//! whole listings, as the kubelet sees them, and with only what changed, as the engine is used here. Both must give
//! what upstream gave, field by field, in upstream's order of pods ([`pleg_core::pleg::Engine::set_order`]).

mod cri;
mod driver;
#[cfg(not(target_family = "wasm"))]
mod files;
mod outcome;
mod runtime;
mod scenario;

#[cfg(not(target_family = "wasm"))]
pub use files::{FileReport, count_lines, lines, run_file, vector_files};

use driver::Mode;
use pleg_core::pleg::Profile;
use scenario::Scenario;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::fmt;

/// What came of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its id.
    pub id: String,
    /// Differences to upstream, each with the place; none when it passed.
    pub differences: Vec<String>,
    /// XXH3 of all that the engine gave out, as JSON.
    pub hash: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.id)?;
        self.differences.iter().try_for_each(|difference| writeln!(f, "  {difference}"))
    }
}

/// What all lines have.
#[derive(Deserialize)]
struct Head {
    id: String,
    set: String,
}

/// The profile of a scenario, as the engine knows it by its release.
fn profile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
    let release = String::deserialize(deserializer)?;
    let known = Profile::of_release(&release).map(|(_, profile)| profile);
    known.ok_or_else(|| D::Error::custom(format_args!("no profile for the release {release:?}")))
}

/// Runs one line of a vector file.
///
/// # Errors
/// When the line is no scenario, or has a field that is not known here.
pub fn run_line(line: &str) -> Result<Report, String> {
    run_with(line, &[Mode::Whole, Mode::Changes])
}

/// Runs one line with an engine that is replaced by its own checkpoint, written and read again, whenever it waits for
/// something.
///
/// # Errors
/// As [`run_line`].
pub fn run_line_restored(line: &str) -> Result<Report, String> {
    run_with(line, &[Mode::Restored])
}

fn run_with(line: &str, modes: &[Mode]) -> Result<Report, String> {
    let head: Head = serde_json::from_str(line).map_err(|error| format!("not a scenario: {error}"))?;
    let broken = |error| format!("{}: {error}", head.id);
    if head.set == "cri" {
        return Ok(cri::run(&serde_json::from_str(line).map_err(broken)?));
    }
    let scenario: Scenario = serde_json::from_str(line).map_err(broken)?;
    let mut report = Report { id: head.id, differences: Vec::new(), hash: 0 };
    for mode in modes {
        let (differences, hash) = driver::run(&scenario, *mode);
        report.differences.extend(differences.iter().map(|difference| format!("{mode}: {difference}")));
        report.hash = report.hash.wrapping_add(hash);
    }
    Ok(report)
}
