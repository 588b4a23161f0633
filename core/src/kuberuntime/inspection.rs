//! `GetPodStatus`: the calls of one inspection and what their answers add up to.

use super::{Calls, pods::by_attempt};
use crate::{
    cri::{Answer, Container, ContainerStatus, Network, Op, RpcError, Sandbox, SandboxAnswer, SandboxState},
    id::CriId,
    pleg::{ErrorText, Profile},
    pod::{Pod, PodStatus},
    time::Time,
};
use alloc::{
    collections::{BTreeMap, VecDeque},
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::{cmp::Reverse, net::IpAddr};

/// How an inspection asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InspectionOptions {
    /// List the pod's sandboxes and containers again, as before v1.36.
    pub lists: bool,
    /// Gate EventedPLEG: container statuses come with the first sandbox's answer, if the runtime fills its time stamp.
    pub evented_gate: bool,
}

impl InspectionOptions {
    /// As a kubelet of this profile asks.
    pub fn of(profile: &Profile, evented_gate: bool) -> Self {
        Self { lists: profile.inspection_lists, evented_gate }
    }
}

/// `GetPodStatus` without the I/O: while [`Inspection::next_call`] names a call, make it and give the answer to
/// [`Inspection::handle_answer`]; then [`Inspection::finish`]. The first hard error ends it.
#[derive(Clone, Debug)]
pub struct Inspection {
    pod: Arc<Pod>,
    options: InspectionOptions,
    /// Calls to make; the first one is asked for now.
    calls: VecDeque<(Op, CriId)>,
    /// Whether the answer to come is that of the sandbox listed first.
    first_sandbox: bool,
    /// The sandbox listed first, if it is ready: the one that gives the addresses.
    active: Option<CriId>,
    /// The sandbox of each container.
    sandbox_of: BTreeMap<CriId, CriId>,
    status: PodStatus,
    /// Whether the container statuses came with the first sandbox's: they stay in the runtime's order.
    sorted_by_runtime: bool,
    error: Option<ErrorText>,
}

impl Inspection {
    /// An inspection of a pod as listed.
    pub fn new(pod: Arc<Pod>, options: InspectionOptions) -> Self {
        let status = PodStatus {
            uid: pod.uid.clone(),
            name: pod.name.clone(),
            namespace: pod.namespace.clone(),
            timestamp: pod.timestamp,
            ..PodStatus::default()
        };
        let mut inspection = Self {
            pod,
            options,
            calls: VecDeque::new(),
            first_sandbox: true,
            active: None,
            sandbox_of: BTreeMap::new(),
            status,
            sorted_by_runtime: false,
            error: None,
        };
        if options.lists {
            inspection.calls.push_back((Op::ListPodSandbox, inspection.uid_as_id()));
        } else {
            let sandboxes = inspection.pod.sandboxes.iter();
            inspection.calls.extend(sandboxes.map(|s| (Op::PodSandboxStatus, s.id.id.clone())));
            inspection.ask_for_containers_last();
        }
        inspection
    }

    /// The call to make now; none when the inspection is at its end. A listing (before v1.36) is of the pod whose
    /// UID is given in the place of the id: filter by the label `io.kubernetes.pod.uid`, and answer it with
    /// [`Inspection::handle_sandboxes`] or [`Inspection::handle_containers`].
    pub fn next_call(&self) -> Option<(Op, CriId)> {
        self.calls.front().cloned()
    }

    /// The calls that are still to be made, as far as they are known: none after a hard error, and without those of
    /// containers before a listing or a first sandbox's answer that decides on them.
    pub fn calls_to_go(&self) -> Calls {
        self.calls.iter().map(|(op, _)| *op).collect()
    }

