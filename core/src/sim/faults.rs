//! What is wrong with the simulated runtime at a moment: a slow pod, a hung container, a restart.

use crate::{
    cri::{Op, RpcError},
    id::{CriId, Uid},
    time::{MILLISECOND, Nanos, Time},
};

/// The faults that are there, each until a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    pub(super) slow: Option<Slow>,
    pub(super) hang: Option<Hang>,
    pub(super) restart: Option<Restart>,
}

/// Inspections of one pod take long.
#[derive(Clone, Debug)]
pub(super) struct Slow {
    pub(super) pod: Uid,
    pub(super) until: Time,
}

/// `ContainerStatus` of one container answers to nobody, as when a shim is stuck in a call that holds the container's
/// lock. Listings and all other inspections are fine.
#[derive(Clone, Debug)]
pub(super) struct Hang {
    pub(super) container: CriId,
    pub(super) until: Time,
    /// Whether calls end with an error rather than an answer.
    pub(super) fails: bool,
}

/// The runtime is restarted: nobody listens, then it listens and is not ready.
#[derive(Clone, Debug)]
pub(super) struct Restart {
    pub(super) listens: Time,
    pub(super) until: Time,
}

impl Faults {
    /// The error that every call gets, and after how long.
    pub(super) fn outage(&self, now: Time) -> Option<(Nanos, RpcError)> {
        let restart = self.restart.as_ref().filter(|restart| now < restart.until)?;
        Some(if now < restart.listens {
            (MILLISECOND / 5, RpcError::new("Unavailable", CONNECTION_REFUSED))
        } else {
            (MILLISECOND, RpcError::new("Unknown", "server is not initialized yet"))
        })
    }

    /// How long the container still hangs, and whether the call fails in the end.
    pub(super) fn hang(&self, now: Time, op: Op, id: &CriId) -> Option<(Nanos, bool)> {
        let hang = self.hang.as_ref().filter(|hang| now < hang.until)?;
        (op == Op::ContainerStatus && hang.container == *id).then_some((hang.until.since(now), hang.fails))
    }

    /// Whether inspections of that pod take long.
    pub(super) fn is_slow(&self, now: Time, pod: &str) -> bool {
        self.slow.as_ref().is_some_and(|slow| now < slow.until && slow.pod.as_str() == pod)
    }
}

/// As grpc-go says it, whose texts the kubelet's log has.
const CONNECTION_REFUSED: &str = "connection error: desc = \"transport: Error while dialing: dial unix \
    /run/containerd/containerd.sock: connect: connection refused\"";
