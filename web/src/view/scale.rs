//! From time to pixels, and the ticks of the time axis.

use crate::format::{self, DAY, Zone};
use pleg_core::time::{MILLISECOND, Nanos, SECOND, Time};

/// The shortest stretch of time that the page shows, in nanoseconds.
pub const MIN_SPAN: Nanos = 100_000;
/// The longest.
pub const MAX_SPAN: Nanos = 400 * DAY;

/// A stretch of time laid over a stretch of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Time at the left edge.
    pub from: Time,
    /// Nanoseconds from edge to edge; positive.
    pub span: Nanos,
    /// Pixel of the left edge.
    pub left: f64,
    /// Pixels from edge to edge; positive.
    pub width: f64,
}

impl Scale {
    /// A scale with span and width kept within what can be drawn.
    pub fn new(from: Time, span: Nanos, left: f64, width: f64) -> Self {
        Self { from, span: span.clamp(MIN_SPAN, MAX_SPAN), left, width: width.max(1.0) }
    }

    /// Time at the right edge.
    pub fn to(&self) -> Time {
        self.from + self.span
    }

    /// Pixel of the right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Pixel of a time.
    pub fn x(&self, time: Time) -> f64 {
        self.left + time.since(self.from) as f64 * self.width / self.span as f64
    }

    /// Pixel of a time, kept just outside the edges when it lies beyond them: canvases lose precision far out.
    pub fn clamped_x(&self, time: Time) -> f64 {
        self.x(time).clamp(self.left - 8.0, self.right() + 8.0)
    }

    /// Time of a pixel.
    pub fn time(&self, x: f64) -> Time {
        self.from + self.nanos(x - self.left)
    }

    /// Nanoseconds of a number of pixels.
    pub fn nanos(&self, pixels: f64) -> Nanos {
        (pixels * self.span as f64 / self.width) as Nanos
    }
}

/// A tick of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its pixel.
    pub x: f64,
    /// Its text.
    pub label: String,
}

/// Steps between ticks that a clock's reader expects. Below 1 ms they are decimal.
const STEPS: [Nanos; 31] = [
    MILLISECOND,
    2 * MILLISECOND,
    5 * MILLISECOND,
    10 * MILLISECOND,
    20 * MILLISECOND,
    50 * MILLISECOND,
    100 * MILLISECOND,
    200 * MILLISECOND,
    500 * MILLISECOND,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    60 * SECOND,
    120 * SECOND,
    300 * SECOND,
    600 * SECOND,
    900 * SECOND,
    1800 * SECOND,
    3600 * SECOND,
    7200 * SECOND,
    3 * 3600 * SECOND,
    6 * 3600 * SECOND,
    12 * 3600 * SECOND,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
];

/// The smallest step whose ticks are at least `room` pixels apart.
fn step(scale: &Scale, room: f64) -> Nanos {
    let wanted = scale.nanos(room).max(1);
    if wanted <= MILLISECOND {
        let decade = 10_i64.pow(wanted.ilog10());
        let steps = [decade, 2 * decade, 5 * decade];
        return steps.into_iter().find(|step| *step >= wanted).unwrap_or(10 * decade);
    }
    STEPS.into_iter().find(|step| *step >= wanted).unwrap_or(56 * DAY)
}

/// The ticks of a scale, at least `room` pixels apart, at round times of the zone.
pub fn ticks(scale: &Scale, zone: Zone, room: f64) -> Vec<Tick> {
    let step = step(scale, room);
    let local = scale.from.0.saturating_add(zone.offset);
    let first =
        Time(local.div_euclid(step).saturating_add(1).saturating_mul(step).saturating_sub(zone.offset));
    // Bounded, since times near the end of i64 stick there instead of passing the edge.
    (0..1_000)
        .map(|index: i64| first + step.saturating_mul(index))
        .take_while(|time| *time <= scale.to())
        .map(|time| Tick { x: scale.x(time), label: tick_label(time, step, zone) })
        .collect()
}

fn tick_label(time: Time, step: Nanos, zone: Zone) -> String {
    let local = time.0.saturating_add(zone.offset);
    if local.rem_euclid(DAY) == 0 {
        return format::date(time, zone);
    }
    if step >= 60 * SECOND {
        return format::clock(time, zone, 0).chars().take(5).collect();
    }
    if step >= SECOND || local.rem_euclid(SECOND) == 0 {
        return format::clock(time, zone, 0);
    }
    let decimals = match step {
        MILLISECOND.. => 3,
        1_000.. => 6,
        _ => 9,
    };
    format::clock(time, zone, decimals).chars().skip(8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(span: Nanos) -> String {
        let scale = Scale::new(Time(1_772_633_109 * SECOND), span, 0.0, 400.0);
        let ticks = ticks(&scale, Zone::default(), 100.0);
        let texts = ticks.iter().map(|tick| format!("{}@{:.0}", tick.label, tick.x));
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_stand_at_round_times() {
        assert_eq!(labels(40 * SECOND), "14:05:10@10 14:05:20@110 14:05:30@210 14:05:40@310");
        assert_eq!(labels(2 * SECOND), ".500@100 14:05:10@200 .500@300 14:05:11@400");
        assert_eq!(labels(400_000), ".000100@100 .000200@200 .000300@300 .000400@400");
        assert_eq!(labels(36 * 3600 * SECOND), "2026-03-05@110 12:00@243 2026-03-06@377");
    }

    #[test]
    fn pixels_and_times_are_inverse() {
        let scale = Scale::new(Time(1_000), 4_000_000, 100.0, 400.0);
        assert_eq!(scale.x(scale.time(220.0)), 220.0);
        assert_eq!(scale.clamped_x(Time(i64::MAX)), 508.0);
        assert_eq!(
            Scale::new(Time(0), 0, 0.0, 0.0),
            Scale { from: Time(0), span: MIN_SPAN, left: 0.0, width: 1.0 }
        );
    }
}
