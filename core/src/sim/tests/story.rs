//! Two minutes of the node have something of everything.

use super::{EPOCH, SEEDS, container_name, container_status, containers, sandboxes};
use crate::{
    cri::{Container, ContainerState, ContainerStatus, Sandbox, SandboxState},
    id::CriId,
    sim::{
        SimNode,
        catalogue::{CRASHING, EACH_MINUTE, SHORT_LIVED},
    },
    time::{MILLISECOND, Nanos, SECOND},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::{String, ToString},
    vec::Vec,
};

fn workload_of(sandbox: &Sandbox) -> &str {
    &sandbox.labels["app.kubernetes.io/name"]
}

/// What one sees who looks every 100 ms and waits for no answer.
#[derive(Default)]
pub(super) struct Seen {
    sandboxes: BTreeMap<CriId, Sandbox>,
    first_sandboxes: Vec<Sandbox>,
    last_sandboxes: Vec<Sandbox>,
    statuses: BTreeMap<CriId, ContainerStatus>,
    containers: BTreeMap<CriId, Container>,
    /// Ready sandboxes of Deployments, at each look.
    deployed: Vec<usize>,
}

pub(super) fn look_closely(seed: u64, seconds: Nanos) -> Seen {
    let (mut node, mut seen) = (SimNode::new(seed, EPOCH), Seen::default());
    for look in 0..seconds * 10 {
        let now = EPOCH + look * 100 * MILLISECOND;
        let (Ok(sandboxes), Ok(containers)) = (sandboxes(&mut node, now), containers(&mut node, now)) else {
            continue;
        };
        let is_deployed =
            |s: &&Sandbox| s.state == SandboxState::Ready && s.labels.contains_key("pod-template-hash");
        seen.deployed.push(sandboxes.iter().filter(is_deployed).count());
        seen.sandboxes.extend(sandboxes.iter().map(|sandbox| (sandbox.id.clone(), sandbox.clone())));
        if look == 0 {
            seen.first_sandboxes.clone_from(&sandboxes);
        }
        seen.last_sandboxes = sandboxes;
        for container in containers {
            if container.state == ContainerState::Exited
                && !seen.statuses.contains_key(&container.id)
                && let Ok(status) = container_status(&mut node, now, &container.id)
            {
                seen.statuses.insert(container.id.clone(), status);
            }
            seen.containers.insert(container.id.clone(), container);
        }
    }
    seen
}

impl Seen {
    /// Ends of containers after the start: pod's uid and container's name, status.
    pub(super) fn ends(&self) -> impl Iterator<Item = ((String, String), &ContainerStatus)> {
        let ended = self.statuses.iter().filter(|(_, status)| status.finished_at > EPOCH.0);
        ended.map(|(id, status)| (container_name(&self.containers[id]), status))
    }

    fn ends_of(&self, workload: &str) -> Vec<&ContainerStatus> {
        let of = |sandbox: &&Sandbox| workload_of(sandbox) == workload;
        let uids: BTreeSet<_> = self
            .sandboxes
            .values()
            .filter(of)
            .map(|s| s.metadata.as_ref().unwrap().uid.to_string())
            .collect();
        self.ends().filter(|((uid, _), _)| uids.contains(uid)).map(|(_, status)| status).collect()
    }
}

#[test]
fn two_minutes_have_something_of_each_kind() {
    for seed in SEEDS {
        let seen = look_closely(seed, 120);
        has_a_rollout_that_leaves_only_new_pods(seed, &seen);
        has_a_crash_loop(seed, &seen);
        has_a_container_out_of_memory_that_comes_back(seed, &seen);
        has_a_job_that_runs_for_seconds(seed, &seen);
        has_a_drain_after_which_pods_come_back(seed, &seen);
        has_a_sandbox_that_is_made_again(seed, &seen);
        has_a_container_gone_within_a_second(seed, &seen);
    }
}

