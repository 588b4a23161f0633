//! A node of any size whose containers stop and start, as containerd lists it.

use fastrand::Rng;
use pleg_core::{
    cri::{
        Container, ContainerMetadata, ContainerState, ContainerStatus, Labels, Network, Sandbox,
        SandboxMetadata, SandboxState, SandboxStatus,
    },
    id::{CriId, Uid},
    pod::PodStatus,
};
use std::{collections::BTreeMap, sync::Arc};

/// Unix nanoseconds at which the node's oldest pod was made.
const EPOCH: i64 = 1_764_547_200_000_000_000;
const NAMESPACES: [&str; 4] = ["default", "kube-system", "monitoring", "shop"];

/// What the runtime lists, pod by pod.
pub(crate) struct Node {
    pub(crate) sandboxes: Vec<Sandbox>,
    pub(crate) containers: Vec<Container>,
    /// Changes made so far: decides which containers are next.
    changed: usize,
}

struct PodNames {
    uid: String,
    name: String,
    namespace: &'static str,
}

impl Node {
    /// A node on which everything runs.
    pub(crate) fn new(pods: usize, containers: usize) -> Self {
        let mut rng = Rng::with_seed(0x706c_6567);
        let mut node = Self { sandboxes: Vec::new(), containers: Vec::new(), changed: 0 };
        for number in 0..pods {
            let names = PodNames::new(number, &mut rng);
            let sandbox = sandbox(&names, number, &mut rng);
            let made = (0..containers).map(|place| container(&names, &sandbox, place, &mut rng));
            node.containers.extend(made);
            node.sandboxes.push(sandbox);
        }
        node
    }

    /// Stops or starts so many containers: the next in turn, and as many pods as it takes.
    pub(crate) fn change(&mut self, count: usize) {
        let all = self.containers.len();
        for turn in self.changed..self.changed + count {
            if let Some(container) = self.containers.get_mut(turn % all) {
                container.state = match container.state {
                    ContainerState::Running => ContainerState::Exited,
                    _ => ContainerState::Running,
                };
            }
        }
        self.changed += count;
    }

    /// What the inspection of each pod finds.
    pub(crate) fn statuses(&self, containers: usize) -> BTreeMap<Uid, Arc<PodStatus>> {
        let of_pods = self.sandboxes.iter().zip(self.containers.chunks(containers));
        let statuses = of_pods.map(|(sandbox, containers)| status(sandbox, containers));
        statuses.map(|status| (status.uid.clone(), Arc::new(status))).collect()
    }

    /// Both lists in a random order, as containerd gives them.
    pub(crate) fn lists(&self, rng: &mut Rng) -> (Vec<Sandbox>, Vec<Container>) {
        let (mut sandboxes, mut containers) = (self.sandboxes.clone(), self.containers.clone());
        rng.shuffle(&mut sandboxes);
        rng.shuffle(&mut containers);
        (sandboxes, containers)
    }
}

impl PodNames {
    fn new(number: usize, rng: &mut Rng) -> Self {
        let hex = format!("{:032x}", rng.u128(..));
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..]);
        Self {
            uid: format!("{a}-{b}-4{c}-a{d}-{e}"),
            name: format!("checkout-{}-{:05x}", &hex[..10], number),
            namespace: in_turn(&NAMESPACES, number),
        }
    }

    /// What the kubelet writes on every sandbox and container of the pod.
    fn labels(&self) -> [(String, String); 3] {
        [
            ("io.kubernetes.pod.name".into(), self.name.clone()),
            ("io.kubernetes.pod.namespace".into(), self.namespace.into()),
            ("io.kubernetes.pod.uid".into(), self.uid.clone()),
        ]
    }
}

fn in_turn(words: &[&'static str], number: usize) -> &'static str {
    words.iter().cycle().nth(number % words.len()).copied().unwrap_or_default()
}

fn id(rng: &mut Rng) -> CriId {
    format!("{:032x}{:032x}", rng.u128(..), rng.u128(..)).into()
}

fn texts<const N: usize>(pairs: [(&str, String); N]) -> impl Iterator<Item = (String, String)> {
    pairs.into_iter().map(|(key, value)| (key.into(), value))
}

fn sandbox(pod: &PodNames, number: usize, rng: &mut Rng) -> Sandbox {
    let own = texts([("app", "checkout".into()), ("pod-template-hash", pod.name[9..19].into())]);
    let annotations = [
        ("kubernetes.io/config.seen", "2025-12-01T00:00:00.000000000Z".into()),
        ("kubernetes.io/config.source", "api".into()),
    ];
    Sandbox {
        id: id(rng),
        metadata: Some(SandboxMetadata {
            name: pod.name.clone(),
            uid: pod.uid.as_str().into(),
            namespace: pod.namespace.into(),
            attempt: 0,
        }),
        state: SandboxState::Ready,
        created_at: EPOCH + number as i64,
        labels: own.chain(pod.labels()).collect(),
        annotations: texts(annotations).collect(),
        runtime_handler: String::new(),
    }
}

fn container(pod: &PodNames, sandbox: &Sandbox, place: usize, rng: &mut Rng) -> Container {
    let name = in_turn(&["app", "sidecar", "metrics"], place);
    let annotations = [
        ("io.kubernetes.container.hash", format!("{:08x}", rng.u32(..))),
        ("io.kubernetes.container.restartCount", "0".into()),
        ("io.kubernetes.container.terminationMessagePath", "/dev/termination-log".into()),
        ("io.kubernetes.container.terminationMessagePolicy", "File".into()),
        ("io.kubernetes.pod.terminationGracePeriod", "30".into()),
    ];
    let own = texts([("io.kubernetes.container.name", name.into())]);
    let labels: Labels = own.chain(pod.labels()).collect();
    Container {
        id: id(rng),
        pod_sandbox_id: sandbox.id.clone(),
        metadata: Some(ContainerMetadata { name: name.into(), attempt: 0 }),
        image: Some(format!("registry.example/shop/{name}:1.4.2")),
        image_ref: format!("sha256:{}", id(rng)),
        state: ContainerState::Running,
        created_at: sandbox.created_at + 1 + place as i64,
        labels,
        annotations: texts(annotations).collect(),
    }
}

/// What an inspection of a pod finds.
fn status(sandbox: &Sandbox, containers: &[Container]) -> PodStatus {
    let metadata = sandbox.metadata.clone().unwrap_or_default();
    PodStatus {
        uid: metadata.uid.clone(),
        name: metadata.name.as_str().into(),
        namespace: metadata.namespace.as_str().into(),
        ips: vec!["10.244.1.17".into()],
        sandboxes: vec![SandboxStatus {
            id: sandbox.id.clone(),
            metadata: Some(metadata),
            state: sandbox.state,
            created_at: sandbox.created_at,
            network: Some(Network { ip: "10.244.1.17".into(), additional_ips: Vec::new() }),
        }],
        containers: containers.iter().map(container_status).collect(),
        active: containers.iter().map(|container| container.id.clone()).collect(),
        ..PodStatus::default()
    }
}

fn container_status(container: &Container) -> ContainerStatus {
    let exited = container.state == ContainerState::Exited;
    ContainerStatus {
        id: container.id.clone(),
        metadata: container.metadata.clone(),
        state: container.state,
        created_at: container.created_at,
        started_at: container.created_at + 1,
        finished_at: if exited { container.created_at + 2 } else { 0 },
        exit_code: i32::from(exited),
        reason: if exited { "Error".into() } else { String::new() },
        message: String::new(),
        image: container.image.clone().unwrap_or_default(),
        image_ref: container.image_ref.clone(),
    }
}
