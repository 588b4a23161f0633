//! `GeneratePodStatus`: a pod's status from one CRI event.

use super::inspection::ips;
use crate::{cri::ContainerEvent, pod::PodStatus, time::Time};
use alloc::vec;
use core::cmp::Reverse;

/// The status that a CRI event carries: one sandbox, and the containers newest first. None when the event names no pod.
/// Its time stamp is the event's.
pub fn status_of_event(event: &ContainerEvent) -> Option<PodStatus> {
    let sandbox = event.sandbox.as_ref()?;
    let metadata = sandbox.metadata.as_ref()?;
    let mut containers = event.containers.clone();
    containers.sort_by_key(|container| Reverse(container.created_at));
    Some(PodStatus {
        uid: metadata.uid.clone(),
        name: metadata.name.as_str().into(),
        namespace: metadata.namespace.as_str().into(),
        ips: ips(sandbox.network.as_ref()),
        sandboxes: vec![sandbox.clone()],
        containers,
        timestamp: Time(event.created_at),
        ..PodStatus::default()
    })
}
