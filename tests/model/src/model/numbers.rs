//! The model's metrics: every observation is kept, and counted when asked for. And Go's durations as text.

use crate::trace::{Histogram, Numbers};
use pleg_core::{
    pod::{Pod, State},
    time::Nanos,
};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Default)]
pub(super) struct Observations {
    pub(super) relists: Vec<Nanos>,
    pub(super) intervals: Vec<Nanos>,
    pub(super) pod_relists: Vec<Nanos>,
    pub(super) discarded: u64,
    pub(super) last_seen: Option<i64>,
    running_pods: i64,
    running_containers: BTreeMap<State, i64>,
}

impl Observations {
    /// A state that no container is in keeps its last number.
    pub(super) fn count_running(&mut self, pods: &[Arc<Pod>]) {
        self.running_pods = 0;
        let mut containers = BTreeMap::new();
        for pod in pods {
            if pod.sandboxes.iter().any(|sandbox| sandbox.state == State::Running) {
                self.running_pods += 1;
            }
            for container in &pod.containers {
                *containers.entry(container.state).or_insert(0) += 1;
            }
        }
        for (state, number) in containers {
            self.running_containers.insert(state, number);
        }
    }

    pub(super) fn numbers(&self) -> Numbers {
        Numbers {
            relist_duration: histogram(&self.relists),
            relist_interval: histogram(&self.intervals),
            pod_relist_duration: histogram(&self.pod_relists),
            discarded: self.discarded,
            last_seen: self.last_seen,
            running_pods: self.running_pods,
            running_containers: self.running_containers.clone(),
        }
    }
}

/// Prometheus' default buckets, in milliseconds.
const BOUNDS: [i64; 11] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

fn histogram(observations: &[Nanos]) -> Histogram {
    let place = |nanos: Nanos| BOUNDS.iter().filter(|bound| nanos > **bound * 1_000_000).count();
    let in_bucket = |bucket| observations.iter().filter(|nanos| place(**nanos) == bucket).count() as u64;
    Histogram {
        count: observations.len() as u64,
        sum: observations.iter().sum(),
        buckets: (0..=BOUNDS.len()).map(in_bucket).collect(),
    }
}

/// `time.Duration.String` for a second and more; no shorter one occurs in what the kubelet says of a threshold.
pub(super) fn go_duration(nanos: Nanos) -> String {
    let seconds = nanos / 1_000_000_000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = String::new();
    if hours > 0 {
        text += &format!("{hours}h");
    }
    if seconds >= 60 {
        text += &format!("{minutes}m");
    }
    text += &format!("{rest}");
    let fraction = nanos % 1_000_000_000;
    if fraction > 0 {
        text += format!(".{fraction:09}").trim_end_matches('0');
    }
    text + "s"
}
