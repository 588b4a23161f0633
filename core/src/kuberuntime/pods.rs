//! `GetPods`: sandboxes and containers gathered into pods.

use crate::{
    cri::{self, POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL},
    id::Uid,
    pod::{Container, ContainerId, Pod},
    time::Time,
};
use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::cmp::Reverse;

/// `GetPods(all = true)` (kuberuntime_manager.go): the pods of two listings that began at `timestamp`, newest first;
/// pods of the same age, whose order is random upstream, by uid.
///
/// `sorted` as v1.36 does it: sandboxes by attempt, containers by age, newest first. Without it (before v1.36)
/// both stay in the order of the lists, and a pod's `created_at` is that of its last listed sandbox.
pub fn get_pods(
    sandboxes: &[cri::Sandbox],
    containers: &[cri::Container],
    runtime: &Arc<str>,
    timestamp: Time,
    sorted: bool,
) -> Vec<Arc<Pod>> {
    let mut parts: BTreeMap<Uid, Parts<'_>> = BTreeMap::new();
    for sandbox in sandboxes {
        if let Some(uid) = sandbox_owner(sandbox) {
            parts.entry(uid).or_default().sandboxes.push(sandbox);
        }
    }
    for container in containers {
        if let Some(uid) = container_owner(container) {
            parts.entry(uid.into()).or_default().containers.push(container);
        }
    }
    let build = |(uid, mut parts): (Uid, Parts<'_>)| {
        if sorted {
            parts.sort();
        }
        Arc::new(parts.build(uid, runtime, timestamp))
    };
    let mut pods: Vec<_> = parts.into_iter().map(build).collect();
    pods.sort_by_key(|pod| Reverse(pod.created_at));
    pods
}

/// The pod of a sandbox; none without metadata, where kuberuntime skips the sandbox.
pub(super) fn sandbox_owner(sandbox: &cri::Sandbox) -> Option<Uid> {
    sandbox.metadata.as_ref().map(|metadata| metadata.uid.clone())
}

/// The pod of a container by its label; none without metadata, where kuberuntime skips the container. All containers
/// without the label share the pod with the empty uid.
pub(super) fn container_owner(container: &cri::Container) -> Option<&str> {
    container.metadata.as_ref().map(|_| label(container, POD_UID_LABEL))
}

fn label<'a>(container: &'a cri::Container, key: &str) -> &'a str {
    container.labels.get(key).map_or("", String::as_str)
}

/// What both listings have of one pod.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) sandboxes: Vec<&'a cri::Sandbox>,
    pub(super) containers: Vec<&'a cri::Container>,
}

impl Parts<'_> {
    /// Newest first, as v1.36 sorts them (PR 137471).
    pub(super) fn sort(&mut self) {
        let attempt = |sandbox: &cri::Sandbox| sandbox.metadata.as_ref().map(|metadata| metadata.attempt);
        self.sandboxes.sort_by_key(|&s| (Reverse(attempt(s)), Reverse(s.created_at), &s.id));
        self.containers.sort_by_key(|&c| (Reverse(c.created_at), &c.id));
    }

    pub(super) fn build(&self, uid: Uid, runtime: &Arc<str>, timestamp: Time) -> Pod {
        let (name, namespace) = self.name();
        let listed = |sandbox: &&&cri::Sandbox| !sandbox.id.is_empty();
        let usable = |container: &&&cri::Container| !container.id.is_empty() && container.image.is_some();
        Pod {
            uid,
            name,
            namespace,
            // Each sandbox overwrites it, and the newest came first: the oldest one's remains.
            created_at: self.sandboxes.iter().rev().find(listed).map_or(0, |sandbox| sandbox.created_at),
            timestamp,
            sandboxes: self.sandboxes.iter().filter(listed).map(|s| from_sandbox(s, runtime)).collect(),
            containers: self.containers.iter().filter(usable).map(|c| from_container(c, runtime)).collect(),
        }
    }

    /// Name and namespace: of the first sandbox, else from the labels of the first container.
    fn name(&self) -> (Arc<str>, Arc<str>) {
        if let Some(metadata) = self.sandboxes.first().and_then(|sandbox| sandbox.metadata.as_ref()) {
            return (metadata.name.as_str().into(), metadata.namespace.as_str().into());
        }
        let text = |key| self.containers.first().map_or("", |container| label(container, key)).into();
        (text(POD_NAME_LABEL), text(POD_NAMESPACE_LABEL))
    }
}

/// The order in which v1.35 inspects a pod's sandboxes: highest attempt first, or the newest where metadata is missing.
///
/// With and without metadata mixed that is no order at all, so it is sorted by insertion as Go sorts up to twelve
/// items; Rust's own sort may panic on such a comparison.
pub(super) fn by_attempt(sandboxes: Vec<cri::Sandbox>) -> Vec<cri::Sandbox> {
    let before = |a: &cri::Sandbox, b: &cri::Sandbox| match (&a.metadata, &b.metadata) {
        (Some(a), Some(b)) => a.attempt > b.attempt,
        _ => a.created_at > b.created_at,
    };
    let mut sorted: Vec<cri::Sandbox> = Vec::with_capacity(sandboxes.len());
    for sandbox in sandboxes {
        let place = sorted.iter().rposition(|other| !before(&sandbox, other)).map_or(0, |at| at + 1);
        sorted.insert(place, sandbox);
    }
    sorted
}

fn from_sandbox(sandbox: &cri::Sandbox, runtime: &Arc<str>) -> Container {
    Container {
        id: ContainerId { runtime: runtime.clone(), id: sandbox.id.clone() },
        attempt: sandbox.metadata.as_ref().map_or(0, |metadata| metadata.attempt),
        state: sandbox.state.into(),
        created_at: sandbox.created_at,
        ..Container::default()
    }
}

fn from_container(container: &cri::Container, runtime: &Arc<str>) -> Container {
    let metadata = container.metadata.as_ref();
    Container {
        id: ContainerId { runtime: runtime.clone(), id: container.id.clone() },
        name: metadata.map_or("", |metadata| &metadata.name).into(),
        attempt: metadata.map_or(0, |metadata| metadata.attempt),
        state: container.state.into(),
        created_at: container.created_at,
        sandbox: container.pod_sandbox_id.clone(),
    }
}
