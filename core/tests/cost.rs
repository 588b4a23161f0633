//! A relist costs what changed, whatever the size of the node: nothing allocated when nothing changed, and as much for
//! one change on a large node as on a small one. `cargo xtask bench` holds the number of instructions to the same.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use allocation_counter::{AllocationInfo, measure};
use pleg_core::{
    cri::{Container, ContainerMetadata, ContainerState, POD_UID_LABEL, Sandbox, SandboxMetadata},
    kuberuntime::PodSet,
    pleg::{Config, Engine, Listing, Output},
    pod::PodStatus,
    snapshot::{Delta, Snapshot},
    time::{SECOND, Time},
};

/// Follows deltas, as every reader of frames does.
struct Node {
    snapshot: Snapshot,
    pods: PodSet,
    engine: Engine,
    now: Time,
}

/// Pods of two containers each; all run, but for the first container of the first `exited` pods.
fn snapshot(pods: usize, exited: usize) -> Snapshot {
    let (mut sandboxes, mut containers) = (Vec::new(), Vec::new());
    for number in 0..pods {
        let uid = format!("uid-{number}");
        let metadata = SandboxMetadata { uid: uid.as_str().into(), ..SandboxMetadata::default() };
        let id = format!("sandbox-{number}").into();
        sandboxes.push(Sandbox { id, metadata: Some(metadata), ..Sandbox::default() });
        containers.extend(["app", "sidecar"].map(|name| Container {
            id: format!("{name}-{number}").into(),
            metadata: Some(ContainerMetadata { name: name.into(), attempt: 0 }),
            image: Some("registry.example/shop/app:1.4.2".into()),
            state: match name {
                "app" if number < exited => ContainerState::Exited,
                _ => ContainerState::Running,
            },
            labels: [(POD_UID_LABEL.into(), uid.clone())].into(),
            ..Container::default()
        }));
    }
    Snapshot::new(sandboxes, containers)
}

impl Node {
    fn new(snapshot: Snapshot) -> Self {
        let pods = PodSet::from_snapshot(&snapshot, "containerd", Time(0));
        let mut node = Self { snapshot, pods, engine: Engine::new(Config::default()), now: Time(0) };
        node.relist(node.pods.listing());
        node
    }

    fn relist(&mut self, listing: Listing) {
        self.engine.handle_relist(self.now);
        self.engine.handle_listed(self.now, listing);
        while let Some(output) = self.engine.poll_output() {
            if let Output::Inspect { pod } = output {
                self.engine.handle_inspected(self.now, &pod.uid, Ok(PodStatus::default().into()));
            }
        }
        self.engine.drain_channel(usize::MAX);
    }

    fn follow(&mut self, delta: &Delta) {
        self.now = self.now + SECOND;
        self.snapshot.apply(delta).unwrap();
        let listing = self.pods.apply(&self.snapshot, delta, self.now);
        self.relist(listing);
    }

    fn cost(&mut self, delta: &Delta) -> AllocationInfo {
        measure(|| self.follow(delta))
    }
}

#[test]
fn an_unchanged_relist_does_not_allocate() {
    let mut node = Node::new(snapshot(1_000, 0));
    let unchanged = node.snapshot.delta_to(&node.snapshot);
    let cost = measure(|| (0..60).for_each(|_| node.follow(&unchanged)));
    assert_eq!(cost.count_total, 0);
    let changed = node.snapshot.delta_to(&snapshot(1_000, 1));
    assert!(node.cost(&changed).count_total > 0, "the counter counts");
}

#[test]
fn a_change_allocates_as_much_on_a_large_node_as_on_a_small_one() {
    let of_one_change = |pods: usize| {
        let mut node = Node::new(snapshot(pods, 0));
        let there = node.snapshot.delta_to(&snapshot(pods, 1));
        let back = snapshot(pods, 1).delta_to(&node.snapshot);
        // Once there and back, so that buffers have their size.
        node.follow(&there);
        node.follow(&back);
        let cost = node.cost(&there);
        (cost.count_total, cost.bytes_total)
    };
    assert_eq!(of_one_change(10), of_one_change(1_000));
}

/// The sender's side: what is listed as before is only compared.
#[test]
fn lists_that_say_nothing_new_cost_two_lists_of_references() {
    let allocations = |pods: usize| {
        let before = snapshot(pods, 0);
        let lists: (Vec<_>, Vec<_>) =
            (before.sandboxes().cloned().collect(), before.containers().cloned().collect());
        measure(|| assert!(before.delta_to_lists(&lists.0, &lists.1).is_empty())).count_total
    };
    assert_eq!(allocations(2_000), allocations(1_000));
}
