//! How often each kind of thing happened, so that a generator that has become tame is seen.

use crate::trace::{After, Seen};
use pleg_core::pleg::{Output, PlegState, RelistRequest, Turn};
use std::{collections::BTreeMap, fmt};

/// Kinds of things and how often they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    /// Everything that is counted.
    pub const KINDS: [&'static str; 34] = [
        "histories",
        "steps",
        "relists",
        "relists of one pod",
        "listings that failed",
        "listings of one pod that failed",
        "inspections",
        "statuses written",
        "statuses deleted",
        "statuses that the cache refused",
        "pods held",
        "addresses kept",
        "transitions",
        "transitions to unknown",
        "ContainerStarted",
        "ContainerDied",
        "ContainerRemoved",
        "PodSync",
        "ConditionMet",
        "events discarded",
        "exit codes",
        "events drained",
        "requests served",
        "requests void",
        "requests dropped",
        "turns that waited",
        "turns of a stopped loop",
        "condition checks",
        "conditions replaced",
        "reinspections pending",
        "steps while unhealthy",
        "workers stalled",
        "inputs ignored",
        "restores",
    ];

    /// How often this happened.
    pub fn get(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, kind: &'static str, times: u64) {
        *self.0.entry(kind).or_default() += times;
    }

    pub(crate) fn merge(&mut self, other: &Counts) {
        for (kind, times) in &other.0 {
            self.add(kind, *times);
        }
    }

    pub(crate) fn add_step(&mut self, seen: &[Seen], after: &After) {
        self.add("steps", 1);
        self.add("steps while unhealthy", u64::from(after.health.is_some() && after.relist_time.is_some()));
        self.add("reinspections pending", after.to_reinspect.len() as u64);
        self.add("workers stalled", u64::from(after.served.is_empty()));
        for seen in seen {
            self.add_seen(seen);
        }
    }

    fn add_seen(&mut self, seen: &Seen) {
        let kind = match seen {
            Seen::Output(output) => return self.add_output(output),
            Seen::Version(Some(1..)) => "conditions replaced",
            Seen::Request(Some(RelistRequest::Fresh(_))) | Seen::Turn(Turn::RelistPod(_)) => {
                "requests served"
            }
            Seen::Request(Some(RelistRequest::Void(_))) | Seen::Turn(Turn::RequestVoid(_)) => "requests void",
            Seen::Turn(Turn::WaitUntil(_)) => "turns that waited",
            Seen::Turn(Turn::Stopped) => "turns of a stopped loop",
            Seen::Restored => "restores",
            Seen::Drained(events) => return self.add("events drained", events.len() as u64),
            Seen::Version(_) | Seen::Request(None) | Seen::Turn(_) | Seen::Health(_) | Seen::Written(_) => {
                return;
            }
        };
        self.add(kind, 1);
    }

    fn add_output(&mut self, output: &Output) {
        let kind = match output {
            Output::Relisting => "relists",
            Output::RelistingPod { .. } => "relists of one pod",
            Output::Inspect { .. } => "inspections",
            Output::ListFailed { .. } => "listings that failed",
            Output::PodListFailed { .. } => "listings of one pod that failed",
            Output::Transition { new: PlegState::Unknown, .. } => "transitions to unknown",
            Output::Transition { .. } => "transitions",
            Output::StatusWritten { accepted: false, .. } => "statuses that the cache refused",
            Output::StatusWritten { .. } => "statuses written",
            Output::StatusDeleted { .. } => "statuses deleted",
            Output::Held { .. } => "pods held",
            Output::Event(event) => event.kind.name(),
            Output::Discarded(_) => "events discarded",
            Output::Finished { .. } => "exit codes",
            Output::RequestDropped { .. } => "requests dropped",
            Output::CheckConditions { .. } => "condition checks",
            Output::Ignored { .. } => "inputs ignored",
            // One for each relist; Evented PLEG's events are not part of the model.
            Output::PodTimeObserved { .. }
            | Output::GlobalTime { .. }
            | Output::Relisted { .. }
            | Output::PodRelisted { .. }
            | Output::Evented(_) => return,
        };
        self.add(kind, 1);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Counts::KINDS.iter().try_for_each(|kind| writeln!(f, "{:>12}  {kind}", self.get(kind)))
    }
}
