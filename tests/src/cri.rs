//! The tests' CRI client: makes and changes pods as the kubelet does, with its labels and annotations.
//!
//! Invariant: nothing else in the project creates, stops or removes a pod or a container. The agent only looks.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use k8s_cri::v1::runtime_service_client::RuntimeServiceClient;
use k8s_cri::v1::{
    ContainerConfig, ContainerMetadata, ContainerState, ContainerStatus, ContainerStatusRequest,
    CreateContainerRequest, ImageSpec, LinuxContainerResources, LinuxPodSandboxConfig,
    LinuxSandboxSecurityContext, NamespaceMode, NamespaceOption, PodSandboxConfig, PodSandboxMetadata,
    RemoveContainerRequest, RemovePodSandboxRequest, RunPodSandboxRequest, StartContainerRequest,
    StopContainerRequest, StopPodSandboxRequest, UpdateContainerResourcesRequest,
};
use pleg_containerd::{BUSYBOX, Containerd};
use tonic::transport::{Channel, Endpoint};

use crate::wait;

/// Which pod, and which of its sandboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.uid`
    pub uid: String,
    /// How many sandboxes the pod had before this one.
    pub attempt: u32,
}

impl Pod {
    /// The first sandbox of a pod.
    #[must_use]
    pub fn new(namespace: &str, name: &str, uid: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned(), uid: uid.to_owned(), attempt: 0 }
    }
}

/// A sandbox that was made.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// Whose it is.
    pub pod: Pod,
    /// Its id.
    pub id: String,
    config: PodSandboxConfig,
}

/// The client.
#[derive(Clone)]
pub struct CriClient {
    rpc: RuntimeServiceClient<Channel>,
    logs: PathBuf,
    cgroup_parent: String,
}

