//! The scripted runtime: what the listings and inspections of a scenario answer.

use super::scenario::{self, Condition, Scenario, Step};
use pleg_core::{
    cri::{
        ContainerEvent, ContainerMetadata, ContainerState, ContainerStatus, Network, SandboxMetadata,
        SandboxState, SandboxStatus,
    },
    pleg::{ErrorText, running_container_condition},
    pod::{Container, ContainerId, Pod, PodStatus, State},
    time::{SECOND, Time},
};
use std::sync::Arc;

/// Start of every scenario: 2000-01-01T00:00:00Z.
const START: i64 = 946_684_800 * SECOND;

/// A time of a scenario.
pub(crate) fn at(nanos: i64) -> Time {
    Time(START + nanos)
}

pub(crate) fn since_start(time: Time) -> i64 {
    time.0 - START
}

pub(crate) fn seconds_since_start(unix: i64) -> i64 {
    unix - START / SECOND
}

/// The runtime as the last step left it.
#[derive(Default)]
pub(crate) struct Runtime {
    pods: Vec<scenario::Pod>,
}

impl Runtime {
    /// The changes of a step, before its operation.
    pub(crate) fn change(&mut self, step: &Step) {
        self.pods.retain(|pod| !step.del.contains(&pod.uid));
        for pod in &step.set {
            match self.pods.iter_mut().find(|known| known.uid == pod.uid) {
                Some(known) => *known = pod.clone(),
                None => self.pods.push(pod.clone()),
            }
        }
    }

    /// What is listed in this step.
    fn listed<'a>(&'a self, step: &'a Step) -> &'a [scenario::Pod] {
        if step.raw.is_empty() { &self.pods } else { &step.raw }
    }

    /// `GetPods`
    pub(crate) fn pods(&self, step: &Step, now: Time) -> Result<Vec<Arc<Pod>>, ErrorText> {
        match &step.list_err {
            Some(error) => Err(error.as_str().into()),
            None => Ok(self.listed(step).iter().map(|pod| Arc::new(listed_pod(pod, now))).collect()),
        }
    }

    /// Whether a listed pod has a timestamp of its own.
    pub(crate) fn has_own_timestamp(&self, step: &Step, uid: &str) -> bool {
        self.listed(step).iter().any(|pod| pod.uid == uid && pod.ts.is_some())
    }

    /// `GetPod`
    pub(crate) fn pod(&self, step: &Step, now: Time, uid: &str) -> Result<Arc<Pod>, ErrorText> {
        if let Some(error) = &step.list_err {
            return Err(error.as_str().into());
        }
        let found = self.listed(step).iter().find(|pod| pod.uid == uid);
        found.map(|pod| Arc::new(listed_pod(pod, now))).ok_or_else(|| "pod sandboxes not found".into())
    }

    /// `GetPodStatus`, with the time stamp `default_time` where the scenario gives none.
    pub(crate) fn status(&self, step: &Step, pod: &Pod, default_time: Time) -> Result<PodStatus, ErrorText> {
        if let Some(error) = step.st_err.get(&*pod.uid) {
            return Err(error.as_str().into());
        }
        let listed = self.listed(step).iter().rfind(|listed| listed.uid == *pod.uid);
        let status = step.st.get(&*pod.uid).cloned().or_else(|| listed.map(default_status));
        let Some(scenario::Status { ips, sb, c, ts }) = status else {
            return Err("the scenario has no such pod".into());
        };
        Ok(PodStatus {
            uid: pod.uid.clone(),
            name: pod.name.clone(),
            namespace: pod.namespace.clone(),
            ips,
            sandboxes: sb.iter().map(|sandbox| sandbox_status(&sandbox.id, sandbox.ready)).collect(),
            containers: c.iter().map(container_status).collect(),
            active: Vec::new(),
            timestamp: ts.map_or(default_time, at),
        })
    }
}

fn default_status(pod: &scenario::Pod) -> scenario::Status {
    let runs = |sandbox: &scenario::Container| sandbox.s == "running";
    scenario::Status {
        ips: if pod.sb.first().is_some_and(runs) { pod.ips.clone() } else { Vec::new() },
        sb: pod.sb.iter().map(|s| scenario::SandboxStatus { id: s.id.clone(), ready: runs(s) }).collect(),
        c: pod.c.clone(),
        ts: None,
    }
}

