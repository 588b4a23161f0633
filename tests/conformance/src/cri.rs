//! CRI answers turned into pods and statuses (lines of the sets `cri`).

use super::Report;
use pleg_core::{
    cri::{
        Answer, Container, ContainerMetadata, ContainerState, ContainerStatus, Labels, Network, Op,
        POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL, RpcError, Sandbox, SandboxAnswer,
        SandboxMetadata, SandboxState, SandboxStatus,
    },
    id::CriId,
    kuberuntime::{Inspection, InspectionOptions, PodSet, get_pods},
    pleg::Profile,
    pod::{Pod, PodStatus},
    snapshot::Snapshot,
    time::Time,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// A moment that no status has by itself.
const LISTED: Time = Time(7);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    id: String,
    #[serde(deserialize_with = "crate::profile")]
    profile: Profile,
    #[serde(rename = "set")]
    _set: String,
    #[serde(default)]
    evented_gate: bool,
    sandboxes: Option<Vec<ListedSandbox>>,
    containers: Option<Vec<ListedContainer>>,
    sb_status: BTreeMap<String, SandboxReply>,
    ctr_status: BTreeMap<String, ContainerReply>,
    list_sb_err: Option<String>,
    list_ctr_err: Option<String>,
    #[serde(flatten)]
    expected: Found,
}

