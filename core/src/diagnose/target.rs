//! Whom an inspection of a probe asks about.

use crate::{
    cri::{Container, ContainerState, POD_NAME_LABEL, POD_NAMESPACE_LABEL, Sandbox, SandboxState},
    id::{CriId, short_id},
    snapshot::Snapshot,
};
use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use serde::{Deserialize, Serialize};

/// A sandbox or container that is known from a list, of now or of earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its id.
    pub id: CriId,
    /// Namespace of its pod; empty where the runtime was not told.
    pub namespace: String,
    /// Name of its pod.
    pub pod: String,
    /// Name of the container; none for a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// What the list said of its state: `running`, `exited`, `ready`, …; none where no list told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_state: Option<String>,
}

impl Target {
    /// A listed sandbox.
    pub fn sandbox(sandbox: &Sandbox) -> Self {
        let metadata = sandbox.metadata.clone().unwrap_or_default();
        let state = match sandbox.state {
            SandboxState::Ready => "ready".to_owned(),
            SandboxState::NotReady => "not ready".to_owned(),
            SandboxState::Other(number) => number.to_string(),
        };
        Self {
            id: sandbox.id.clone(),
            namespace: metadata.namespace,
            pod: metadata.name,
            container: None,
            last_state: Some(state),
        }
    }

    /// A listed container.
    pub fn container(container: &Container) -> Self {
        let label = |key: &str| container.labels.get(key).cloned().unwrap_or_default();
        let state = match container.state {
            ContainerState::Created => "created".to_owned(),
            ContainerState::Running => "running".to_owned(),
            ContainerState::Exited => "exited".to_owned(),
            ContainerState::Unknown => "unknown".to_owned(),
            ContainerState::Other(number) => number.to_string(),
        };
        Self {
            id: container.id.clone(),
            namespace: label(POD_NAMESPACE_LABEL),
            pod: label(POD_NAME_LABEL),
            container: Some(container.metadata.clone().unwrap_or_default().name),
            last_state: Some(state),
        }
    }

    /// All that a snapshot lists: the sandboxes, then the containers.
    pub fn all(snapshot: &Snapshot) -> Vec<Self> {
        let sandboxes = snapshot.sandboxes().map(Self::sandbox);
        sandboxes.chain(snapshot.containers().map(Self::container)).collect()
    }
}

impl fmt::Display for Target {
    /// `shop/web-7/app (24ca50a19e37c), last running`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = short_id(&self.id);
        match &self.container {
            Some(container) => write!(f, "{}/{}/{container} ({id})", self.namespace, self.pod)?,
            None => write!(f, "the sandbox of {}/{} ({id})", self.namespace, self.pod)?,
        }
        match &self.last_state {
            Some(state) => write!(f, ", last seen {state}"),
            None => Ok(()),
        }
    }
}