fn listed_pod(pod: &scenario::Pod, now: Time) -> Pod {
    Pod {
        uid: pod.uid.as_str().into(),
        name: pod.name.as_str().into(),
        namespace: pod.ns.as_str().into(),
        created_at: 0,
        timestamp: pod.ts.map_or(now, at),
        sandboxes: pod.sb.iter().map(listed_container).collect(),
        containers: pod.c.iter().map(listed_container).collect(),
    }
}

fn listed_container(container: &scenario::Container) -> Container {
    Container {
        id: ContainerId { runtime: container.runtime.as_str().into(), id: container.id.as_str().into() },
        name: container.n.as_str().into(),
        state: State::from(cri_state(&container.s)),
        created_at: container.at,
        ..Container::default()
    }
}

fn container_status(container: &scenario::Container) -> ContainerStatus {
    ContainerStatus {
        id: container.id.as_str().into(),
        metadata: Some(ContainerMetadata { name: container.n.as_str().into(), attempt: 0 }),
        state: cri_state(&container.s),
        created_at: container.at,
        exit_code: container.x,
        ..ContainerStatus::default()
    }
}

fn sandbox_status(id: &str, ready: bool) -> SandboxStatus {
    SandboxStatus {
        id: id.into(),
        state: if ready { SandboxState::Ready } else { SandboxState::NotReady },
        ..SandboxStatus::default()
    }
}

/// A state by its name. One vector has a name that CRI has not; conversion makes it unknown, as any such number.
fn cri_state(name: &str) -> ContainerState {
    match name {
        "created" => ContainerState::Created,
        "running" => ContainerState::Running,
        "exited" => ContainerState::Exited,
        _ => ContainerState::Unknown,
    }
}

pub(crate) fn state_name(state: ContainerState) -> &'static str {
    State::from(state).name()
}

/// A CRI event as the runtime sends it.
pub(crate) fn cri_event(event: &scenario::CriEvent) -> ContainerEvent {
    let network = Network {
        ip: event.ips.first().cloned().unwrap_or_default(),
        additional_ips: event.ips.iter().skip(1).cloned().collect(),
    };
    let (uid, name, namespace) = (event.uid.as_str().into(), event.name.clone(), event.ns.clone());
    let sandbox = SandboxStatus {
        metadata: Some(SandboxMetadata { name, uid, namespace, attempt: 0 }),
        network: Some(network),
        ..sandbox_status(&event.sb, event.ready)
    };
    ContainerEvent {
        container_id: event.cid.as_str().into(),
        kind: event.kind,
        created_at: at(event.at).0,
        sandbox: (!event.no_sandbox).then_some(sandbox),
        // Without an age: the fake runtime behind the vectors leaves the containers in the event's order.
        containers: event
            .c
            .iter()
            .map(|c| ContainerStatus { created_at: 0, ..container_status(c) })
            .collect(),
    }
}

impl Condition {
    /// Whether it is met. What `Update` and `Rewind` do to themselves is the driver's.
    pub(crate) fn is_met(&self, status: &PodStatus) -> bool {
        match self {
            Condition::True | Condition::Update { .. } | Condition::Rewind => true,
            Condition::False => false,
            // `FindContainerStatusByName`: the first of that name.
            Condition::State { n, s } => {
                let named = |c: &&ContainerStatus| c.metadata.as_ref().is_some_and(|m| m.name == *n);
                status.containers.iter().find(named).is_some_and(|c| state_name(c.state) == s)
            }
            Condition::Count { num } => status.containers.len() >= *num,
            Condition::NoIp => status.ips.is_empty(),
            Condition::Running { n, inner } => {
                running_container_condition(status, n, |_| inner.is_met(status))
            }
        }
    }
}

/// The settings of a scenario.
pub(crate) fn config(scenario: &Scenario) -> pleg_core::pleg::Config {
    pleg_core::pleg::Config {
        profile: scenario.profile,
        relist_period: scenario.period,
        relist_threshold: scenario.threshold,
        channel_capacity: scenario.cap,
        evented_gate: scenario.evented_gate,
    }
}
