//! What is wrong with a runtime, from how it answers a probe: a listing may hang while all inspections but one
//! answer, and that one is why.
//!
//! A *probe* makes the calls of a relist one by one, each with a bound of its own, and asks also about containers that
//! are known from an earlier list. That finds the one that is stuck when the list itself hangs: containerd 1.6 holds a
//! container's lock while it waits for a shim that does not answer, and `ListContainers` waits for every lock
//! (containerd issue 9770).

mod target;

pub use target::Target;

use crate::{
    cri::{Op, RpcError},
    time::{MILLISECOND, Nanos},
};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};
use core::fmt;
use serde::{Deserialize, Serialize};

/// From this duration on, in nanoseconds, an answer counts as slow: the kubelet makes its calls one after the other, so
/// a hundred such inspections fill a third of the relist threshold.
pub const SLOW: Nanos = 500 * MILLISECOND;

/// A call of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCall {
    /// The CRI method.
    pub method: Method,
    /// Whom it asks about; none for a listing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// How long it took, or was waited for, in nanoseconds.
    pub took: Nanos,
    /// How it went.
    pub outcome: Outcome,
}

/// What a probe calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Method {
    /// `Version`: needs nothing but a living runtime.
    Version,
    /// `PodSandboxStatus` with `verbose`, which no relist makes. containerd then asks the shim, so this one finds a
    /// frozen shim, of which the plain calls show nothing.
    VerbosePodSandboxStatus,
    /// A call that relists make too.
    #[serde(untagged)]
    Relist(Op),
}

/// How a call went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The runtime answered.
    Answered,
    /// There is no such sandbox or container any more.
    Gone,
    /// The runtime refused.
    Failed(RpcError),
    /// There was no answer within the bound.
    Hung,
}

/// What is wrong, if anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Everything answered in time.
    Healthy {
        /// Number of inspections that answered.
        inspected: usize,
    },
    /// Everything answered, but some calls took longer than [`SLOW`].
    Slow {
        /// The slowest first.
        calls: Vec<ProbeCall>,
    },
    /// Inspections that fail: PLEG holds back the events of these pods and inspects them anew in each relist.
    InspectionFails {
        /// The calls that failed.
        calls: Vec<ProbeCall>,
    },
    /// Only the verbose inspection hangs, or takes longer than [`SLOW`]: the shims of these pods do not answer. Nothing else
    /// shows it yet; the next update or stop of one of their containers may hang the node.
    ShimFrozen {
        /// The sandboxes.
        targets: Vec<Target>,
    },
    /// Inspections of these hang, while others answer.
    Hangs {
        /// Which.
        targets: Vec<Target>,
        /// The listing that hangs because of them, if one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        listing: Option<Op>,
    },
    /// A listing hangs or fails, and no inspection shows why.
    ListingFails {
        /// Which.
        op: Op,
        /// How.
        outcome: Outcome,
        /// Number of inspections that answered.
        inspected: usize,
    },
    /// The runtime answers nothing.
    Down {
        /// How its most elementary call went.
        outcome: Outcome,
    },
}

/// Judges the calls of a probe.
pub fn diagnose(calls: &[ProbeCall]) -> Verdict {
    runtime_down(calls)
        .or_else(|| hangs(calls))
        .or_else(|| listing_fails(calls))
        .or_else(|| inspection_fails(calls))
        .or_else(|| shim_frozen(calls))
        .or_else(|| slow(calls))
        .unwrap_or_else(|| Verdict::Healthy { inspected: answered(calls) })
}

fn runtime_down(calls: &[ProbeCall]) -> Option<Verdict> {
    let silent = |call: &&ProbeCall| !call.outcome.is_answer();
    let version = calls.iter().find(|call| call.method == Method::Version).filter(silent);
    // One call alone that hangs is its target's fault, or its listing's.
    let rest = || calls.iter().filter(|call| call.method != Method::Version);
    let all_silent = || rest().nth(2).is_some() && rest().all(|call| silent(&call));
    let call = version.or_else(|| rest().next().filter(|_| all_silent()))?;
    Some(Verdict::Down { outcome: call.outcome.clone() })
}

fn hangs(calls: &[ProbeCall]) -> Option<Verdict> {
    let targets = distinct_targets(inspections(calls).filter(|call| call.outcome == Outcome::Hung));
    if targets.is_empty() {
        return None;
    }
    let listing = listings(calls).find(|(_, call)| call.outcome == Outcome::Hung).map(|(op, _)| op);
    Some(Verdict::Hangs { targets, listing })
}

fn listing_fails(calls: &[ProbeCall]) -> Option<Verdict> {
    let (op, call) = listings(calls).find(|(_, call)| !call.outcome.is_answer())?;
    Some(Verdict::ListingFails { op, outcome: call.outcome.clone(), inspected: answered(calls) })
}

fn inspection_fails(calls: &[ProbeCall]) -> Option<Verdict> {
    let failed = inspections(calls).filter(|call| matches!(call.outcome, Outcome::Failed(_)));
    let calls: Vec<_> = failed.cloned().collect();
    (!calls.is_empty()).then_some(Verdict::InspectionFails { calls })
}

