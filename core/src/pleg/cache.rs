//! The pod cache: the last status of each pod, and how fresh it is.

use super::ErrorText;
use crate::{cri::SandboxState, id::Uid, pod::PodStatus, time::Time};
use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// `kubecontainer.Cache`. PLEG writes it; each pod worker waits on it before a sync.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    entries: BTreeMap<Uid, Entry>,
    /// Every pod's status is at least as fresh as this; none before the first good relist.
    global: Option<Time>,
}

/// What the cache knows of one pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The status; none when the inspection failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Arc<PodStatus>>,
    /// Why the inspection failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorText>,
    /// Time that the entry was written with; none when only the pod's time was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Time>,
    /// Start of the last pod relist that saw the pod, without a change or with one (v1.36).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Time>,
}

impl Cache {
    /// The entry of a pod. Upstream's `Get` answers an absent one with an empty status and no error.
    pub fn get(&self, uid: &Uid) -> Option<&Entry> {
        self.entries.get(uid)
    }

    /// All entries, in the order of UIDs.
    pub fn entries(&self) -> impl Iterator<Item = (&Uid, &Entry)> {
        self.entries.iter()
    }

    /// The time that all entries are at least as fresh as; none before the first good relist.
    pub fn global_time(&self) -> Option<Time> {
        self.global
    }

    /// Whether `GetNewerThan(uid, time)` answers at once. Where not, the pod's worker is stalled until the
    /// pod is written or observed, or the global time moves, to `time` or later.
    pub fn is_newer_than(&self, uid: &Uid, time: Time) -> bool {
        let entry = self.entries.get(uid);
        let times = [self.global, entry.and_then(|e| e.modified), entry.and_then(|e| e.observed)];
        times.into_iter().flatten().any(|fresh| fresh > time)
    }

    /// `Set`. With `keep_newer` (gate EventedPLEG) an entry with a later time stays; returns whether it was written.
    pub fn set(
        &mut self,
        uid: &Uid,
        status: Result<Arc<PodStatus>, ErrorText>,
        time: Time,
        keep_newer: bool,
    ) -> bool {
        let (status, error) = match status {
            Ok(status) => (Some(status), None),
            Err(error) => (None, Some(error)),
        };
        let written = Entry { status, error, modified: Some(time), observed: None };
        match self.entries.get_mut(uid) {
            Some(entry) if keep_newer && entry.modified.is_some_and(|modified| modified > time) => {
                return false;
            }
            Some(entry) => *entry = written,
            None => {
                self.entries.insert(uid.clone(), written);
            }
        }
        true
    }

    /// `Delete`. Wakes no one who waits.
    pub fn delete(&mut self, uid: &Uid) {
        self.entries.remove(uid);
    }

    pub(super) fn observe(&mut self, uid: &Uid, time: Time) {
        self.entries.entry(uid.clone()).or_default().observed = Some(time);
    }

    pub(super) fn update_time(&mut self, time: Time) {
        self.global = Some(time);
    }

    /// The cached addresses, where a pod's new status is to keep them (`getPodIPs`, generic.go): it has none of its
    /// own, and no sandbox is ready. A terminated pod thus keeps the addresses that it had.
    pub(super) fn ips_to_keep(&self, uid: &Uid, status: &PodStatus) -> Option<Vec<String>> {
        if !status.ips.is_empty() || status.sandboxes.iter().any(|s| s.state == SandboxState::Ready) {
            return None;
        }
        let cached = self.entries.get(uid)?.status.as_ref()?;
        (!cached.ips.is_empty()).then(|| cached.ips.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cri::SandboxStatus;
    use alloc::vec;

    fn status(ips: &[&str], sandbox: Option<SandboxState>) -> PodStatus {
        let sandboxes = sandbox.map(|state| SandboxStatus { state, ..SandboxStatus::default() });
        PodStatus {
            ips: ips.iter().map(|ip| (*ip).into()).collect(),
            sandboxes: sandboxes.into_iter().collect(),
            ..PodStatus::default()
        }
    }

    fn cached(result: Result<PodStatus, &str>, time: i64) -> Cache {
        let mut cache = Cache::default();
        let result = result.map(Arc::new).map_err(Into::into);
        assert!(cache.set(&"p".into(), result, Time(time), true));
        cache
    }

    #[test]
    fn addresses_survive_the_last_ready_sandbox() {
        use SandboxState::{NotReady, Ready};
        let had = cached(Ok(status(&["10.0.0.1"], Some(Ready))), 1);
        let failed = cached(Err("boom"), 1);
        for (cache, new, kept) in [
            (&had, status(&["10.0.0.2"], Some(Ready)), None),
            (&had, status(&["10.0.0.2"], Some(NotReady)), None),
            (&had, status(&[], Some(NotReady)), Some(vec!["10.0.0.1".into()])),
            (&had, status(&[], None), Some(vec!["10.0.0.1".into()])),
            (&had, status(&[], Some(Ready)), None),
            (&failed, status(&[], Some(NotReady)), None),
            (&Cache::default(), status(&[], None), None),
        ] {
            assert_eq!(cache.ips_to_keep(&"p".into(), &new), kept, "{new:?}");
        }
    }

    #[test]
    fn with_the_gate_a_newer_entry_stays() {
        let mut cache = cached(Ok(status(&[], None)), 5);
        let new = || Ok(Arc::new(status(&["10.0.0.1"], None)));
        assert!(!cache.set(&"p".into(), new(), Time(4), true));
        assert!(cache.set(&"p".into(), new(), Time(5), true));
        assert!(cache.set(&"p".into(), new(), Time(4), false));
    }

    #[test]
    fn a_worker_waits_until_its_pod_is_fresher_than_it_asked() {
        let (present, absent) = ("p".into(), "q".into());
        let mut cache = cached(Ok(status(&[], None)), 5);
        assert!(cache.is_newer_than(&present, Time(4)));
        assert!(!cache.is_newer_than(&present, Time(5)));
        assert!(!cache.is_newer_than(&absent, Time(0)), "nothing absent is answered before the first relist");
        cache.observe(&present, Time(6));
        assert!(cache.is_newer_than(&present, Time(5)));
        cache.update_time(Time(7));
        assert!(cache.is_newer_than(&present, Time(6)) && cache.is_newer_than(&absent, Time(6)));
        assert!(!cache.is_newer_than(&absent, Time(7)));
    }
}
