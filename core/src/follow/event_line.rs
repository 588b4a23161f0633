//! An event with the names that a person knows: the line that agent, command line and page all print.

use crate::{
    cri::ContainerState,
    id::{CriId, Uid},
    pleg::{Event, EventType},
    time::Time,
    timeline::{LaneKind, Timeline},
};
use alloc::{string::String, sync::Arc};
use serde::{Deserialize, Serialize};

/// One lifecycle event, as one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// When it entered the channel, on the observer's time line: nanoseconds since the epoch.
    pub time: Time,
    /// Number of the relist that made it.
    pub relist: u64,
    /// Type of the event.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub pod: String,
    /// UID of the pod.
    pub uid: Uid,
    /// Id of the container or sandbox; none for `PodSync`.
    pub id: Option<CriId>,
    /// Name of the container; none when the event is about a sandbox or the whole pod.
    pub container: Option<Arc<str>>,
    /// Attempt of the container (its restart count) or sandbox.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attempt: u32,
    /// Exit code, for `ContainerDied` where the inspection told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the channel was full and the event is lost.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub discarded: bool,
}

impl EventLine {
    /// Joins an event with what the timeline knows of its pod and container.
    pub(super) fn new(time: Time, relist: u64, event: &Event, discarded: bool, timeline: &Timeline) -> Self {
        let pod = timeline.pod(&event.uid);
        let found = event.data.as_ref().and_then(|id| timeline.find(id));
        // A container that vanished was last inspected while it ran.
        let exited = found.and_then(|(_, _, span)| span.status.as_deref()).filter(|status| {
            event.kind == EventType::ContainerDied && status.state == ContainerState::Exited
        });
        Self {
            time,
            relist,
            kind: event.kind,
            namespace: pod.map(|pod| pod.namespace.clone()).unwrap_or_default(),
            pod: pod.map(|pod| pod.name.clone()).unwrap_or_default(),
            uid: event.uid.clone(),
            id: event.data.clone(),
            container: found.and_then(|(_, lane, _)| match &lane.kind {
                LaneKind::Container(name) => Some(name.clone()),
                LaneKind::Sandbox => None,
            }),
            attempt: found.map_or(0, |(_, _, span)| span.attempt),
            exit_code: exited.map(|status| status.exit_code),
            discarded,
        }
    }

    /// What the event is about: the container's name, `sandbox`, or `pod`.
    pub fn subject(&self) -> &str {
        match (&self.container, &self.id) {
            (Some(name), _) => name,
            (None, Some(_)) => "sandbox",
            (None, None) => "pod",
        }
    }

    /// The event as one line of JSON, without a line feed.
    pub fn to_json(&self) -> String {
        // Plain data with text keys cannot fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}
