//! The metrics as an exporter writes them: the one list of their names, helps and types.

use super::{Durations, Engine, relist::Phase};
use crate::{
    pod::State,
    time::{Nanos, Time},
};
use alloc::{vec, vec::Vec};

/// Type of a metric, in the words of Prometheus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// Only ever grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Observations by size, with the bounds of [`BUCKETS`](super::BUCKETS).
    Histogram,
}

/// A number of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue<'a> {
    /// A number of things.
    Number(i64),
    /// A duration in nanoseconds, to be exported in seconds.
    Duration(Nanos),
    /// Observed durations in nanoseconds, to be exported in seconds. The kubelet's buckets are cumulative, these are not.
    Durations(&'a Durations),
}

/// One series of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Name and value of its label, if it has one.
    pub label: Option<(&'static str, &'static str)>,
    /// Its number.
    pub value: MetricValue<'a>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric<'a> {
    /// Its name. Those of the kubelet are the kubelet's own, from `kubelet_` on.
    pub name: &'static str,
    /// What it is; for the kubelet's, in the kubelet's words (`pkg/kubelet/metrics/metrics.go`, v1.36).
    pub help: &'static str,
    /// Its type.
    pub kind: MetricType,
    /// Its series. None as long as the kubelet never set it.
    pub samples: Vec<Sample<'a>>,
}

impl Engine {
    /// All metrics at this time: the kubelet's, then what the kubelet's cannot show, under the prefix `plegscope_`.
    ///
    /// The kubelet observes duration and interval of a relist when it ends or begins, so one that hangs moves neither
    /// (kubernetes issue 87108): `plegscope_relist_running_seconds` does.
    pub fn exported(&self, now: Time) -> impl Iterator<Item = Metric<'_>> {
        self.of_relists().into_iter().chain(self.of_evented()).chain(self.of_plegscope(now))
    }

    fn of_relists(&self) -> Vec<Metric<'_>> {
        let metrics = &self.state.metrics;
        let mut all = vec![
            histogram(
                "kubelet_pleg_relist_duration_seconds",
                "Duration in seconds for relisting pods in PLEG.",
                &metrics.relist_duration,
            ),
            histogram(
                "kubelet_pleg_relist_interval_seconds",
                "Interval in seconds between relisting in PLEG.",
                &metrics.relist_interval,
            ),
        ];
        if self.config.profile.requests {
            all.push(histogram(
                "kubelet_pleg_pod_relist_duration_seconds",
                "Duration in seconds for relisting a single pod in PLEG.",
                &metrics.pod_relist_duration,
            ));
        }
        all.extend([
            counter(
                "kubelet_pleg_discard_events",
                "The number of discard events in PLEG.",
                metrics.discard_events,
            ),
            Metric {
                name: "kubelet_pleg_last_seen_seconds",
                help: "Timestamp in seconds when PLEG was last seen active.",
                kind: MetricType::Gauge,
                samples: metrics.last_seen_seconds.map(number).into_iter().collect(),
            },
            gauge(
                "kubelet_running_pods",
                "Number of pods that have a running pod sandbox",
                number(metrics.running_pods),
            ),
            Metric {
                name: "kubelet_running_containers",
                help: "Number of containers currently running",
                kind: MetricType::Gauge,
                samples: metrics
                    .running_containers
                    .iter()
                    .map(|(state, count)| of_state(*state, *count))
                    .collect(),
            },
        ]);
        all
    }

    fn of_evented(&self) -> [Metric<'_>; 3] {
        let metrics = &self.state.metrics;
        [
            counter(
                "kubelet_evented_pleg_connection_error_count",
                "The number of errors encountered during the establishment of streaming connection with the CRI runtime.",
                metrics.evented_connection_errors,
            ),
            counter(
                "kubelet_evented_pleg_connection_success_count",
                "The number of times a streaming client was obtained to receive CRI Events.",
                metrics.evented_connections,
            ),
            histogram(
                "kubelet_evented_pleg_connection_latency_seconds",
                "The latency of streaming connection with the CRI runtime, measured in seconds.",
                &metrics.evented_latency,
            ),
        ]
    }

    fn of_plegscope(&self, now: Time) -> [Metric<'_>; 4] {
        let running = self.running_relist();
        let age = running.map_or(0, |(since, _)| now.since(since));
        let phase = running.map(|(_, phase)| phase);
        [
            gauge(
                "plegscope_relist_running_seconds",
                "Age of the relist that runs now, 0 when none does.",
                Sample { label: None, value: MetricValue::Duration(age) },
            ),
            Metric {
                name: "plegscope_relist_phase",
                help: "1 for what the relist that runs now is doing.",
                kind: MetricType::Gauge,
                samples: [
                    None,
                    Some(Phase::Listing),
                    Some(Phase::Reconciling),
                    Some(Phase::Inspecting),
                    Some(Phase::Checking),
                ]
                .map(|each| Sample {
                    label: Some(("phase", each.map_or("idle", Phase::name))),
                    value: MetricValue::Number(i64::from(each == phase)),
                })
                .into(),
            },
            counter(
                "plegscope_events_lost_total",
                "Lifecycle events lost for good because the event channel was full.",
                self.state.metrics.discard_events,
            ),
            gauge(
                "plegscope_event_channel_events",
                "Lifecycle events that wait in the event channel.",
                number(i64::try_from(self.channel_len()).unwrap_or(i64::MAX)),
            ),
        ]
    }
}

