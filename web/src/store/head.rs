//! Up to when things are shown: the newest, a fixed moment, or one that plays on.

use super::Millis;
use pleg_core::time::{MILLISECOND, Time};

/// The speeds of replay.
pub const SPEEDS: [u32; 4] = [1, 10, 60, 600];

/// Up to when things are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Head {
    /// Everything there is; a live source goes on.
    #[default]
    Edge,
    /// A fixed moment.
    Paused(Time),
    /// A moment that moves on.
    Playing {
        /// Where it was …
        from: Time,
        /// … at this time of the page's clock.
        since: Millis,
        /// How much faster than the clock it moves.
        speed: u32,
    },
}

impl Head {
    /// The shown moment; never later than `edge`, the newest thing known.
    pub fn time(&self, edge: Time, at: Millis) -> Time {
        match *self {
            Head::Edge => edge,
            Head::Paused(time) => time.min(edge),
            Head::Playing { from, since, speed } => {
                let played = (at - since).max(0.0) * f64::from(speed) * MILLISECOND as f64;
                (from + played as i64).min(edge)
            }
        }
    }

    /// Whether it moves on.
    pub fn is_playing(&self) -> bool {
        matches!(self, Head::Playing { .. })
    }
}
