//! One-line answers: is PLEG healthy, what is the relist doing.

use super::{
    health,
    relists::{BarState, state_at, took_at},
};
use crate::format;
use pleg_core::{
    follow::Progress,
    id::short_id,
    pleg::Health,
    time::{GoDuration, MILLISECOND, Nanos, SECOND, Time},
    timeline::{CallBar, LaneKind, Relist, Timeline},
};

/// From this age on, in nanoseconds, a running relist is worth the person's attention.
pub const LONG: Nanos = SECOND;

/// The health badge.
#[derive(Clone, Debug, PartialEq)]
pub struct Badge {
    /// Whether PLEG is healthy; none when that is not known.
    pub healthy: Option<bool>,
    /// One word; empty where the text says it all.
    pub word: &'static str,
    /// The sentence.
    pub text: String,
    /// Age of the last good listing as a share of the threshold, from 0 to 1.
    pub share: f64,
}

/// The badge for a health.
pub fn badge(health: Option<Health>, threshold: Nanos) -> Badge {
    let (word, text, share) = match health {
        None => ("Unknown", "no listing in sight yet".into(), 0.0),
        Some(Health::Healthy { age }) => {
            let ago = format::running(age);
            let share = age as f64 / threshold.max(1) as f64;
            ("Healthy", format!("last good listing {ago} ago of {}", GoDuration(threshold)), share)
        }
        Some(Health::NeverSucceeded) => ("", kubelet_text(Health::NeverSucceeded), 1.0),
        Some(Health::Stale { age, threshold }) => {
            // Tenths of a second: nanoseconds would flicker.
            let age = age / (100 * MILLISECOND) * (100 * MILLISECOND);
            ("", kubelet_text(Health::Stale { age, threshold }), 1.0)
        }
    };
    Badge { healthy: health.map(|health| health.is_healthy()), word, text, share: share.clamp(0.0, 1.0) }
}

/// As the kubelet's `runtimeErrors` and the node's Ready condition have it.
fn kubelet_text(health: Health) -> String {
    format!("PLEG is not healthy: {}", health.error().unwrap_or_default())
}

/// What the relist is doing or has done.
#[derive(Clone, Debug, PartialEq)]
pub struct RelistLine {
    /// Whether it has been running for [`LONG`].
    pub hanging: bool,
    /// `Relist 812 running for 2 m 41 s`.
    pub title: String,
    /// `in ContainerStatus of shop/cart-0/app`, `37 of 41 pods inspected`.
    pub parts: Vec<String>,
    /// Its number.
    pub n: u64,
}

/// The line for the relist that runs at `now`, or else for the last one that ended.
pub fn relist_line(timeline: &Timeline, progress: Option<Progress>, now: Time) -> Option<RelistLine> {
    let begun = timeline.relists().partition_point(|relist| relist.start <= now);
    let relist = timeline.relists().get(begun.checked_sub(1)?)?;
    let running = state_at(relist, now) == BarState::Running;
    if running && took_at(relist, now) >= LONG {
        return Some(hanging(timeline, relist, progress, now));
    }
    // A short one that runs just now is shown once it has ended: else the line would flicker.
    let relist = if running { timeline.relists().get(begun.checked_sub(2)?)? } else { relist };
    Some(ended(relist, now))
}

fn hanging(timeline: &Timeline, relist: &Relist, progress: Option<Progress>, now: Time) -> RelistLine {
    let mut parts = Vec::new();
    let running = |call: &&CallBar| call.start <= now && call.end.is_none_or(|end| end > now);
    if let Some(call) = relist.calls.iter().rev().find(running) {
        let target =
            call.id.as_deref().map_or(String::new(), |id| format!(" of {}", target_name(timeline, id)));
        parts.push(format!("in {}{target}", call.op));
        let took = now.since(call.start);
        if took_at(relist, now) - took >= LONG {
            parts.push(format!("this call for {}", format::running(took)));
        }
    }
    if let Some(Progress { inspected, waiting, calls }) = progress.filter(|_| relist.listed.is_some()) {
        parts.push(format!("{inspected} of {} inspected", format::counted(inspected + waiting, "pod")));
        parts.push(format!("{} to go", format::counted(calls.total() as usize, "call")));
    }
    let title = format!("Relist {} running for {}", relist.n, format::running(took_at(relist, now)));
    RelistLine { hanging: true, title, parts, n: relist.n }
}

fn ended(relist: &Relist, now: Time) -> RelistLine {
    let took = format::duration(took_at(relist, now));
    let bytes = relist.calls.iter().map(|call| call.bytes).sum();
    let mut parts = vec![took, format::counted(relist.calls.len(), "call"), format::bytes(bytes)];
    parts.push(
        match relist.failed_listing().and_then(|call| call.error.as_ref().map(|error| (call.op, error))) {
            Some((op, error)) => format!("{op} failed: {error}"),
            None => match relist.events {
                0 => "no events".into(),
                n => format::counted(n as usize, "event"),
            },
        },
    );
    if relist.discarded > 0 {
        parts.push(format!("{} discarded", format::count(relist.discarded as usize)));
    }
    if relist.held > 0 {
        parts.push(format!("{} held back", format::counted(relist.held as usize, "pod")));
    }
    RelistLine { hanging: false, title: format!("Relist {}", relist.n), parts, n: relist.n }
}

/// `namespace/pod/container`, `namespace/pod` for a sandbox, or the id where it was never listed.
pub fn target_name(timeline: &Timeline, id: &str) -> String {
    match timeline.find(id) {
        Some((pod, lane, _)) => match &lane.kind {
            LaneKind::Sandbox => format!("{}/{}", pod.namespace, pod.name),
            LaneKind::Container(name) => format!("{}/{}/{name}", pod.namespace, pod.name),
        },
        None => short_id(id).into(),
    }
}

/// The relist that had begun last by `at`.
pub fn relist_at(timeline: &Timeline, at: Time) -> Option<&Relist> {
    health::between(timeline.relists(), at, at).last()
}
