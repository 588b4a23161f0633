//! The sync loop and the workers behind an engine.

use super::*;
use crate::{
    pleg::{Config, Listing, Output},
    pod::{Container, ContainerId, Pod, PodStatus, State},
    time::{MILLISECOND, SECOND},
};
use alloc::{format, sync::Arc, vec::Vec};

const MS: i64 = MILLISECOND;

/// An engine with its kubelet, at a time in milliseconds.
struct Node {
    engine: Engine,
    kubelet: Kubelet,
}

impl Node {
    fn start() -> Self {
        let config = Config { channel_capacity: 4, relist_threshold: 10 * SECOND, ..Config::default() };
        Self { engine: Engine::new(config), kubelet: Kubelet::start(Time(0)) }
    }

    fn at(&mut self, ms: i64, input: impl FnOnce(&mut Engine, Time)) {
        let now = Time(ms * MS);
        self.kubelet.handle_time(now, &mut self.engine);
        input(&mut self.engine, now);
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Inspect { pod } => {
                    self.engine.handle_inspected(now, &pod.uid, Ok(PodStatus::default().into()));
                }
                Output::Relisted { .. } => self.kubelet.handle_relisted(&self.engine),
                _ => {}
            }
        }
        self.kubelet.handle_sent(now, &mut self.engine);
    }

    /// A relist that begins at `from` and lists, at `to`, so many pods with a running container each.
    fn relist(&mut self, from: i64, to: i64, pods: usize) {
        self.at(from, Engine::handle_relist);
        self.at(to, |engine, now| engine.handle_listed(now, Listing::Full(running(pods, Time(from * MS)))));
    }

    fn skip(&self) -> Option<(i64, i64)> {
        self.kubelet.sync_loop().skip().map(|skip| (skip.since.0 / MS, skip.until.0 / MS))
    }

    fn lost(&self) -> u64 {
        self.engine.metrics().discard_events
    }

    fn stalled(&self) -> Vec<&str> {
        self.kubelet.stalled(&self.engine).map(|(uid, _)| uid.as_str()).collect()
    }
}

fn running(pods: usize, timestamp: Time) -> Vec<Arc<Pod>> {
    let pod = |n| {
        let id = ContainerId { runtime: "cri".into(), id: format!("c{n}").into() };
        let container = Container { id, state: State::Running, ..Container::default() };
        Arc::new(Pod {
            uid: format!("p{n}").into(),
            containers: [container].into(),
            timestamp,
            ..Pod::default()
        })
    };
    (0..pods).map(pod).collect()
}

#[test]
fn the_loop_sleeps_longer_with_each_skip() {
    let mut node = Node::start();
    for (ms, until) in [
        (0, 100),
        (99, 100),
        (100, 300),
        (299, 300),
        (700, 1_500),
        (3_100, 6_300),
        (6_300, 11_300),
        (11_300, 16_300),
        (100_000, 101_300),
        (3_600_000_000, 3_600_001_300),
    ] {
        node.at(ms, |_, _| {});
        assert_eq!(node.skip(), Some((0, until)), "at {ms} ms");
    }
}

#[test]
fn how_often_it_is_told_the_time_does_not_matter() {
    let (mut rarely, mut often) = (Node::start(), Node::start());
    for n in 1..40 {
        let (from, to) = (n * 7_000, n * 7_000 + (n * n * n) % 23_000);
        (from - 6_900..from).step_by(97).for_each(|ms| often.at(ms, |_, _| {}));
        rarely.at(from, Engine::handle_relist);
        often.at(from, Engine::handle_relist);
        let error = n % 5 == 0;
        for node in [&mut rarely, &mut often] {
            node.at(to, |engine, now| match error {
                true => engine.handle_list_failed(now, "boom"),
                false => engine.handle_listed(now, Listing::Full(running(n as usize % 7, now))),
            });
        }
        assert_eq!(rarely.kubelet, often.kubelet, "relist {n}");
        assert_eq!(rarely.engine.checkpoint(), often.engine.checkpoint(), "relist {n}");
    }
    assert!(rarely.lost() > 0, "the loop skipped at times");
}

#[test]
fn events_are_lost_while_the_loop_skips_and_only_then() {
    let mut node = Node::start();
    node.relist(1_000, 1_001, 1);
    assert_eq!((node.engine.channel_len(), node.skip()), (1, Some((0, 1_500))), "it sleeps until 1.5 s");
    node.relist(2_000, 2_001, 9);
    assert_eq!((node.engine.channel_len(), node.lost()), (0, 4), "eight at once do not fit");
    // The listing hangs: unhealthy from 12.0 s on, and again from the moment it answers.
    node.relist(3_000, 14_000, 4);
    assert_eq!(node.skip(), Some((12_000, 15_100)));
    assert_eq!((node.engine.channel_len(), node.lost()), (4, 10), "five died and were removed");
    node.relist(14_100, 14_101, 5);
    assert!(node.engine.health(Time(14_101 * MS)).is_healthy());
    assert_eq!((node.engine.channel_len(), node.lost()), (4, 11), "healthy, and it sleeps on");
    // Unhealthy is what is older than the threshold, so all of this happens a nanosecond later.
    node.at(15_101, |_, _| {});
    assert_eq!((node.engine.channel_len(), node.skip()), (0, None));
}

#[test]
fn a_pod_is_stalled_from_its_sync_to_the_end_of_a_later_relist() {
    let mut node = Node::start();
    node.relist(0, 200, 2);
    assert_eq!(node.stalled(), [] as [&str; 0], "nothing was read yet");
    node.at(300, |_, _| {});
    assert_eq!(node.stalled(), ["p0", "p1"]);
    node.at(1_200, Engine::handle_relist);
    assert_eq!(node.stalled(), ["p0", "p1"], "as long as it lists");
    node.at(9_000, |engine, now| engine.handle_listed(now, Listing::Full(running(1, now))));
    assert_eq!(node.stalled(), ["p1"], "its death was read just now");
    node.relist(10_000, 10_001, 1);
    assert_eq!(node.stalled(), [] as [&str; 0]);
}
