//! CRI's messages in the project's words. Total: whatever a runtime sends has a counterpart.
//!
//! A package of its own, so that it can be tested and fuzzed without the agent.

/// The messages. They are the same on the wire in CRI v1alpha2, as far as plegscope reads them.
pub use k8s_cri::v1;
use pleg_core::cri::{
    Container, ContainerEvent, ContainerEventType, ContainerMetadata, ContainerState, ContainerStatus,
    Labels, Network, Sandbox, SandboxAnswer, SandboxMetadata, SandboxState, SandboxStatus,
};
use std::collections::HashMap;

/// One item of `ListPodSandbox`.
pub fn sandbox(item: v1::PodSandbox) -> Sandbox {
    Sandbox {
        id: item.id.into(),
        metadata: item.metadata.map(sandbox_metadata),
        state: sandbox_state(item.state),
        created_at: item.created_at,
        labels: labels(item.labels),
        annotations: labels(item.annotations),
        runtime_handler: item.runtime_handler,
    }
}

/// One item of `ListContainers`.
pub fn container(item: v1::Container) -> Container {
    Container {
        id: item.id.into(),
        pod_sandbox_id: item.pod_sandbox_id.into(),
        metadata: item.metadata.map(container_metadata),
        image: item.image.map(|image| image.image),
        image_ref: item.image_ref,
        state: container_state(item.state),
        created_at: item.created_at,
        labels: labels(item.labels),
        annotations: labels(item.annotations),
    }
}

/// An answer to `PodSandboxStatus`.
pub fn sandbox_answer(answer: v1::PodSandboxStatusResponse) -> SandboxAnswer {
    SandboxAnswer {
        status: answer.status.map(sandbox_status),
        containers: answer.containers_statuses.into_iter().map(container_status).collect(),
        timestamp: answer.timestamp,
    }
}

/// One item of the stream of `GetContainerEvents`.
pub fn container_event(event: v1::ContainerEventResponse) -> ContainerEvent {
    ContainerEvent {
        container_id: event.container_id.into(),
        kind: event_type(event.container_event_type),
        created_at: event.created_at,
        sandbox: event.pod_sandbox_status.map(sandbox_status),
        containers: event.containers_statuses.into_iter().map(container_status).collect(),
    }
}

/// The status of an answer to `ContainerStatus`.
pub fn container_status(status: v1::ContainerStatus) -> ContainerStatus {
    ContainerStatus {
        id: status.id.into(),
        metadata: status.metadata.map(container_metadata),
        state: container_state(status.state),
        created_at: status.created_at,
        started_at: status.started_at,
        finished_at: status.finished_at,
        exit_code: status.exit_code,
        reason: status.reason,
        message: status.message,
        image: status.image.map(|image| image.image).unwrap_or_default(),
        image_ref: status.image_ref,
    }
}

fn sandbox_status(status: v1::PodSandboxStatus) -> SandboxStatus {
    SandboxStatus {
        id: status.id.into(),
        metadata: status.metadata.map(sandbox_metadata),
        state: sandbox_state(status.state),
        created_at: status.created_at,
        network: status.network.map(|network| Network {
            ip: network.ip,
            additional_ips: network.additional_ips.into_iter().map(|ip| ip.ip).collect(),
        }),
    }
}

fn sandbox_metadata(metadata: v1::PodSandboxMetadata) -> SandboxMetadata {
    SandboxMetadata {
        name: metadata.name,
        uid: metadata.uid.into(),
        namespace: metadata.namespace,
        attempt: metadata.attempt,
    }
}

fn container_metadata(metadata: v1::ContainerMetadata) -> ContainerMetadata {
    ContainerMetadata { name: metadata.name, attempt: metadata.attempt }
}

/// Sorted, so that the same labels always give the same text.
fn labels(map: HashMap<String, String>) -> Labels {
    map.into_iter().collect()
}

/// A type that CRI does not define changes the kubelet's cache and makes no event (`processCRIEvent`, evented.go), as a
/// creation does.
fn event_type(number: i32) -> ContainerEventType {
    match v1::ContainerEventType::try_from(number) {
        Ok(v1::ContainerEventType::ContainerCreatedEvent) | Err(_) => ContainerEventType::Created,
        Ok(v1::ContainerEventType::ContainerStartedEvent) => ContainerEventType::Started,
        Ok(v1::ContainerEventType::ContainerStoppedEvent) => ContainerEventType::Stopped,
        Ok(v1::ContainerEventType::ContainerDeletedEvent) => ContainerEventType::Deleted,
    }
}

fn sandbox_state(number: i32) -> SandboxState {
    match v1::PodSandboxState::try_from(number) {
        Ok(v1::PodSandboxState::SandboxReady) => SandboxState::Ready,
        Ok(v1::PodSandboxState::SandboxNotready) => SandboxState::NotReady,
        Err(_) => SandboxState::Other(number),
    }
}

fn container_state(number: i32) -> ContainerState {
    match v1::ContainerState::try_from(number) {
        Ok(v1::ContainerState::ContainerCreated) => ContainerState::Created,
        Ok(v1::ContainerState::ContainerRunning) => ContainerState::Running,
        Ok(v1::ContainerState::ContainerExited) => ContainerState::Exited,
        Ok(v1::ContainerState::ContainerUnknown) => ContainerState::Unknown,
        Err(_) => ContainerState::Other(number),
    }
}

#[cfg(test)]
mod tests;
