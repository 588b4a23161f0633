//! PLEG's health at any moment of the past, read from the relists.

use pleg_core::{
    pleg::Health,
    time::{Nanos, Time},
    timeline::{Hole, Relist, Timeline},
};

/// The relists that had begun by `to`, but none of those that end before the last that had begun by `from`.
pub fn between(relists: &[Relist], from: Time, to: Time) -> &[Relist] {
    let first = relists.partition_point(|relist| relist.start < from).saturating_sub(1);
    let after = relists.partition_point(|relist| relist.start <= to);
    relists.get(first..after).unwrap_or_default()
}

/// The last relist whose listing had succeeded by `at`.
pub fn last_good(relists: &[Relist], at: Time) -> Option<&Relist> {
    let begun = relists.partition_point(|relist| relist.start <= at);
    let begun = relists.get(..begun).unwrap_or_default();
    begun.iter().rev().find(|relist| relist.listed.is_some_and(|listed| listed <= at))
}

/// What tells how PLEG was: relists, and where they are missing.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    /// The relists, oldest first.
    pub relists: &'a [Relist],
    /// What was not observed, oldest first.
    pub holes: &'a [Hole],
    /// Relist threshold in nanoseconds.
    pub threshold: Nanos,
}

impl<'a> Past<'a> {
    /// The past of a timeline.
    pub fn new(timeline: &'a Timeline, threshold: Nanos) -> Self {
        Self { relists: timeline.relists(), holes: timeline.holes(), threshold }
    }

    /// What the kubelet's health check would have said at `at`. None where the relist that decides it was not received:
    /// in a hole, on a page that came late, in the middle of a recording.
    pub fn health_at(&self, at: Time) -> Option<Health> {
        let Self { threshold, .. } = *self;
        Some(match self.relist_time(at)? {
            None => Health::NeverSucceeded,
            Some(good) => match at.since(good) {
                age if age > threshold => Health::Stale { age, threshold },
                age => Health::Healthy { age },
            },
        })
    }

    /// When the last good listing by `at` had begun; `Some(None)` where none had succeeded yet.
    pub fn relist_time(&self, at: Time) -> Option<Option<Time>> {
        let begun = self.holes.partition_point(|hole| hole.from < at);
        let hole = self.holes.get(..begun).and_then(<[Hole]>::last);
        if hole.is_some_and(|hole| at < hole.to) {
            return None;
        }
        let since_hole = |good: &&Relist| hole.is_none_or(|hole| good.start >= hole.to);
        match (last_good(self.relists, at).filter(since_hole), hole) {
            (Some(good), _) => Some(Some(good.start)),
            (None, Some(hole)) => Some(hole.relist_time),
            (None, None) => self.relists.first().filter(|first| first.n == 1).map(|_| None),
        }
    }

    /// The stretches up to `now` in which PLEG was unhealthy, as far as they touch `from..=to`.
    pub fn unhealthy(&self, from: Time, to: Time, now: Time) -> Vec<(Time, Time)> {
        let to = to.min(now);
        let mut stretches = Vec::new();
        let mut since = self.stale_at(from);
        for (at, stale) in self.changes(from, to) {
            stretches.extend(since.filter(|since| *since < at).map(|since| (since, at)));
            since = stale;
        }
        stretches.extend(since.filter(|since| *since < to).map(|since| (since, to)));
        stretches
    }

    /// From when on PLEG is unhealthy if after `at` no listing succeeds; none when that is not known.
    fn stale_at(&self, at: Time) -> Option<Time> {
        let first = self.relists.first()?;
        match self.relist_time(at) {
            Some(Some(good)) => Some(good + self.threshold),
            Some(None) => Some(first.start),
            // What came before the first is not known; a listing right before is the likely case.
            None => (at <= first.start).then_some(first.start + self.threshold),
        }
    }

