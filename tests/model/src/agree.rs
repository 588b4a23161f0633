//! Engine and model side by side.

use crate::{
    counts::Counts,
    driven::Driven,
    generate::generate,
    history::{Feed, History},
    model::Model,
    shrink::shrink,
    trace::{After, Seen, Subject},
};
use std::{fmt, ops::Range};

/// Where engine and model part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Number of the step, from 0.
    pub step: usize,
    /// How the engine was told of listings.
    pub feed: Feed,
    /// What differs.
    pub difference: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { step, feed, difference } = self;
        let feed = match feed {
            Feed::Full => "all pods",
            Feed::Changed => "only what changed",
        };
        write!(f, "step {}, with {feed} listed: {difference}", step + 1)
    }
}

/// Runs a history through engine and model, with both kinds of listings.
///
/// # Errors
/// The first difference.
pub fn agree(history: &History) -> Result<Counts, Failure> {
    let counts = compare(history, Feed::Full)?;
    // The second time is the same to the model, but for uids that are listed twice.
    compare(history, Feed::Changed)?;
    Ok(counts)
}

fn compare(history: &History, feed: Feed) -> Result<Counts, Failure> {
    let mut model = Model::new(&history.setup, feed == Feed::Changed);
    let mut engine = Driven::new(&history.setup, feed);
    let mut counts = Counts::default();
    for (step, what) in history.steps.iter().enumerate() {
        let (expected, found) = (model.step(what), engine.step(what));
        let (expected_after, found_after) = (model.after(), engine.after());
        if expected != found || expected_after != found_after {
            let difference = difference(&expected, &found)
                .unwrap_or_else(|| difference_after(&expected_after, &found_after));
            return Err(Failure { step, feed, difference });
        }
        counts.add_step(&expected, &expected_after);
    }
    counts.add("addresses kept", model.addresses_kept);
    counts.add("histories", 1);
    Ok(counts)
}

/// The first thing that came out otherwise.
fn difference(expected: &[Seen], found: &[Seen]) -> Option<String> {
    let same = expected.iter().zip(found).take_while(|(expected, found)| expected == found).count();
    let (expected, found) = (expected.get(same), found.get(same));
    if expected == found {
        return None;
    }
    let text = |seen: Option<&Seen>| seen.map_or("nothing".to_owned(), |seen| format!("{seen:?}"));
    Some(format!("output {}\n  model:  {}\n  engine: {}", same + 1, text(expected), text(found)))
}

/// The lines of what is there that differ.
fn difference_after(expected: &After, found: &After) -> String {
    let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
    let (mut expected, mut found): (Vec<&str>, Vec<&str>) =
        (expected.lines().collect(), found.lines().collect());
    while let (Some(ours), Some(theirs)) = (expected.last(), found.last())
        && ours == theirs
    {
        expected.pop();
        found.pop();
    }
    let same = expected.iter().zip(&found).take_while(|(ours, theirs)| ours == theirs).count();
    let rest = |lines: &[&str]| lines.get(same..).unwrap_or_default().join("\n    ");
    let within =
        expected.iter().take(same).rfind(|line| line.starts_with("    ") && !line.starts_with("     "));
    format!(
        "afterwards{}\n  model:\n    {}\n  engine:\n    {}",
        within.map(|line| format!(", {}", line.trim())).unwrap_or_default(),
        rest(&expected),
        rest(&found)
    )
}

/// Runs the histories of these seeds.
///
/// # Errors
/// The first seed whose history engine and model do not agree on, with that history shrunken, as text.
pub fn check(seeds: Range<u64>) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for seed in seeds {
        let history = generate(seed);
        match agree(&history) {
            Ok(more) => counts.merge(&more),
            Err(_) => return Err(report(&history)),
        }
    }
    Ok(counts)
}

fn report(history: &History) -> String {
    let small = shrink(history, |history| agree(history).is_err());
    let failure = agree(&small).err().map(|failure| failure.to_string()).unwrap_or_default();
    format!(
        "seed {}: engine and model part; {} steps of {} are left:\n\n{small}\n{failure}",
        history.seed,
        small.steps.len(),
        history.steps.len()
    )
}
