//! Pods as the kubelet sees them: what kuberuntime builds from the runtime's lists and answers.
//!
//! The words are those of the kubelet's `pkg/kubelet/container` (v1.36.2): `Pod`, `Container`, `PodStatus`.

use crate::{
    cri::{self, ContainerStatus, SandboxStatus},
    id::{CriId, Uid},
    time::Time,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// `kubecontainer.ContainerID`: the runtime's type and its id. PLEG compares both.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContainerId {
    /// Name of the runtime as its `Version` answer has it: `containerd`, `cri-o`.
    #[serde(rename = "type")]
    pub runtime: Arc<str>,
    /// The runtime's id.
    pub id: CriId,
}

/// `kubecontainer.State`: the state of a container or sandbox in a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Created and not started. PLEG treats it as unknown.
    Created,
    /// Runs; for a sandbox: ready.
    Running,
    /// Ended; for a sandbox: not ready.
    Exited,
    /// The runtime does not know.
    #[default]
    Unknown,
}

impl State {
    /// The kubelet's word, as in its metric `running_containers{container_state}`.
    pub fn name(self) -> &'static str {
        match self {
            State::Created => "created",
            State::Running => "running",
            State::Exited => "exited",
            State::Unknown => "unknown",
        }
    }
}

impl From<cri::ContainerState> for State {
    fn from(state: cri::ContainerState) -> Self {
        match state {
            cri::ContainerState::Created => State::Created,
            cri::ContainerState::Running => State::Running,
            cri::ContainerState::Exited => State::Exited,
            cri::ContainerState::Unknown | cri::ContainerState::Other(_) => State::Unknown,
        }
    }
}

/// To PLEG a sandbox is a container that runs while it is ready.
impl From<cri::SandboxState> for State {
    fn from(state: cri::SandboxState) -> Self {
        match state {
            cri::SandboxState::Ready => State::Running,
            cri::SandboxState::NotReady | cri::SandboxState::Other(_) => State::Exited,
        }
    }
}

/// `kubecontainer.Container`: one container, or one sandbox, of a listed pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Runtime type and id.
    pub id: ContainerId,
    /// Name of the container in its pod; empty for a sandbox.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub name: Arc<str>,
    /// Attempt of the container (its restart count) or of the sandbox.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attempt: u32,
    /// State in the listing.
    pub state: State,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// Id of the container's sandbox; empty for a sandbox.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub sandbox: CriId,
}

/// `kubecontainer.Pod`: a pod as one listing shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// UID.
    pub uid: Uid,
    /// Name; empty when only unlabelled containers are left of the pod.
    pub name: Arc<str>,
    /// Namespace.
    pub namespace: Arc<str>,
    /// When its oldest sandbox was created, in nanoseconds since the epoch; 0 without a sandbox.
    pub created_at: i64,
    /// When the listing that shows it began.
    pub timestamp: Time,
    /// Sandboxes, newest attempt first.
    pub sandboxes: Vec<Container>,
    /// Containers, newest first.
    pub containers: Vec<Container>,
}

/// `kubecontainer.PodStatus`: what an inspection found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodStatus {
    /// UID.
    pub uid: Uid,
    /// Name.
    pub name: Arc<str>,
    /// Namespace.
    pub namespace: Arc<str>,
    /// The pod's addresses, primary first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ips: Vec<String>,
    /// Statuses of its sandboxes, newest attempt first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandboxes: Vec<SandboxStatus>,
    /// Statuses of its containers, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub containers: Vec<ContainerStatus>,
    /// Ids of those `containers` that belong to the first sandbox (`ActiveContainerStatuses`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<CriId>,
    /// When it was true: the pod's listing time, or the runtime's own time stamp under the EventedPLEG gate.
    pub timestamp: Time,
}