    /// The moments in `from..=to` at which that changes, and to what.
    fn changes(&self, from: Time, to: Time) -> Vec<(Time, Option<Time>)> {
        let listed = between(self.relists, from, to)
            .iter()
            .filter_map(|relist| Some((relist.listed?, Some(relist.start + self.threshold))));
        let holes = self.holes.iter().flat_map(|hole| {
            let stale = hole.relist_time.map_or(hole.to, |good| good + self.threshold);
            [(hole.from, None), (hole.to, Some(stale))]
        });
        let mut changes: Vec<_> = listed.chain(holes).filter(|(at, _)| *at > from && *at <= to).collect();
        changes.sort_by_key(|(at, _)| *at);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{follow, ms};
    use pleg_core::time::SECOND;

    const TOLD: &str = "
        1000 shop/cart: ready, app running
        3000 !list
        4000 ~9000 shop/cart: ready, app exited 1
        20000 shop/cart: ready, app exited 1
    ";
    const THRESHOLD: Nanos = 5 * SECOND;

    #[test]
    fn health_of_the_past_is_what_the_engine_said_then() {
        let follower = follow(TOLD);
        let past = Past::new(follower.timeline(), THRESHOLD);
        assert_eq!(past.health_at(ms(25_000)), Some(follower.health(ms(25_000))));
        assert_eq!(past.health_at(ms(1_001)), Some(Health::NeverSucceeded));
        assert_eq!(past.health_at(ms(1_002)), Some(Health::Healthy { age: 2_000_000 }));
        // The failed listing of relist 2 changed nothing; that of relist 3 counts before its slow inspection ends.
        assert_eq!(past.health_at(ms(3_500)), Some(Health::Healthy { age: 2_500_000_000 }));
        assert_eq!(
            past.health_at(ms(9_500)),
            Some(Health::Stale { age: 5_500_000_000, threshold: THRESHOLD })
        );
    }

    #[test]
    fn unhealthy_stretches_end_with_a_good_listing() {
        let timeline = crate::testing::timeline(TOLD);
        let all = Past::new(&timeline, THRESHOLD).unhealthy(ms(0), ms(60_000), ms(30_000));
        assert_eq!(all, [(ms(1_000), ms(1_002)), (ms(9_000), ms(20_002)), (ms(25_000), ms(30_000))]);
        let part = Past::new(&timeline, THRESHOLD).unhealthy(ms(10_000), ms(22_000), ms(30_000));
        assert_eq!(part, [(ms(9_000), ms(20_002))]);
    }

    #[test]
    fn nothing_is_said_about_the_time_before_a_late_start() {
        let timeline = crate::testing::timeline(TOLD);
        let late = Past { relists: timeline.relists().get(1..).unwrap(), ..Past::new(&timeline, THRESHOLD) };
        assert_eq!(late.health_at(ms(3_500)), None);
        assert_eq!(late.unhealthy(ms(0), ms(5_000), ms(5_000)), []);
    }

    #[test]
    fn a_hole_is_neither_healthy_nor_unhealthy() {
        let timeline = crate::testing::timeline(TOLD);
        let hole = |relist_time| [Hole { from: ms(5_000), to: ms(15_000), relist_time }];
        // A listing that was not seen had succeeded at 12 s, so PLEG was healthy until 17 s.
        let seen = hole(Some(ms(12_000)));
        let past = Past { holes: &seen, ..Past::new(&timeline, THRESHOLD) };
        assert_eq!(past.health_at(ms(5_000)), Some(Health::Healthy { age: SECOND }));
        assert_eq!(past.health_at(ms(5_001)), None);
        assert_eq!(past.health_at(ms(14_999)), None);
        assert_eq!(past.health_at(ms(15_000)), Some(Health::Healthy { age: 3 * SECOND }));
        let stretches = [(ms(1_000), ms(1_002)), (ms(17_000), ms(20_002)), (ms(25_000), ms(30_000))];
        assert_eq!(past.unhealthy(ms(0), ms(60_000), ms(30_000)), stretches);
        assert_eq!(past.unhealthy(ms(6_000), ms(18_000), ms(30_000)), [(ms(17_000), ms(18_000))]);
        let never = hole(None);
        let past = Past { holes: &never, ..Past::new(&timeline, THRESHOLD) };
        assert_eq!(past.health_at(ms(16_000)), Some(Health::NeverSucceeded));
        assert_eq!(past.unhealthy(ms(6_000), ms(18_000), ms(30_000)), [(ms(15_000), ms(18_000))]);
    }
}
