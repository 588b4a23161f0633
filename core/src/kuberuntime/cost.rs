//! What listings and inspections cost: the calls that they make, known before they are made.

use super::InspectionOptions;
use crate::{cri::Op, pod::Pod};
use core::{
    iter::Sum,
    ops::{Add, AddAssign},
};

/// Numbers of runtime calls. The kubelet makes them one after the other, and each may take up to
/// `runtimeRequestTimeout` (2 minutes unless configured): two that hang exceed PLEG's threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// `ListPodSandbox`.
    pub list_pod_sandbox: u32,
    /// `ListContainers`.
    pub list_containers: u32,
    /// `PodSandboxStatus`.
    pub pod_sandbox_status: u32,
    /// `ContainerStatus`.
    pub container_status: u32,
}

/// How many calls an inspection makes, as far as that is no matter of errors: the first hard error ends it, and what
/// comes after is spared.
///
/// | kubelet | listing of all pods, or of one | each inspected pod | each vanished pod |
/// |---|---|---|---|
/// | v1.36 | 2 | S + C | 0 |
/// | v1.24 to v1.35 | 2 | 2 + S + C | 0 |
/// | v1.36, gate EventedPLEG, time stamps | 2 | S | 0 |
///
/// S are the pod's listed sandboxes and C its listed containers, the dead ones too: a pod with 20 dead containers costs
/// 20 calls whenever one of them changes. A pod whose inspection fails costs a new one in every relist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostModel {
    /// How inspections ask.
    pub options: InspectionOptions,
    /// Whether the runtime fills the time stamp of a sandbox's answer (CRI-O does, containerd does not). Under the gate
    /// the containers' statuses come with it, and are not asked for.
    pub timestamps: bool,
}

impl CostModel {
    /// What a relist makes that inspects these pods: both listings, then the inspections. One that inspects
    /// none makes the listings alone; so does a relist of a single pod (v1.36) that finds no change.
    pub fn relist<'a>(&self, inspected: impl IntoIterator<Item = &'a Pod>) -> Calls {
        inspected.into_iter().map(|pod| self.inspection(pod)).sum::<Calls>() + Calls::LISTING
    }

    /// What the inspection of a pod makes (`GetPodStatus`), as it was listed.
    pub fn inspection(&self, pod: &Pod) -> Calls {
        let InspectionOptions { lists, evented_gate } = self.options;
        // Under the gate the first sandbox's answer decides; without a sandbox the containers are never asked for.
        let asks_for_containers = !evented_gate || !(self.timestamps || pod.sandboxes.is_empty());
        Calls {
            list_pod_sandbox: u32::from(lists),
            list_containers: u32::from(lists && asks_for_containers),
            pod_sandbox_status: count(pod.sandboxes.len()),
            container_status: if asks_for_containers { count(pod.containers.len()) } else { 0 },
        }
    }
}

impl Calls {
    /// `GetPods`, and `GetPod`: both listings.
    pub const LISTING: Calls =
        Calls { list_pod_sandbox: 1, list_containers: 1, pod_sandbox_status: 0, container_status: 0 };

    /// How many in all.
    pub fn total(&self) -> u64 {
        Op::ALL.iter().map(|op| u64::from(self.of(*op))).sum()
    }

    /// How many of this kind.
    pub fn of(&self, op: Op) -> u32 {
        match op {
            Op::ListPodSandbox => self.list_pod_sandbox,
            Op::ListContainers => self.list_containers,
            Op::PodSandboxStatus => self.pod_sandbox_status,
            Op::ContainerStatus => self.container_status,
        }
    }

    /// Counts one.
    pub fn count(&mut self, op: Op) {
        let number = match op {
            Op::ListPodSandbox => &mut self.list_pod_sandbox,
            Op::ListContainers => &mut self.list_containers,
            Op::PodSandboxStatus => &mut self.pod_sandbox_status,
            Op::ContainerStatus => &mut self.container_status,
        };
        *number = number.saturating_add(1);
    }

    /// What is left when these were made.
    #[must_use]
    pub fn without(self, made: Calls) -> Calls {
        self.zip(made, u32::saturating_sub)
    }

    fn zip(self, other: Calls, merge: fn(u32, u32) -> u32) -> Calls {
        Calls {
            list_pod_sandbox: merge(self.list_pod_sandbox, other.list_pod_sandbox),
            list_containers: merge(self.list_containers, other.list_containers),
            pod_sandbox_status: merge(self.pod_sandbox_status, other.pod_sandbox_status),
            container_status: merge(self.container_status, other.container_status),
        }
    }
}

impl Add for Calls {
    type Output = Calls;
    fn add(self, more: Calls) -> Calls {
        self.zip(more, u32::saturating_add)
    }
}