/// What upstream's kuberuntime made of it.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
struct Found {
    #[serde(default)]
    pods: Vec<FoundPod>,
    calls: Vec<String>,
    #[serde(default)]
    err: Option<String>,
    status: BTreeMap<String, FoundStatus>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FoundPod {
    uid: String,
    name: String,
    ns: String,
    created_at: i64,
    sb: Vec<String>,
    c: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct FoundStatus {
    ips: Vec<String>,
    sb: Vec<String>,
    c: Vec<String>,
    active: Vec<String>,
    ts: Option<i64>,
    err: Option<String>,
    calls: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedSandbox {
    id: String,
    uid: String,
    name: String,
    ns: String,
    attempt: u32,
    ready: bool,
    at: i64,
    #[serde(default)]
    no_meta: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedContainer {
    id: String,
    sb: String,
    n: String,
    s: ContainerState,
    at: i64,
    uid: String,
    pod: String,
    ns: String,
    #[serde(default)]
    no_meta: bool,
    #[serde(default)]
    no_image: bool,
    #[serde(default)]
    no_labels: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SandboxReply {
    ready: bool,
    #[serde(default)]
    ip: String,
    #[serde(default)]
    more_ips: Vec<String>,
    #[serde(default)]
    no_network: bool,
    err: Option<String>,
    #[serde(default)]
    not_found: bool,
    #[serde(default)]
    nil: bool,
    #[serde(default)]
    ts: i64,
    #[serde(default)]
    ctrs: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContainerReply {
    s: ContainerState,
    #[serde(default)]
    x: i32,
    at: i64,
    err: Option<String>,
    #[serde(default)]
    not_found: bool,
    #[serde(default)]
    nil: bool,
}

/// Runs one line: the pods, then an inspection of each.
pub(crate) fn run(line: &Line) -> Report {
    let found = line.find();
    let mut differences = Vec::new();
    if found != line.expected {
        let text = |found: &Found| serde_json::to_string(found).unwrap_or_default();
        differences.push(format!("{}, upstream {}", text(&found), text(&line.expected)));
    }
    if !line.snapshot_agrees() {
        differences.push("the pods of a snapshot are not those of the listing".into());
    }
    let json = serde_json::to_vec(&found).unwrap_or_default();
    Report { id: line.id.clone(), differences, hash: xxhash_rust::xxh3::xxh3_64(&json) }
}

impl Line {
    fn find(&self) -> Found {
        let mut calls = vec![Op::ListPodSandbox.name().to_owned()];
        if let Some(error) = &self.list_sb_err {
            return Found { calls, err: Some(error.clone()), ..Found::default() };
        }
        calls.push(Op::ListContainers.name().to_owned());
        if let Some(error) = &self.list_ctr_err {
            return Found { calls, err: Some(error.clone()), ..Found::default() };
        }
        let pods = self.pods();
        let status = pods.iter().map(|pod| (pod.uid.to_string(), self.inspect(pod))).collect();
        Found { pods: pods.iter().map(|pod| found_pod(pod)).collect(), calls, err: None, status }
    }

    fn pods(&self) -> Vec<Arc<Pod>> {
        let sorted = self.profile.sorted_listing;
        get_pods(&self.sandboxes(), &self.containers(), &"cri".into(), LISTED, sorted)
    }

    /// Whether a snapshot of the same lists gives the same pods. It is for kubelets that sort what they list.
    fn snapshot_agrees(&self) -> bool {
        if !self.profile.sorted_listing {
            return true;
        }
        let snapshot = Snapshot::new(self.sandboxes(), self.containers());
        let mut pods = self.pods();
        pods.sort_by(|a, b| a.uid.cmp(&b.uid));
        PodSet::from_snapshot(&snapshot, "cri", LISTED).pods().eq(&pods)
    }

    fn sandboxes(&self) -> Vec<Sandbox> {
        self.sandboxes.iter().flatten().map(ListedSandbox::to_cri).collect()
    }

    fn containers(&self) -> Vec<Container> {
        self.containers.iter().flatten().map(ListedContainer::to_cri).collect()
    }

    fn inspect(&self, pod: &Arc<Pod>) -> FoundStatus {
        let options = InspectionOptions::of(&self.profile, self.evented_gate);
        let mut inspection = Inspection::new(pod.clone(), options);
        let mut calls = Vec::new();
        while let Some((op, id)) = inspection.next_call() {
            calls.push(format!("{op} {}{id}", if op.is_listing() { "uid=" } else { "" }));
            let of_pod = |labels: &Labels| labels.get(POD_UID_LABEL).is_some_and(|uid| *uid == *id);
            match op {
                Op::ListPodSandbox => {
                    let listed = self.sandboxes().into_iter().filter(|sandbox| of_pod(&sandbox.labels));
                    inspection.handle_sandboxes(Ok(listed.collect()));
                }
                Op::ListContainers => {
                    let listed = self.containers().into_iter().filter(|container| of_pod(&container.labels));
                    inspection.handle_containers(Ok(listed.collect()));
                }
                Op::PodSandboxStatus => inspection.handle_answer(self.sandbox_answer(&id)),
                Op::ContainerStatus => inspection.handle_answer(self.container_answer(&id)),
            }
        }
        match inspection.finish() {
            Ok(status) => found_status(&status, calls),
            Err(error) => FoundStatus { err: Some(error.to_string()), calls, ..FoundStatus::default() },
        }
    }

    fn sandbox_answer(&self, id: &CriId) -> Result<Answer, RpcError> {
        let Some(reply) = self.sb_status.get(&**id) else { return Err(not_found()) };
        fail(reply.err.as_deref(), reply.not_found)?;
        let network = Network { ip: reply.ip.clone(), additional_ips: reply.more_ips.clone() };
        let status = SandboxStatus {
            id: id.clone(),
            state: if reply.ready { SandboxState::Ready } else { SandboxState::NotReady },
            network: (!reply.no_network).then_some(network),
            ..SandboxStatus::default()
        };
        let containers = reply.ctrs.iter().filter_map(|id| Some(self.ctr_status.get(id)?.status(id)));
        Ok(Answer::Sandbox(Box::new(SandboxAnswer {
            status: (!reply.nil).then_some(status),
            containers: containers.collect(),
            timestamp: reply.ts,
        })))
    }

    fn container_answer(&self, id: &CriId) -> Result<Answer, RpcError> {
        let Some(reply) = self.ctr_status.get(&**id) else { return Err(not_found()) };
        fail(reply.err.as_deref(), reply.not_found)?;
        Ok(Answer::Container((!reply.nil).then(|| Box::new(reply.status(id)))))
    }
}

impl ContainerReply {
    fn status(&self, id: &str) -> ContainerStatus {
        ContainerStatus {
            id: id.into(),
            state: self.s,
            created_at: self.at,
            exit_code: self.x,
            ..ContainerStatus::default()
        }
    }
}

impl ListedSandbox {
    fn to_cri(&self) -> Sandbox {
        let metadata = SandboxMetadata {
            name: self.name.clone(),
            uid: self.uid.as_str().into(),
            namespace: self.ns.clone(),
            attempt: self.attempt,
        };
        Sandbox {
            id: self.id.as_str().into(),
            metadata: (!self.no_meta).then_some(metadata),
            state: if self.ready { SandboxState::Ready } else { SandboxState::NotReady },
            created_at: self.at,
            labels: labels(&self.uid, &self.name, &self.ns),
            ..Sandbox::default()
        }
    }
}

impl ListedContainer {
    fn to_cri(&self) -> Container {
        Container {
            id: self.id.as_str().into(),
            pod_sandbox_id: self.sb.as_str().into(),
            metadata: (!self.no_meta).then(|| ContainerMetadata { name: self.n.clone(), attempt: 0 }),
            image: (!self.no_image).then(|| "image".into()),
            state: self.s,
            created_at: self.at,
            labels: if self.no_labels { Labels::new() } else { labels(&self.uid, &self.pod, &self.ns) },
            ..Container::default()
        }
    }
}

fn labels(uid: &str, name: &str, namespace: &str) -> Labels {
    let labels = [(POD_UID_LABEL, uid), (POD_NAME_LABEL, name), (POD_NAMESPACE_LABEL, namespace)];
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

fn fail(error: Option<&str>, missing: bool) -> Result<(), RpcError> {
    match error {
        Some(text) => Err(rpc_error(text)),
        None if missing => Err(not_found()),
        None => Ok(()),
    }
}

fn not_found() -> RpcError {
    RpcError::new("NotFound", "not found")
}

/// `rpc error: code = X desc = Y`, taken apart.
fn rpc_error(text: &str) -> RpcError {
    let parts = text.strip_prefix("rpc error: code = ").and_then(|rest| rest.split_once(" desc = "));
    let (code, message) = parts.unwrap_or(("Unknown", text));
    RpcError::new(code, message)
}

fn found_pod(pod: &Pod) -> FoundPod {
    let item = |c: &pleg_core::pod::Container| format!("{}={}", c.id.id, c.state.name());
    FoundPod {
        uid: pod.uid.to_string(),
        name: pod.name.to_string(),
        ns: pod.namespace.to_string(),
        created_at: pod.created_at,
        sb: pod.sandboxes.iter().map(item).collect(),
        c: pod.containers.iter().map(item).collect(),
    }
}

fn found_status(status: &PodStatus, calls: Vec<String>) -> FoundStatus {
    let item = |c: &ContainerStatus| {
        format!("{}={}/{}", c.id, pleg_core::pod::State::from(c.state).name(), c.exit_code)
    };
    let active = status.containers.iter().filter(|container| status.active.contains(&container.id));
    FoundStatus {
        ips: status.ips.clone(),
        sb: status.sandboxes.iter().map(|sandbox| sandbox.id.to_string()).collect(),
        c: status.containers.iter().map(item).collect(),
        active: active.map(item).collect(),
        ts: (status.timestamp != LISTED).then_some(status.timestamp.0),
        err: None,
        calls,
    }
}
