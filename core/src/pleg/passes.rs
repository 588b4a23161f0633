//! The relist of a kubelet before v1.32, which goes over the pods three times.
//!
//! First the state changes of *all* pods are found; then the pods that changed are inspected and their events sent;
//! then the pods whose inspection failed in the relist before are inspected again, as they were listed then (`Relist`,
//! generic.go v1.31). That last pass writes the cache and nothing else: it sends no event and advances no record. A pod
//! that fails with its changes still unsent is so inspected twice in one relist, and two calls that hang for two minutes
//! each exceed the threshold (kubernetes issue 94829).

use super::{Engine, ErrorText, Output, reconcile::Work, relist::Phase};
use crate::{
    id::Uid,
    pod::{Pod, PodStatus},
    time::Time,
};
use alloc::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};
use serde::{Deserialize, Serialize};

/// Where such a relist is, and what it remembers for the next one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Passes {
    /// Pods that changed and are still to be inspected, or deleted.
    changed: VecDeque<Work>,
    /// Failed pods of the relist before that are still to be inspected again; none before that pass.
    again: Option<VecDeque<Uid>>,
    /// `podsToReinspect`: pods whose inspection failed in the relist before, as listed then.
    failed: BTreeMap<Uid, Arc<Pod>>,
    /// `needsReinspection`: those of this relist.
    failing: BTreeMap<Uid, Arc<Pod>>,
}

impl Passes {
    /// The pods that are still to be inspected, the one that is being inspected not counted.
    pub(super) fn to_inspect(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let changed = self.changed.iter().filter_map(Work::pod);
        let again = self.failed.iter().filter_map(|(uid, pod)| match &self.again {
            Some(again) => again.contains(uid).then_some(pod),
            // An inspection in the pass before spares this one, if it succeeds.
            None => (!self.changed.iter().any(|work| work.uid == *uid)).then_some(pod),
        });
        changed.chain(again)
    }
}

impl Engine {
    /// Goes on with the passes. Returns whether a pod is to be inspected before anything else can happen.
    pub(super) fn go_through_passes(&mut self, now: Time) -> bool {
        self.find_changes(now);
        while let Some(work) = self.state.passes.changed.pop_front() {
            if self.inspect(work.begun(now)) {
                return true;
            }
        }
        let Passes { again, failed, failing, .. } = &mut self.state.passes;
        let waiting = again.get_or_insert_with(|| failed.keys().cloned().collect());
        if let Some((uid, pod)) = waiting.pop_front().and_then(|uid| failed.get_key_value(&uid)) {
            let work = Work::without_changes(uid.clone(), pod.clone(), now);
            return self.inspect(work);
        }
        *failed = core::mem::take(failing);
        *again = None;
        false
    }

    /// The first pass, over everything that the listing left to be looked at.
    fn find_changes(&mut self, now: Time) {
        while let Some(uid) = self.state.pending.pop_front() {
            let Some(record) = self.state.records.get(&uid) else { continue };
            let listed = record.listed.clone();
            self.state.unsettled.remove(&uid);
            let work = self.compare(uid, listed, now);
            if work.has_changes() {
                self.state.passes.changed.push_back(work);
            }
        }
    }

    /// `updateCache`. Returns whether the pod is to be inspected; one that vanished is not.
    fn inspect(&mut self, work: Work) -> bool {
        if let Some(pod) = work.pod() {
            self.outputs.push_back(Output::Inspect { pod: pod.clone() });
            self.wait(Phase::Inspecting, work);
            return true;
        }
        self.state.passes.failed.remove(&work.uid);
        self.delete_status(work);
        false
    }

    /// A pod was inspected in one of the two later passes. The caller's answer is not needed.
    pub(super) fn handle_inspected_in_pass(
        &mut self,
        work: Work,
        result: Result<Arc<PodStatus>, ErrorText>,
    ) -> bool {
        let again = self.state.passes.again.is_some();
        match result {
            Ok(status) => {
                let Some((work, _)) = self.write_good_status(work, status) else { return false };
                if !again {
                    self.state.passes.failed.remove(&work.uid);
                    self.settle(work, false);
                }
            }
            Err(error) => {
                let Some(pod) = work.pod().cloned() else { return false };
                self.write_error(&work, pod.clone(), error.clone());
                if !again {
                    // The record did not move, so the next relist finds the same change again.
                    self.state.unsettled.insert(work.uid.clone());
                    self.push(Output::Held { pod: pod.clone(), error });
                }
                self.state.passes.failing.insert(work.uid, pod);
            }
        }
        false
    }
}
