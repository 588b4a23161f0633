//! One pod record against one listing: inspection, cache, events.

use super::{
    Engine, EntryTime, ErrorText, Event, EventType, Output, WatchKey,
    relist::Phase,
    transition::{Transition, transitions},
};
use crate::{
    id::{CriId, Uid},
    pod::{Pod, PodStatus},
    time::Time,
};
use alloc::{sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// A pod whose record is being reconciled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) uid: Uid,
    /// The pod as listed; none when it vanished.
    pub(super) pod: Option<Arc<Pod>>,
    transitions: Vec<Transition>,
    /// When its inspection began.
    begun: Time,
    /// Keys and versions of its watch conditions when the inspection began.
    conditions: Vec<(WatchKey, u64)>,
    /// What the inspection found.
    status: Option<Arc<PodStatus>>,
}

impl Work {
    /// An inspection for its own sake, of a pod as it was listed once.
    pub(super) fn without_changes(uid: Uid, pod: Arc<Pod>, now: Time) -> Self {
        Self {
            uid,
            pod: Some(pod),
            transitions: Vec::new(),
            begun: now,
            conditions: Vec::new(),
            status: None,
        }
    }

    /// The pod as listed; none when it vanished.
    pub(super) fn pod(&self) -> Option<&Arc<Pod>> {
        self.pod.as_ref()
    }

    pub(super) fn has_changes(&self) -> bool {
        !self.transitions.is_empty()
    }

    /// Its inspection begins now.
    pub(super) fn begun(self, now: Time) -> Self {
        Self { begun: now, ..self }
    }
}

impl Engine {
    /// `reconcilePodRecord`: compares the old pod with the current one. Returns whether the caller's answer is needed
    /// before anything else can happen.
    ///
    /// Where nothing is to be done the record keeps its old pod, though the current one may differ in what PLEG does
    /// not compare: created and unknown are one state to it.
    pub(super) fn reconcile(&mut self, now: Time, uid: Uid, pod: Option<Arc<Pod>>) -> bool {
        let mut work = self.compare(uid, pod, now);
        // Before the inspection: a request that comes in while it runs is for the next relist.
        let reinspect = self.state.to_reinspect.remove(&work.uid);
        work.conditions = self.state.watch.of(&work.uid);
        if !work.has_changes() && !reinspect && work.conditions.is_empty() {
            return false;
        }
        match &work.pod {
            Some(pod) => {
                self.outputs.push_back(Output::Inspect { pod: pod.clone() });
                self.wait(Phase::Inspecting, work);
                true
            }
            None => {
                self.delete_status(work);
                false
            }
        }
    }

    /// Finds the state changes of a pod.
    pub(super) fn compare(&mut self, uid: Uid, pod: Option<Arc<Pod>>, now: Time) -> Work {
        let transitions = self.transitions_to(&uid, pod.as_ref());
        for Transition { id, old, new } in &transitions {
            let (id, old, new) = (id.clone(), *old, *new);
            self.push(Output::Transition { uid: uid.clone(), id, old, new });
        }
        Work { uid, pod, transitions, begun: now, conditions: Vec::new(), status: None }
    }

    /// The pod vanished.
    pub(super) fn delete_status(&mut self, work: Work) {
        self.state.cache.delete(&work.uid);
        self.push(Output::StatusDeleted { uid: work.uid.clone() });
        self.settle(work, false);
    }

    /// The inspection succeeded. Returns whether the caller must check watch conditions first.
    pub(super) fn accept(&mut self, work: Work, status: Arc<PodStatus>) -> bool {
        let Some((work, status)) = self.write_good_status(work, status) else { return false };
        if work.conditions.is_empty() {
            self.settle(work, false);
            return false;
        }
        let (uid, conditions) = (work.uid.clone(), work.conditions.clone());
        self.push(Output::CheckConditions { uid, status, conditions });
        self.wait(Phase::Checking, work);
        true
    }

    /// Writes the status of a good inspection. None when the cache refused it: nothing more is to be done then.
    pub(super) fn write_good_status(
        &mut self,
        mut work: Work,
        mut status: Arc<PodStatus>,
    ) -> Option<(Work, Arc<PodStatus>)> {
        let pod = work.pod.clone()?;
        if let Some(ips) = self.state.cache.ips_to_keep(&work.uid, &status) {
            Arc::make_mut(&mut status).ips = ips;
        }
        let time = self.entry_time(&work, &pod, Some(&status));
        if !self.write_status(&work.uid, pod, time, Ok(status.clone())) {
            // The record did not move, so the next relist finds the same change again.
            self.state.unsettled.insert(work.uid);
            return None;
        }
        work.status = Some(status.clone());
        Some((work, status))
    }

