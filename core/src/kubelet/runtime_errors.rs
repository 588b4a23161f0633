//! `runtimeErrors`: why the kubelet would not sync pods, in its words and its order.

use crate::{
    pleg::Health,
    time::{Nanos, SECOND, Time},
};
use alloc::{format, string::String, vec::Vec};
use core::fmt;

/// Age of the runtime's last good `Status` answer from which on it counts as down (`maxWaitForContainerRuntime`,
/// kubelet.go), in nanoseconds.
pub const RUNTIME_STATUS_THRESHOLD: Nanos = 30 * SECOND;

/// When the runtime last answered `Status` well, which the kubelet asks every 5 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusCheck {
    /// Nobody looks. Taken for good: a relist does not show it.
    #[default]
    NotObserved,
    /// Never yet.
    Never,
    /// Then.
    Last(Time),
}

/// What `runtimeErrors` looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeChecks<'a> {
    /// The runtime's `Status`.
    pub status: StatusCheck,
    /// PLEG's health.
    pub pleg: Health,
    /// What the health check of Evented PLEG says; none without the gate.
    pub evented: Option<Result<(), &'a str>>,
    /// What the runtime's `Status` calls not ready.
    pub runtime_error: Option<&'a str>,
}

impl RuntimeChecks<'_> {
    /// Everything but PLEG is well, or not observed.
    pub fn of_pleg(pleg: Health) -> Self {
        Self { status: StatusCheck::NotObserved, pleg, evented: None, runtime_error: None }
    }
}

/// Why the kubelet would not sync pods. Prints as Go's `utilerrors.NewAggregate` does: one error as it is, several in
/// brackets, each text once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeErrors(Vec<String>);

impl RuntimeErrors {
    /// `runtimeErrors` (runtime.go, v1.36) at this time.
    pub fn at(now: Time, checks: &RuntimeChecks<'_>) -> Self {
        let status = match checks.status {
            StatusCheck::Never => Some("container runtime status check may not have completed yet"),
            StatusCheck::Last(last) if now.since(last) >= RUNTIME_STATUS_THRESHOLD => {
                Some("container runtime is down")
            }
            StatusCheck::Last(_) | StatusCheck::NotObserved => None,
        };
        let unhealthy = |name: &str, error: &str| format!("{name} is not healthy: {error}");
        let pleg = checks.pleg.error().map(|error| unhealthy("PLEG", &error));
        let evented = checks.evented.and_then(Result::err).map(|error| unhealthy("EventedPLEG", error));
        let own = checks.runtime_error.map(String::from);
        Self(status.map(String::from).into_iter().chain(pleg).chain(evented).chain(own).collect())
    }

    /// These and more, for the node's condition.
    pub fn and(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.0.extend(more);
        self
    }

    /// Whether there is none: pods are synced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors, in the kubelet's order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for RuntimeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut texts: Vec<&str> = Vec::new();
        for text in self.iter() {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        match texts.as_slice() {
            [] => Ok(()),
            [only] => f.write_str(only),
            [first, rest @ ..] => {
                write!(f, "[{first}")?;
                rest.iter().try_for_each(|text| write!(f, ", {text}"))?;
                f.write_str("]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MILLISECOND;
    use alloc::string::ToString;

    const STALE: Health = Health::Stale { age: 185 * SECOND + 300 * MILLISECOND, threshold: 180 * SECOND };
    const NETWORK: &str = "container runtime network not ready: NetworkReady=false";

    #[test]
    fn errors_come_in_the_kubelets_order_and_words() {
        let (healthy, full) =
            (Health::Healthy { age: 0 }, "pleg event channel capacity is full with 1000 events");
        for (status, pleg, evented, runtime_error, text) in [
            (StatusCheck::NotObserved, healthy, None, None, ""),
            (StatusCheck::Last(Time(31 * SECOND)), healthy, Some(Ok(())), None, ""),
            (StatusCheck::Last(Time(30 * SECOND)), healthy, None, None, "container runtime is down"),
            (
                StatusCheck::NotObserved,
                STALE,
                None,
                None,
                "PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s",
            ),
            (
                StatusCheck::Never,
                Health::NeverSucceeded,
                None,
                None,
                "[container runtime status check may not have completed yet, \
                 PLEG is not healthy: pleg has yet to be successful]",
            ),
            (
                StatusCheck::Last(Time(0)),
                STALE,
                Some(Err(full)),
                Some(NETWORK),
                "[container runtime is down, \
                 PLEG is not healthy: pleg was last seen active 3m5.3s ago; threshold is 3m0s, \
                 EventedPLEG is not healthy: pleg event channel capacity is full with 1000 events, \
                 container runtime network not ready: NetworkReady=false]",
            ),
        ] {
            let checks = RuntimeChecks { status, pleg, evented, runtime_error };
            let errors = RuntimeErrors::at(Time(60 * SECOND), &checks);
            assert_eq!(errors.to_string(), text);
            assert_eq!(errors.is_empty(), text.is_empty());
        }
    }

    #[test]
    fn a_text_that_comes_twice_is_said_once() {
        let errors = RuntimeErrors::default().and([NETWORK.into(), NETWORK.into()]);
        assert_eq!(errors.to_string(), NETWORK);
        assert_eq!(errors.and(["x".into()]).to_string(), format!("[{NETWORK}, x]"));
    }
}
