//! What happens on the node: rollouts, a drain, jobs, failures, and when.

use super::{
    catalogue::{CRASHING, EACH_MINUTE, HANGING, HUNGRY, SHORT_LIVED, WORKLOADS, Workload, workload},
    dice::sample,
    faults::{Hang, Restart, Slow},
    node::{Node, Phase, PodKey, Step},
    runtime::Exit,
    start::{CRON_DELAY, full_minute_before},
};
use crate::time::{SECOND, Time};
use alloc::vec::Vec;

/// Something that happens again and again: first within these seconds of the start, then so many seconds later.
#[derive(Debug)]
pub(super) struct Cue {
    happens: Happening,
    first: (i64, i64),
    again: (i64, i64),
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    /// A new revision of the Deployment that crashes; it does not help.
    CrashingRollout,
    Rollout,
    OutOfMemory,
    ShortLivedJob,
    SlowPod,
    SandboxDeath,
    Drain,
    HungContainer,
    RuntimeRestart,
}

/// All of it but the CronJob, which goes by the clock. The first two minutes have one of each; after that nothing
/// comes at the same time of a cycle twice.
static CUES: [Cue; 9] = [
    Cue { happens: Happening::CrashingRollout, first: (2, 4), again: (240, 300) },
    Cue { happens: Happening::Rollout, first: (8, 14), again: (70, 130) },
    Cue { happens: Happening::OutOfMemory, first: (12, 25), again: (60, 150) },
    Cue { happens: Happening::ShortLivedJob, first: (10, 20), again: (20, 50) },
    Cue { happens: Happening::SlowPod, first: (22, 30), again: (200, 280) },
    Cue { happens: Happening::SandboxDeath, first: (30, 38), again: (150, 290) },
    Cue { happens: Happening::Drain, first: (42, 56), again: (250, 300) },
    Cue { happens: Happening::HungContainer, first: (66, 74), again: (240, 300) },
    Cue { happens: Happening::RuntimeRestart, first: (110, 116), again: (240, 320) },
];

/// How many pods a drain takes away.
const DRAINED_PODS: usize = 5;

