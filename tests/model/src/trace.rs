//! What can be seen of a kubelet's PLEG: what comes out of a step, and what is there after it.

use crate::history::Step;
use pleg_core::{
    id::Uid,
    pleg::{Entry, Event, Output, RelistRequest, Turn, WatchKey},
    pod::State,
    time::{Nanos, Time},
};
use std::collections::BTreeMap;

/// Something that came out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Output(Output),
    /// The version of a watch condition.
    Version(Option<u64>),
    Request(Option<RelistRequest>),
    Turn(Turn),
    Drained(Vec<Event>),
    Health(Option<String>),
    /// Whether the cache took another writer's status.
    Written(bool),
    Restored,
}

/// What is there after a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct After {
    pub(crate) relist_time: Option<Time>,
    pub(crate) recorded: Vec<Uid>,
    pub(crate) to_reinspect: Vec<Uid>,
    pub(crate) conditions: BTreeMap<Uid, BTreeMap<WatchKey, u64>>,
    pub(crate) cache: BTreeMap<Uid, Entry>,
    pub(crate) global_time: Option<Time>,
    pub(crate) channel: usize,
    /// What `Healthy` would say.
    pub(crate) health: Option<String>,
    /// Pod workers whose `GetNewerThan` is answered at once.
    pub(crate) served: Vec<(Uid, Time)>,
    pub(crate) metrics: Numbers,
}

/// The metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) relist_duration: Histogram,
    pub(crate) relist_interval: Histogram,
    pub(crate) pod_relist_duration: Histogram,
    pub(crate) discarded: u64,
    pub(crate) last_seen: Option<i64>,
    pub(crate) running_pods: i64,
    pub(crate) running_containers: BTreeMap<State, i64>,
}

/// Number, sum, and number in each bucket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram {
    pub(crate) count: u64,
    pub(crate) sum: Nanos,
    pub(crate) buckets: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { count: 0, sum: 0, buckets: vec![0; 12] }
    }
}

/// A kubelet's PLEG, the model or the engine.
pub(crate) trait Subject {
    /// Does a step and tells what came out.
    fn step(&mut self, step: &Step) -> Vec<Seen>;
    /// What is there now.
    fn after(&self) -> After;
}

/// Workers that might ask: of every pod, with an age in seconds of their last sync.
pub(crate) fn askers(now: Time) -> impl Iterator<Item = (Uid, Time)> {
    use crate::generate::UIDS;
    use pleg_core::time::SECOND;
    let ages = [0, 1, 2, 5];
    UIDS.into_iter().flat_map(move |uid| ages.map(|age| (Uid::from(uid), now - age * SECOND)))
}
