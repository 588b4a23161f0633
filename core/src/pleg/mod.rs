//! The kubelet's generic PLEG as a sans-I/O engine.
//!
//! # The law
//!
//! After every `handle_*` call, drain [`Engine::poll_output`]; answer every [`Output::Inspect`] (and
//! [`Output::CheckConditions`]) before the next relist.
//!
//! ```text
//!  handle_relist ──► Relisting ── list all pods ──► handle_listed ──► Transition… Inspect ─┐
//!                                                                                          │ inspect the pod
//!            ┌── StatusWritten, Event… then the next pod: Transition… Inspect ◄── handle_inspected
//!            ▼
//!     GlobalTime, Relisted          (after the last pod; a failed listing ends with ListFailed, Relisted)
//! ```
//!
//! An input out of turn is ignored and said so: [`Output::Ignored`]. No input panics. Time is an argument and
//! should not run backwards; where it does, durations come out negative and nothing else happens.
//!
//! # What a relist costs
//!
//! With [`Listing::Changed`] only the pods that changed are looked at, and those that wait for something:
//! a failed inspection, a refused cache write, a request, a watch condition, an on-demand relist since the last
//! listing. A relist in which nothing changed walks nothing and does not allocate. [`Listing::Full`] looks at
//! every pod, as the kubelet does; both give the same outputs.
//!
//! # Releases
//!
//! [`RELEASES`] says which kubelets can be followed, and which of them are alike: v1.24 to v1.31 go over the pods in
//! passes and retry failed inspections apart, v1.32 to v1.35 know watch conditions, v1.36 sends `PodSync` after a
//! reinspection and relists single pods on request, v1.37 asks for such a relist where the runtime says that a container
//! stopped. [`Profile`] holds the differences one by one.
//!
//! # Order
//!
//! Pods are reconciled in the order of their UIDs. Upstream walks a Go map, whose order is random from relist
//! to relist; a recording that knows its order can give it with [`Engine::set_order`].

mod cache;
mod channel;
mod checkpoint;
mod config;
mod event_stream;
mod event_text;
mod evented;
mod exposition;
mod listing;
mod log;
mod metrics;
mod output;
mod passes;
mod plan;
mod reconcile;
mod record;
mod relist;
mod requests;
#[cfg(test)]
mod tests;
mod transition;
mod watch;
mod worker;

pub use cache::{Cache, Entry};
pub use checkpoint::EngineCheckpoint;
pub use config::{
    CHANNEL_CAPACITY, Config, EVENTED_RELIST_PERIOD, EVENTED_RELIST_THRESHOLD, EntryTime, Evented, Profile,
    RELEASES, RELIST_PERIOD, RELIST_THRESHOLD, REQUEST_CAPACITY, known_releases,
};
pub use event_stream::{CACHE_TIME_PERIOD, EventStream, STREAM_RETRIES, StreamAction};
pub use evented::EventedOutput;
pub use exposition::{Metric, MetricType, MetricValue, Sample};
pub use listing::Listing;
pub use log::{LogLine, LogValue, log_line};
pub use metrics::{BUCKETS, Durations, Metrics};
pub use output::{ErrorText, Event, EventType, Health, Output, PlegState};
pub use relist::Phase;
pub use requests::RelistRequest;
pub use watch::{WatchKey, running_container_condition};
pub use worker::{RelistLoop, Turn};

use crate::{
    id::Uid,
    time::{Nanos, Time},
};
use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use channel::Channel;
use metrics::Tally;
use passes::Passes;
use record::Record;
use relist::Relist;
use serde::{Deserialize, Serialize};
use watch::WatchConditions;

/// `GenericPLEG`, with its event channel and the pod cache that it writes.
#[derive(Clone, Debug)]
pub struct Engine {
    config: Config,
    state: State,
    /// What was decided and not polled yet.
    outputs: VecDeque<Output>,
    /// Order of the pods in the next relist; see [`Engine::set_order`].
    order: Vec<Uid>,
}

/// All that the engine remembers: what a checkpoint holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct State {
    records: BTreeMap<Uid, Record>,
    cache: Cache,
    channel: Channel,
    /// `podsToReinspect`: inspections that failed, and `RequestReinspect`. A uid without a record waits for one.
    to_reinspect: BTreeSet<Uid>,
    /// Records that the next relist must compare although their pod is listed as before: the cache refused
    /// their status, or a pod relist moved them since.
    unsettled: BTreeSet<Uid>,
    watch: WatchConditions,
    /// Only of a kubelet that relists in passes.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    passes: Passes,
    /// `relistRequests`, with the time of each request.
    requests: VecDeque<(Uid, Time)>,
    /// Start of the last good listing.
    relist_time: Option<Time>,
    /// Running pods and containers in the last good listing.
    listed: Tally,
    metrics: Metrics,
    /// A process-wide flag upstream.
    evented_in_use: bool,
    relist: Option<Relist>,
    /// Pods that the running relist has yet to reconcile.
    pending: VecDeque<Uid>,
}