/// A part of something longer.
#[derive(Clone, Debug)]
pub(super) enum Scene {
    /// A pod of the workload's current revision comes.
    Spawn(&'static Workload),
    /// The CronJob of each minute is due.
    CronJob,
    /// The next pod of a rollout.
    Replace(&'static Workload),
    /// The old pod of a rollout goes once the new one runs.
    Retire(Retire),
}

/// One exchange of a rolling update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retire {
    workload: &'static Workload,
    old: PodKey,
    new: PodKey,
}

/// Puts the first of everything on the agenda.
pub(super) fn begin(node: &mut Node, epoch: Time) {
    for cue in &CUES {
        let after = node.dice.seconds(cue.first);
        node.plan(epoch + after, Step::Cue(cue));
    }
    plan_cron_job(node, epoch);
}

/// Lets a recurring thing happen, and plans it again.
pub(super) fn play_cue(node: &mut Node, at: Time, cue: &'static Cue) {
    let after = node.dice.seconds(cue.again);
    node.plan(at + after, Step::Cue(cue));
    match cue.happens {
        Happening::CrashingRollout => roll(node, at, workload(CRASHING)),
        Happening::Rollout => {
            let shipped: Vec<_> = WORKLOADS.iter().filter(|workload| workload.is_shipped()).collect();
            let chosen = node.dice.pick(&shipped);
            roll(node, at, chosen);
        }
        Happening::OutOfMemory => out_of_memory(node, at),
        Happening::ShortLivedJob => spawn(node, at, workload(SHORT_LIVED)),
        Happening::SlowPod => slow_pod(node, at),
        Happening::SandboxDeath => sandbox_death(node, at),
        Happening::Drain => drain(node, at),
        Happening::HungContainer => hung_container(node, at),
        Happening::RuntimeRestart => {
            let listens = at + node.dice.millis((1_600, 2_400));
            node.faults.restart = Some(Restart { listens, until: listens + node.dice.millis((300, 600)) });
        }
    }
}

/// Plays one part of something longer.
pub(super) fn play(node: &mut Node, at: Time, scene: Scene) {
    match scene {
        Scene::Spawn(workload) => spawn(node, at, Some(workload)),
        Scene::CronJob => {
            spawn(node, at, workload(EACH_MINUTE));
            plan_cron_job(node, at);
        }
        Scene::Replace(workload) => replace(node, at, workload),
        Scene::Retire(step) => retire(node, at, step),
    }
}

fn plan_cron_job(node: &mut Node, at: Time) {
    let due = full_minute_before(at) + 60 * SECOND + node.dice.millis(CRON_DELAY);
    node.plan(due, Step::Scene(Scene::CronJob));
}

fn spawn(node: &mut Node, at: Time, workload: Option<&'static Workload>) {
    if let Some(workload) = workload {
        node.add_pod(at, workload);
    }
}

fn roll(node: &mut Node, at: Time, workload: Option<&'static Workload>) {
    if let Some(workload) = workload {
        node.revise(workload);
        replace(node, at, workload);
    }
}

/// A rolling update with `maxSurge: 1, maxUnavailable: 0`: one new pod at a time, then an old one goes.
fn replace(node: &mut Node, at: Time, workload: &'static Workload) {
    let current = node.revision(workload);
    let outdated = node.keys(|pod| {
        pod.workload.name == workload.name && pod.revision != current && pod.phase != Phase::Ending
    });
    let Some(old) = outdated.first().copied() else { return trim(node, at, workload) };
    if let Some(new) = node.add_pod(at, workload) {
        node.plan(at + SECOND, Step::Scene(Scene::Retire(Retire { workload, old, new })));
    }
}

fn retire(node: &mut Node, at: Time, step: Retire) {
    let next = Scene::Replace(step.workload);
    match node.pods.get(&step.new).map(|pod| pod.phase) {
        Some(Phase::Starting) => node.plan(at + SECOND / 2, Step::Scene(Scene::Retire(step))),
        // A drain took the new pod: the rollout begins again with this one.
        None | Some(Phase::Ending) => node.plan(at + SECOND, Step::Scene(next)),
        Some(Phase::Running | Phase::Recreating | Phase::Finished) => {
            // The readiness probe must succeed before the controller goes on.
            let ready = at + node.dice.millis((400, 1_600));
            node.plan(ready, Step::Delete(step.old));
            let pause = node.dice.millis((300, 900));
            node.plan(ready + pause, Step::Scene(next));
        }
    }
}

/// The end of a rollout: pods beyond the Deployment's replicas go. There are some when a drain took a pod that the
/// rollout had replaced already.
fn trim(node: &mut Node, at: Time, workload: &'static Workload) {
    let pods = node.keys(|pod| pod.workload.name == workload.name && pod.phase != Phase::Ending);
    let replicas = usize::try_from(workload.replicas).unwrap_or(usize::MAX);
    for surplus in pods.into_iter().skip(replicas) {
        node.plan(at, Step::Delete(surplus));
    }
}

fn out_of_memory(node: &mut Node, at: Time) {
    // The newest pod is the one that a rollout takes away last: one sees the container come back.
    if let Some(key) = node.whole_keys(|workload| workload.name == HUNGRY).last() {
        node.plan(at, Step::Kill(*key, 0, Exit::OOM_KILLED));
    }
}

/// A pod on a slow disk: inspections take long, and its last container fails its liveness probe twice.
fn slow_pod(node: &mut Node, at: Time) {
    let pods = node.whole_keys(Workload::is_movable);
    let Some(key) = node.dice.pick(&pods) else { return };
    let Some(pod) = node.pods.get(&key) else { return };
    let last = pod.slots.len().saturating_sub(1);
    let until = at + node.dice.seconds((14, 20));
    node.faults.slow = Some(Slow { pod: pod.identity.uid.clone(), until });
    for after in [(200, 700), (6_000, 9_000)] {
        let after = node.dice.millis(after);
        node.plan(at + after, Step::Kill(key, last, Exit::code(137)));
    }
}

/// Something kills a pause process: the kubelet ends the pod's containers and makes a new sandbox.
fn sandbox_death(node: &mut Node, at: Time) {
    let pods = node.whole_keys(Workload::is_movable);
    if let Some(key) = node.dice.pick(&pods) {
        node.plan(at, Step::KillSandbox(key));
    }
}

/// `kubectl drain`, as far as it gets before somebody stops it: a few pods go one by one, and others come after the
/// node is uncordoned.
fn drain(node: &mut Node, at: Time) {
    let movable = node.whole_keys(Workload::is_movable);
    let (mut leaves, mut returns) = (at, at + node.dice.seconds((38, 52)));
    for key in sample(&mut node.dice, movable, DRAINED_PODS) {
        let Some(workload) = node.pods.get(&key).map(|pod| pod.workload) else { continue };
        leaves = leaves + node.dice.millis((300, 1_800));
        returns = returns + node.dice.millis((200, 2_500));
        node.plan(leaves, Step::Delete(key));
        node.plan(returns, Step::Scene(Scene::Spawn(workload)));
    }
}

/// The database's exporter ends and is started again, so the pod has to be inspected; but the runtime holds the
/// database's own container locked.
fn hung_container(node: &mut Node, at: Time) {
    let pods = node.whole_keys(|workload| workload.name == HANGING);
    let Some(key) = pods.first().copied() else { return };
    let Some(pod) = node.pods.get(&key) else { return };
    let server = pod.slots.iter().position(|slot| slot.task.name == HANGING);
    let Some(server) = server.and_then(|index| pod.slots.get(index)) else { return };
    let Some(container) = server.current.clone() else { return };
    let exporter = pod.slots.len().saturating_sub(1);
    let until = at + node.dice.seconds((30, 34));
    node.faults.hang = Some(Hang { container, until, fails: node.dice.chance(50) });
    node.plan(at, Step::Kill(key, exporter, Exit::code(2)));
}
