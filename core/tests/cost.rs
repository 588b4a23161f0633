//! A relist in which nothing changed costs nothing: no allocation, whatever the size of the node.

use allocation_counter::measure;
use pleg_core::{
    pleg::{Config, Engine, Listing, Output},
    pod::{Container, ContainerId, Pod, PodStatus, State},
    time::{SECOND, Time},
};
use std::sync::Arc;

fn pod(number: usize) -> Arc<Pod> {
    let container = |name: &str| Container {
        id: ContainerId { runtime: "containerd".into(), id: format!("{number}-{name}").into() },
        state: State::Running,
        ..Container::default()
    };
    Arc::new(Pod {
        uid: format!("uid-{number}").into(),
        sandboxes: vec![container("sandbox")],
        containers: vec![container("app"), container("sidecar")],
        ..Pod::default()
    })
}

fn relist(engine: &mut Engine, now: Time, listing: Listing) {
    engine.handle_relist(now);
    engine.handle_listed(now, listing);
    while let Some(output) = engine.poll_output() {
        if let Output::Inspect { pod } = output {
            engine.handle_inspected(now, &pod.uid, Ok(PodStatus::default()));
        }
    }
}

#[test]
fn an_unchanged_relist_does_not_allocate() {
    let mut engine = Engine::new(Config::default());
    relist(&mut engine, Time(0), Listing::Full((0..1_000).map(pod).collect()));
    let unchanged = || Listing::Changed { pods: Vec::new(), gone: Vec::new() };
    let cost = measure(|| (1..=60).for_each(|n| relist(&mut engine, Time(n * SECOND), unchanged())));
    assert_eq!(cost.count_total, 0);
    let change = || Listing::Changed { pods: vec![pod(1_000)], gone: Vec::new() };
    let cost = measure(|| relist(&mut engine, Time(61 * SECOND), change()));
    assert!(cost.count_total > 0, "the counter counts");
}