fn number<'a>(value: i64) -> Sample<'a> {
    Sample { label: None, value: MetricValue::Number(value) }
}

fn of_state<'a>(state: State, count: i64) -> Sample<'a> {
    Sample { label: Some(("container_state", state.name())), ..number(count) }
}

fn counter<'a>(name: &'static str, help: &'static str, count: u64) -> Metric<'a> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Metric { name, help, kind: MetricType::Counter, samples: vec![number(count)] }
}

fn gauge<'a>(name: &'static str, help: &'static str, sample: Sample<'a>) -> Metric<'a> {
    Metric { name, help, kind: MetricType::Gauge, samples: vec![sample] }
}

fn histogram<'a>(name: &'static str, help: &'static str, durations: &'a Durations) -> Metric<'a> {
    let samples = vec![Sample { label: None, value: MetricValue::Durations(durations) }];
    Metric { name, help, kind: MetricType::Histogram, samples }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pleg::{Config, Listing, Output, Profile},
        pod::{Container, ContainerId, Pod, PodStatus},
        time::SECOND,
    };
    use alloc::{collections::BTreeSet, sync::Arc};

    fn value<'a>(engine: &'a Engine, now: i64, name: &str, label: &str) -> Option<MetricValue<'a>> {
        let metric = engine.exported(Time(now)).find(|metric| metric.name == name).unwrap();
        let labelled = |sample: &Sample<'_>| sample.label.map_or("", |(_, value)| value) == label;
        metric.samples.into_iter().find(labelled).map(|sample| sample.value)
    }

    fn pod() -> Arc<Pod> {
        let container = |id: &str, state| {
            let id = ContainerId { runtime: "cri".into(), id: id.into() };
            Container { id, state, ..Container::default() }
        };
        Arc::new(Pod {
            uid: "p".into(),
            sandboxes: vec![container("s", State::Running)],
            containers: vec![container("a", State::Running), container("b", State::Exited)],
            ..Pod::default()
        })
    }

    #[test]
    fn a_relist_that_hangs_is_seen_while_it_hangs() {
        use MetricValue::{Duration, Number};
        let mut engine = Engine::new(Config { channel_capacity: 2, ..Config::default() });
        assert_eq!(value(&engine, 9, "plegscope_relist_phase", "idle"), Some(Number(1)));
        engine.handle_relist(Time(SECOND));
        assert_eq!(
            value(&engine, 5 * SECOND, "plegscope_relist_running_seconds", ""),
            Some(Duration(4 * SECOND))
        );
        assert_eq!(value(&engine, 0, "plegscope_relist_phase", "listing"), Some(Number(1)));
        engine.handle_listed(Time(6 * SECOND), Listing::Full(vec![pod()]));
        assert_eq!(value(&engine, 0, "plegscope_relist_phase", "inspecting"), Some(Number(1)));
        assert_eq!(value(&engine, 0, "plegscope_relist_phase", "listing"), Some(Number(0)));
        engine.handle_inspected(Time(7 * SECOND), &"p".into(), Ok(PodStatus::default().into()));
        while let Some(output) = engine.poll_output() {
            assert!(!matches!(output, Output::Ignored { .. }));
        }
        assert_eq!(value(&engine, 9 * SECOND, "plegscope_relist_running_seconds", ""), Some(Duration(0)));
        // Three things were new, and two events fit in.
        for name in ["kubelet_pleg_discard_events", "plegscope_events_lost_total"] {
            assert_eq!(value(&engine, 0, name, ""), Some(Number(1)), "{name}");
        }
        assert_eq!(value(&engine, 0, "plegscope_event_channel_events", ""), Some(Number(2)));
        assert_eq!(value(&engine, 0, "kubelet_running_pods", ""), Some(Number(1)));
        assert_eq!(value(&engine, 0, "kubelet_running_containers", "exited"), Some(Number(1)));
        assert_eq!(value(&engine, 0, "kubelet_running_containers", "created"), None);
        let took = value(&engine, 0, "kubelet_pleg_relist_duration_seconds", "");
        assert!(
            matches!(took, Some(MetricValue::Durations(Durations { count: 1, sum, .. })) if *sum == 6 * SECOND)
        );
    }

    #[test]
    fn last_seen_moves_only_when_health_is_asked() {
        let mut engine = Engine::new(Config::default());
        engine.handle_relist(Time(3 * SECOND));
        engine.handle_listed(Time(4 * SECOND), Listing::Full(vec![]));
        assert_eq!(value(&engine, 0, "kubelet_pleg_last_seen_seconds", ""), None);
        engine.check_health(Time(9 * SECOND));
        assert_eq!(value(&engine, 0, "kubelet_pleg_last_seen_seconds", ""), Some(MetricValue::Number(3)));
    }

    #[test]
    fn names_are_told_apart_and_follow_the_release() {
        let names = |profile| {
            let engine = Engine::new(Config { profile, ..Config::default() });
            engine.exported(Time(0)).map(|metric| metric.name).collect::<Vec<_>>()
        };
        let (new, old) = (names(Profile::V1_36), names(Profile::V1_35));
        assert_eq!(new.iter().collect::<BTreeSet<_>>().len(), new.len());
        assert_eq!(new.len(), 14);
        let only_new: Vec<_> = new.iter().filter(|name| !old.contains(name)).collect();
        assert_eq!(only_new, [&"kubelet_pleg_pod_relist_duration_seconds"]);
    }
}
