//! What one finds who relists each second: slow and hung calls, failed listings, and what he misses.

use super::{EPOCH, SEEDS, container_name, containers, story::look_closely};
use crate::{
    cri::{Container, ContainerState, Op, RpcError},
    id::CriId,
    sim::SimNode,
    time::{MILLISECOND, Nanos, SECOND, Time},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

/// What one sees who relists: waits for each answer, inspects what changed, and a second later begins again.
#[derive(Default)]
struct Relists {
    slow: Vec<Nanos>,
    hung: Vec<Nanos>,
    failed_listings: Vec<RpcError>,
    not_found: usize,
    ran: BTreeSet<CriId>,
}

fn relist(seed: u64, seconds: Nanos) -> Relists {
    let (mut node, mut relists) = (SimNode::new(seed, EPOCH), Relists::default());
    let (mut now, mut before) = (EPOCH, BTreeMap::new());
    while now < EPOCH + seconds * SECOND {
        now = now + SECOND;
        match containers(&mut node, now) {
            Err(error) => relists.failed_listings.push(error),
            Ok(list) => {
                let states = list.iter().map(|c| (c.id.clone(), c.state)).collect::<BTreeMap<_, _>>();
                let running = list.iter().filter(|c| c.state == ContainerState::Running);
                relists.ran.extend(running.map(|c| c.id.clone()));
                if !before.is_empty() {
                    now = relists.inspect(&mut node, now, &changed_pods(&list, &before));
                }
                before = states;
            }
        }
    }
    relists
}

/// The containers of pods of which one container changed.
fn changed_pods(list: &[Container], before: &BTreeMap<CriId, ContainerState>) -> Vec<CriId> {
    let changed = list.iter().filter(|c| before.get(&c.id) != Some(&c.state));
    let pods: BTreeSet<_> = changed.map(|c| container_name(c).0).collect();
    list.iter().filter(|c| pods.contains(&container_name(c).0)).map(|c| c.id.clone()).collect()
}

impl Relists {
    fn inspect(&mut self, node: &mut SimNode, mut now: Time, ids: &[CriId]) -> Time {
        for id in ids {
            let reply = node.call(now, Op::ContainerStatus, Some(id));
            now = now + reply.took;
            match reply.took {
                took if took >= 20 * SECOND => self.hung.push(took),
                took if took >= 400 * MILLISECOND => self.slow.push(took),
                _ => {}
            }
            self.not_found += usize::from(reply.result.is_err_and(|error| error.is_not_found()));
        }
        now
    }
}

#[test]
fn two_minutes_have_slow_inspections_a_hung_one_and_a_restart_of_the_runtime() {
    for seed in SEEDS {
        let relists = relist(seed, 120);
        assert!(!relists.slow.is_empty(), "seed {seed}");
        assert!(relists.slow.iter().all(|took| *took <= 3 * SECOND), "seed {seed}: {:?}", relists.slow);
        let [hung] = relists.hung[..] else { panic!("seed {seed}: {:?}", relists.hung) };
        assert!((25 * SECOND..=34 * SECOND).contains(&hung), "seed {seed}: {hung}");
        assert!(relists.failed_listings.iter().any(|error| error.code == "Unavailable"), "seed {seed}");
    }
}

#[test]
fn a_relist_each_second_misses_containers_and_meets_removed_ones() {
    let (mut missed, mut not_found) = (0, 0);
    for seed in SEEDS {
        let (seen, relists) = (look_closely(seed, 300), relist(seed, 300));
        missed += seen.ends().filter(|(_, s)| !relists.ran.contains(&s.id)).count();
        not_found += relists.not_found;
    }
    assert!(missed > 0);
    assert!(not_found > 0);
}
