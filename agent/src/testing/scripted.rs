//! A CRI server on a unix socket that answers as a test tells it: for what no real runtime shows on demand.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header::CONTENT_TYPE},
    response::Response,
};
use http_body_util::{BodyExt as _, Full};
use pleg_cri::v1;
use prost::Message;
use std::{fs, path::PathBuf, sync::Arc};
use tempfile::TempDir;
use tokio::{net::UnixListener, task::JoinHandle};
use tonic::Code;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// What the server does with a call.
pub(crate) enum Act {
    /// Answers with this message.
    Answer(Vec<u8>),
    /// Fails.
    Fail(Code, &'static str),
    /// Never answers.
    Hang,
    /// Streams these messages, then fails; without a failure the stream stays open.
    Stream(Vec<Vec<u8>>, Option<(Code, &'static str)>),
}

/// Tells by a method's path what to do.
pub(crate) type Script = Arc<dyn Fn(&str) -> Act + Send + Sync>;

/// A running server.
pub(crate) struct ScriptedRuntime {
    folder: TempDir,
    server: JoinHandle<()>,
}

impl ScriptedRuntime {
    /// Starts a server.
    pub(crate) fn start(script: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = listen(&folder.path().join("cri.sock"), Arc::new(script));
        Self { folder, server }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Ends the server, its connections and its socket.
    pub(crate) async fn stop(&mut self) {
        self.server.abort();
        (&mut self.server).await.unwrap_err();
        fs::remove_file(self.socket()).unwrap();
    }

    /// Starts another server at the same place.
    pub(crate) fn start_again(&mut self, script: impl Fn(&str) -> Act + Send + Sync + 'static) {
        self.server = listen(&self.socket(), Arc::new(script));
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("cri.sock")
    }
}

fn listen(socket: &std::path::Path, script: Script) -> JoinHandle<()> {
    let listener = UnixListener::bind(socket).unwrap();
    let router = Router::new().fallback(answer).with_state(script);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() })
}

async fn answer(State(script): State<Script>, request: Request) -> Response {
    let response = Response::builder().header(CONTENT_TYPE, "application/grpc");
    match script(request.uri().path()) {
        Act::Answer(message) => {
            let end = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
            let body = Full::new(Bytes::from(framed(&message))).with_trailers(async { Some(Ok(end)) });
            response.body(Body::new(body)).unwrap()
        }
        Act::Stream(messages, failure) => {
            let messages: Vec<u8> = messages.iter().flat_map(|message| framed(message)).collect();
            let end = async move {
                let Some((code, text)) = failure else { return std::future::pending().await };
                let status = HeaderValue::from(i32::from(code));
                let text = (HeaderName::from_static("grpc-message"), HeaderValue::from_static(text));
                Some(Ok(HeaderMap::from_iter([(GRPC_STATUS, status), text])))
            };
            response.body(Body::new(Full::new(Bytes::from(messages)).with_trailers(end))).unwrap()
        }
        Act::Fail(code, text) => response
            .header(GRPC_STATUS, i32::from(code))
            .header("grpc-message", text)
            .body(Body::empty())
            .unwrap(),
        Act::Hang => std::future::pending().await,
    }
}

/// A message as gRPC sends it.
fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = vec![0];
    framed.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    framed.extend(message);
    framed
}

/// An event of the one container of a pod.
pub(crate) fn container_event(kind: v1::ContainerEventType) -> Vec<u8> {
    let metadata = v1::PodSandboxMetadata { uid: "uid".into(), name: "pod".into(), ..Default::default() };
    let sandbox = v1::PodSandboxStatus { id: "s1".into(), metadata: Some(metadata), ..Default::default() };
    v1::ContainerEventResponse {
        container_id: "c1".into(),
        container_event_type: kind.into(),
        created_at: 1,
        pod_sandbox_status: Some(sandbox),
        containers_statuses: vec![v1::ContainerStatus { id: "c1".into(), ..Default::default() }],
    }
    .encode_to_vec()
}

/// Who a server says it is.
pub(crate) fn version(version: &str) -> Act {
    Act::Answer(
        v1::VersionResponse {
            version: "0.1.0".into(),
            runtime_name: "scripted".into(),
            runtime_version: version.into(),
            runtime_api_version: "v1".into(),
        }
        .encode_to_vec(),
    )
}

/// A list of one sandbox.
pub(crate) fn one_sandbox() -> Act {
    let metadata = v1::PodSandboxMetadata {
        name: "pod".into(),
        uid: "uid".into(),
        namespace: "default".into(),
        attempt: 0,
    };
    let sandbox = v1::PodSandbox { id: "s1".into(), metadata: Some(metadata), ..v1::PodSandbox::default() };
    Act::Answer(v1::ListPodSandboxResponse { items: vec![sandbox] }.encode_to_vec())
}

/// A list of one container whose annotation has so many bytes.
pub(crate) fn one_container(annotation: usize) -> Act {
    let container = v1::Container {
        id: "c1".into(),
        pod_sandbox_id: "s1".into(),
        annotations: [("large".into(), "x".repeat(annotation))].into(),
        ..v1::Container::default()
    };
    Act::Answer(v1::ListContainersResponse { containers: vec![container] }.encode_to_vec())
}

/// The status of a sandbox that is ready.
pub(crate) fn sandbox_status() -> Act {
    let status = v1::PodSandboxStatus { id: "s1".into(), ..v1::PodSandboxStatus::default() };
    Act::Answer(
        v1::PodSandboxStatusResponse { status: Some(status), ..v1::PodSandboxStatusResponse::default() }
            .encode_to_vec(),
    )
}

/// A healthy runtime with one sandbox and no container.
pub(crate) fn healthy(path: &str) -> Act {
    match path.rsplit('/').next() {
        Some("Version") => version("1.0"),
        Some("ListPodSandbox") => one_sandbox(),
        Some("ListContainers") => Act::Answer(Vec::new()),
        Some("PodSandboxStatus") => sandbox_status(),
        _ => Act::Fail(Code::Unimplemented, "not scripted"),
    }
}
