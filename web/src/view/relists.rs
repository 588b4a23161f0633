//! The relist lane: a bar for each relist, with its calls where there is room.

use super::{health, scale::Scale};
use crate::format;
use pleg_core::{
    cri::Op,
    time::{MILLISECOND, Nanos, SECOND, Time},
    timeline::Relist,
};

/// A bar is never narrower than this, in pixels; bars that would share a pixel become one.
pub const MIN_WIDTH: f64 = 2.0;
/// Height of a bar of 1 ms or less, in pixels.
const SHORTEST: f64 = 5.0;
/// Pixels for each factor of ten above 1 ms.
const DECADE: f64 = 9.5;
/// From this width on, in pixels, a bar shows its calls.
const CALLS_WIDTH: f64 = 24.0;

/// How a relist stands or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarState {
    /// It ended, and its listings were good.
    Done,
    /// An inspection failed: events are held back.
    Held,
    /// A listing failed: it changed nothing.
    Failed,
    /// Its end was not observed.
    Cut,
    /// It runs.
    Running,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct RelistBar {
    /// Left edge in pixels.
    pub x0: f64,
    /// Right edge in pixels.
    pub x1: f64,
    /// Height in pixels: the logarithm of its duration.
    pub height: f64,
    /// Share of the listing in its duration, from 0 to 1.
    pub listing: f64,
    /// How it stands.
    pub state: BarState,
    /// Number of the relist; of merged ones that of the longest.
    pub n: u64,
    /// Events that were lost to a full channel.
    pub discarded: u32,
    /// Number of relists in it.
    pub merged: u32,
    /// Its duration in words.
    pub label: String,
    /// Its calls, when it is wide enough to show them.
    pub calls: Vec<CallBox>,
}

/// A call in a wide bar.
#[derive(Clone, Debug, PartialEq)]
pub struct CallBox {
    /// Left edge in pixels.
    pub x0: f64,
    /// Right edge in pixels.
    pub x1: f64,
    /// Which call.
    pub op: Op,
    /// Whether it failed.
    pub failed: bool,
    /// Whether it runs.
    pub running: bool,
    /// Index in the relist's calls.
    pub call: usize,
}

/// Height of a bar for a duration.
pub fn bar_height(took: Nanos) -> f64 {
    let decades = (took.max(MILLISECOND) as f64 / MILLISECOND as f64).log10();
    SHORTEST + DECADE * decades.min(5.3)
}

/// The durations that the lane's scale is labelled with.
pub const GUIDES: [Nanos; 3] = [10 * MILLISECOND, SECOND, 100 * SECOND];

/// The bars of the visible time, as things stood at `now`.
pub fn bars(relists: &[Relist], scale: &Scale, now: Time) -> Vec<RelistBar> {
    let mut bars: Vec<RelistBar> = Vec::new();
    for relist in health::between(relists, scale.from, scale.to().min(now)) {
        if relist.end.is_some_and(|end| end < scale.from) {
            continue;
        }
        let bar = bar(relist, scale, now);
        match bars.last_mut() {
            Some(last) if bar.x0 < last.x1.max(last.x0 + MIN_WIDTH) => merge(last, bar),
            _ => bars.push(bar),
        }
    }
    for bar in &mut bars {
        bar.x1 = bar.x1.max(bar.x0 + MIN_WIDTH);
    }
    bars
}

/// How a relist stood at `now`.
pub fn state_at(relist: &Relist, now: Time) -> BarState {
    match relist.end {
        None => BarState::Running,
        Some(end) if end > now => BarState::Running,
        _ if relist.cut => BarState::Cut,
        _ if relist.failed_listing().is_some() => BarState::Failed,
        _ if relist.held > 0 => BarState::Held,
        _ => BarState::Done,
    }
}

/// How long a relist had taken by `now`.
pub fn took_at(relist: &Relist, now: Time) -> Nanos {
    relist.end.unwrap_or(now).min(now).since(relist.start).max(0)
}

