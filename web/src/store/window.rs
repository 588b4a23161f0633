//! Which stretch of time is shown.

use crate::view::scale::{MAX_SPAN, MIN_SPAN};
use pleg_core::time::{Nanos, SECOND, Time};

/// The stretch that a page shows while nothing else is chosen, in nanoseconds …
const LIVE_SPAN: Nanos = 120 * SECOND;
/// … and the one it begins with: the first relists fill the page soon, and are large enough to be looked at.
const FIRST_SPAN: Nanos = 30 * SECOND;
/// Where the shown moment stands while it is followed, in thousandths of the window.
const NOW: i64 = 965;
/// What is left free before the first data, in thousandths of the window.
const BEFORE: i64 = 20;

/// Which stretch of time is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Time at the left edge; while following, it is set by what is followed.
    pub from: Time,
    /// Nanoseconds from edge to edge.
    pub span: Nanos,
    /// Whether the newest stays in sight at the right edge.
    pub follow: bool,
    /// Whether the span still grows with the data, until it is what a page shows: nobody has chosen one.
    pub grows: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self { from: Time(0), span: FIRST_SPAN, follow: true, grows: true }
    }
}

/// `share` (in thousandths) of a span.
fn part(span: Nanos, share: i64) -> Nanos {
    span / 1000 * share
}

/// The span that data of this length fill.
fn grown(length: Nanos) -> Nanos {
    (length.clamp(0, LIVE_SPAN) / (NOW - BEFORE) * 1000).clamp(FIRST_SPAN, LIVE_SPAN)
}

impl Window {
    /// Left edge and span for the shown moment. While following, the data grow from the left edge until they
    /// fill the window; then the window grows with them, if it does, and at last they move.
    pub fn place(&self, now: Time, start: Time, playing: bool) -> (Time, Nanos) {
        if self.follow {
            let span = if self.grows { grown(now.since(start)) } else { self.span };
            return ((now - part(span, NOW)).max(start - part(span, BEFORE)), span);
        }
        let newest = now - part(self.span, NOW);
        let out_of_sight = now > self.from + self.span || now < self.from;
        (if playing && out_of_sight { newest } else { self.from }, self.span)
    }

    /// Shows everything from `start` to `end`.
    pub fn fit(start: Time, end: Time) -> Self {
        let length = end.since(start).max(MIN_SPAN);
        let margin = part(length, 25);
        let span = length.saturating_add(2 * margin).min(MAX_SPAN);
        Self { from: start - margin, span, follow: false, grows: false }
    }

    /// Makes the span `factor` times as long, with `fixed` staying where it is.
    #[must_use]
    pub fn zoomed(self, fixed: Time, factor: f64) -> Self {
        let span = ((self.span as f64 * factor) as Nanos).clamp(MIN_SPAN, MAX_SPAN);
        let before = fixed.since(self.from) as f64 * span as f64 / self.span as f64;
        Self { from: fixed - before as Nanos, span, grows: false, ..self }
    }

    /// Moves the window, which stops following.
    #[must_use]
    pub fn moved(self, by: Nanos) -> Self {
        Self { from: self.from + by, follow: false, ..self }
    }

    /// Moves the window so that `time` is in its middle half, if it is not.
    #[must_use]
    pub fn showing(self, time: Time) -> Self {
        let inside = time >= self.from + part(self.span, 100) && time <= self.from + part(self.span, 900);
        if inside {
            Self { follow: false, ..self }
        } else {
            Self { from: time - self.span / 2, follow: false, ..self }
        }
    }
}