impl CriClient {
    /// Connects to a running containerd.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn connect(containerd: &Containerd) -> Result<Self> {
        let channel = Endpoint::from_shared(containerd.endpoint())?.connect().await.context("CRI")?;
        let logs = containerd.dir().join("pods");
        Ok(Self { rpc: RuntimeServiceClient::new(channel), logs, cgroup_parent: containerd.cgroup_parent() })
    }

    /// `RunPodSandbox`, in the host's network.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn run_sandbox(&mut self, pod: &Pod) -> Result<Sandbox> {
        let config = self.sandbox_config(pod)?;
        let request = RunPodSandboxRequest { config: Some(config.clone()), ..Default::default() };
        let answer =
            self.rpc.run_pod_sandbox(request).await.with_context(|| format!("RunPodSandbox {}", pod.name))?;
        Ok(Sandbox { pod: pod.clone(), id: answer.into_inner().pod_sandbox_id, config })
    }

    fn sandbox_config(&self, pod: &Pod) -> Result<PodSandboxConfig> {
        let logs = self.logs.join(format!("{}_{}_{}", pod.namespace, pod.name, pod.uid));
        fs::create_dir_all(&logs)?;
        let host = i32::from(NamespaceMode::Node);
        let own = i32::from(NamespaceMode::Container);
        let namespaces = NamespaceOption {
            network: host,
            pid: own,
            ipc: i32::from(NamespaceMode::Pod),
            ..Default::default()
        };
        let security =
            LinuxSandboxSecurityContext { namespace_options: Some(namespaces), ..Default::default() };
        Ok(PodSandboxConfig {
            metadata: Some(PodSandboxMetadata {
                name: pod.name.clone(),
                uid: pod.uid.clone(),
                namespace: pod.namespace.clone(),
                attempt: pod.attempt,
            }),
            log_directory: logs.display().to_string(),
            labels: pod_labels(pod),
            annotations: map(&[
                ("kubernetes.io/config.seen", "2026-01-01T00:00:00.000000000Z"),
                ("kubernetes.io/config.source", "api"),
            ]),
            linux: Some(LinuxPodSandboxConfig {
                // Without it containerd fails ListPodSandboxStats for the whole node.
                cgroup_parent: format!("{}/pod{}", self.cgroup_parent, pod.uid),
                security_context: Some(security),
                ..Default::default()
            }),
            ..Default::default()
        })
    }

    /// `CreateContainer` of the busybox image; its id.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn create(
        &mut self,
        sandbox: &Sandbox,
        name: &str,
        attempt: u32,
        command: &[&str],
    ) -> Result<String> {
        // The runtime does not make it, and StartContainer fails without it.
        fs::create_dir_all(PathBuf::from(&sandbox.config.log_directory).join(name))?;
        let mut labels = pod_labels(&sandbox.pod);
        labels.insert("io.kubernetes.container.name".to_owned(), name.to_owned());
        let config = ContainerConfig {
            metadata: Some(ContainerMetadata { name: name.to_owned(), attempt }),
            image: Some(ImageSpec { image: BUSYBOX.to_owned(), ..Default::default() }),
            command: command.iter().map(|&word| word.to_owned()).collect(),
            labels,
            annotations: map(&[
                ("io.kubernetes.container.hash", "5d3a1f0c"),
                ("io.kubernetes.container.restartCount", &attempt.to_string()),
                ("io.kubernetes.container.terminationMessagePath", "/dev/termination-log"),
                ("io.kubernetes.container.terminationMessagePolicy", "File"),
                ("io.kubernetes.pod.terminationGracePeriod", "30"),
            ]),
            log_path: format!("{name}/{attempt}.log"),
            ..Default::default()
        };
        let request = CreateContainerRequest {
            pod_sandbox_id: sandbox.id.clone(),
            config: Some(config),
            sandbox_config: Some(sandbox.config.clone()),
        };
        let answer =
            self.rpc.create_container(request).await.with_context(|| format!("CreateContainer {name}"))?;
        Ok(answer.into_inner().container_id)
    }

    /// `StartContainer`.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn start(&mut self, container: &str) -> Result<()> {
        let request = StartContainerRequest { container_id: container.to_owned() };
        self.rpc.start_container(request).await.context("StartContainer").map(drop)
    }

    /// `CreateContainer` and `StartContainer`; the container's id.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn run(
        &mut self,
        sandbox: &Sandbox,
        name: &str,
        attempt: u32,
        command: &[&str],
    ) -> Result<String> {
        let id = self.create(sandbox, name, attempt, command).await?;
        self.start(&id).await?;
        Ok(id)
    }

    /// `StopContainer`: `SIGTERM`, and `SIGKILL` after `grace_seconds`; with 0 there is no `SIGTERM`.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn stop(&mut self, container: &str, grace_seconds: i64) -> Result<()> {
        let request = StopContainerRequest { container_id: container.to_owned(), timeout: grace_seconds };
        self.rpc.stop_container(request).await.context("StopContainer").map(drop)
    }

    /// `RemoveContainer`; a running one is killed.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn remove(&mut self, container: &str) -> Result<()> {
        let request = RemoveContainerRequest { container_id: container.to_owned() };
        self.rpc.remove_container(request).await.context("RemoveContainer").map(drop)
    }

    /// `UpdateContainerResources`, as the kubelet's CPU manager calls it: containerd 1.6 holds the container's lock
    /// until the shim has answered.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn update(&mut self, container: &str, cpu_shares: i64) -> Result<()> {
        let linux = LinuxContainerResources { cpu_shares, ..Default::default() };
        let request = UpdateContainerResourcesRequest {
            container_id: container.to_owned(),
            linux: Some(linux),
            ..Default::default()
        };
        self.rpc.update_container_resources(request).await.context("UpdateContainerResources").map(drop)
    }

    /// `StopPodSandbox`.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn stop_sandbox(&mut self, sandbox: &Sandbox) -> Result<()> {
        let request = StopPodSandboxRequest { pod_sandbox_id: sandbox.id.clone() };
        self.rpc.stop_pod_sandbox(request).await.context("StopPodSandbox").map(drop)
    }

    /// `RemovePodSandbox`.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn remove_sandbox(&mut self, sandbox: &Sandbox) -> Result<()> {
        let request = RemovePodSandboxRequest { pod_sandbox_id: sandbox.id.clone() };
        self.rpc.remove_pod_sandbox(request).await.context("RemovePodSandbox").map(drop)
    }

    /// `ContainerStatus`.
    ///
    /// # Errors
    /// As the runtime has it.
    pub async fn status(&mut self, container: &str) -> Result<ContainerStatus> {
        let request = ContainerStatusRequest { container_id: container.to_owned(), verbose: false };
        let answer = self.rpc.container_status(request).await.context("ContainerStatus")?;
        answer.into_inner().status.context("ContainerStatus without a status")
    }

    /// Waits until the runtime says that the container has ended, and checks its exit code.
    ///
    /// # Errors
    /// When it does not end, or with another code.
    pub async fn expect_exit(&mut self, container: &str, code: i32) -> Result<()> {
        let status = wait::until("the container's end", async || {
            let status = self.status(container).await?;
            Ok((status.state() == ContainerState::ContainerExited).then_some(status))
        })
        .await?;
        if status.exit_code != code {
            bail!("the container ended with {} ({}), not {code}", status.exit_code, status.reason);
        }
        Ok(())
    }
}

fn pod_labels(pod: &Pod) -> HashMap<String, String> {
    map(&[
        ("io.kubernetes.pod.name", &pod.name),
        ("io.kubernetes.pod.namespace", &pod.namespace),
        ("io.kubernetes.pod.uid", &pod.uid),
    ])
}

fn map(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}
