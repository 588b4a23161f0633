//! PLEG's health at any moment of the past, read from the relists.

use pleg_core::{
    pleg::Health,
    time::{Nanos, Time},
    timeline::Relist,
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

/// What the kubelet's health check would have said at `at`. None where the relist that decides it is older than
/// what was received: a page that came late, or the middle of a recording.
pub fn health_at(relists: &[Relist], threshold: Nanos, at: Time) -> Option<Health> {
    match last_good(relists, at) {
        None => relists.first().filter(|first| first.n == 1).map(|_| Health::NeverSucceeded),
        Some(good) => {
            let age = at.since(good.start);
            Some(if age > threshold { Health::Stale { age, threshold } } else { Health::Healthy { age } })
        }
    }
}

/// The stretches up to `now` in which PLEG was unhealthy, as far as they touch `from..=to`.
pub fn unhealthy(relists: &[Relist], threshold: Nanos, from: Time, to: Time, now: Time) -> Vec<(Time, Time)> {
    let to = to.min(now);
    let mut stretches = Vec::new();
    let Some(first) = relists.first() else { return stretches };
    // Since when PLEG is unhealthy if no further listing succeeds.
    let mut since = match last_good(relists, from) {
        Some(good) => good.start + threshold,
        None if first.n == 1 => first.start,
        // What came before is not known; a listing right before is the likely case.
        None => first.start + threshold,
    };
    for relist in between(relists, from, to) {
        let Some(listed) = relist.listed.filter(|listed| *listed <= to && *listed > from) else { continue };
        if since < listed {
            stretches.push((since, listed));
        }
        since = relist.start + threshold;
    }
    if since < to {
        stretches.push((since, to));
    }
    stretches
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
        let relists = follower.timeline().relists();
        assert_eq!(health_at(relists, THRESHOLD, ms(25_000)), Some(follower.health(ms(25_000))));
        assert_eq!(health_at(relists, THRESHOLD, ms(1_001)), Some(Health::NeverSucceeded));
        assert_eq!(health_at(relists, THRESHOLD, ms(1_002)), Some(Health::Healthy { age: 2_000_000 }));
        // The failed listing of relist 2 changed nothing; that of relist 3 counts before its slow inspection ends.
        assert_eq!(health_at(relists, THRESHOLD, ms(3_500)), Some(Health::Healthy { age: 2_500_000_000 }));
        assert_eq!(
            health_at(relists, THRESHOLD, ms(9_500)),
            Some(Health::Stale { age: 5_500_000_000, threshold: THRESHOLD })
        );
    }

    #[test]
    fn unhealthy_stretches_end_with_a_good_listing() {
        let timeline = crate::testing::timeline(TOLD);
        let all = unhealthy(timeline.relists(), THRESHOLD, ms(0), ms(60_000), ms(30_000));
        assert_eq!(all, [(ms(1_000), ms(1_002)), (ms(9_000), ms(20_002)), (ms(25_000), ms(30_000))]);
        let part = unhealthy(timeline.relists(), THRESHOLD, ms(10_000), ms(22_000), ms(30_000));
        assert_eq!(part, [(ms(9_000), ms(20_002))]);
    }

    #[test]
    fn nothing_is_said_about_the_time_before_a_late_start() {
        let timeline = crate::testing::timeline(TOLD);
        let late = timeline.relists().get(1..).unwrap();
        assert_eq!(health_at(late, THRESHOLD, ms(3_500)), None);
        assert_eq!(unhealthy(late, THRESHOLD, ms(0), ms(5_000), ms(5_000)), []);
    }
}
