//! Frames for tests, from a node told in a few lines.
//!
//! ```text
//! 1000 shop/cart: ready, app running          in a relist that begins at 1000 ms, the runtime lists this
//! 2000 shop/cart: ready, app exited 137       `app#1 …` is attempt 1
//! 3000 !inspect shop/cart: ready, app running its inspections fail
//! 4000 !list                                  its first listing fails
//! 5000 ~9000 shop/cart: ready, app running    its last call takes 9000 ms more
//! ```

use pleg_core::{
    cri::{
        Answer, Container, ContainerMetadata, ContainerState, ContainerStatus, Op, RpcError, Sandbox,
        SandboxAnswer, SandboxMetadata, SandboxState, SandboxStatus,
    },
    follow::Follower,
    id::CriId,
    snapshot::Snapshot,
    time::{MILLISECOND, SECOND, Time},
    timeline::Timeline,
    wire::{Call, Calling, Done, Frame, Hello, Relist, RuntimeInfo, VERSION},
};
use std::collections::BTreeMap;

/// When the told node begins: 2026-01-01T00:00:00Z.
pub(crate) const START: i64 = 1_767_225_600 * SECOND;

/// This many milliseconds after [`START`].
pub(crate) fn ms(milliseconds: i64) -> Time {
    Time(START + milliseconds * MILLISECOND)
}

/// The hello of an observer that began at [`START`] plus `later` nanoseconds.
pub(crate) fn hello(later: i64) -> Frame {
    Frame::Hello(Box::new(Hello {
        plegscope: VERSION,
        agent: "test".into(),
        node: "node-1".into(),
        boot: String::new(),
        runtime: RuntimeInfo { name: "containerd".into(), ..RuntimeInfo::default() },
        kubelet: "1.36".into(),
        container_events: false,
        period: SECOND,
        threshold: 5 * SECOND,
        capacity: 1000,
        deadline: 120 * SECOND,
        wall: START + later,
        mono: 0,
    }))
}

/// The frames of a told node.
pub(crate) fn frames(told: &str) -> Vec<Frame> {
    let mut node = Node { follower: Follower::new(), frames: Vec::new(), took: 0, started: BTreeMap::new() };
    node.say(hello(0));
    for (n, line) in told.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        node.relist(n as u64 + 1, line);
    }
    node.frames
}

/// What a follower of a told node knows.
pub(crate) fn follow(told: &str) -> Follower {
    let mut follower = Follower::new();
    for frame in &frames(told) {
        follower.handle_frame(frame).unwrap();
    }
    follower
}

/// The timeline of a told node.
pub(crate) fn timeline(told: &str) -> Timeline {
    follow(told).timeline().clone()
}

/// The frames as lines.
pub(crate) fn lines(frames: &[Frame]) -> String {
    frames.iter().map(|frame| frame.to_line().unwrap()).collect()
}

struct Node {
    follower: Follower,
    frames: Vec<Frame>,
    took: i64,
    /// When each container was first listed as started.
    started: BTreeMap<CriId, i64>,
}

impl Node {
    fn say(&mut self, frame: Frame) {
        self.follower.handle_frame(&frame).unwrap();
        self.frames.push(frame);
    }

    fn relist(&mut self, n: u64, line: &str) {
        let (at, mut rest) = line.split_once(' ').unwrap();
        let mono = at.parse::<i64>().unwrap() * MILLISECOND;
        let (mut longer, mut bad) = (0, "");
        while let Some(word) = rest.split(' ').next().filter(|word| word.starts_with(['!', '~'])) {
            match word.strip_prefix('~') {
                Some(more) => longer = more.parse::<i64>().unwrap() * MILLISECOND,
                None => bad = word,
            }
            rest = rest.get(word.len()..).unwrap().trim_start();
        }
        let (sandboxes, containers) = parse(rest);
        self.took = 0;
        self.say(Frame::Relist(Relist { n, wall: START + mono, mono }));
        if bad == "!list" {
            self.call(Op::ListPodSandbox, None, Err(RpcError::new("Unavailable", "no socket")), longer);
        } else {
            self.call(Op::ListPodSandbox, None, Ok(None), 0);
            self.call(Op::ListContainers, None, Ok(None), 0);
            self.say(Frame::Key(Box::new(Snapshot::new(sandboxes.clone(), containers.clone()))));
            while let Some((op, id)) = self.follower.next_call() {
                let answer = match bad {
                    "!inspect" => Err(RpcError::new("Unknown", "broken")),
                    _ => {
                        Ok(Some(self.answer(op, id.as_ref().unwrap(), &sandboxes, &containers, START + mono)))
                    }
                };
                let last = matches!(op, Op::ContainerStatus);
                self.call(op, id, answer, if last { longer } else { 0 });
            }
        }
        self.say(Frame::Done(Done { at: self.took }));
    }

