//! The kubelet's PLEG metrics as plain numbers.

use crate::{
    cri::ContainerStatus,
    id::CriId,
    pod::{Pod, PodStatus, State},
    time::{MILLISECOND, Nanos},
};
use alloc::{collections::BTreeMap, sync::Arc};
use serde::{Deserialize, Serialize};

/// Upper bounds of the kubelet's histogram buckets, in nanoseconds: 5 ms to 10 s. What took longer is only in
/// the last, unbounded one: that is why the kubelet's own metrics cannot tell a hang of 11 s from one of 4 minutes.
pub const BUCKETS: [Nanos; 11] = [
    5 * MILLISECOND,
    10 * MILLISECOND,
    25 * MILLISECOND,
    50 * MILLISECOND,
    100 * MILLISECOND,
    250 * MILLISECOND,
    500 * MILLISECOND,
    1_000 * MILLISECOND,
    2_500 * MILLISECOND,
    5_000 * MILLISECOND,
    10_000 * MILLISECOND,
];

/// A histogram of durations, with the kubelet's buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    /// Number of observations.
    pub count: u64,
    /// Their sum in nanoseconds.
    pub sum: Nanos,
    /// Observations up to each bound of [`BUCKETS`] and above the one before it (not cumulated); the last are
    /// those above all bounds.
    pub buckets: [u64; BUCKETS.len() + 1],
}

impl Durations {
    pub(super) fn observe(&mut self, nanos: Nanos) {
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(nanos);
        let place = BUCKETS.partition_point(|bound| *bound < nanos);
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket = bucket.saturating_add(1);
        }
    }
}

/// What the kubelet exports of PLEG, with the prefix `kubelet_`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// `pleg_relist_duration_seconds`. Observed when a relist ends: one that hangs is not in it.
    pub relist_duration: Durations,
    /// `pleg_relist_interval_seconds`. From the start of the last good listing to the start of a relist.
    pub relist_interval: Durations,
    /// `pleg_pod_relist_duration_seconds` (v1.36).
    pub pod_relist_duration: Durations,
    /// `evented_pleg_connection_error_count`.
    pub evented_connection_errors: u64,
    /// `evented_pleg_connection_success_count`.
    pub evented_connections: u64,
    /// `evented_pleg_connection_latency_seconds`: from a CRI event's own time to its arrival. Negative when the
    /// runtime's clock is ahead.
    pub evented_latency: Durations,
    /// `pleg_discard_events`.
    pub discard_events: u64,
    /// `pleg_last_seen_seconds`; none as long as it was never set.
    pub last_seen_seconds: Option<i64>,
    /// `running_pods`: pods with a running sandbox.
    pub running_pods: i64,
    /// `running_containers{container_state}`. A state that no container is in keeps its last number (`updateRunningPodAndContainerMetrics`,
    /// generic.go), so the kubelet reports containers that are long gone.
    pub running_containers: BTreeMap<State, i64>,
}

impl Metrics {
    pub(super) fn count_discard(&mut self) {
        self.discard_events = self.discard_events.saturating_add(1);
    }

    pub(super) fn count_connection(&mut self) {
        self.evented_connections = self.evented_connections.saturating_add(1);
    }

    pub(super) fn count_connection_error(&mut self) {
        self.evented_connection_errors = self.evented_connection_errors.saturating_add(1);
    }

    /// Evented PLEG's way: by the difference of a pod's new status to the cached one.
    pub(super) fn change_running(&mut self, cached: Option<&PodStatus>, new: &PodStatus) {
        let pods = sandbox_runs(new) - cached.map_or(0, sandbox_runs);
        self.running_pods = self.running_pods.saturating_add(pods);
        let old = cached.into_iter().flat_map(|status| &status.containers).map(|c| (c.state, -1));
        for (state, by) in new.containers.iter().map(|c| (c.state, 1)).chain(old) {
            let count = self.running_containers.entry(state.into()).or_default();
            *count = count.saturating_add(by);
        }
    }

    pub(super) fn set_running(&mut self, listed: &Tally) {
        self.running_pods = listed.pods;
        for (state, count) in listed.containers() {
            if count != 0 {
                self.running_containers.insert(state, count);
            }
        }
    }
}

/// 1 when a *container* status has the sandbox's id and runs (`getPodSandboxState`, evented.go). Most runtimes do not
/// report the sandbox as a container; with those `running_pods` never moves here.
fn sandbox_runs(status: &PodStatus) -> i64 {
    let is_sandbox = |id: &CriId| status.sandboxes.iter().any(|sandbox| sandbox.id == *id);
    let runs = |c: &ContainerStatus| State::from(c.state) == State::Running && is_sandbox(&c.id);
    i64::from(status.containers.iter().any(runs))
}

/// Running pods, and containers by state, of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pods: i64,
    created: i64,
    running: i64,
    exited: i64,
    unknown: i64,
}

impl Tally {
    pub(super) fn add(&mut self, pod: &Pod) {
        self.count(pod, 1);
    }

    pub(super) fn remove(&mut self, pod: &Pod) {
        self.count(pod, -1);
    }

    pub(super) fn replace(&mut self, old: Option<&Arc<Pod>>, new: Option<&Arc<Pod>>) {
        old.inspect(|pod| self.remove(pod));
        new.inspect(|pod| self.add(pod));
    }

    fn count(&mut self, pod: &Pod, by: i64) {
        if pod.sandboxes.iter().any(|sandbox| sandbox.state == State::Running) {
            self.pods = self.pods.saturating_add(by);
        }
        for container in &pod.containers {
            let count = self.of(container.state);
            *count = count.saturating_add(by);
        }
    }

    fn of(&mut self, state: State) -> &mut i64 {
        match state {
            State::Created => &mut self.created,
            State::Running => &mut self.running,
            State::Exited => &mut self.exited,
            State::Unknown => &mut self.unknown,
        }
    }

    fn containers(&self) -> [(State, i64); 4] {
        [
            (State::Created, self.created),
            (State::Running, self.running),
            (State::Exited, self.exited),
            (State::Unknown, self.unknown),
        ]
    }
}
