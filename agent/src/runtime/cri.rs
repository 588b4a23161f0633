//! A container runtime over CRI: one lazily reconnecting connection, v1 before v1alpha2.

use super::{
    Reply, Said, codes,
    rpc::{self, Api, Method},
};
use anyhow::Context as _;
use pleg_core::{
    cri::{Answer, Op, RpcError},
    id::CriId,
    wire::RuntimeInfo,
};
use pleg_cri::v1;
use std::time::Duration;
use tonic::{
    Code, Status,
    transport::{Channel, Endpoint},
};

/// How long a runtime may take to say who it is before it is asked for its lists all the same.
pub(super) const PROBE_TIME: Duration = Duration::from_secs(2);

/// A runtime. It need not run yet: each call connects if there is no connection.
#[derive(Clone, Debug)]
pub(crate) struct CriSource {
    channel: Channel,
    deadline: Duration,
    info: RuntimeInfo,
    api: Option<Api>,
}

impl CriSource {
    /// A runtime at an endpoint as the kubelet writes it: `unix:///run/containerd/containerd.sock`, or the
    /// path alone. `deadline` is each call's.
    ///
    /// # Errors
    /// When the endpoint is no address of a unix socket.
    pub(crate) fn new(endpoint: &str, deadline: Duration) -> anyhow::Result<Self> {
        let path = socket_path(endpoint)?;
        let channel = connect(endpoint)?;
        let info = RuntimeInfo { endpoint: format!("unix://{path}"), ..RuntimeInfo::default() };
        Ok(Self { channel, deadline, info, api: None })
    }

    /// What is known of the runtime by now; no name before its first answer.
    pub(crate) fn info(&self) -> &RuntimeInfo {
        &self.info
    }

    /// Asks for the runtime's version, in CRI v1 and, if the runtime does not speak it, in v1alpha2.
    ///
    /// # Errors
    /// The runtime's, or `Unimplemented` with what to look at when it speaks neither.
    async fn identify(&mut self) -> Result<Api, RpcError> {
        let answer = match self.version_in(Api::V1).await {
            Err(status) if status.code() == Code::Unimplemented => self.version_in(Api::V1Alpha2).await,
            answer => answer,
        };
        let (api, version) = answer.map_err(|status| match status.code() {
            Code::Unimplemented => RpcError::new(
                codes::go_name(Code::Unimplemented),
                "the runtime speaks neither CRI v1 nor v1alpha2: is its CRI plugin disabled?",
            ),
            _ => codes::rpc_error(&status),
        })?;
        self.info.name = version.runtime_name;
        self.info.version = version.runtime_version;
        self.info.api = api.name().to_owned();
        self.api = Some(api);
        Ok(api)
    }

    /// Whether a runtime answers here, as far as can be told within two seconds.
    ///
    /// # Errors
    /// When nothing is to be expected from it: it cannot be connected to, or it has no CRI. A runtime that
    /// hangs or is not ready yet passes: a sick one is what plegscope is for.
    pub(crate) async fn probe(&mut self) -> Result<(), RpcError> {
        let hopeless = [Code::Unimplemented, Code::Unavailable].map(codes::go_name);
        match tokio::time::timeout(PROBE_TIME.min(self.deadline), self.identify()).await {
            Ok(Err(error)) if hopeless.contains(&error.code.as_str()) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn version_in(&self, api: Api) -> Result<(Api, v1::VersionResponse), Status> {
        let request = v1::VersionRequest { version: "0.1.0".to_owned() };
        rpc::call(&self.channel, api, self.deadline, request).await.map(|answer| (api, answer.message))
    }

    /// Asks who the runtime is.
    ///
    /// # Errors
    /// The runtime's.
    pub(crate) async fn version(&mut self) -> Result<(), RpcError> {
        self.identify().await.map(drop)
    }

    /// `PodSandboxStatus` with `verbose`, for its duration: containerd then asks the sandbox's shim. What it says
    /// beyond the status may hold secrets and is dropped unread.
    ///
    /// # Errors
    /// The runtime's.
    pub(crate) async fn verbose_sandbox_status(&mut self, id: &CriId) -> Result<(), RpcError> {
        let request = v1::PodSandboxStatusRequest { pod_sandbox_id: id.as_str().to_owned(), verbose: true };
        self.rpc(request).await.map(drop)
    }

    /// Makes one of a relist's calls.
    pub(crate) async fn call(&mut self, op: Op, id: Option<&CriId>) -> Reply {
        match self.ask(op, id).await {
            Ok((bytes, said)) => Reply { bytes, result: Ok(said) },
            Err(error) => {
                // A broken connection may come back as another runtime: ask for its version again.
                if error.code == codes::go_name(Code::Unavailable) {
                    self.api = None;
                }
                Reply { bytes: 0, result: Err(error) }
            }
        }
    }

    async fn ask(&mut self, op: Op, id: Option<&CriId>) -> Result<(u64, Said), RpcError> {
        let id = || id.map(|id| id.as_str().to_owned()).unwrap_or_default();
        match op {
            Op::ListPodSandbox => {
                self.rpc(v1::ListPodSandboxRequest { filter: None }).await.map(|(bytes, m)| {
                    (bytes, Said::Sandboxes(m.items.into_iter().map(pleg_cri::sandbox).collect()))
                })
            }
            Op::ListContainers => {
                self.rpc(v1::ListContainersRequest { filter: None }).await.map(|(bytes, m)| {
                    (bytes, Said::Containers(m.containers.into_iter().map(pleg_cri::container).collect()))
                })
            }
            Op::PodSandboxStatus => self
                .rpc(v1::PodSandboxStatusRequest { pod_sandbox_id: id(), verbose: false })
                .await
                .map(|(bytes, m)| {
                    (bytes, Said::Answer(Answer::Sandbox(Box::new(pleg_cri::sandbox_answer(m)))))
                }),
            Op::ContainerStatus => self
                .rpc(v1::ContainerStatusRequest { container_id: id(), verbose: false })
                .await
                .map(|(bytes, m)| {
                    let status = m.status.map(pleg_cri::container_status).map(Box::new);
                    (bytes, Said::Answer(Answer::Container(status)))
                }),
        }
    }

    async fn rpc<M: Method>(&mut self, request: M) -> Result<(u64, M::Answer), RpcError> {
        let api = match self.api {
            Some(api) => api,
            None => self.identify().await?,
        };
        rpc::call(&self.channel, api, self.deadline, request)
            .await
            .map(|answer| (answer.bytes, answer.message))
            .map_err(|status| codes::rpc_error(&status))
    }
}

/// A connection that is made when it is first needed, and again whenever it broke.
pub(super) fn connect(endpoint: &str) -> anyhow::Result<Channel> {
    let path = socket_path(endpoint)?;
    let address = Endpoint::from_shared(format!("unix://{path}"));
    Ok(address.with_context(|| format!("{endpoint:?} is no endpoint of a container runtime"))?.connect_lazy())
}

/// The path of a unix socket endpoint.
///
/// # Errors
/// When the endpoint is neither `unix://PATH`, `unix:PATH` nor an absolute path.
pub(crate) fn socket_path(endpoint: &str) -> anyhow::Result<&str> {
    let path =
        endpoint.strip_prefix("unix://").or_else(|| endpoint.strip_prefix("unix:")).unwrap_or(endpoint);
    anyhow::ensure!(
        path.starts_with('/'),
        "runtime endpoint {endpoint:?} is no unix socket: write it as unix:///run/containerd/containerd.sock"
    );
    Ok(path)
}

#[cfg(test)]
#[path = "cri_tests.rs"]
mod tests;
