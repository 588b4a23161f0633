//! The node's `Ready` condition: what `kubectl describe node` shows, and when it can change.

use super::RuntimeErrors;
use crate::time::{Nanos, SECOND, Time};
use alloc::string::{String, ToString};

/// Time between two computations of the node's conditions (`nodeStatusUpdateFrequency`, unless configured), in
/// nanoseconds. Between them the node shows what was true at the last.
pub const NODE_STATUS_PERIOD: Nanos = 10 * SECOND;

/// The `Ready` condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCondition {
    /// Its status.
    pub ready: bool,
    /// `KubeletReady` or `KubeletNotReady`.
    pub reason: &'static str,
    /// The text.
    pub message: String,
}

impl NodeCondition {
    /// `ReadyCondition` (nodestatus/setters.go, v1.36). `others` are the errors of network, storage, node shutdown and
    /// missing capacity, in this order.
    pub fn of(errors: RuntimeErrors, others: impl IntoIterator<Item = String>) -> Self {
        let errors = errors.and(others);
        let ready = errors.is_empty();
        let message = if ready { "kubelet is posting ready status".into() } else { errors.to_string() };
        Self { ready, reason: if ready { "KubeletReady" } else { "KubeletNotReady" }, message }
    }
}

/// When the kubelet computes the node's conditions. Its own moments are not visible from outside: these count from
/// the start of the observation, so the real ones are up to one [`NODE_STATUS_PERIOD`] earlier or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeStatusTimer {
    start: Time,
}

impl NodeStatusTimer {
    /// A timer that fires one period after `start` for the first time.
    pub fn start(start: Time) -> Self {
        Self { start }
    }

    /// The last computation by `time`; none before the first.
    pub fn last(&self, time: Time) -> Option<Time> {
        let periods = time.since(self.start).div_euclid(NODE_STATUS_PERIOD);
        (periods > 0).then(|| self.start + periods.saturating_mul(NODE_STATUS_PERIOD))
    }

    /// The first computation after `time`.
    pub fn next(&self, time: Time) -> Time {
        self.last(time).unwrap_or(self.start) + NODE_STATUS_PERIOD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kubelet::RuntimeChecks, pleg::Health};

    #[test]
    fn the_condition_is_what_describe_node_shows() {
        let ready = NodeCondition::of(RuntimeErrors::default(), []);
        assert_eq!(
            (ready.ready, ready.reason, ready.message.as_str()),
            (true, "KubeletReady", "kubelet is posting ready status")
        );
        let pleg = RuntimeErrors::at(Time(0), &RuntimeChecks::of_pleg(Health::NeverSucceeded));
        let not_ready = NodeCondition::of(pleg, ["node is shutting down".into()]);
        assert_eq!(
            (not_ready.ready, not_ready.reason, not_ready.message.as_str()),
            (
                false,
                "KubeletNotReady",
                "[PLEG is not healthy: pleg has yet to be successful, node is shutting down]"
            )
        );
    }

    #[test]
    fn it_is_computed_every_ten_seconds() {
        let timer = NodeStatusTimer::start(Time(3 * SECOND));
        for (time, last, next) in [
            (0, None, 13),
            (3, None, 13),
            (12, None, 13),
            (13, Some(13), 23),
            (22, Some(13), 23),
            (23, Some(23), 33),
        ] {
            let last = last.map(|seconds: i64| Time(seconds * SECOND));
            assert_eq!(
                (timer.last(Time(time * SECOND)), timer.next(Time(time * SECOND))),
                (last, Time(next * SECOND))
            );
        }
        assert_eq!(timer.next(Time(i64::MAX)), Time(i64::MAX));
        assert_eq!(timer.last(Time(i64::MIN)), None);
    }
}
