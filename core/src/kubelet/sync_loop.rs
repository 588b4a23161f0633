//! `syncLoop`: reads the event channel, or skips and reads nothing.

use crate::{
    pleg::Engine,
    time::{MILLISECOND, Nanos, SECOND, Time},
};
use serde::{Deserialize, Serialize};

/// How long the sync loop sleeps when it first skips, in nanoseconds. It doubles with each skip.
pub const SHORTEST_SKIP: Nanos = 100 * MILLISECOND;
/// How long the sync loop sleeps at most, in nanoseconds.
pub const LONGEST_SKIP: Nanos = 5 * SECOND;

/// The kubelet's `syncLoop` (kubelet.go, v1.36), which asks for `runtimeErrors` before each turn: "Skipping pod
/// synchronization". While it sleeps nothing is read, so the channel fills, and events are lost when it is full; and it
/// sleeps on for up to [`LONGEST_SKIP`] after PLEG has recovered.
///
/// Of the errors only PLEG's own are known here. While there are none, events are read as they are sent: a turn takes
/// no time, and there is one at least every second anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncLoop {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skip: Option<Skip>,
}

/// A stretch of skipped turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// When the first turn was skipped.
    pub since: Time,
    /// When it wakes up and looks again.
    pub until: Time,
    /// Length of the sleep that runs, in nanoseconds.
    pub backoff: Nanos,
}

impl SyncLoop {
    /// A loop whose first turn is now, before PLEG's first relist.
    pub fn start(now: Time) -> Self {
        Self { skip: Some(Skip::begin(now)) }
    }

    /// The skipped turns that it is in; none while it reads.
    pub fn skip(&self) -> Option<Skip> {
        self.skip
    }

    /// Time went on to `now`, and the engine is as it was at the last call. Returns when the loop read the channel
    /// again, if it woke up to do so meanwhile.
    pub fn handle_time(&mut self, now: Time, engine: &mut Engine) -> Option<Time> {
        if let Some(skip) = self.skip.filter(|skip| skip.until <= now) {
            engine.check_health(skip.until);
        }
        let (next, woke) = self.after(now, engine);
        *self = next;
        woke
    }

    /// The loop as it will be at `now`, if nothing happens to the engine before.
    pub fn at(&self, now: Time, engine: &Engine) -> SyncLoop {
        self.after(now, engine).0
    }

    fn after(&self, now: Time, engine: &Engine) -> (SyncLoop, Option<Time>) {
        let (mut skip, mut woke) = (self.skip, None);
        if let Some(sleep) = skip.filter(|sleep| sleep.until <= now) {
            // Healthy was made so by a listing before this sleep ended. Unhealthy stays so without another.
            if engine.health(sleep.until).is_healthy() {
                (skip, woke) = (None, Some(sleep.until));
            } else {
                skip = Some(sleep.on_to(now));
            }
        }
        if skip.is_none() && !engine.health(now).is_healthy() {
            let since = engine.relist_time().map_or(now, |time| time + engine.config().relist_threshold + 1);
            skip = Some(Skip::begin(since.min(now)).on_to(now));
        }
        (SyncLoop { skip }, woke)
    }
}

impl Skip {
    fn begin(since: Time) -> Self {
        Self { since, until: since + SHORTEST_SKIP, backoff: SHORTEST_SKIP }
    }

    /// The sleep that runs at `now`, when every turn until then is skipped.
    fn on_to(mut self, now: Time) -> Self {
        while self.until <= now && self.backoff < LONGEST_SKIP {
            self.backoff = self.backoff.saturating_mul(2).min(LONGEST_SKIP);
            self.until = self.until + self.backoff;
        }
        if self.until <= now {
            let sleeps = now.since(self.until) / LONGEST_SKIP + 1;
            self.until = self.until + sleeps.saturating_mul(LONGEST_SKIP);
        }
        self
    }
}
