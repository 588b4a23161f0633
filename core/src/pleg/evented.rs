//! Evented PLEG: CRI events become statuses and lifecycle events beside the generic PLEG (v1.26 to v1.36), or ask it to
//! look at once where a container stopped (v1.37).
//!
//! It keeps no records: nothing is retried, and a death can be sent twice, once by it and once by the next relist.

use super::{Engine, ErrorText, Event, EventType, Evented, Output};
use crate::{
    cri::{ContainerEvent, ContainerEventType},
    id::{CriId, Uid},
    kuberuntime::status_of_event,
    pod::PodStatus,
    time::Time,
};
use alloc::{format, string::String, sync::Arc};

/// What Evented PLEG decides. Events that entered the channel are [`Output::Event`], as the generic PLEG's are.
#[derive(Clone, Debug, PartialEq)]
pub enum EventedOutput {
    /// The event names no pod: it is dropped.
    WithoutSandbox {
        /// The event.
        event: Arc<ContainerEvent>,
    },
    /// A status was built from the event.
    StatusBuilt {
        /// The pod.
        uid: Uid,
    },
    /// The pod's cached entry is an error. Upstream panics here (`updateRunningPodMetric`, evented.go, takes the
    /// status that is not there); this engine goes on as if nothing were cached.
    CachedError {
        /// The pod.
        uid: Uid,
        /// Why its last inspection failed.
        error: ErrorText,
    },
    /// `cache.Set`. When the cache refused, because it has a newer status, the event is dropped.
    StatusWritten {
        /// The status, with the addresses that were kept.
        status: Arc<PodStatus>,
        /// Time of the entry: the event's.
        time: Time,
        /// Whether the cache took it.
        accepted: bool,
    },
    /// The pod's sandbox was deleted, and its cache entry with it.
    StatusDeleted {
        /// The pod.
        uid: Uid,
    },
    /// The channel was full: the event is lost for good.
    Discarded(Event),
    /// The stream of CRI events failed and is opened again, or given up.
    StreamFailed {
        /// Why.
        error: ErrorText,
    },
    /// Evented PLEG gave up: the generic PLEG goes on alone, with its ordinary period.
    FellBack,
    /// A container stopped: a relist of its pod was asked for (v1.37).
    RelistRequested {
        /// The pod.
        uid: Uid,
        /// The container or sandbox.
        id: CriId,
    },
    /// The stream of CRI events was given up (v1.37): stops are found by the next relist again.
    HintsDisabled {
        /// Errors of the stream.
        retries: u32,
        /// The last one.
        error: ErrorText,
    },
    /// The CRI event is dealt with.
    Received {
        /// The event.
        event: Arc<ContainerEvent>,
    },
}

impl Engine {
    /// Whether Evented PLEG is in use beside the generic one: it then gives cache entries the status's own time.
    /// Without the gate this has no effect.
    pub fn set_evented_in_use(&mut self, in_use: bool) {
        self.state.evented_in_use = in_use;
    }

    /// An event of the runtime's stream (`processCRIEvents`, evented.go v1.36.2).
    pub fn handle_cri_event(&mut self, now: Time, event: Arc<ContainerEvent>) {
        if !self.config.evented_gate {
            return self.ignore("handle_cri_event");
        }
        let Some(mut status) = status_of_event(&event) else {
            return self.push(Output::Evented(EventedOutput::WithoutSandbox { event }));
        };
        if self.config.profile.evented == Evented::StopHint {
            return self.take_hint(now, &event, &status.uid);
        }
        let uid = status.uid.clone();
        self.push(Output::Evented(EventedOutput::StatusBuilt { uid: uid.clone() }));
        if let Some(ips) = self.state.cache.ips_to_keep(&uid, &status) {
            status.ips = ips;
        }
        self.count_running(&status);
        self.state.metrics.evented_latency.observe(now.since(Time(event.created_at)));
        if self.take_event_status(&event, status) {
            for kind in events_of(event.kind) {
                self.send_evented(Event {
                    uid: uid.clone(),
                    kind: *kind,
                    data: Some(event.container_id.clone()),
                });
            }
            self.push(Output::Evented(EventedOutput::Received { event }));
        }
    }

    /// Of v1.37 on only a stop counts, whatever its exit code: the pod is relisted at once (evented.go).
    fn take_hint(&mut self, now: Time, event: &ContainerEvent, uid: &Uid) {
        self.state.metrics.evented_latency.observe(now.since(Time(event.created_at)));
        if event.kind == ContainerEventType::Stopped {
            self.request_relist(now, uid);
            let (uid, id) = (uid.clone(), event.container_id.clone());
            self.push(Output::Evented(EventedOutput::RelistRequested { uid, id }));
        }
    }

    /// `EventedPLEG.Healthy`: unhealthy only while the channel is full. Otherwise moves `pleg_last_seen_seconds`
    /// to now, whatever the generic PLEG does.
    ///
    /// # Errors
    /// The kubelet's text.
    pub fn check_evented_health(&mut self, now: Time) -> Result<(), String> {
        let (events, capacity) = (self.state.channel.len(), self.config.channel_capacity);
        if events >= capacity {
            return Err(format!("EventedPLEG: pleg event channel capacity is full with {events} events"));
        }
        self.state.metrics.last_seen_seconds = Some(now.unix_seconds());
        Ok(())
    }

    /// Changes the running gauges by the difference to the cached status, before it is known whether the cache takes
    /// the new one: late events skew them, below zero too.
    fn count_running(&mut self, status: &PodStatus) {
        let entry = self.state.cache.get(&status.uid);
        if let Some(error) = entry.and_then(|entry| entry.error.clone()) {
            let uid = status.uid.clone();
            self.push(Output::Evented(EventedOutput::CachedError { uid, error }));
        }
        let entry = self.state.cache.get(&status.uid);
        let cached =
            entry.and_then(|entry| entry.status.clone()).filter(|cached| !cached.sandboxes.is_empty());
        self.state.metrics.change_running(cached.as_deref(), status);
    }

    /// Writes or deletes the cache entry. Returns whether the event is to be reported.
    fn take_event_status(&mut self, event: &ContainerEvent, status: PodStatus) -> bool {
        let uid = status.uid.clone();
        if event.kind == ContainerEventType::Deleted {
            if status.sandboxes.iter().any(|sandbox| sandbox.id == event.container_id) {
                self.state.cache.delete(&uid);
                self.push(Output::Evented(EventedOutput::StatusDeleted { uid }));
            }
            return true;
        }
        let (status, time) = (Arc::new(status), Time(event.created_at));
        let accepted = self.state.cache.set(&uid, Ok(status.clone()), time, true);
        self.push(Output::Evented(EventedOutput::StatusWritten { status, time, accepted }));
        accepted
    }

    fn send_evented(&mut self, event: Event) {
        match self.state.channel.send(event, self.config.channel_capacity) {
            Ok(event) => self.push(Output::Event(event)),
            Err(event) => {
                self.state.metrics.count_discard();
                self.push(Output::Evented(EventedOutput::Discarded(event)));
            }
        }
    }
}

/// The lifecycle events of a CRI event. A creation changes the cache only.
fn events_of(kind: ContainerEventType) -> &'static [EventType] {
    match kind {
        ContainerEventType::Created => &[],
        ContainerEventType::Started => &[EventType::ContainerStarted],
        ContainerEventType::Stopped => &[EventType::ContainerDied],
        ContainerEventType::Deleted => &[EventType::ContainerDied, EventType::ContainerRemoved],
    }
}
