//! One pod record reconciled: `reconcilePodRecord` and `updateCache`.

use super::Model;
use crate::{
    history::{Inspection, Kubelet, Plan},
    trace::Seen,
};
use pleg_core::{
    id::Uid,
    pleg::{Event, EventType, Output, PlegState, WatchKey},
    pod::{Container, ContainerId, Pod, PodStatus, State},
};
use std::{collections::BTreeMap, sync::Arc};

/// What became of the cache entry.
enum Cached {
    /// The pod is not listed.
    Deleted,
    Written(Arc<PodStatus>),
    /// The cache has a later one.
    Refused,
    Failed,
}

/// An event as it is made; a change to unknown is one that is never sent.
#[derive(Clone)]
enum Made {
    Changed,
    Send(EventType, Option<ContainerId>),
}

impl Model {
    pub(super) fn reconcile(&mut self, uid: &Uid, plan: &Plan) {
        let record = self.records.get(uid).cloned().unwrap_or_default();
        let mut events = self.compare(uid, record.old.as_deref(), record.current.as_deref());
        let asked = self.reinspect.remove(uid);
        let conditions = self.conditions.get(uid).cloned().unwrap_or_default();
        if events.is_empty() && !asked && conditions.is_empty() {
            return;
        }
        let inspection = plan.inspection(uid);
        let status = match self.update_cache(uid, record.current.as_ref(), &inspection) {
            Cached::Failed | Cached::Refused => return,
            Cached::Deleted => None,
            Cached::Written(status) => Some(status),
        };
        if let Some(status) = &status
            && self.check_conditions(uid, status, &conditions, &inspection)
        {
            events.push(Made::Send(EventType::ConditionMet, None));
        }
        if events.is_empty() && self.setup.kubelet == Kubelet::V1_36 {
            events.push(Made::Send(EventType::PodSync, None));
        }
        match record.current {
            None => {
                self.records.remove(uid);
            }
            Some(current) => {
                let record = self.records.entry(uid.clone()).or_default();
                record.old = Some(current);
                record.current = None;
            }
        }
        for event in events {
            self.send(uid, event, status.as_deref());
        }
    }

    /// The transitions between two sights of a pod, and the events that they make.
    fn compare(&mut self, uid: &Uid, old: Option<&Pod>, new: Option<&Pod>) -> Vec<Made> {
        let mut ids: Vec<ContainerId> = Vec::new();
        for pod in [old, new].into_iter().flatten() {
            for listed in pod.containers.iter().chain(&pod.sandboxes) {
                if !ids.iter().any(|id| id.id == listed.id.id) {
                    ids.push(listed.id.clone());
                }
            }
        }
        let mut events = Vec::new();
        for id in ids {
            let (before, now) = (state_of(old, &id), state_of(new, &id));
            if before != now {
                self.out(Output::Transition { uid: uid.clone(), id: id.clone(), old: before, new: now });
                for made in made_of(before, now) {
                    events.push(match made {
                        None => Made::Changed,
                        Some(kind) => Made::Send(*kind, Some(id.clone())),
                    });
                }
            }
        }
        events
    }

    fn update_cache(&mut self, uid: &Uid, pod: Option<&Arc<Pod>>, plan: &Inspection) -> Cached {
        let Some(pod) = pod else {
            self.cache.entries.remove(uid);
            self.out(Output::StatusDeleted { uid: uid.clone() });
            return Cached::Deleted;
        };
        self.out(Output::Inspect { pod: pod.clone() });
        let started = self.world.now;
        self.world.wait(plan.takes);
        self.act_all(&plan.meanwhile);
        let mut time = match self.setup.kubelet {
            Kubelet::V1_36 => pod.timestamp,
            Kubelet::V1_35 => started,
        };
        let result = match self.world.inspect(pod, started, plan) {
            Err(error) => Err(error),
            Ok(mut status) => {
                if self.cache.preserve_addresses(uid, &mut status) {
                    self.addresses_kept += 1;
                }
                if self.setup.gate && self.setup.evented_in_use {
                    time = status.timestamp;
                }
                Ok(Arc::new(status))
            }
        };
        let accepted = self.cache.set(uid, result.clone(), time, self.setup.gate);
        self.out(Output::StatusWritten { pod: pod.clone(), time, result: result.clone(), accepted });
        match result {
            Err(error) => {
                match self.setup.kubelet {
                    Kubelet::V1_36 => self.reinspect.insert(uid.clone()),
                    Kubelet::V1_35 => self.failed.insert(uid.clone()),
                };
                self.out(Output::Held { pod: pod.clone(), error });
                Cached::Failed
            }
            Ok(_) if !accepted => Cached::Refused,
            Ok(status) => Cached::Written(status),
        }
    }

