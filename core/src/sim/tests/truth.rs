//! Nothing is said that no runtime would say, and lists and statuses agree.

use super::{EPOCH, SEEDS, container_name, container_status, containers, sandboxes};
use crate::{
    cri::{Answer, Container, ContainerState, Op, Sandbox, SandboxState},
    sim::{SimAnswer, SimNode, catalogue::WORKLOADS, node::Phase},
    time::{MILLISECOND, SECOND, Time},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

/// Looks at everything at one moment, and refuses what no runtime would say.
fn check(node: &mut SimNode, now: Time) {
    let (Ok(sandboxes), Ok(containers)) = (sandboxes(node, now), containers(node, now)) else { return };
    let by_id: BTreeMap<_, _> = sandboxes.iter().map(|sandbox| (&sandbox.id, sandbox)).collect();
    assert_eq!(by_id.len(), sandboxes.len());
    let ids: BTreeSet<_> = containers.iter().map(|c| &c.id).chain(by_id.keys().copied()).collect();
    assert_eq!(ids.len(), sandboxes.len() + containers.len());
    assert!(ids.iter().all(|id| id.len() == 64 && id.bytes().all(|b| b.is_ascii_hexdigit())));
    check_sandboxes(node, now, &sandboxes);
    let mut attempts = BTreeMap::<_, Vec<_>>::new();
    for container in &containers {
        let sandbox = by_id.get(&container.pod_sandbox_id).expect("a container's sandbox is listed");
        assert_eq!(container.labels["io.kubernetes.pod.uid"], sandbox.labels["io.kubernetes.pod.uid"]);
        assert!(sandbox.created_at <= container.created_at && container.created_at <= now.0);
        check_status(node, now, container);
        attempts.entry(container_name(container)).or_default().push(container.state);
    }
    for (name, states) in attempts {
        let dead = states.iter().filter(|state| **state == ContainerState::Exited).count();
        assert!(states.len() <= 2 && states.len() - dead <= 1, "{name:?}: {states:?}");
    }
}

fn check_sandboxes(node: &mut SimNode, now: Time, sandboxes: &[Sandbox]) {
    let (mut ready, mut ips) = (BTreeSet::new(), BTreeSet::new());
    for sandbox in sandboxes {
        let reply = node.call(now, Op::PodSandboxStatus, Some(&sandbox.id));
        let Ok(SimAnswer::Answer(Answer::Sandbox(answer))) = reply.result else { panic!("{reply:?}") };
        let status = answer.status.unwrap();
        assert_eq!((status.state, &status.metadata), (sandbox.state, &sandbox.metadata));
        let ip = status.network.unwrap().ip;
        if sandbox.state == SandboxState::Ready {
            assert!(ready.insert(&sandbox.labels["io.kubernetes.pod.uid"]), "two ready sandboxes of one pod");
            assert!(ip.is_empty() || ips.insert(ip), "an address given twice");
        } else {
            assert_eq!(ip, "");
        }
    }
}

fn check_status(node: &mut SimNode, now: Time, container: &Container) {
    let status = match container_status(node, now, &container.id) {
        Ok(status) => status,
        Err(error) => return assert_eq!(error.code, "DeadlineExceeded"),
    };
    assert_eq!(
        (&status.metadata, status.state, status.created_at, &status.image_ref),
        (&container.metadata, container.state, container.created_at, &container.image_ref)
    );
    let is_after_creation = status.created_at < status.started_at && status.started_at <= now.0;
    match status.state {
        ContainerState::Created => assert_eq!((status.started_at, status.finished_at), (0, 0)),
        ContainerState::Running => assert!(is_after_creation && status.finished_at == 0),
        ContainerState::Exited => {
            assert!(
                is_after_creation && status.started_at < status.finished_at && status.finished_at <= now.0
            );
            assert!(!status.reason.is_empty());
        }
        ContainerState::Unknown | ContainerState::Other(_) => panic!("{status:?}"),
    }
}

#[test]
fn nothing_is_said_that_no_runtime_would_say() {
    for seed in SEEDS {
        let mut node = SimNode::new(seed, EPOCH);
        for look in 0..600 {
            check(&mut node, EPOCH + look * 990 * MILLISECOND);
        }
    }
}

#[test]
fn a_day_leaves_the_node_no_fuller() {
    let mut node = SimNode::new(11, EPOCH);
    for minute in 0..24 * 60 {
        check(&mut node, EPOCH + minute * 60 * SECOND);
        let pods = &node.node.pods;
        assert!(pods.len() <= 45, "minute {minute}: {} pods", pods.len());
        for workload in WORKLOADS {
            let stays =
                pods.values().filter(|p| p.workload.name == workload.name && p.phase != Phase::Ending);
            let most = workload.kind.keeps().unwrap_or(workload.replicas as usize) + 3;
            let count = stays.count();
            assert!(count <= most, "minute {minute}: {count} pods of {}", workload.name);
        }
    }
}