impl Engine {
    /// An engine that has seen nothing yet, as after a start of the kubelet.
    pub fn new(config: Config) -> Self {
        Self { config, state: State::default(), outputs: VecDeque::new(), order: Vec::new() }
    }

    /// The next decision, in the order of upstream's effects.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Takes up to `max` events out of the channel, oldest first: the consumer, upstream's `syncLoop`.
    pub fn drain_channel(&mut self, max: usize) -> Vec<Event> {
        self.state.channel.drain(max)
    }

    /// How many events wait in the channel.
    pub fn channel_len(&self) -> usize {
        self.state.channel.len()
    }

    /// `Healthy`, at any time and without a trace. See [`Engine::check_health`] for the kubelet's own check.
    pub fn health(&self, now: Time) -> Health {
        let Some(relist_time) = self.state.relist_time else { return Health::NeverSucceeded };
        let (age, threshold) = (now.since(relist_time), self.config.relist_threshold);
        if age > threshold { Health::Stale { age, threshold } } else { Health::Healthy { age } }
    }

    /// `Healthy` as the kubelet asks it: also moves `pleg_last_seen_seconds` to the last good listing. Upstream
    /// sets that gauge nowhere else (`Healthy`, generic.go), so it stands still when nobody asks.
    pub fn check_health(&mut self, now: Time) -> Health {
        if let Some(relist_time) = self.state.relist_time {
            self.state.metrics.last_seen_seconds = Some(relist_time.unix_seconds());
        }
        self.health(now)
    }

    /// Start of the last good listing; none before the first.
    pub fn relist_time(&self) -> Option<Time> {
        self.state.relist_time
    }

    /// The pod cache.
    pub fn cache(&self) -> &Cache {
        &self.state.cache
    }

    /// The pod cache, for another writer of it than PLEG.
    pub fn cache_mut(&mut self) -> &mut Cache {
        &mut self.state.cache
    }

    /// The metrics, under their meaning. [`Engine::exported`] has them under the kubelet's names.
    pub fn metrics(&self) -> &Metrics {
        &self.state.metrics
    }

    /// Whether Evented PLEG writes the cache too.
    fn evented_in_use(&self) -> bool {
        self.config.evented_gate && self.state.evented_in_use
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// `Update`: another period and threshold, in nanoseconds. Health follows the new threshold at once.
    pub fn set_relist_duration(&mut self, period: Nanos, threshold: Nanos) {
        self.config.relist_period = period;
        self.config.relist_threshold = threshold;
    }

    /// UIDs with a pod record, in order. A pod that never showed a container or sandbox keeps its record for
    /// good, gone or not: only a state change advances a record, and only that deletes it (`reconcilePodRecord`,
    /// generic.go v1.36.2).
    pub fn recorded(&self) -> impl Iterator<Item = &Uid> {
        self.state.records.keys()
    }

    /// UIDs to be inspected in the next relist though nothing changed, in order.
    pub fn to_reinspect(&self) -> impl Iterator<Item = &Uid> {
        self.state.to_reinspect.iter()
    }

    /// How many changed pods the running relist has yet to reconcile, the one being inspected not counted.
    pub fn pending(&self) -> usize {
        self.state.pending.len()
    }

    /// Pods to reconcile first, and in this order, in the next relist; all others follow in the order of their
    /// UIDs. For recordings that know the order of upstream's map: it decides which events overflow.
    pub fn set_order(&mut self, order: &[Uid]) {
        self.order = order.to_vec();
    }

    /// The engine's whole memory, for a reader that was not there from the start. Outputs that were not
    /// polled are not part of it: drain them first.
    pub fn checkpoint(&self) -> EngineCheckpoint {
        EngineCheckpoint::of(&self.state)
    }

    /// An engine that goes on where `checkpoint` was taken, also in the middle of a relist.
    pub fn restore(config: Config, checkpoint: EngineCheckpoint) -> Self {
        Self { state: checkpoint.into_state(), ..Self::new(config) }
    }

    fn push(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    fn ignore(&mut self, input: &'static str) {
        self.push(Output::Ignored { input });
    }
}
