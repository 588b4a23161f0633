//! What the engine decides, in the order of upstream's effects.

use super::{EventedOutput, WatchKey};
use crate::{
    id::{CriId, Uid},
    pod::{ContainerId, Pod, PodStatus, State},
    time::{Nanos, Time},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// `PodLifeCycleEventType`. `ContainerChanged` is not among them: upstream builds it and never sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventType {
    /// A container or sandbox runs.
    ContainerStarted,
    /// A container or sandbox ended.
    ContainerDied,
    /// A container or sandbox is no longer listed.
    ContainerRemoved,
    /// The pod was inspected again without a change of its containers (v1.36).
    PodSync,
    /// A watch condition of the pod came true (v1.32 to v1.35).
    ConditionMet,
}

impl EventType {
    /// The kubelet's word.
    pub fn name(self) -> &'static str {
        match self {
            EventType::ContainerStarted => "ContainerStarted",
            EventType::ContainerDied => "ContainerDied",
            EventType::ContainerRemoved => "ContainerRemoved",
            EventType::PodSync => "PodSync",
            EventType::ConditionMet => "ConditionMet",
        }
    }
}

/// `PodLifecycleEvent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The pod (`ID` upstream).
    pub uid: Uid,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Id of the container or sandbox (`Data` upstream); none for `PodSync` and `ConditionMet`.
    pub data: Option<CriId>,
}

/// State of a container or sandbox as PLEG compares it: `plegContainerState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlegState {
    /// Runs.
    Running,
    /// Ended.
    Exited,
    /// Created, or not known.
    Unknown,
    /// Not listed.
    NonExistent,
}

impl PlegState {
    /// The kubelet's word.
    pub fn name(self) -> &'static str {
        match self {
            PlegState::Running => "running",
            PlegState::Exited => "exited",
            PlegState::Unknown => "unknown",
            PlegState::NonExistent => "non-existent",
        }
    }
}

impl From<State> for PlegState {
    fn from(state: State) -> Self {
        match state {
            State::Running => PlegState::Running,
            State::Exited => PlegState::Exited,
            // `convertState` (generic.go): created is unknown to PLEG.
            State::Created | State::Unknown => PlegState::Unknown,
        }
    }
}

/// Why a relist's listing or a pod's inspection failed, as the kubelet would print it.
pub type ErrorText = Arc<str>;

/// What the engine wants, or has decided. Drain them with `Engine::poll_output` after each `handle_*`.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A relist began: list all pods (`GetPods`), then call `handle_listed` or `handle_list_failed`.
    Relisting,
    /// A pod relist began: list this pod (`GetPod`), then call `handle_pod_listed`.
    RelistingPod {
        /// The pod.
        uid: Uid,
    },
    /// Inspect this pod (`GetPodStatus`), then call `handle_inspected`.
    Inspect {
        /// The pod as listed.
        pod: Arc<Pod>,
    },
    /// The listing failed: the relist ends, nothing changes.
    ListFailed {
        /// Why.
        error: ErrorText,
    },
    /// The listing of a pod relist failed: it ends, nothing changes.
    PodListFailed {
        /// The pod.
        uid: Uid,
        /// Why.
        error: ErrorText,
    },
    /// A container or sandbox changed its state against the pod record.
    Transition {
        /// The pod.
        uid: Uid,
        /// The container or sandbox.
        id: ContainerId,
        /// State in the old record.
        old: PlegState,
        /// State in the current listing.
        new: PlegState,
    },
    /// The cache entry of a pod was written (`cache.Set`).
    StatusWritten {
        /// The pod as listed.
        pod: Arc<Pod>,
        /// Time of the entry.
        time: Time,
        /// The status, with the addresses that were kept, or why the inspection failed.
        result: Result<Arc<PodStatus>, ErrorText>,
        /// Whether the cache took it; only under the EventedPLEG gate may it refuse an older entry.
        accepted: bool,
    },
    /// The cache entry of a vanished pod was deleted.
    StatusDeleted {
        /// The pod.
        uid: Uid,
    },
    /// The pod's events are held back until an inspection succeeds; its record is not advanced.
    Held {
        /// The pod as listed.
        pod: Arc<Pod>,
        /// Why the inspection failed.
        error: ErrorText,
    },
    /// An event entered the channel.
    Event(Event),
    /// The channel was full: the event is lost for good.
    Discarded(Event),
    /// A container whose death was just reported has this exit code ("container finished").
    Finished {
        /// The pod.
        uid: Uid,
        /// The container.
        id: CriId,
        /// Its exit code.
        exit_code: i32,
    },
    /// `cache.SetObservedTime`, at the end of a pod relist.
    PodTimeObserved {
        /// The pod.
        uid: Uid,
        /// When its listing began.
        time: Time,
    },
    /// `cache.UpdateTime`: all pods' entries are at least as fresh as this. Ends a successful relist.
    GlobalTime {
        /// Start of the relist.
        time: Time,
    },
    /// A relist, successful or not, ended after this time (`pleg_relist_duration_seconds`).
    Relisted {
        /// Its duration in nanoseconds.
        took: Nanos,
        /// Nanoseconds between its start and that of the last good listing; none before the first.
        interval: Option<Nanos>,
    },
    /// A pod relist ended after this time (`pleg_pod_relist_duration_seconds`).
    PodRelisted {
        /// The pod.
        uid: Uid,
        /// Its duration in nanoseconds.
        took: Nanos,
    },
    /// `RequestRelist` was dropped: 200 requests are waiting already.
    RequestDropped {
        /// The pod.
        uid: Uid,
    },
    /// Check the pod's watch conditions against its status (v1.32 to v1.35), then call `handle_conditions_checked`.
    CheckConditions {
        /// The pod.
        uid: Uid,
        /// What the inspection found.
        status: Arc<PodStatus>,
        /// Keys and versions of the conditions when the inspection began. One that was replaced since is still to be
        /// checked as it was.
        conditions: Vec<(WatchKey, u64)>,
    },
    /// Evented PLEG decided it.
    Evented(EventedOutput),
    /// An input came out of turn, or this kubelet knows no such thing. Nothing happened.
    Ignored {
        /// The method that was called.
        input: &'static str,
    },
}

/// Answer of `GenericPLEG.Healthy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The last good listing began within the threshold.
    Healthy {
        /// Nanoseconds since it began.
        age: Nanos,
    },
    /// No listing succeeded yet.
    NeverSucceeded,
    /// The last good listing began too long ago.
    Stale {
        /// Nanoseconds since it began.
        age: Nanos,
        /// The threshold in nanoseconds.
        threshold: Nanos,
    },
}

impl Health {
    /// Whether the kubelet would call PLEG healthy.
    pub fn is_healthy(&self) -> bool {
        matches!(self, Health::Healthy { .. })
    }

    /// Nanoseconds since the last good listing began; none when none succeeded.
    pub fn age(&self) -> Option<Nanos> {
        match *self {
            Health::Healthy { age } | Health::Stale { age, .. } => Some(age),
            Health::NeverSucceeded => None,
        }
    }

    /// The kubelet's text when unhealthy: `pleg was last seen active 3m5.3s ago; threshold is 3m0s`.
    pub fn error(&self) -> Option<String> {
        use crate::time::GoDuration;
        match *self {
            Health::Healthy { .. } => None,
            Health::NeverSucceeded => Some("pleg has yet to be successful".into()),
            Health::Stale { age, threshold } => Some(alloc::format!(
                "pleg was last seen active {} ago; threshold is {}",
                GoDuration(age),
                GoDuration(threshold)
            )),
        }
    }
}
