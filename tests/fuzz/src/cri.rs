//! Answers of any content: protobuf to core's words, to pods and to their statuses.

use crate::frames::comes_back;
use pleg_core::{
    cri::{Answer, Container, ContainerStatus, Op, RpcError, Sandbox, SandboxAnswer},
    kuberuntime::{Inspection, InspectionOptions, PodSet, get_pods},
    pod::Pod,
    snapshot::Snapshot,
    time::Time,
    wire::{Call, Frame},
};
use pleg_cri::v1;
use prost::Message as _;
use std::{collections::BTreeMap, sync::Arc};

/// Stands between two answers in one input: a list, and the statuses that belong to it.
const NEXT_ANSWER: &[u8] = b"\n--\n";

/// Everything that the answers of an input say.
#[derive(Default)]
struct Said {
    sandboxes: Vec<Sandbox>,
    containers: Vec<Container>,
    sandbox_answers: Vec<SandboxAnswer>,
    container_answers: Vec<Option<ContainerStatus>>,
}

/// Takes the bytes for answers of a runtime, each for an answer to every call.
pub fn check(bytes: &[u8]) {
    let said = Said::by(bytes);
    let snapshot = Snapshot::new(said.sandboxes.clone(), said.containers.clone());
    comes_back(&Frame::Key(Box::new(snapshot.clone())));
    for (op, answer) in said.answers() {
        comes_back(&Frame::Call(Box::new(Call {
            op,
            id: None,
            at: 0,
            took: 0,
            bytes: 0,
            error: None,
            answer: Some(answer),
        })));
    }
    for pod in pods(&said, &snapshot) {
        for (lists, evented_gate) in [(false, false), (false, true), (true, false), (true, true)] {
            inspect(&pod, InspectionOptions { lists, evented_gate }, &said);
        }
    }
}

impl Said {
    fn by(bytes: &[u8]) -> Self {
        let mut said = Self::default();
        let mut rest = bytes;
        loop {
            let next = rest.windows(NEXT_ANSWER.len()).position(|window| window == NEXT_ANSWER);
            let (answer, after) = rest.split_at(next.unwrap_or(rest.len()));
            said.add(answer);
            let Some(after) = after.get(NEXT_ANSWER.len()..) else { return said };
            rest = after;
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        if let Ok(list) = v1::ListPodSandboxResponse::decode(bytes) {
            self.sandboxes.extend(list.items.into_iter().map(pleg_cri::sandbox));
        }
        if let Ok(list) = v1::ListContainersResponse::decode(bytes) {
            self.containers.extend(list.containers.into_iter().map(pleg_cri::container));
        }
        if let Ok(answer) = v1::PodSandboxStatusResponse::decode(bytes) {
            self.sandbox_answers.push(pleg_cri::sandbox_answer(answer));
        }
        if let Ok(answer) = v1::ContainerStatusResponse::decode(bytes) {
            self.container_answers.push(answer.status.map(pleg_cri::container_status));
        }
    }

    fn answers(&self) -> impl Iterator<Item = (Op, Answer)> {
        let sandboxes = self.sandbox_answers.iter().cloned();
        let containers = self.container_answers.iter().cloned();
        sandboxes
            .map(|answer| (Op::PodSandboxStatus, Answer::Sandbox(Box::new(answer))))
            .chain(containers.map(|answer| (Op::ContainerStatus, Answer::Container(answer.map(Box::new)))))
    }

    /// The next answer to such a call, round and round; an error where there is none.
    fn answer(&self, op: Op, turn: usize) -> Result<Answer, RpcError> {
        let answers: Vec<_> = self.answers().filter(|(of, _)| *of == op).collect();
        let answer = answers.get(turn.checked_rem(answers.len()).unwrap_or(0));
        answer.map(|(_, answer)| answer.clone()).ok_or_else(|| RpcError::new("NotFound", "not in the input"))
    }
}

/// The pods, which both ways of building them agree on.
fn pods(said: &Said, snapshot: &Snapshot) -> Vec<Arc<Pod>> {
    let by_uid = |pods: &[Arc<Pod>]| -> BTreeMap<String, Arc<Pod>> {
        pods.iter().map(|pod| (pod.uid.to_string(), pod.clone())).collect()
    };
    let set = PodSet::from_snapshot(snapshot, "runtime", Time(0));
    let set: Vec<_> = set.pods().cloned().collect();
    let (sandboxes, containers): (Vec<_>, Vec<_>) =
        (snapshot.sandboxes().cloned().collect(), snapshot.containers().cloned().collect());
    let pods = get_pods(&sandboxes, &containers, &"runtime".into(), Time(0), true);
    assert_eq!(by_uid(&set), by_uid(&pods));
    // Before v1.36 the order of the lists counts, but the pods are the same ones.
    let unsorted = get_pods(&said.sandboxes, &said.containers, &"runtime".into(), Time(0), false);
    assert!(by_uid(&unsorted).keys().eq(by_uid(&pods).keys()));
    pods
}

/// An inspection comes to an end, and its end is the pod's status or the first error.
fn inspect(pod: &Arc<Pod>, options: InspectionOptions, said: &Said) {
    let mut inspection = Inspection::new(pod.clone(), options);
    let mut turn = 0;
    while let Some((op, _)) = inspection.next_call() {
        match op {
            Op::ListPodSandbox => inspection.handle_sandboxes(Ok(said.sandboxes.clone())),
            Op::ListContainers => inspection.handle_containers(Ok(said.containers.clone())),
            Op::PodSandboxStatus | Op::ContainerStatus => inspection.handle_answer(said.answer(op, turn)),
        }
        turn += 1;
    }
    match inspection.finish() {
        Ok(status) => assert_eq!(status.uid, pod.uid),
        Err(error) => assert!(error.ends_with("is nil"), "{error}"),
    }
}
