//! The course of a relist: begin, listing, one pod after the other, end.

use super::{Engine, ErrorText, Listing, Output, WatchKey, reconcile::Work};
use crate::{
    id::Uid,
    pod::{Pod, PodStatus},
    time::{Nanos, Time},
};
use alloc::{sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// A relist that runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Relist {
    scope: Scope,
    started: Time,
    /// From the last good listing to the start.
    interval: Option<Nanos>,
    phase: Phase,
    /// The pod that is inspected, or whose conditions are checked.
    work: Option<Work>,
    /// Pods that are reconciled first, in this order; see [`Engine::set_order`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<Uid>,
}

/// What is relisted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Scope {
    All,
    Pod {
        uid: Uid,
        /// When the pod's listing began; none before it succeeded.
        listed: Option<Time>,
    },
}

/// What a running relist waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// A listing.
    Listing,
    /// Nothing: the engine is at it.
    Reconciling,
    /// An inspection.
    Inspecting,
    /// The answers of watch conditions.
    Checking,
}

impl Phase {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Listing => "listing",
            Phase::Reconciling => "reconciling",
            Phase::Inspecting => "inspecting",
            Phase::Checking => "checking",
        }
    }
}

impl Engine {
    /// Since when a relist runs, of all pods or of one, and what it waits for; none when none runs.
    pub fn running_relist(&self) -> Option<(Time, Phase)> {
        self.state.relist.as_ref().map(|relist| (relist.started, relist.phase))
    }

    /// Begins a relist of all pods: answer [`Output::Relisting`] with [`Engine::handle_listed`] or
    /// [`Engine::handle_list_failed`].
    pub fn handle_relist(&mut self, now: Time) {
        if self.state.relist.is_some() {
            return self.ignore("handle_relist");
        }
        let interval = self.state.relist_time.map(|relist_time| now.since(relist_time));
        if let Some(interval) = interval {
            self.state.metrics.relist_interval.observe(interval);
        }
        self.begin(now, Scope::All, interval);
        self.push(Output::Relisting);
    }

    /// Begins a relist of one pod (v1.36): answer [`Output::RelistingPod`] with [`Engine::handle_pod_listed`].
    /// Neither relist time nor the cache's global time move.
    pub fn handle_pod_relist(&mut self, now: Time, uid: &Uid) {
        if self.state.relist.is_some() || !self.config.profile.requests {
            return self.ignore("handle_pod_relist");
        }
        self.begin(now, Scope::Pod { uid: uid.clone(), listed: None }, None);
        self.push(Output::RelistingPod { uid: uid.clone() });
    }

    /// All pods were listed. Goes on to the first pod that needs an inspection, or to the end of the relist.
    pub fn handle_listed(&mut self, now: Time, listing: Listing) {
        let Some((Scope::All, started)) = self.awaited_listing() else { return self.ignore("handle_listed") };
        // The time before the listing, and before any inspection: a listing that answers keeps PLEG healthy
        // for a threshold, however long the inspections then take (`Relist`, generic.go).
        self.state.relist_time = Some(started);
        self.enter(Phase::Reconciling);
        self.record_listing(listing, started);
        self.reconcile_pending(now);
    }

    /// The listing of all pods failed: the relist ends and leaves everything as it was.
    pub fn handle_list_failed(&mut self, now: Time, error: &str) {
        let Some((Scope::All, _)) = self.awaited_listing() else { return self.ignore("handle_list_failed") };
        self.push(Output::ListFailed { error: error.into() });
        self.end(now);
    }

    /// The pod of a pod relist was listed, or not: a pod that was not found is left to the next relist of all.
    pub fn handle_pod_listed(&mut self, now: Time, result: Result<Arc<Pod>, ErrorText>) {
        let Some((Scope::Pod { uid, .. }, _)) = self.awaited_listing() else {
            return self.ignore("handle_pod_listed");
        };
        match result {
            Ok(pod) if pod.uid != uid => self.ignore("handle_pod_listed"),
            Ok(pod) => {
                self.enter(Phase::Reconciling);
                self.record_pod(&uid, pod.timestamp);
                if !self.reconcile(now, uid, Some(pod)) {
                    self.reconcile_pending(now);
                }
            }
            Err(error) => {
                self.push(Output::PodListFailed { uid, error });
                self.end(now);
            }
        }
    }

    /// A pod was inspected. Writes the cache, sends the pod's events and goes on; on an error the pod's events are
    /// held back and its record stays as it is.
    pub fn handle_inspected(&mut self, now: Time, uid: &Uid, result: Result<Arc<PodStatus>, ErrorText>) {
        let Some(work) = self.take_work(Phase::Inspecting, uid) else {
            return self.ignore("handle_inspected");
        };
        let waits = match result {
            _ if self.config.profile.passes => self.handle_inspected_in_pass(work, result),
            Ok(status) => self.accept(work, status),
            Err(error) => self.hold(work, error),
        };
        if !waits {
            self.reconcile_pending(now);
        }
    }