fn shim_frozen(calls: &[ProbeCall]) -> Option<Verdict> {
    let late = calls.iter().filter(|call| {
        call.method == Method::VerbosePodSandboxStatus
            && call.outcome != Outcome::Gone
            && (!call.outcome.is_answer() || call.took >= SLOW)
    });
    let targets = distinct_targets(late);
    (!targets.is_empty()).then_some(Verdict::ShimFrozen { targets })
}

fn slow(calls: &[ProbeCall]) -> Option<Verdict> {
    let mut calls: Vec<_> = calls.iter().filter(|call| call.took >= SLOW).cloned().collect();
    calls.sort_by_key(|call| core::cmp::Reverse(call.took));
    (!calls.is_empty()).then_some(Verdict::Slow { calls })
}

fn listings(calls: &[ProbeCall]) -> impl Iterator<Item = (Op, &ProbeCall)> {
    calls.iter().filter_map(|call| match call.method {
        Method::Relist(op) if op.is_listing() => Some((op, call)),
        _ => None,
    })
}

/// The inspections that a relist makes too.
fn inspections(calls: &[ProbeCall]) -> impl Iterator<Item = &ProbeCall> {
    calls.iter().filter(|call| matches!(call.method, Method::Relist(op) if !op.is_listing()))
}

fn answered(calls: &[ProbeCall]) -> usize {
    inspections(calls).filter(|call| call.outcome.is_answer()).count()
}

fn distinct_targets<'a>(calls: impl Iterator<Item = &'a ProbeCall>) -> Vec<Target> {
    let mut seen = BTreeSet::new();
    let targets = calls.filter_map(|call| call.target.as_ref());
    targets.filter(|target| seen.insert(target.id.clone())).cloned().collect()
}

impl Outcome {
    /// How a call went that was waited for to its end.
    pub fn of_error(error: RpcError) -> Self {
        match error.code.as_str() {
            // containerd 2 gives up on a shim by itself, after two seconds.
            "DeadlineExceeded" => Outcome::Hung,
            _ if error.is_not_found() => Outcome::Gone,
            _ => Outcome::Failed(error),
        }
    }

    /// Whether the runtime answered, be it that there is no such thing.
    pub fn is_answer(&self) -> bool {
        matches!(self, Outcome::Answered | Outcome::Gone)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Answered => f.write_str("answered"),
            Outcome::Gone => f.write_str("gone"),
            Outcome::Failed(error) => write!(f, "{error}"),
            Outcome::Hung => f.write_str("no answer"),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Version => f.pad("Version"),
            Method::Relist(op) => f.pad(op.name()),
            Method::VerbosePodSandboxStatus => f.pad("verbose PodSandboxStatus"),
        }
    }
}

impl Verdict {
    /// The process's exit code: 0 for a healthy runtime, the greater the worse.
    pub fn exit_code(&self) -> u8 {
        match self {
            Verdict::Healthy { .. } => 0,
            Verdict::Slow { .. } => 10,
            Verdict::InspectionFails { .. } => 11,
            Verdict::ShimFrozen { .. } => 12,
            Verdict::Hangs { .. } => 13,
            Verdict::ListingFails { .. } => 14,
            Verdict::Down { .. } => 15,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Healthy { inspected } => {
                write!(f, "Healthy: both lists and {inspected} inspections answered in time.")
            }
            Verdict::Slow { calls } => write!(f, "Slow: {}.", slowest(calls)),
            Verdict::InspectionFails { calls } => {
                let failures: Vec<_> = calls.iter().map(failure).collect();
                write!(f, "Inspections fail, so PLEG holds back what happens to: {}.", failures.join("; "))
            }
            Verdict::ShimFrozen { targets } => write!(
                f,
                "A shim does not answer: {}. Relists do not show it yet; an update or stop of its containers may \
                 hang the node.",
                names(targets)
            ),
            Verdict::Hangs { targets, listing: Some(op) } => {
                write!(
                    f,
                    "{op} hangs for the whole node because of {}, whose inspection hangs.",
                    names(targets)
                )
            }
            Verdict::Hangs { targets, listing: None } => {
                write!(f, "Inspection hangs: {}. Every relist that inspects it hangs.", names(targets))
            }
            Verdict::ListingFails { op, outcome, inspected } => write!(
                f,
                "{op} fails: {outcome}. {inspected} inspections answered, so no single container shows why."
            ),
            Verdict::Down { outcome: Outcome::Hung } => {
                f.write_str("The runtime is frozen: it takes connections and answers nothing.")
            }
            Verdict::Down { outcome } => write!(f, "The runtime is down: {outcome}."),
        }
    }
}

fn names(targets: &[Target]) -> String {
    let names: Vec<_> = targets.iter().map(|target| format!("{target}")).collect();
    names.join("; ")
}

fn failure(call: &ProbeCall) -> String {
    match &call.target {
        Some(target) => format!("{target}: {}", call.outcome),
        None => format!("{}", call.outcome),
    }
}

fn slowest(calls: &[ProbeCall]) -> String {
    let Some(first) = calls.first() else { return "no call".into() };
    let of = first.target.as_ref().map(|target| format!(" of {target}")).unwrap_or_default();
    let (count, millis) = (calls.len(), SLOW / MILLISECOND);
    let took = first.took / MILLISECOND;
    format!("{count} calls took over {millis} ms, the slowest {} {took} ms{of}", first.method)
}

#[cfg(test)]
mod tests;
