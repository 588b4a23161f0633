//! Watch conditions of v1.32 to v1.35: questions about a pod's status that are asked in every relist.
//!
//! Upstream's conditions are functions. Here the caller keeps them and the engine their keys and versions: it asks
//! with [`Output::CheckConditions`](super::Output::CheckConditions) and is answered with [`Engine::handle_conditions_checked`].

use super::Engine;
use crate::{
    cri::{ContainerState, ContainerStatus},
    id::Uid,
    pod::PodStatus,
};
use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// Name of a watch condition within its pod.
pub type WatchKey = Arc<str>;

/// Versions of the conditions by pod and key. A pod whose conditions all came true keeps an empty entry until it
/// disappears, as upstream's map does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct WatchConditions(BTreeMap<Uid, BTreeMap<WatchKey, u64>>);

impl WatchConditions {
    /// Pods with at least one condition.
    pub(super) fn watched(&self) -> impl Iterator<Item = &Uid> {
        self.0.iter().filter(|(_, conditions)| !conditions.is_empty()).map(|(uid, _)| uid)
    }

    /// Whether the pod has at least one condition.
    pub(super) fn watches(&self, uid: &Uid) -> bool {
        self.0.get(uid).is_some_and(|conditions| !conditions.is_empty())
    }

    pub(super) fn of(&self, uid: &Uid) -> Vec<(WatchKey, u64)> {
        let conditions = self.0.get(uid).into_iter().flatten();
        conditions.map(|(key, version)| (key.clone(), *version)).collect()
    }

    /// Drops the conditions of pods that are not listed, also of those that never were.
    pub(super) fn retain(&mut self, listed: impl Fn(&Uid) -> bool) {
        self.0.retain(|uid, _| listed(uid));
    }

    /// Removes a condition that came true, unless it was replaced since `version` was read.
    pub(super) fn complete(&mut self, uid: &Uid, key: &WatchKey, version: u64) {
        if let Some(conditions) = self.0.get_mut(uid)
            && conditions.get(key) == Some(&version)
        {
            conditions.remove(key);
        }
    }

    fn set(&mut self, uid: &Uid, key: &WatchKey) -> u64 {
        let version = self.0.entry(uid.clone()).or_default().entry(key.clone());
        *version.and_modify(|version| *version = version.saturating_add(1)).or_insert(0)
    }

    fn clear(&mut self, uid: &Uid, key: &WatchKey) {
        if let Some(conditions) = self.0.get_mut(uid) {
            conditions.remove(key);
        }
    }
}

impl Engine {
    /// `SetPodWatchCondition`: adds a condition with version 0, or replaces it and counts its version up.
    /// Returns the version. In a kubelet without watch conditions it is ignored.
    pub fn set_watch_condition(&mut self, uid: &Uid, key: &WatchKey) -> Option<u64> {
        if !self.config.profile.watch_conditions {
            self.ignore("set_watch_condition");
            return None;
        }
        let version = self.state.watch.set(uid, key);
        self.join_relist(uid);
        Some(version)
    }

    /// Forgets a condition.
    pub fn clear_watch_condition(&mut self, uid: &Uid, key: &WatchKey) {
        self.state.watch.clear(uid, key);
    }

    /// Keys and versions of the conditions of each pod that has an entry, in order.
    pub fn watch_conditions(&self) -> impl Iterator<Item = (&Uid, &BTreeMap<WatchKey, u64>)> {
        self.state.watch.0.iter()
    }
}

/// Whether a condition about a container that should run counts as met: `RunningContainerWatchCondition` says
/// yes also when the container is missing or does not run.
pub fn running_container_condition(
    status: &PodStatus,
    name: &str,
    met: impl FnOnce(&ContainerStatus) -> bool,
) -> bool {
    let named = |c: &&ContainerStatus| c.metadata.as_ref().is_some_and(|m| m.name == name);
    match status.containers.iter().find(named) {
        Some(container) if container.state == ContainerState::Running => met(container),
        _ => true,
    }
}
