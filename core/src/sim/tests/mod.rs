//! What a watcher finds on the simulated node.

mod relists;
mod story;
mod truth;

use super::{SimAnswer, SimNode};
use crate::{
    cri::{Answer, Container, ContainerState, ContainerStatus, Op, RpcError, Sandbox},
    id::CriId,
    time::{MILLISECOND, Nanos, SECOND, Time},
};
use alloc::{collections::BTreeSet, string::String, vec::Vec};

const EPOCH: Time = Time(1_796_173_763_250_000_000);
const SEEDS: [u64; 5] = [0, 1, 7, 42, 20_261_202];

fn sandboxes(node: &mut SimNode, now: Time) -> Result<Vec<Sandbox>, RpcError> {
    match node.call(now, Op::ListPodSandbox, None).result {
        Ok(SimAnswer::Sandboxes(list)) => Ok(list),
        Ok(other) => panic!("ListPodSandbox answered {other:?}"),
        Err(error) => Err(error),
    }
}

fn containers(node: &mut SimNode, now: Time) -> Result<Vec<Container>, RpcError> {
    match node.call(now, Op::ListContainers, None).result {
        Ok(SimAnswer::Containers(list)) => Ok(list),
        Ok(other) => panic!("ListContainers answered {other:?}"),
        Err(error) => Err(error),
    }
}

fn container_status(node: &mut SimNode, now: Time, id: &CriId) -> Result<ContainerStatus, RpcError> {
    match node.call(now, Op::ContainerStatus, Some(id)).result {
        Ok(SimAnswer::Answer(Answer::Container(Some(status)))) => Ok(*status),
        Ok(other) => panic!("ContainerStatus answered {other:?}"),
        Err(error) => Err(error),
    }
}

fn container_name(container: &Container) -> (String, String) {
    let uid = container.labels["io.kubernetes.pod.uid"].clone();
    (uid, container.metadata.as_ref().unwrap().name.clone())
}

#[test]
fn the_same_seed_and_calls_give_the_same_answers_and_another_seed_others() {
    let answers = |seed| {
        let mut node = SimNode::new(seed, EPOCH);
        let look = |second| {
            let now = EPOCH + second * SECOND;
            let replies = [Op::ListPodSandbox, Op::ListContainers].map(|op| node.call(now, op, None));
            replies.to_vec()
        };
        (0..200).map(look).collect::<Vec<_>>()
    };
    assert_eq!(answers(3), answers(3));
    assert_ne!(answers(3), answers(4));
}

#[test]
fn asking_changes_nothing_of_what_happens() {
    let (mut often, mut once) = (SimNode::new(5, EPOCH), SimNode::new(5, EPOCH));
    for look in 0..900 {
        often.call(EPOCH + look * 100 * MILLISECOND, Op::ListContainers, None);
    }
    let now = EPOCH + 90 * SECOND;
    let sorted = |node: &mut SimNode| {
        let mut list = containers(node, now).unwrap();
        list.sort_by(|a, b| a.id.cmp(&b.id));
        list
    };
    assert_eq!(sorted(&mut often), sorted(&mut once));
}

#[test]
fn a_time_that_goes_back_leaves_the_node_where_it_is() {
    let mut node = SimNode::new(5, EPOCH);
    let ids = |list: Vec<Sandbox>| list.into_iter().map(|sandbox| sandbox.id).collect::<BTreeSet<_>>();
    let later = ids(sandboxes(&mut node, EPOCH + 60 * SECOND).unwrap());
    assert_eq!(ids(sandboxes(&mut node, EPOCH).unwrap()), later);
}

#[test]
fn lists_come_in_another_order_each_time() {
    let mut node = SimNode::new(5, EPOCH);
    let ids = |list: Vec<Sandbox>| list.into_iter().map(|sandbox| sandbox.id).collect::<Vec<_>>();
    assert_ne!(ids(sandboxes(&mut node, EPOCH).unwrap()), ids(sandboxes(&mut node, EPOCH).unwrap()));
}

#[test]
fn unknown_ids_are_not_found() {
    let mut node = SimNode::new(5, EPOCH);
    for (op, id, message) in [
        (Op::ContainerStatus, Some("abc"), "an error occurred when try to find container \"abc\": not found"),
        (Op::PodSandboxStatus, Some("abc"), "an error occurred when try to find sandbox: not found"),
        (Op::ContainerStatus, None, "an error occurred when try to find container \"\": not found"),
    ] {
        let reply = node.call(EPOCH, op, id.map(CriId::from).as_ref());
        assert_eq!(reply.result, Err(RpcError::new("NotFound", message)));
    }
}

#[test]
fn the_node_starts_with_pods_that_are_hours_and_days_old() {
    for seed in SEEDS {
        let mut node = SimNode::new(seed, EPOCH);
        let sandboxes = sandboxes(&mut node, EPOCH).unwrap();
        let older_than = |age: Nanos| sandboxes.iter().filter(|s| s.created_at < EPOCH.0 - age).count();
        assert!((28..=34).contains(&sandboxes.len()), "seed {seed}: {}", sandboxes.len());
        assert!(older_than(3_600 * SECOND) >= 25 && older_than(86_400 * SECOND) >= 10, "seed {seed}");
        let containers = containers(&mut node, EPOCH).unwrap();
        let restarted = containers.iter().filter(|c| c.metadata.as_ref().unwrap().attempt > 0).count();
        let dead = containers.iter().filter(|c| c.state == ContainerState::Exited).count();
        assert!(restarted >= 4 && dead >= 10, "seed {seed}: {restarted} restarted, {dead} dead");
    }
}