    fn call(&mut self, op: Op, id: Option<CriId>, answer: Result<Option<Answer>, RpcError>, longer: i64) {
        let (at, took) = (self.took, MILLISECOND + longer);
        if longer > 0 {
            self.say(Frame::Calling(Calling { op, id: id.clone(), at }));
        }
        self.took += took;
        let (answer, error) = match answer {
            Ok(answer) => (answer, None),
            Err(error) => (None, Some(error)),
        };
        self.say(Frame::Call(Box::new(Call { op, id, at, took, bytes: 100, error, answer })));
    }

    fn answer(
        &mut self,
        op: Op,
        id: &CriId,
        sandboxes: &[Sandbox],
        containers: &[Container],
        now: i64,
    ) -> Answer {
        if op == Op::PodSandboxStatus {
            let sandbox = sandboxes.iter().find(|sandbox| sandbox.id == *id).unwrap();
            let status = SandboxStatus {
                id: id.clone(),
                metadata: sandbox.metadata.clone(),
                state: sandbox.state,
                created_at: sandbox.created_at,
                network: None,
            };
            return Answer::Sandbox(Box::new(SandboxAnswer {
                status: Some(status),
                ..SandboxAnswer::default()
            }));
        }
        let container = containers.iter().find(|container| container.id == *id).unwrap();
        let exited = container.state == ContainerState::Exited;
        // 200 ms before the relist that sees it first.
        let started = match container.state {
            ContainerState::Created => 0,
            _ => *self.started.entry(id.clone()).or_insert(now - 200 * MILLISECOND),
        };
        let status = ContainerStatus {
            id: id.clone(),
            metadata: container.metadata.clone(),
            state: container.state,
            started_at: started,
            // 100 ms before the relist that sees it.
            finished_at: if exited { now - 100 * MILLISECOND } else { 0 },
            exit_code: container.image.as_deref().unwrap().parse().unwrap(),
            reason: if exited { "Error".into() } else { String::new() },
            ..ContainerStatus::default()
        };
        Answer::Container(Some(Box::new(status)))
    }
}

/// `shop/cart: ready, app running; shop/web: …`
fn parse(text: &str) -> (Vec<Sandbox>, Vec<Container>) {
    let (mut sandboxes, mut containers) = (Vec::new(), Vec::new());
    for pod in text.split(';').map(str::trim).filter(|pod| !pod.is_empty()) {
        let (name, items) = pod.split_once(": ").unwrap();
        let (namespace, short) = name.split_once('/').unwrap();
        let mut items = items.split(", ");
        let sandbox = Sandbox {
            id: format!("{short}-sandbox").into(),
            metadata: Some(SandboxMetadata {
                name: short.into(),
                uid: format!("uid-{short}").into(),
                namespace: namespace.into(),
                attempt: 0,
            }),
            state: if items.next() == Some("ready") { SandboxState::Ready } else { SandboxState::NotReady },
            created_at: START,
            ..Sandbox::default()
        };
        containers.extend(items.map(|item| container(short, namespace, &sandbox.id, item)));
        sandboxes.push(sandbox);
    }
    (sandboxes, containers)
}

/// `app#1 exited 137`
fn container(pod: &str, namespace: &str, sandbox: &CriId, item: &str) -> Container {
    let (full, state) = item.split_once(' ').unwrap();
    let (name, attempt) = full.split_once('#').unwrap_or((full, "0"));
    let label = |key: &str, value: &str| (format!("io.kubernetes.pod.{key}"), value.to_owned());
    let labels = [label("uid", &format!("uid-{pod}")), label("name", pod), label("namespace", namespace)];
    Container {
        id: format!("{pod}-{full}").into(),
        pod_sandbox_id: sandbox.clone(),
        metadata: Some(ContainerMetadata { name: name.into(), attempt: attempt.parse().unwrap() }),
        // The exit code travels in the image's name, where nothing else looks at it.
        image: Some(state.split_once(' ').map_or("0", |(_, code)| code).into()),
        state: match state.split(' ').next() {
            Some("created") => ContainerState::Created,
            Some("running") => ContainerState::Running,
            Some("exited") => ContainerState::Exited,
            _ => ContainerState::Unknown,
        },
        labels: labels.into_iter().collect(),
        ..Container::default()
    }
}
