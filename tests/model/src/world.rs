//! The node and its clock: what a listing or an inspection finds, and when.

use crate::history::{Inspection, Item, Kubelet, Look};
use pleg_core::{
    cri::{ContainerState, ContainerStatus, SandboxState, SandboxStatus},
    id::Uid,
    pleg::ErrorText,
    pod::{Container, ContainerId, Pod, PodStatus, State},
    time::{Nanos, SECOND, Time},
};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Clone, Debug)]
pub(crate) struct World {
    kubelet: Kubelet,
    pub(crate) now: Time,
    places: BTreeMap<u8, Look>,
}

impl World {
    pub(crate) fn new(kubelet: Kubelet) -> Self {
        Self { kubelet, now: Time(1_000 * SECOND), places: BTreeMap::new() }
    }

    pub(crate) fn put(&mut self, place: u8, look: &Look) {
        self.places.insert(place, look.clone());
    }

    pub(crate) fn remove(&mut self, place: u8) {
        self.places.remove(&place);
    }

    pub(crate) fn wait(&mut self, nanos: Nanos) {
        self.now = self.now + nanos;
    }

    /// All pods as a listing that began at `started` shows them.
    pub(crate) fn pods(&self, started: Time) -> Vec<Arc<Pod>> {
        self.places.values().map(|look| Arc::new(listed(look, started))).collect()
    }

    /// The pods without those that a later one with the same uid hides.
    pub(crate) fn distinct_pods(&self, started: Time) -> Vec<Arc<Pod>> {
        let last: BTreeMap<Uid, Arc<Pod>> =
            self.pods(started).into_iter().map(|pod| (pod.uid.clone(), pod)).collect();
        last.into_values().collect()
    }

    /// One pod, as a listing of it alone shows it.
    pub(crate) fn pod(&self, uid: &Uid, started: Time) -> Result<Arc<Pod>, ErrorText> {
        let found = self.places.values().rfind(|look| look.uid == *uid);
        found.map(|look| Arc::new(listed(look, started))).ok_or_else(|| "pod not found".into())
    }

    /// What an inspection that began at `started` answers.
    pub(crate) fn inspect(
        &self,
        pod: &Pod,
        started: Time,
        plan: &Inspection,
    ) -> Result<PodStatus, ErrorText> {
        if plan.fails {
            return Err(format!("cannot inspect {}", pod.uid).into());
        }
        let taken = match self.kubelet {
            Kubelet::V1_36 => pod.timestamp,
            Kubelet::V1_35 => started,
        };
        let look = self.places.values().rfind(|look| look.uid == pod.uid);
        let gone = usize::from(plan.container_gone);
        Ok(PodStatus {
            uid: pod.uid.clone(),
            name: pod.name.clone(),
            namespace: pod.namespace.clone(),
            ips: addresses(look.map_or(0, |look| look.addresses)),
            sandboxes: pod.sandboxes.iter().map(|found| sandbox(found, plan.sandboxes_changed)).collect(),
            containers: (0..)
                .zip(&pod.containers)
                .skip(gone)
                .map(|(at, found)| container(found, at))
                .collect(),
            active: Vec::new(),
            timestamp: taken + plan.stamp,
        })
    }
}

fn listed(look: &Look, started: Time) -> Pod {
    Pod {
        uid: look.uid.clone(),
        name: format!("pod-{}", look.uid).into(),
        namespace: "model".into(),
        created_at: 0,
        timestamp: started,
        sandboxes: look.sandboxes.iter().map(item).collect(),
        containers: look.containers.iter().map(item).collect(),
    }
}

fn item(item: &Item) -> Container {
    Container {
        id: ContainerId { runtime: item.runtime.into(), id: item.id.into() },
        name: item.id.into(),
        attempt: item.attempt,
        state: item.state,
        ..Container::default()
    }
}

fn addresses(which: u8) -> Vec<String> {
    match which {
        0 => Vec::new(),
        odd if odd % 2 == 1 => vec![format!("10.0.0.{odd}")],
        even => vec![format!("10.0.0.{even}"), format!("fd00::{even}")],
    }
}

fn sandbox(listed: &Container, changed: bool) -> SandboxStatus {
    let ready = (listed.state == State::Running) != changed;
    let state = if ready { SandboxState::Ready } else { SandboxState::NotReady };
    SandboxStatus { id: listed.id.id.clone(), state, ..SandboxStatus::default() }
}

fn container(listed: &Container, at: i32) -> ContainerStatus {
    let state = match listed.state {
        State::Created => ContainerState::Created,
        State::Running => ContainerState::Running,
        State::Exited => ContainerState::Exited,
        State::Unknown => ContainerState::Unknown,
    };
    // An exit code of its own, also where an id occurs twice.
    ContainerStatus { id: listed.id.id.clone(), state, exit_code: at, ..ContainerStatus::default() }
}

/// What Evented PLEG, or any other writer, puts into the cache.
pub(crate) fn others_status(uid: &Uid) -> Arc<PodStatus> {
    Arc::new(PodStatus { uid: uid.clone(), ips: vec!["10.9.9.9".into()], ..PodStatus::default() })
}
