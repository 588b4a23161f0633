//! What the simulated runtime keeps: sandboxes and containers, and what it says of them.

use crate::{
    cri::{
        Container, ContainerState, ContainerStatus, Network, POD_UID_LABEL, Sandbox, SandboxState,
        SandboxStatus,
    },
    id::CriId,
    time::Time,
};
use alloc::{borrow::ToOwned, collections::BTreeMap, string::String, vec::Vec};

/// How a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) code: i32,
    pub(super) reason: &'static str,
}

impl Exit {
    pub(super) const OOM_KILLED: Exit = Exit { code: 137, reason: "OOMKilled" };

    /// As containerd words it.
    pub(super) fn code(code: i32) -> Self {
        Self { code, reason: if code == 0 { "Completed" } else { "Error" } }
    }
}

/// The runtime's store.
#[derive(Clone, Debug, Default)]
pub(super) struct Runtime {
    sandboxes: BTreeMap<CriId, SandboxRecord>,
    containers: BTreeMap<CriId, ContainerRecord>,
}

#[derive(Clone, Debug)]
struct SandboxRecord {
    listed: Sandbox,
    /// Empty for host-network pods.
    ip: String,
}

#[derive(Clone, Debug)]
struct ContainerRecord {
    listed: Container,
    started_at: i64,
    ended: Option<(Time, Exit)>,
}

impl Runtime {
    pub(super) fn add_sandbox(&mut self, sandbox: Sandbox, ip: String) {
        self.sandboxes.insert(sandbox.id.clone(), SandboxRecord { listed: sandbox, ip });
    }

    pub(super) fn stop_sandbox(&mut self, id: &CriId) {
        if let Some(record) = self.sandboxes.get_mut(id) {
            record.listed.state = SandboxState::NotReady;
        }
    }

    pub(super) fn remove_sandbox(&mut self, id: &CriId) {
        self.sandboxes.remove(id);
    }

    pub(super) fn add_container(&mut self, container: Container) {
        let record = ContainerRecord { listed: container, started_at: 0, ended: None };
        self.containers.insert(record.listed.id.clone(), record);
    }

    pub(super) fn start(&mut self, id: &CriId, at: Time) {
        if let Some(record) = self.containers.get_mut(id) {
            record.listed.state = ContainerState::Running;
            record.started_at = at.0;
        }
    }

    /// Ends a container; `None` when it does not run, else when it had started.
    pub(super) fn end(&mut self, id: &CriId, at: Time, exit: Exit) -> Option<Time> {
        let record = self.containers.get_mut(id).filter(|r| r.listed.state == ContainerState::Running)?;
        record.listed.state = ContainerState::Exited;
        record.ended = Some((at, exit));
        Some(Time(record.started_at))
    }

    pub(super) fn remove_container(&mut self, id: &CriId) {
        self.containers.remove(id);
    }

    pub(super) fn is_running(&self, id: &CriId) -> bool {
        self.containers.get(id).is_some_and(|record| record.listed.state == ContainerState::Running)
    }

    pub(super) fn has_containers(&self, sandbox: &CriId) -> bool {
        self.containers.values().any(|record| record.listed.pod_sandbox_id == *sandbox)
    }

    pub(super) fn uses_ip(&self, ip: &str) -> bool {
        self.sandboxes.values().any(|record| record.ip == ip)
    }

    /// All sandboxes, in the order of their ids.
    pub(super) fn sandboxes(&self) -> Vec<Sandbox> {
        self.sandboxes.values().map(|record| record.listed.clone()).collect()
    }

    /// All containers, in the order of their ids.
    pub(super) fn containers(&self) -> Vec<Container> {
        self.containers.values().map(|record| record.listed.clone()).collect()
    }

    pub(super) fn sandbox_status(&self, id: &CriId) -> Option<SandboxStatus> {
        self.sandboxes.get(id).map(SandboxRecord::status)
    }

    pub(super) fn container_status(&self, id: &CriId) -> Option<ContainerStatus> {
        self.containers.get(id).map(ContainerRecord::status)
    }

    /// UID of the pod that a sandbox or container belongs to.
    pub(super) fn pod_uid(&self, id: &CriId) -> Option<&str> {
        let sandbox = self.sandboxes.get(id).map(|record| &record.listed.labels);
        let labels = sandbox.or_else(|| self.containers.get(id).map(|record| &record.listed.labels))?;
        labels.get(POD_UID_LABEL).map(String::as_str)
    }
}

impl SandboxRecord {
    /// containerd forgets a sandbox's addresses once its network namespace is closed.
    fn status(&self) -> SandboxStatus {
        let ip = if self.listed.state == SandboxState::Ready { self.ip.clone() } else { String::new() };
        SandboxStatus {
            id: self.listed.id.clone(),
            metadata: self.listed.metadata.clone(),
            state: self.listed.state,
            created_at: self.listed.created_at,
            network: Some(Network { ip, additional_ips: Vec::new() }),
        }
    }
}

impl ContainerRecord {
    fn status(&self) -> ContainerStatus {
        let (finished_at, exit_code, reason) =
            self.ended.map_or((0, 0, ""), |(at, exit)| (at.0, exit.code, exit.reason));
        ContainerStatus {
            id: self.listed.id.clone(),
            metadata: self.listed.metadata.clone(),
            state: self.listed.state,
            created_at: self.listed.created_at,
            started_at: self.started_at,
            finished_at,
            exit_code,
            reason: reason.to_owned(),
            message: String::new(),
            image: self.listed.image.clone().unwrap_or_default(),
            image_ref: self.listed.image_ref.clone(),
        }
    }
}