fn bar(relist: &Relist, scale: &Scale, now: Time) -> RelistBar {
    let took = took_at(relist, now);
    let end = relist.start + took;
    let listing = relist.listed.unwrap_or(end).min(end).since(relist.start);
    let (x0, x1) = (scale.clamped_x(relist.start), scale.clamped_x(end));
    let state = state_at(relist, now);
    let label = match state {
        BarState::Running => format::running(took),
        _ => format::duration(took),
    };
    RelistBar {
        x0,
        x1,
        height: bar_height(took),
        listing: if took > 0 { listing as f64 / took as f64 } else { 1.0 },
        state,
        n: relist.n,
        discarded: relist.discarded,
        merged: 1,
        label,
        calls: if x1 - x0 >= CALLS_WIDTH { calls(relist, scale, now) } else { Vec::new() },
    }
}

fn merge(last: &mut RelistBar, new: RelistBar) {
    last.x1 = last.x1.max(new.x1);
    last.merged += new.merged;
    last.discarded += new.discarded;
    last.calls.clear();
    if new.height > last.height {
        (last.height, last.listing, last.n, last.label) = (new.height, new.listing, new.n, new.label);
    }
    last.state = last.state.max(new.state);
}

fn calls(relist: &Relist, scale: &Scale, now: Time) -> Vec<CallBox> {
    let begun = relist.calls.iter().enumerate().filter(|(_, call)| call.start <= now);
    let boxes = begun.map(|(index, call)| CallBox {
        x0: scale.clamped_x(call.start),
        x1: scale.clamped_x(relist.call_end(call).unwrap_or(now).min(now)),
        op: call.op,
        failed: call.error.is_some(),
        running: relist.call_end(call).is_none_or(|end| end > now),
        call: index,
    });
    boxes.filter(|call| call.x1 > scale.left && call.x0 < scale.right()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{START, ms, timeline};
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(told: &str, span: Nanos, width: f64, now: i64, expected: Expect) {
        let timeline = timeline(told);
        let scale = Scale::new(Time(START), span, 0.0, width);
        let line = |bar: &RelistBar| {
            let calls: String =
                bar.calls.iter().map(|call| format!(" {:.0}..{:.0}", call.x0, call.x1)).collect();
            let state = if bar.state == BarState::Done { String::new() } else { format!(" {:?}", bar.state) };
            let (n, x0, x1, height) = (bar.n, bar.x0, bar.x1, bar.height);
            format!("{n}: {x0:.0}..{x1:.0} high {height:.0} x{}{state} {}{calls}\n", bar.merged, bar.label)
        };
        let bars = bars(timeline.relists(), &scale, ms(now));
        expected.assert_eq(&bars.iter().map(line).collect::<String>());
    }

    #[test]
    fn a_wide_bar_shows_its_calls() {
        let told = "
            1000 ~4000 shop/cart: ready, app running
            7000 !list
        ";
        check(
            told,
            10 * SECOND,
            100.0,
            10_000,
            expect![[r#"
            1: 10..50 high 39 x1 4.00 s 10..10 10..10 10..10 10..50
            2: 70..72 high 5 x1 Failed 1.00 ms
        "#]],
        );
        check(
            told,
            10 * SECOND,
            100.0,
            3_000,
            expect![[r#"
            1: 10..30 high 36 x1 Running 2.0 s
        "#]],
        );
    }

    #[test]
    fn bars_that_share_a_pixel_become_one() {
        let told = "
            1000 shop/cart: ready, app running
            2000 ~500 shop/cart: ready, app exited 1
            3000 !list
            60000 !inspect shop/cart: ready, app#1 running
        ";
        check(
            told,
            100 * SECOND,
            100.0,
            100_000,
            expect![[r#"
            2: 1..3 high 31 x2 504 ms
            3: 3..5 high 5 x1 Failed 1.00 ms
            4: 60..62 high 10 x1 Held 3.00 ms
        "#]],
        );
    }
}
