//! What a container runtime says over CRI, in the project's words.
//!
//! The fields are those that kuberuntime reads to build pods and statuses, and what a person needs to
//! recognise a container. Mounts, resources, log paths and verbose `info` are left out, as are the labels
//! and annotations of statuses: the lists carry them already.

use crate::id::{CriId, Uid};
use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Labels or annotations, in the order of their keys.
pub type Labels = BTreeMap<String, String>;

/// The label that names the pod of a container.
pub const POD_UID_LABEL: &str = "io.kubernetes.pod.uid";
/// The label that holds the pod's name.
pub const POD_NAME_LABEL: &str = "io.kubernetes.pod.name";
/// The label that holds the pod's namespace.
pub const POD_NAMESPACE_LABEL: &str = "io.kubernetes.pod.namespace";

/// `PodSandboxState`. A number that CRI does not define is kept as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxState {
    /// `SANDBOX_READY`
    #[default]
    Ready,
    /// `SANDBOX_NOTREADY`
    NotReady,
    /// A value that this version of CRI does not define.
    #[serde(untagged)]
    Other(i32),
}

impl SandboxState {
    /// CRI's number of it.
    pub fn number(self) -> i32 {
        match self {
            SandboxState::Ready => 0,
            SandboxState::NotReady => 1,
            SandboxState::Other(number) => number,
        }
    }
}

/// `ContainerState`. A number that CRI does not define is kept as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerState {
    /// `CONTAINER_CREATED`
    #[default]
    Created,
    /// `CONTAINER_RUNNING`
    Running,
    /// `CONTAINER_EXITED`
    Exited,
    /// `CONTAINER_UNKNOWN`
    Unknown,
    /// A value that this version of CRI does not define.
    #[serde(untagged)]
    Other(i32),
}

impl ContainerState {
    /// CRI's number of it.
    pub fn number(self) -> i32 {
        match self {
            ContainerState::Created => 0,
            ContainerState::Running => 1,
            ContainerState::Exited => 2,
            ContainerState::Unknown => 3,
            ContainerState::Other(number) => number,
        }
    }
}

/// `PodSandboxMetadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxMetadata {
    /// Name of the pod.
    pub name: String,
    /// UID of the pod.
    pub uid: Uid,
    /// Namespace of the pod.
    pub namespace: String,
    /// How many sandboxes the pod had before this one.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attempt: u32,
}

/// One item of `ListPodSandbox`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Id of the sandbox.
    pub id: CriId,
    /// Absent only in broken answers; kuberuntime skips such a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<SandboxMetadata>,
    /// State in the list.
    pub state: SandboxState,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// Labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// Runtime handler (`RuntimeClass`); empty for the default one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub runtime_handler: String,
}

/// `ContainerMetadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerMetadata {
    /// Name of the container in its pod.
    pub name: String,
    /// How many containers of that name the pod had before this one: the restart count.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attempt: u32,
}

/// One item of `ListContainers`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Id of the container.
    pub id: CriId,
    /// Id of its sandbox.
    pub pod_sandbox_id: CriId,
    /// Absent only in broken answers; kuberuntime skips such a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ContainerMetadata>,
    /// Name of the image as the pod asked for it. Absent only in broken answers; kuberuntime skips such a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The image that runs, by digest or id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub image_ref: String,
    /// State in the list.
    pub state: ContainerState,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// Labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
}

/// `PodSandboxNetworkStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Primary address; empty for host-network pods.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ip: String,
    /// Further addresses, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_ips: Vec<String>,
}

/// The `status` of a `PodSandboxStatus` answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxStatus {
    /// Id of the sandbox.
    pub id: CriId,
    /// Absent only in broken answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<SandboxMetadata>,
    /// State in the answer.
    pub state: SandboxState,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// Absent when the runtime has no network status for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// An answer to `PodSandboxStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxAnswer {
    /// Absent only in broken answers: the inspection fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SandboxStatus>,
    /// Statuses of the sandbox's containers; filled by CRI-O only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub containers: Vec<ContainerStatus>,
    /// Nanoseconds since the epoch at which the statuses were true; 0 where the runtime does not fill it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub timestamp: i64,
}

/// The `status` of a `ContainerStatus` answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerStatus {
    /// Id of the container.
    pub id: CriId,
    /// Absent only in broken answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ContainerMetadata>,
    /// State in the answer.
    pub state: ContainerState,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// Nanoseconds since the epoch; 0 or negative means that it did not start.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub started_at: i64,
    /// Nanoseconds since the epoch; 0 or negative means that it did not finish.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub finished_at: i64,
    /// Exit code; meaningful once exited.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub exit_code: i32,
    /// One word: `Completed`, `Error`, `OOMKilled`, `StartError`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Free text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Name of the image.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub image: String,
    /// The image that runs, by digest or id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub image_ref: String,
}

/// `ContainerEventType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerEventType {
    /// `CONTAINER_CREATED_EVENT`
    #[default]
    Created,
    /// `CONTAINER_STARTED_EVENT`
    Started,
    /// `CONTAINER_STOPPED_EVENT`
    Stopped,
    /// `CONTAINER_DELETED_EVENT`
    Deleted,
}

/// `ContainerEventResponse`: one item of the stream of `GetContainerEvents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerEvent {
    /// Id of the container, or of the sandbox when it is the sandbox that changed.
    pub container_id: CriId,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: ContainerEventType,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// The pod's sandbox. Absent when it is gone already: the kubelet drops such an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxStatus>,
    /// All containers of the sandbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub containers: Vec<ContainerStatus>,
}

/// The calls that a relist makes, by their CRI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Op {
    /// `ListPodSandbox`
    ListPodSandbox,
    /// `ListContainers`
    ListContainers,
    /// `PodSandboxStatus`
    PodSandboxStatus,
    /// `ContainerStatus`
    ContainerStatus,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 4] =
        [Op::ListPodSandbox, Op::ListContainers, Op::PodSandboxStatus, Op::ContainerStatus];

    /// The name of the CRI method.
    pub fn name(self) -> &'static str {
        match self {
            Op::ListPodSandbox => "ListPodSandbox",
            Op::ListContainers => "ListContainers",
            Op::PodSandboxStatus => "PodSandboxStatus",
            Op::ContainerStatus => "ContainerStatus",
        }
    }

    /// Whether the call is one of a relist's two listings.
    pub fn is_listing(self) -> bool {
        matches!(self, Op::ListPodSandbox | Op::ListContainers)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A call that failed. Prints as grpc-go does, so that a text looks as it does in the kubelet's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("rpc error: code = {code} desc = {message}")]
pub struct RpcError {
    /// The gRPC code by its Go name: `DeadlineExceeded`, `Unavailable`, `NotFound`, …
    pub code: String,
    /// The message that came with it.
    pub message: String,
}

impl RpcError {
    /// An error from its parts.
    pub fn new(code: &str, message: &str) -> Self {
        Self { code: code.to_owned(), message: message.to_owned() }
    }

    /// Whether the runtime does not know the id. kuberuntime leaves such a sandbox or container out.
    pub fn is_not_found(&self) -> bool {
        self.code == "NotFound"
    }
}

/// What a call answered, for the two calls whose answer is needed as it is. Listings travel as a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Answer to `PodSandboxStatus`.
    Sandbox(Box<SandboxAnswer>),
    /// Answer to `ContainerStatus`; `None` when the answer held no status: the inspection fails.
    Container(Option<Box<ContainerStatus>>),
}
