//! Pod workers: which pods wait for PLEG before they sync again.

use crate::{
    id::Uid,
    pleg::{Cache, Event, EventType},
    time::Time,
};
use alloc::collections::BTreeMap;
use serde::{Deserialize, Serialize};

/// The kubelet's pod workers, one for each pod, as far as PLEG's events move them.
///
/// Before a sync a worker asks the cache for a status newer than the end of its last sync (`GetNewerThan`,
/// `podWorkerLoop`, pod_workers.go v1.36) and waits until there is one. So a pod that was synced since the last relist
/// began is *stalled* until the next one ends, be it killed, restarted or deleted meanwhile. Usually that is a second; a
/// relist that hangs makes it as long as it hangs.
///
/// Assumed, because neither is visible from outside: a pod is synced when one of its events is read (all but
/// `ContainerRemoved`, which is not worth one to the kubelet), and the sync takes no time. Pods that sync for other reasons,
/// at the latest once in about a minute, are stalled as well and are not counted here: a relist that hangs for minutes
/// stalls every pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PodWorkers {
    /// End of the last sync of each pod that may still be stalled.
    synced: BTreeMap<Uid, Time>,
}

impl PodWorkers {
    /// The sync loop read an event.
    pub(super) fn handle_event(&mut self, now: Time, event: Event) {
        if event.kind != EventType::ContainerRemoved {
            self.synced.insert(event.uid, now);
        }
    }

    /// The pods whose next sync would wait, with the end of their last.
    pub(super) fn stalled<'a>(&'a self, cache: &'a Cache) -> impl Iterator<Item = (&'a Uid, Time)> {
        let stalled = |(uid, synced): &(&Uid, &Time)| !cache.is_newer_than(uid, **synced);
        self.synced.iter().filter(stalled).map(|(uid, synced)| (uid, *synced))
    }

    /// Forgets those that the cache answers: what it says only gets newer.
    pub(super) fn forget_answered(&mut self, cache: &Cache) {
        self.synced.retain(|uid, synced| !cache.is_newer_than(uid, *synced));
    }
}
