//! The node's past: pods that are days old, some of them restarted, and the last runs of a job.

use super::{
    catalogue::{CRASHING, EACH_MINUTE, HANGING, Kind, WORKLOADS, Workload},
    node::{Node, PodKey, Step},
    runtime::Exit,
};
use crate::time::{SECOND, Time};
use alloc::vec::Vec;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Percentage of pods with a restart behind them.
const RESTARTED: i64 = 35;

/// Brings the pods to the node, back in time, and lets them live up to `epoch`.
pub(super) fn settle(node: &mut Node, epoch: Time) {
    let boot = epoch - node.dice.seconds((18 * DAY, 24 * DAY));
    for workload in WORKLOADS {
        for replica in 0..workload.replicas {
            let at = came(node, workload, replica, boot, epoch);
            if let Some(key) = node.add_pod(at, workload) {
                interrupt(node, workload, key, at, epoch);
            }
        }
    }
    node.advance(epoch);
}

/// When a pod came to the node.
fn came(node: &mut Node, workload: &Workload, replica: u32, boot: Time, epoch: Time) -> Time {
    match workload.kind {
        Kind::DaemonSet => boot + node.dice.seconds((2, 40)),
        Kind::StatefulSet => epoch - node.dice.seconds((3 * DAY, 15 * DAY)),
        Kind::Deployment if workload.name == CRASHING => {
            epoch - node.dice.seconds((25 * MINUTE, 50 * MINUTE))
        }
        Kind::Deployment => epoch - node.dice.seconds((2 * HOUR, 12 * DAY)),
        Kind::CronJob | Kind::Job => {
            let due = full_minute_before(epoch) - i64::from(replica) * MINUTE * SECOND;
            due + node.dice.millis(CRON_DELAY)
        }
    }
}

/// Ends one of a pod's containers somewhere in its past, now and then: the kubelet started it again since.
fn interrupt(node: &mut Node, workload: &'static Workload, key: PodKey, came: Time, epoch: Time) {
    let is_quiet = [CRASHING, EACH_MINUTE, HANGING].contains(&workload.name);
    if is_quiet || !node.dice.chance(RESTARTED) {
        return;
    }
    let containers: Vec<_> = (workload.init.len()..workload.all_tasks().count()).collect();
    let Some(container) = node.dice.pick(&containers) else { return };
    let exits = [Exit::code(1), Exit::code(2), Exit::code(137), Exit::OOM_KILLED];
    for _ in 0..node.dice.between(1, 3) {
        let at = came + node.dice.between(10 * MINUTE * SECOND, epoch.since(came) - 10 * MINUTE * SECOND);
        let exit = node.dice.pick(&exits).unwrap_or(Exit::OOM_KILLED);
        node.plan(at, Step::Kill(key, container, exit));
    }
}

/// The last full minute at or before `at`.
pub(super) fn full_minute_before(at: Time) -> Time {
    at - at.0.rem_euclid(MINUTE * SECOND)
}

/// Milliseconds after the full minute in which a CronJob's pod comes: controller and scheduler need a moment.
pub(super) const CRON_DELAY: (i64, i64) = (150, 900);