    /// The watch conditions of [`Output::CheckConditions`] were checked; `met` are the keys of those that came true.
    pub fn handle_conditions_checked(&mut self, now: Time, uid: &Uid, met: &[WatchKey]) {
        let Some(work) = self.take_work(Phase::Checking, uid) else {
            return self.ignore("handle_conditions_checked");
        };
        self.complete(work, met);
        self.reconcile_pending(now);
    }

    /// Reconciles pods until one needs an answer of the caller, or the relist ends.
    fn reconcile_pending(&mut self, now: Time) {
        if self.config.profile.passes {
            if !self.go_through_passes(now) {
                self.finish(now);
            }
            return;
        }
        while let Some(uid) = self.state.pending.pop_front() {
            let Some(record) = self.state.records.get(&uid) else { continue };
            let listed = record.listed.clone();
            self.state.unsettled.remove(&uid);
            if self.reconcile(now, uid, listed) {
                return;
            }
        }
        self.finish(now);
    }

    /// A pod that somebody asks for while a relist of all runs, and whose turn is still to come, has its turn in that
    /// relist, though it is listed as before: upstream walks every record (`Relist`, generic.go).
    pub(super) fn join_relist(&mut self, uid: &Uid) {
        let state = &mut self.state;
        let Some(Relist { scope: Scope::All, started, work: Some(work), order, .. }) = &state.relist else {
            return;
        };
        if turn(order, uid) <= turn(order, &work.uid) || !state.records.contains_key(uid) {
            return;
        }
        let place = state.pending.partition_point(|other| turn(order, other) < turn(order, uid));
        if state.pending.get(place) != Some(uid) {
            state.pending.insert(place, uid.clone());
            let started = *started;
            self.refresh(uid, started);
        }
    }

    /// The pod whose inspection the running relist waits for.
    pub(super) fn inspected(&self) -> Option<&Arc<Pod>> {
        let relist = self.state.relist.as_ref().filter(|relist| relist.phase == Phase::Inspecting)?;
        relist.work.as_ref()?.pod.as_ref()
    }

    fn begin(&mut self, now: Time, scope: Scope, interval: Option<Nanos>) {
        let (phase, work, order) = (Phase::Listing, None, Vec::new());
        self.state.relist = Some(Relist { scope, started: now, interval, phase, work, order });
    }

    /// What is being listed and since when, if that is what the relist waits for.
    fn awaited_listing(&self) -> Option<(Scope, Time)> {
        let relist = self.state.relist.as_ref().filter(|relist| relist.phase == Phase::Listing)?;
        Some((relist.scope.clone(), relist.started))
    }

    /// A pod relist found its pod. The next relist of all must compare it although that may list it as the one
    /// before did.
    fn record_pod(&mut self, uid: &Uid, time: Time) {
        self.state.records.entry(uid.clone()).or_default();
        self.state.unsettled.insert(uid.clone());
        if let Some(Relist { scope: Scope::Pod { listed, .. }, .. }) = &mut self.state.relist {
            *listed = Some(time);
        }
    }

    fn enter(&mut self, phase: Phase) {
        if let Some(relist) = &mut self.state.relist {
            relist.phase = phase;
        }
    }

    /// Waits for the caller's answer about a pod.
    pub(super) fn wait(&mut self, phase: Phase, work: Work) {
        if let Some(relist) = &mut self.state.relist {
            relist.phase = phase;
            relist.work = Some(work);
        }
    }

    fn take_work(&mut self, phase: Phase, uid: &Uid) -> Option<Work> {
        let relist = self.state.relist.as_mut().filter(|relist| relist.phase == phase)?;
        let work = relist.work.take_if(|work| work.uid == *uid)?;
        relist.phase = Phase::Reconciling;
        Some(work)
    }

    /// Ends a relist that was able to list.
    fn finish(&mut self, now: Time) {
        let Some(relist) = &self.state.relist else { return };
        match &relist.scope {
            Scope::All => {
                let time = relist.started;
                self.state.cache.update_time(time);
                self.push(Output::GlobalTime { time });
            }
            Scope::Pod { listed: None, .. } => {}
            Scope::Pod { uid, listed: Some(time) } => {
                let (uid, time) = (uid.clone(), *time);
                self.state.cache.observe(&uid, time);
                self.push(Output::PodTimeObserved { uid, time });
            }
        }
        self.end(now);
    }

    fn end(&mut self, now: Time) {
        let Some(Relist { scope, started, interval, .. }) = self.state.relist.take() else { return };
        let took = now.since(started);
        match scope {
            Scope::All => {
                self.state.metrics.relist_duration.observe(took);
                self.push(Output::Relisted { took, interval });
            }
            Scope::Pod { uid, .. } => {
                self.state.metrics.pod_relist_duration.observe(took);
                self.push(Output::PodRelisted { uid, took });
            }
        }
    }
}

/// A pod's place in the order of a relist: the named ones first, the others by uid.
fn turn<'a>(order: &[Uid], uid: &'a Uid) -> (usize, &'a Uid) {
    (order.iter().position(|named| named == uid).unwrap_or(usize::MAX), uid)
}
