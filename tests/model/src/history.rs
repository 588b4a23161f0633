//! A history: what happens to a node and to its kubelet, step by step. Every step stands for itself, so that a
//! history with some of its steps left out is a history too.

use pleg_core::{
    id::Uid,
    pod::State,
    time::{Nanos, SECOND},
};

/// Which kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kubelet {
    /// v1.36: requests, `PodSync`.
    V1_36,
    /// v1.32 to v1.35: watch conditions.
    V1_35,
}

/// How the engine is told what was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// All pods in every relist.
    Full,
    /// Only what changed since the last good listing.
    Changed,
}

/// The kubelet's settings for a whole history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Which kubelet.
    pub kubelet: Kubelet,
    /// Feature gate EventedPLEG.
    pub gate: bool,
    /// Whether Evented PLEG is in use; without the gate it makes no difference.
    pub evented_in_use: bool,
    /// How many events the channel holds.
    pub capacity: usize,
}

/// What happens, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// What it was generated from.
    pub seed: u64,
    /// The kubelet's settings.
    pub setup: Setup,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One thing that happens between relists, or one relist.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// From now on the node's list has this at its `place`. Two places may hold the same uid.
    Pod {
        /// Where in the list.
        place: u8,
        /// What is listed there.
        look: Look,
    },
    /// From now on nothing is listed at this place.
    Gone {
        /// Where in the list.
        place: u8,
    },
    /// Time passes.
    Wait(Nanos),
    /// A relist of all pods.
    Relist(Plan),
    /// A relist of one pod.
    RelistPod(Uid, Plan),
    /// The oldest relist request is taken out of the queue and served, or found void.
    Serve(Plan),
    /// The relist loop starts.
    Start,
    /// One turn of the relist loop, and what it says is done.
    Turn(Plan),
    /// Somebody else does something.
    Act(Action),
    /// `Update`: another period and threshold.
    Update {
        /// Time between the end of a relist and the start of the next.
        period: Nanos,
        /// Age of the last good listing from which on PLEG is unhealthy.
        threshold: Nanos,
    },
}

/// What others do, at any time, also while PLEG waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `RequestReinspect`.
    Reinspect(Uid),
    /// `RequestRelist`, so many times.
    Request(Uid, u8),
    /// `SetPodWatchCondition`.
    SetCondition(Uid, &'static str),
    /// A condition is given up.
    ClearCondition(Uid, &'static str),
    /// The sync loop takes up to so many events.
    Drain(usize),
    /// The kubelet asks `Healthy`.
    CheckHealth,
    /// Evented PLEG writes a status to the cache, this far ahead of now.
    Write(Uid, Nanos),
    /// The relist loop is stopped.
    Stop,
    /// The engine goes on from a checkpoint of itself.
    Restore,
}

/// What a relist meets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Pods to be reconciled first; the others follow in the order of uids.
    pub order: Vec<Uid>,
    /// How long the listing takes.
    pub listing_takes: Nanos,
    /// Whether it fails.
    pub listing_fails: bool,
    /// What others do meanwhile.
    pub meanwhile: Vec<Action>,
    /// Inspections; one that is not named is quick and good.
    pub inspections: Vec<(Uid, Inspection)>,
}

/// How an inspection goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// How long it takes.
    pub takes: Nanos,
    /// Whether it fails.
    pub fails: bool,
    /// Ready sandboxes are found not ready, and the other way round: they changed since the listing.
    pub sandboxes_changed: bool,
    /// The first container is not found: it was removed since the listing.
    pub container_gone: bool,
    /// How far the runtime's time stamp is off.
    pub stamp: Nanos,
    /// What others do meanwhile.
    pub meanwhile: Vec<Action>,
    /// Which watch conditions the status meets.
    pub meets: Vec<&'static str>,
    /// What others do while the conditions are checked.
    pub while_checking: Vec<Action>,
}

/// A pod as listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Its uid.
    pub uid: Uid,
    /// Its sandboxes.
    pub sandboxes: Vec<Item>,
    /// Its containers.
    pub containers: Vec<Item>,
    /// Which addresses an inspection finds; 0 for none.
    pub addresses: u8,
}

/// A sandbox or a container as listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its id, which may occur again in the pod and in other pods.
    pub id: &'static str,
    /// The runtime's name.
    pub runtime: &'static str,
    /// Its attempt, which PLEG does not look at.
    pub attempt: u32,
    /// Its state.
    pub state: State,
}

/// Period and threshold at the start of a history.
pub(crate) const PERIOD: Nanos = SECOND;
pub(crate) const THRESHOLD: Nanos = 180 * SECOND;

impl Plan {
    /// How the inspection of a pod goes.
    pub(crate) fn inspection(&self, uid: &Uid) -> Inspection {
        let named = self.inspections.iter().find(|(pod, _)| pod == uid);
        named.map(|(_, inspection)| inspection.clone()).unwrap_or_default()
    }
}
