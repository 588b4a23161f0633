//! The model's pod cache.

use pleg_core::{
    cri::SandboxState,
    id::Uid,
    pleg::{Entry, ErrorText},
    pod::PodStatus,
    time::Time,
};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Default)]
pub(super) struct Cache {
    pub(super) entries: BTreeMap<Uid, Entry>,
    pub(super) global_time: Option<Time>,
}

impl Cache {
    /// `Set`: under the gate an entry that is strictly later stays.
    pub(super) fn set(
        &mut self,
        uid: &Uid,
        result: Result<Arc<PodStatus>, ErrorText>,
        time: Time,
        gate: bool,
    ) -> bool {
        if gate
            && let Some(present) = self.entries.get(uid)
            && let Some(modified) = present.modified
            && modified > time
        {
            return false;
        }
        let (status, error) = match result {
            Ok(status) => (Some(status), None),
            Err(error) => (None, Some(error)),
        };
        self.entries.insert(uid.clone(), Entry { status, error, modified: Some(time), observed: None });
        true
    }

    /// `SetObservedTime`.
    pub(super) fn observe(&mut self, uid: &Uid, time: Time) {
        self.entries.entry(uid.clone()).or_default().observed = Some(time);
    }

    /// A pod without addresses gets those of the cached status, unless one of its sandboxes is ready. Returns
    /// whether it got any.
    pub(super) fn preserve_addresses(&self, uid: &Uid, status: &mut PodStatus) -> bool {
        if !status.ips.is_empty() {
            return false;
        }
        let Some(entry) = self.entries.get(uid) else { return false };
        if entry.error.is_some() {
            return false;
        }
        let Some(cached) = &entry.status else { return false };
        for sandbox in &status.sandboxes {
            if sandbox.state == SandboxState::Ready {
                return false;
            }
        }
        status.ips.clone_from(&cached.ips);
        !status.ips.is_empty()
    }

    /// Whether `GetNewerThan` is answered at once.
    pub(super) fn is_newer(&self, uid: &Uid, time: Time) -> bool {
        let later = |when: Option<Time>| when.is_some_and(|when| when > time);
        match self.entries.get(uid) {
            None => later(self.global_time),
            Some(entry) => later(self.global_time) || later(entry.modified) || later(entry.observed),
        }
    }
}