    /// The call that was asked for ended.
    pub fn handle_answer(&mut self, answer: Result<Answer, RpcError>) {
        let Some((op, id)) = self.calls.pop_front() else { return };
        match (op, answer) {
            (Op::PodSandboxStatus, Ok(Answer::Sandbox(answer))) => self.sandbox_answered(*answer),
            (Op::ContainerStatus, Ok(Answer::Container(status))) => {
                self.container_answered(status.map(|s| *s))
            }
            // The runtime removed it since it was listed: left out.
            (Op::PodSandboxStatus, Err(error)) if error.is_not_found() => self.first_sandbox = false,
            (Op::ContainerStatus, Err(error)) if error.is_not_found() => {}
            (_, Err(error)) => self.fail(error.to_string()),
            (op, Ok(_)) => self.fail(format!("the answer to {op} of {id} is that of another call")),
        }
    }

    /// The pod's sandboxes were listed again (before v1.36), or not.
    pub fn handle_sandboxes(&mut self, listed: Result<Vec<Sandbox>, RpcError>) {
        if !self.take_call(Op::ListPodSandbox) {
            return;
        }
        match listed {
            Ok(sandboxes) => {
                self.calls.extend(by_attempt(sandboxes).into_iter().map(|s| (Op::PodSandboxStatus, s.id)));
                self.ask_for_containers_last();
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// The pod's containers were listed again (before v1.36), or not.
    pub fn handle_containers(&mut self, listed: Result<Vec<Container>, RpcError>) {
        if !self.take_call(Op::ListContainers) {
            return;
        }
        match listed {
            Ok(containers) => {
                for container in containers.iter().rev() {
                    self.calls.push_front((Op::ContainerStatus, container.id.clone()));
                }
                self.sandbox_of.extend(containers.into_iter().map(|c| (c.id, c.pod_sandbox_id)));
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// What the inspection found.
    ///
    /// # Errors
    /// The first hard error: a call that failed, other than with `NotFound`, or an answer without a status. Also when
    /// calls are still to be made.
    pub fn finish(mut self) -> Result<PodStatus, ErrorText> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some((op, id)) = self.calls.front() {
            return Err(format!("{op} of {id} has not been answered").into());
        }
        if !self.sorted_by_runtime {
            // Go's sort is not stable, but up to twelve items it is (`insertionSort`).
            self.status.containers.sort_by_key(|container| Reverse(container.created_at));
        }
        if let Some(active) = &self.active {
            let of_active = |id: &&CriId| self.sandbox_of.get(*id) == Some(active);
            let ids = self.status.containers.iter().map(|container| &container.id);
            self.status.active = ids.filter(of_active).cloned().collect();
        }
        Ok(self.status)
    }

    /// Whether this call is asked for now; an answer that nobody asked for changes nothing.
    fn take_call(&mut self, asked: Op) -> bool {
        let is_asked = self.calls.front().is_some_and(|(op, _)| *op == asked);
        is_asked && self.calls.pop_front().is_some()
    }

    fn sandbox_answered(&mut self, answer: SandboxAnswer) {
        let SandboxAnswer { status, containers, timestamp } = answer;
        let first = core::mem::replace(&mut self.first_sandbox, false);
        let Some(status) = status else { return self.fail("pod sandbox status is nil".into()) };
        if first && status.state == SandboxState::Ready {
            self.active = Some(status.id.clone());
            self.status.ips = ips(status.network.as_ref());
        }
        self.status.sandboxes.push(status);
        if first && self.options.evented_gate {
            if timestamp == 0 {
                self.ask_for_containers_now();
            } else {
                self.status.timestamp = Time(timestamp);
                self.status.containers = containers;
                self.sorted_by_runtime = true;
            }
        }
    }

    fn container_answered(&mut self, status: Option<ContainerStatus>) {
        match status {
            Some(status) => self.status.containers.push(status),
            None => self.fail("container status is nil".into()),
        }
    }

    /// Without the gate: the containers come after all sandboxes.
    fn ask_for_containers_last(&mut self) {
        if !self.options.evented_gate {
            let calls = self.container_calls();
            self.calls.extend(calls);
        }
    }

    /// With the gate, and a runtime that does not know of it: the containers come after the first sandbox.
    fn ask_for_containers_now(&mut self) {
        for call in self.container_calls().into_iter().rev() {
            self.calls.push_front(call);
        }
    }

    fn container_calls(&mut self) -> Vec<(Op, CriId)> {
        if self.options.lists {
            return [(Op::ListContainers, self.uid_as_id())].into();
        }
        let listed = self.pod.containers.iter();
        self.sandbox_of.extend(listed.clone().map(|c| (c.id.id.clone(), c.sandbox.clone())));
        listed.map(|c| (Op::ContainerStatus, c.id.id.clone())).collect()
    }

    fn uid_as_id(&self) -> CriId {
        self.pod.uid.as_str().into()
    }

    fn fail(&mut self, error: String) {
        self.calls.clear();
        self.error = Some(error.into());
    }
}

/// The addresses of a sandbox, primary first; none at all if one of them is no address
/// (`determinePodSandboxIPs`, kuberuntime_sandbox.go).
pub(super) fn ips(network: Option<&Network>) -> Vec<String> {
    let Some(network) = network else { return Vec::new() };
    let primary = Some(&network.ip).filter(|ip| !ip.is_empty());
    let ips: Vec<&String> = primary.into_iter().chain(&network.additional_ips).collect();
    if ips.iter().all(|ip| is_address(ip)) { ips.into_iter().cloned().collect() } else { Vec::new() }
}

/// Whether the kubelet takes a text for an address: like Rust, but with leading zeros in IPv4 (`ParseIPSloppy`).
fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || without_leading_zeros(text).parse::<IpAddr>().is_ok()
}

fn without_leading_zeros(text: &str) -> String {
    let v4_at = text.rfind(':').map_or(0, |colon| colon + 1);
    let (v6, v4) = text.split_at(v4_at);
    let plain = |octet: &str| match octet.trim_start_matches('0') {
        "" if !octet.is_empty() => String::from("0"),
        digits => digits.into(),
    };
    let octets: Vec<String> = v4.split('.').map(plain).collect();
    format!("{v6}{}", octets.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cri::SandboxStatus, pod};
    use alloc::{boxed::Box, vec};

    fn item(id: &str, sandbox: &str) -> pod::Container {
        let id = pod::ContainerId { runtime: "cri-o".into(), id: id.into() };
        pod::Container { id, sandbox: sandbox.into(), ..pod::Container::default() }
    }

    fn inspection(evented_gate: bool) -> Inspection {
        let pod = Pod {
            sandboxes: vec![item("s", "")],
            containers: vec![item("a", "s"), item("b", "gone")],
            ..Pod::default()
        };
        Inspection::new(Arc::new(pod), InspectionOptions { evented_gate, ..InspectionOptions::default() })
    }

    fn container(id: &str, created_at: i64) -> ContainerStatus {
        ContainerStatus { id: id.into(), created_at, ..ContainerStatus::default() }
    }

    fn sandbox(timestamp: i64) -> Answer {
        let network = Network { ip: "10.0.0.1".into(), additional_ips: vec![] };
        let status = SandboxStatus { id: "s".into(), network: Some(network), ..SandboxStatus::default() };
        // The runtime's order is not that of age.
        let containers = vec![container("a", 1), container("b", 2)];
        Answer::Sandbox(Box::new(SandboxAnswer { status: Some(status), containers, timestamp }))
    }

    fn found(status: &PodStatus) -> Vec<&str> {
        status.containers.iter().map(|container| container.id.as_str()).collect()
    }

    #[test]
    fn sandboxes_are_asked_for_then_containers_and_the_newest_come_first() {
        let mut inspection = inspection(false);
        let mut calls = Vec::new();
        while let Some((op, id)) = inspection.next_call() {
            inspection.handle_answer(Ok(match op {
                Op::PodSandboxStatus => sandbox(9),
                _ => Answer::Container(Some(Box::new(container(&id, if *id == *"a" { 1 } else { 2 })))),
            }));
            calls.push(format!("{op} {id}"));
        }
        assert_eq!(calls, ["PodSandboxStatus s", "ContainerStatus a", "ContainerStatus b"]);
        let status = inspection.finish().unwrap();
        assert_eq!((found(&status), status.timestamp), (vec!["b", "a"], Time(0)));
        assert_eq!((status.ips, status.active), (vec!["10.0.0.1".into()], vec![CriId::from("a")]));
    }

    /// CRI-O fills the time stamp: one call tells all.
    #[test]
    fn with_the_gate_the_first_sandbox_tells_of_the_containers() {
        let mut inspection = inspection(true);
        inspection.handle_answer(Ok(sandbox(9)));
        assert_eq!(inspection.next_call(), None);
        let status = inspection.finish().unwrap();
        assert_eq!((found(&status), status.timestamp), (vec!["a", "b"], Time(9)));
    }

    #[test]
    fn with_the_gate_and_no_time_stamp_the_containers_are_asked_for() {
        let mut inspection = inspection(true);
        inspection.handle_answer(Ok(sandbox(0)));
        assert_eq!(inspection.next_call(), Some((Op::ContainerStatus, "a".into())));
    }

    #[test]
    fn what_the_runtime_removed_is_left_out_and_any_other_error_ends_it() {
        let mut inspection = inspection(false);
        inspection.handle_answer(Err(RpcError::new("NotFound", "no such sandbox")));
        inspection.handle_answer(Err(RpcError::new("NotFound", "no such container")));
        assert_eq!(inspection.next_call(), Some((Op::ContainerStatus, "b".into())));
        inspection.handle_answer(Err(RpcError::new("DeadlineExceeded", "context deadline exceeded")));
        assert_eq!(inspection.next_call(), None);
        let error = inspection.finish().unwrap_err();
        assert_eq!(&*error, "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
    }

    #[test]
    fn an_answer_to_nothing_or_of_another_call_does_no_harm() {
        let mut wrong = inspection(false);
        wrong.handle_answer(Ok(Answer::Container(None)));
        assert!(wrong.clone().finish().unwrap_err().contains("PodSandboxStatus of s"));
        wrong.handle_answer(Ok(sandbox(0)));
        assert_eq!(wrong.next_call(), None);
        let mut early = inspection(false);
        early.handle_sandboxes(Ok(vec![]));
        early.handle_containers(Ok(vec![]));
        assert_eq!(early.next_call(), Some((Op::PodSandboxStatus, "s".into())));
        assert_eq!(&*early.finish().unwrap_err(), "PodSandboxStatus of s has not been answered");
    }

    #[test]
    fn addresses_are_read_as_the_kubelet_reads_them() {
        for (text, good) in [
            ("10.0.0.1", true),
            ("010.000.000.001", true),
            ("fd00::1", true),
            ("::ffff:010.0.0.1", true),
            ("10.0.0.256", false),
            ("10.0.0", false),
            ("10..0.1", false),
            ("fe80::1%eth0", false),
            ("", false),
            ("not-an-ip", false),
        ] {
            assert_eq!(is_address(text), good, "{text:?}");
        }
        let network = |ips: &[&str]| Network {
            ip: ips[0].into(),
            additional_ips: ips[1..].iter().map(|ip| (*ip).into()).collect(),
        };
        assert_eq!(ips(Some(&network(&["10.0.0.1", "fd00::1"]))), ["10.0.0.1", "fd00::1"]);
        assert_eq!(ips(Some(&network(&["", "fd00::1"]))), ["fd00::1"]);
        assert!(ips(Some(&network(&["10.0.0.1", "x"]))).is_empty());
    }
}