    /// v1.35: whether a condition is met. Those that are go, unless they were replaced since they were read.
    fn check_conditions(
        &mut self,
        uid: &Uid,
        status: &Arc<PodStatus>,
        read: &BTreeMap<WatchKey, u64>,
        plan: &Inspection,
    ) -> bool {
        if read.is_empty() {
            return false;
        }
        self.out(Output::CheckConditions {
            uid: uid.clone(),
            status: status.clone(),
            conditions: read.iter().map(|(key, version)| (key.clone(), *version)).collect(),
        });
        self.act_all(&plan.while_checking);
        let mut any = false;
        for (key, version) in read {
            if plan.meets.contains(&&**key) {
                any = true;
                if let Some(conditions) = self.conditions.get_mut(uid)
                    && conditions.get(key) == Some(version)
                {
                    conditions.remove(key);
                }
            }
        }
        any
    }

    fn send(&mut self, uid: &Uid, made: Made, status: Option<&PodStatus>) {
        let Made::Send(kind, id) = made else { return };
        let data = id.map(|id| id.id);
        let event = Event { uid: uid.clone(), kind, data: data.clone() };
        if self.channel.len() < self.setup.capacity {
            self.channel.push(event.clone());
            self.seen.push(Seen::Output(Output::Event(event)));
        } else {
            self.observed.discarded += 1;
            self.out(Output::Discarded(event));
        }
        // The last of several with one id: upstream looks it up in a map that it fills from the list.
        if let (EventType::ContainerDied, Some(id), Some(status)) = (kind, data, status)
            && let Some(container) = status.containers.iter().rfind(|container| container.id == id)
        {
            self.out(Output::Finished { uid: uid.clone(), id, exit_code: container.exit_code });
        }
    }
}

/// The first container with this id, type included, else the first sandbox.
fn state_of(pod: Option<&Pod>, id: &ContainerId) -> PlegState {
    let Some(pod) = pod else { return PlegState::NonExistent };
    let same = |listed: &&Container| listed.id == *id;
    match pod.containers.iter().find(same).or_else(|| pod.sandboxes.iter().find(same)) {
        None => PlegState::NonExistent,
        Some(listed) => match listed.state {
            State::Running => PlegState::Running,
            State::Exited => PlegState::Exited,
            State::Created | State::Unknown => PlegState::Unknown,
        },
    }
}

/// The table of `generateEvents`; `None` stands for `ContainerChanged`.
fn made_of(old: PlegState, new: PlegState) -> &'static [Option<EventType>] {
    use EventType::{ContainerDied as Died, ContainerRemoved as Removed, ContainerStarted as Started};
    match (old, new) {
        (PlegState::NonExistent, PlegState::Running) => &[Some(Started)],
        (PlegState::NonExistent, PlegState::Exited) => &[Some(Died)],
        (PlegState::NonExistent, PlegState::Unknown) => &[None],
        (PlegState::Running, PlegState::Exited) => &[Some(Died)],
        (PlegState::Running, PlegState::Unknown) => &[None],
        (PlegState::Running, PlegState::NonExistent) => &[Some(Died), Some(Removed)],
        (PlegState::Exited, PlegState::Running) => &[Some(Started)],
        (PlegState::Exited, PlegState::Unknown) => &[None],
        (PlegState::Exited, PlegState::NonExistent) => &[Some(Removed)],
        (PlegState::Unknown, PlegState::Running) => &[Some(Started)],
        (PlegState::Unknown, PlegState::Exited) => &[Some(Died)],
        (PlegState::Unknown, PlegState::NonExistent) => &[Some(Died), Some(Removed)],
        (PlegState::NonExistent, PlegState::NonExistent)
        | (PlegState::Running, PlegState::Running)
        | (PlegState::Exited, PlegState::Exited)
        | (PlegState::Unknown, PlegState::Unknown) => &[],
    }
}
