//! Which stretch of time is shown.

use crate::view::scale::{MAX_SPAN, MIN_SPAN};
use pleg_core::time::{Nanos, SECOND, Time};

/// The stretch that a live page begins with, in nanoseconds.
const LIVE_SPAN: Nanos = 120 * SECOND;

/// Which stretch of time is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Time at the left edge; while following, it is set by what is followed.
    pub from: Time,
    /// Nanoseconds from edge to edge.
    pub span: Nanos,
    /// Whether the newest stays in sight at the right edge.
    pub follow: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self { from: Time(0), span: LIVE_SPAN, follow: true }
    }
}

/// `share` (in thousandths) of a span.
fn part(span: Nanos, share: i64) -> Nanos {
    span / 1000 * share
}

impl Window {
    /// Left edge and span for the shown moment. While following, the data grow from the left edge until they
    /// fill the window, and then move.
    pub fn place(&self, now: Time, start: Time, playing: bool) -> (Time, Nanos) {
        let newest = now - part(self.span, 965);
        if self.follow {
            return (newest.max(start - part(self.span, 20)), self.span);
        }
        let out_of_sight = now > self.from + self.span || now < self.from;
        (if playing && out_of_sight { newest } else { self.from }, self.span)
    }

    /// Shows everything from `start` to `end`.
    pub fn fit(start: Time, end: Time) -> Self {
        let length = end.since(start).max(MIN_SPAN);
        let margin = part(length, 25);
        Self { from: start - margin, span: length.saturating_add(2 * margin).min(MAX_SPAN), follow: false }
    }

    /// Makes the span `factor` times as long, with `fixed` staying where it is.
    #[must_use]
    pub fn zoomed(self, fixed: Time, factor: f64) -> Self {
        let span = ((self.span as f64 * factor) as Nanos).clamp(MIN_SPAN, MAX_SPAN);
        let before = fixed.since(self.from) as f64 * span as f64 / self.span as f64;
        Self { from: fixed - before as Nanos, span, ..self }
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
