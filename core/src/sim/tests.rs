//! What a watcher finds on the simulated node: every behaviour in two minutes, and nothing that no runtime would say.

use super::{
    SimAnswer, SimNode,
    catalogue::{CRASHING, EACH_MINUTE, Kind, SHORT_LIVED, WORKLOADS},
    node::Phase,
};
use crate::{
    cri::{Answer, Container, ContainerState, ContainerStatus, Op, RpcError, Sandbox, SandboxState},
    id::CriId,
    time::{MILLISECOND, Nanos, SECOND, Time},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::{String, ToString},
    vec::Vec,
};

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

fn workload_of(sandbox: &Sandbox) -> &str {
    &sandbox.labels["app.kubernetes.io/name"]
}

fn container_name(container: &Container) -> (String, String) {
    let uid = container.labels["io.kubernetes.pod.uid"].clone();
    (uid, container.metadata.as_ref().unwrap().name.clone())
}

/// What one sees who looks every 100 ms and waits for no answer.
#[derive(Default)]
struct Seen {
    sandboxes: BTreeMap<CriId, Sandbox>,
    last_sandboxes: Vec<Sandbox>,
    statuses: BTreeMap<CriId, ContainerStatus>,
    containers: BTreeMap<CriId, Container>,
    /// Ready sandboxes of Deployments, at each look.
    deployed: Vec<usize>,
}

fn look_closely(seed: u64, seconds: Nanos) -> Seen {
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
    fn ends(&self) -> impl Iterator<Item = ((String, String), &ContainerStatus)> {
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

fn has_a_rollout_that_leaves_only_new_pods(seed: u64, seen: &Seen) {
    let hashes = |list: &mut dyn Iterator<Item = &Sandbox>| {
        let mut hashes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for sandbox in list.filter(|s| s.labels.contains_key("pod-template-hash")) {
            let hash = sandbox.labels["pod-template-hash"].clone();
            hashes.entry(workload_of(sandbox).into()).or_default().insert(hash);
        }
        hashes
    };
    let (ever, last) = (hashes(&mut seen.sandboxes.values()), hashes(&mut seen.last_sandboxes.iter()));
    let rolled = ever.iter().filter(|(workload, hashes)| {
        *workload != CRASHING && hashes.len() > 1 && last.get(*workload).is_some_and(|last| last.len() == 1)
    });
    assert!(rolled.count() > 0, "seed {seed}: {ever:?}, at the end {last:?}");
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
        assert!(seen.last_sandboxes.iter().all(|sandbox| workload_of(sandbox) != SHORT_LIVED));
    }
}

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
            let most = match workload.kind {
                Kind::CronJob { keep } => keep + 3,
                _ => workload.replicas as usize + 3,
            };
            let count = stays.count();
            assert!(count <= most, "minute {minute}: {count} pods of {}", workload.name);
        }
    }
}