    /// The inspection failed: nothing is sent, and the next relist compares against the same old pod.
    pub(super) fn hold(&mut self, work: Work, error: ErrorText) -> bool {
        let Some(pod) = work.pod.clone() else { return false };
        self.write_error(&work, pod.clone(), error.clone());
        self.push(Output::Held { pod, error });
        self.state.to_reinspect.insert(work.uid);
        false
    }

    /// Writes that an inspection failed.
    pub(super) fn write_error(&mut self, work: &Work, pod: Arc<Pod>, error: ErrorText) {
        let time = self.entry_time(work, &pod, None);
        self.write_status(&work.uid, pod, time, Err(error));
    }

    /// Watch conditions were checked. One that was replaced since the inspection began is met and stays.
    pub(super) fn complete(&mut self, work: Work, met: &[WatchKey]) {
        let mut any = false;
        for (key, version) in work.conditions.iter().filter(|(key, _)| met.contains(key)) {
            self.state.watch.complete(&work.uid, key, *version);
            any = true;
        }
        self.settle(work, any);
    }

    /// Advances the record, then sends the events: what the channel does not take is never made again.
    pub(super) fn settle(&mut self, work: Work, condition_met: bool) {
        let Work { uid, pod, transitions, status, .. } = work;
        self.advance(&uid, pod);
        if transitions.is_empty() && self.config.profile.pod_sync {
            self.send(Event { uid: uid.clone(), kind: EventType::PodSync, data: None });
        }
        for transition in transitions {
            let id = &transition.id.id;
            for kind in transition.events() {
                self.send(Event { uid: uid.clone(), kind: *kind, data: Some(id.clone()) });
                if *kind == EventType::ContainerDied {
                    self.report_exit_code(&uid, id, status.as_deref());
                }
            }
        }
        if condition_met {
            self.send(Event { uid, kind: EventType::ConditionMet, data: None });
        }
    }

    fn transitions_to(&self, uid: &Uid, pod: Option<&Arc<Pod>>) -> Vec<Transition> {
        let old = self.state.records.get(uid).and_then(|record| record.old.as_ref());
        match (old, pod) {
            (Some(old), Some(new)) if Arc::ptr_eq(old, new) => Vec::new(),
            (old, new) => transitions(old.map(|pod| &**pod), new.map(|pod| &**pod)),
        }
    }

    fn entry_time(&self, work: &Work, pod: &Pod, status: Option<&PodStatus>) -> Time {
        match (status, self.config.profile.entry_time) {
            (Some(status), _) if self.evented_in_use() => status.timestamp,
            (_, EntryTime::Listing) => pod.timestamp,
            (_, EntryTime::Inspection) => work.begun,
        }
    }

    /// `cache.Set`. Returns whether the cache took it.
    fn write_status(
        &mut self,
        uid: &Uid,
        pod: Arc<Pod>,
        time: Time,
        result: Result<Arc<PodStatus>, ErrorText>,
    ) -> bool {
        let accepted = self.state.cache.set(uid, result.clone(), time, self.config.evented_gate);
        self.push(Output::StatusWritten { pod, time, result, accepted });
        accepted
    }

    fn advance(&mut self, uid: &Uid, pod: Option<Arc<Pod>>) {
        match (pod, self.state.records.get_mut(uid)) {
            (Some(pod), Some(record)) => record.old = Some(pod),
            (None, Some(_)) => {
                self.state.records.remove(uid);
            }
            (_, None) => {}
        }
    }

    /// A non-blocking send. Events behind one that was discarded are still tried.
    fn send(&mut self, event: Event) {
        match self.state.channel.send(event, self.config.channel_capacity) {
            Ok(event) => self.push(Output::Event(event)),
            Err(event) => {
                self.state.metrics.count_discard();
                self.push(Output::Discarded(event));
            }
        }
    }

    /// "container finished": only for a container, and only as long as the runtime still knows it.
    fn report_exit_code(&mut self, uid: &Uid, id: &CriId, status: Option<&PodStatus>) {
        // The last of several statuses with one id counts, as in upstream's map.
        let found = status.and_then(|status| status.containers.iter().rfind(|c| c.id == *id));
        if let Some(exit_code) = found.map(|container| container.exit_code) {
            self.push(Output::Finished { uid: uid.clone(), id: id.clone(), exit_code });
        }
    }
}
