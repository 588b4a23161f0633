//! Evented PLEG beside the engine: what the frames of the runtime's stream do to it.

use super::Session;
use crate::{
    cri::{ContainerEvent, ContainerEventType},
    id::CriId,
    kuberuntime::status_of_event,
    pleg::{EventStream, Listing, RELIST_PERIOD, RELIST_THRESHOLD, RelistLoop, StreamAction},
    pod::{Container, ContainerId, Pod, PodStatus, State},
    time::Time,
    timeline::Timeline,
    wire::{Stream, StreamNews},
};
use alloc::{string::ToString, sync::Arc, vec, vec::Vec};
use serde::{Deserialize, Serialize};

/// Evented PLEG, as far as it is not in the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventedState {
    /// Number of the last frame of the stream.
    pub(super) last: u64,
    stream: EventStream,
    /// The running relist is the one that a failed stream demands.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    demanded: bool,
}

impl EventedState {
    /// What is to be done about the stream.
    pub(super) fn action(&self) -> StreamAction {
        self.stream.action()
    }
}

impl Session {
    /// Starts Evented PLEG, if the observer reads the stream.
    pub(super) fn start_evented(&mut self) {
        if self.hello.container_events {
            self.evented.stream.start(self.now, &mut self.engine);
        }
    }

    /// Goes on with the state of a checkpoint. After a fall-back the engine no longer relists as the hello says.
    pub(super) fn restore_evented(&mut self, state: EventedState) {
        self.evented = state;
        if self.hello.container_events && self.evented.action() == StreamAction::Nothing {
            self.engine.set_relist_duration(RELIST_PERIOD, RELIST_THRESHOLD);
        }
    }

    /// Time went on.
    pub(super) fn evented_time(&mut self) {
        self.evented.stream.handle_timer(self.now, &mut self.engine);
    }

    /// A relist begins.
    pub(super) fn evented_relist(&mut self) {
        self.evented.demanded = self.evented.action() == StreamAction::Relist;
    }

    /// A relist ended.
    pub(super) fn evented_relisted(&mut self) {
        if core::mem::take(&mut self.evented.demanded) {
            // The agent's own loop asks for the period before each wait.
            let mut relist_loop = RelistLoop::default();
            self.evented.stream.handle_relisted(self.now, &mut self.engine, &mut relist_loop);
        }
    }

    pub(super) fn stream(&mut self, frame: &Stream, timeline: &mut Timeline) {
        self.evented.last = frame.n;
        let (stream, engine) = (&mut self.evented.stream, &mut self.engine);
        match &frame.what {
            StreamNews::Opened => stream.handle_opened(engine),
            StreamNews::Ended => stream.handle_ended(engine),
            StreamNews::Failed(error) => stream.handle_failed(engine, &error.to_string()),
            StreamNews::Dropped(_) => {}
            StreamNews::Event(event) => {
                self.engine.handle_cri_event(self.now, Arc::new((**event).clone()));
                self.show(event, timeline);
            }
        }
    }

    /// The timeline shows what an event says, unless the cache found it to be late.
    fn show(&self, event: &ContainerEvent, timeline: &mut Timeline) {
        let Some(status) = status_of_event(event) else { return };
        let deleted = event.kind == ContainerEventType::Deleted;
        let entry = self.engine.cache().get(&status.uid);
        let taken = entry.and_then(|entry| entry.modified) == Some(Time(event.created_at));
        if deleted && entry.is_none() {
            timeline.listed(self.now, &Listing::Changed { pods: Vec::new(), gone: vec![status.uid] });
        } else if deleted || taken {
            let without = deleted.then_some(&event.container_id);
            let pod = Arc::new(self.pod_of(&status, without));
            timeline.listed(self.now, &Listing::Changed { pods: vec![pod], gone: Vec::new() });
            timeline.pod_inspected(&status);
        }
    }

    /// The pod as last listed, with what a status says instead, and without what is deleted.
    fn pod_of(&self, status: &PodStatus, without: Option<&CriId>) -> Pod {
        let id = |id: &CriId| ContainerId { runtime: self.runtime.clone(), id: id.clone() };
        let sandbox = status.sandboxes.first().map(|sandbox| &sandbox.id);
        let sandboxes = status.sandboxes.iter().map(|sandbox| Container {
            id: id(&sandbox.id),
            attempt: sandbox.metadata.as_ref().map_or(0, |metadata| metadata.attempt),
            state: sandbox.state.into(),
            created_at: sandbox.created_at,
            ..Container::default()
        });
        let containers = status.containers.iter().map(|container| Container {
            id: id(&container.id),
            name: container
                .metadata
                .as_ref()
                .map(|metadata| metadata.name.as_str().into())
                .unwrap_or_default(),
            attempt: container.metadata.as_ref().map_or(0, |metadata| metadata.attempt),
            state: State::from(container.state),
            created_at: container.created_at,
            sandbox: sandbox.cloned().unwrap_or_default(),
        });
        let listed = self.pods.get(&status.uid);
        let (old_sandboxes, old_containers) =
            listed.map(|pod| (pod.sandboxes.as_slice(), pod.containers.as_slice())).unwrap_or_default();
        let merge = |new: Vec<Container>, old: &[Container]| {
            let rest = old.iter().filter(|old| !new.iter().any(|new| new.id.id == old.id.id)).cloned();
            let all: Vec<Container> = new.iter().cloned().chain(rest).collect();
            all.into_iter().filter(|container| Some(&container.id.id) != without).collect()
        };
        Pod {
            uid: status.uid.clone(),
            name: status.name.clone(),
            namespace: status.namespace.clone(),
            timestamp: self.now,
            created_at: listed.map_or(0, |pod| pod.created_at),
            sandboxes: merge(sandboxes.collect(), old_sandboxes),
            containers: merge(containers.collect(), old_containers),
        }
    }
}