/// Pods of a Deployment that was there at the start are all of another template at the end.
fn has_a_rollout_that_leaves_only_new_pods(seed: u64, seen: &Seen) {
    let (first, last) = (template_hashes(&seen.first_sandboxes), template_hashes(&seen.last_sandboxes));
    let rolled = first.iter().filter(|(workload, hashes)| {
        **workload != CRASHING && last.get(*workload).is_some_and(|last| last.is_disjoint(hashes))
    });
    assert!(rolled.count() > 0, "seed {seed}: {first:?}, at the end {last:?}");
}

fn template_hashes(sandboxes: &[Sandbox]) -> BTreeMap<&str, BTreeSet<&String>> {
    let mut hashes = BTreeMap::<_, BTreeSet<_>>::new();
    for sandbox in sandboxes {
        if let Some(hash) = sandbox.labels.get("pod-template-hash") {
            hashes.entry(workload_of(sandbox)).or_default().insert(hash);
        }
    }
    hashes
}

fn has_a_crash_loop(seed: u64, seen: &Seen) {
    let ends = seen.ends_of(CRASHING);
    let newest = ends.iter().max_by_key(|status| status.created_at).unwrap();
    let attempts: BTreeSet<_> = ends.iter().map(|status| status.metadata.as_ref().unwrap().attempt).collect();
    assert!(attempts.is_superset(&BTreeSet::from([0, 1, 2, 3])), "seed {seed}: {attempts:?}");
    assert_eq!((newest.exit_code, newest.reason.as_str()), (1, "Error"));
}

fn has_a_container_out_of_memory_that_comes_back(seed: u64, seen: &Seen) {
    let comes_back =
        seen.ends().filter(|(_, s)| s.reason == "OOMKilled" && s.exit_code == 137).any(|(of, s)| {
            let attempt = s.metadata.as_ref().unwrap().attempt;
            seen.containers
                .values()
                .any(|c| container_name(c) == of && c.metadata.as_ref().unwrap().attempt == attempt + 1)
        });
    assert!(comes_back, "seed {seed}");
}

fn has_a_job_that_runs_for_seconds(seed: u64, seen: &Seen) {
    let ends = seen.ends_of(EACH_MINUTE);
    assert!(ends.iter().any(|s| s.started_at > EPOCH.0), "seed {seed}");
    for status in ends {
        let ran = status.finished_at - status.started_at;
        assert!((8 * SECOND..=20 * SECOND).contains(&ran), "seed {seed}: ran {ran} ns");
        assert!([(0, "Completed"), (1, "Error")].contains(&(status.exit_code, status.reason.as_str())));
    }
}

fn has_a_drain_after_which_pods_come_back(seed: u64, seen: &Seen) {
    let deployed = &seen.deployed;
    let (first, last) = (deployed[0], *deployed.last().unwrap());
    let fewest = *deployed.iter().min().unwrap();
    assert!(fewest + 4 <= first, "seed {seed}: {first} pods, never under {fewest}");
    assert!(last + 1 >= first, "seed {seed}: {first} pods, at the end {last}");
}

fn has_a_sandbox_that_is_made_again(seed: u64, seen: &Seen) {
    let again = seen.sandboxes.values().filter(|s| s.metadata.as_ref().unwrap().attempt == 1);
    let again: Vec<_> = again.collect();
    assert!(!again.is_empty(), "seed {seed}");
    for sandbox in again {
        let in_it = seen.containers.values().filter(|c| c.pod_sandbox_id == sandbox.id);
        let attempts: Vec<_> = in_it.map(|c| c.metadata.as_ref().unwrap().attempt).collect();
        assert!(
            !attempts.is_empty() && attempts.iter().all(|attempt| *attempt > 0),
            "seed {seed}: {attempts:?}"
        );
    }
}

fn has_a_container_gone_within_a_second(seed: u64, seen: &Seen) {
    let ends = seen.ends_of(SHORT_LIVED);
    assert!(!ends.is_empty(), "seed {seed}");
    for status in ends {
        assert!(status.finished_at - status.created_at < SECOND);
    }
}