impl AddAssign for Calls {
    fn add_assign(&mut self, more: Calls) {
        *self = *self + more;
    }
}

impl Sum for Calls {
    fn sum<I: Iterator<Item = Calls>>(calls: I) -> Calls {
        calls.fold(Calls::default(), Calls::add)
    }
}

impl FromIterator<Op> for Calls {
    fn from_iter<I: IntoIterator<Item = Op>>(ops: I) -> Calls {
        let mut calls = Calls::default();
        ops.into_iter().for_each(|op| calls.count(op));
        calls
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cri::{self, Answer, SandboxAnswer, SandboxStatus},
        kuberuntime::Inspection,
        pleg::Profile,
        pod,
    };
    use alloc::{boxed::Box, format, sync::Arc};

    fn pod(sandboxes: usize, containers: usize) -> Pod {
        let items = |kind: &str, number: usize| {
            let id = |n| pod::ContainerId { runtime: "containerd".into(), id: format!("{kind}{n}").into() };
            (0..number).map(|n| pod::Container { id: id(n), ..pod::Container::default() }).collect()
        };
        Pod { sandboxes: items("s", sandboxes), containers: items("c", containers), ..Pod::default() }
    }

    /// The calls of an inspection that nothing goes wrong in.
    fn made(pod: &Pod, model: CostModel) -> Calls {
        let mut inspection = Inspection::new(Arc::new(pod.clone()), model.options);
        let mut calls = Calls::default();
        while let Some((op, id)) = inspection.next_call() {
            calls.count(op);
            match op {
                Op::ListPodSandbox => inspection.handle_sandboxes(Ok(ids(&pod.sandboxes)
                    .map(|id| cri::Sandbox { id, ..cri::Sandbox::default() })
                    .collect())),
                Op::ListContainers => inspection.handle_containers(Ok(ids(&pod.containers)
                    .map(|id| cri::Container { id, ..cri::Container::default() })
                    .collect())),
                Op::PodSandboxStatus => {
                    let status = SandboxStatus { id, ..SandboxStatus::default() };
                    let timestamp = i64::from(model.timestamps);
                    let answer =
                        SandboxAnswer { status: Some(status), timestamp, ..SandboxAnswer::default() };
                    inspection.handle_answer(Ok(Answer::Sandbox(Box::new(answer))));
                }
                Op::ContainerStatus => inspection.handle_answer(Ok(Answer::Container(Some(Box::default())))),
            }
        }
        inspection.finish().unwrap();
        calls
    }

    fn ids(items: &[pod::Container]) -> impl Iterator<Item = crate::id::CriId> {
        items.iter().map(|item| item.id.id.clone())
    }

    #[test]
    fn an_inspection_makes_the_calls_that_were_predicted() {
        for bits in 0..8 {
            let options = InspectionOptions { lists: bits & 1 > 0, evented_gate: bits & 2 > 0 };
            let model = CostModel { options, timestamps: bits & 4 > 0 };
            for (sandboxes, containers) in [(0, 0), (0, 2), (1, 0), (1, 3), (2, 20)] {
                let pod = pod(sandboxes, containers);
                assert_eq!(model.inspection(&pod), made(&pod, model), "{model:?} {sandboxes} + {containers}");
            }
        }
    }

    #[test]
    fn the_release_decides_what_a_relist_costs() {
        let (small, large) = (pod(1, 2), pod(2, 20));
        let model = |profile, evented_gate, timestamps| CostModel {
            options: InspectionOptions::of(profile, evented_gate),
            timestamps,
        };
        let cost = |profile, gate, timestamps, pods: &[&Pod]| {
            model(profile, gate, timestamps).relist(pods.iter().copied()).total()
        };
        let (new, old) = (&Profile::V1_36, &Profile::V1_35);
        assert_eq!([cost(new, false, false, &[]), cost(old, false, false, &[])], [2, 2]);
        assert_eq!(cost(new, false, false, &[&small, &large]), 2 + 3 + 22);
        assert_eq!(cost(old, false, false, &[&small, &large]), 2 + (2 + 3) + (2 + 22));
        assert_eq!(cost(new, true, true, &[&small, &large]), 2 + 1 + 2);
        assert_eq!(cost(new, true, false, &[&small, &large]), 2 + 3 + 22);
    }

    #[test]
    fn calls_are_counted_by_kind() {
        let ops = [Op::ListPodSandbox, Op::ContainerStatus, Op::ContainerStatus];
        let calls: Calls = ops.into_iter().collect();
        assert_eq!(Op::ALL.map(|op| calls.of(op)), [1, 0, 0, 2]);
        let left = (calls + Calls::LISTING).without(calls);
        assert_eq!((left, left.total()), (Calls::LISTING, 2));
        assert_eq!(Calls::LISTING.without(calls).total(), 1, "never less than none");
    }
}
