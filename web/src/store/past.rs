//! How much of the past a live page keeps: it may stand open for weeks. A capture is shown whole.

use super::{Millis, Store, Weight};
use crate::{format, view::hit::Target};
use pleg_core::{
    id::{CriId, Uid},
    time::{Nanos, SECOND, Time},
    timeline::{Mark, Relist, Timeline},
};
use std::mem;

/// The hours of the past that are kept.
pub const HOURS: i64 = 6;
/// The relists, calls and events that are kept at most, some 100 bytes each.
pub const CAPACITY: usize = 500_000;
/// What is left of [`CAPACITY`] when it is exceeded.
const AFTER: usize = CAPACITY / 4 * 3;
/// Nanoseconds between two times of forgetting by age: each walks through everything.
const PAUSE: Nanos = 600 * SECOND;

impl Store {
    /// Forgets the oldest part of a past that has become too long, and says so once.
    pub(super) fn forget_old(&mut self, at: Millis) {
        let timeline = self.model.timeline();
        let limit = limit(timeline.relists(), self.placed(at).from);
        let Some(limit) = limit.filter(|_| timeline.running().is_none()) else { return };
        let selected = self.selected.and_then(|target| Anchor::new(timeline, target));
        let events = self.model.forget_before(limit);
        self.selected = selected.and_then(|selected| selected.find(self.model.timeline()));
        self.chosen_event = self.chosen_event.and_then(|index| index.checked_sub(events));
        self.log.forget(events);
        self.order.clear();
        self.order_of = u64::MAX;
        if !mem::replace(&mut self.forgot, true) {
            let text = format!(
                "This page keeps the last {HOURS} hours, and of those {} relists, calls and events: what is older is gone \
                 from here. An agent run with --record keeps everything.",
                format::count(CAPACITY)
            );
            self.tell(Weight::Warning, text);
        }
    }
}

/// Before which moment everything is to be forgotten; none while it is not worth the while. What the person looks at,
/// from `shown` on, does not go because of its age.
fn limit(relists: &[Relist], shown: Time) -> Option<Time> {
    let (first, last) = (relists.first()?, relists.last()?);
    let by_age = (last.start - HOURS * 3600 * SECOND).min(shown);
    let limit = match over_capacity(relists) {
        Some(by_size) => by_size.max(by_age),
        None => Some(by_age).filter(|limit| first.start + PAUSE < *limit)?,
    };
    (first.start < limit).then_some(limit)
}

/// Begin of the oldest relist that can stay, when there are too many things.
fn over_capacity(relists: &[Relist]) -> Option<Time> {
    if relists.iter().map(size).sum::<usize>() <= CAPACITY {
        return None;
    }
    let mut kept = 0;
    let newest = relists.iter().rev().take_while(|relist| {
        kept += size(relist);
        kept <= AFTER
    });
    newest.last().or_else(|| relists.last()).map(|relist| relist.start)
}

fn size(relist: &Relist) -> usize {
    1 + relist.calls.len() + relist.events as usize + relist.discarded as usize + relist.held as usize
}

/// What a target stands for, to find it again after indices have changed.
enum Anchor {
    Same(Target),
    Pod(Uid),
    Span(CriId),
    Mark(Uid, Mark),
}

impl Anchor {
    fn new(timeline: &Timeline, target: Target) -> Option<Self> {
        Some(match target {
            Target::Relist(_) | Target::Call { .. } | Target::Node => Self::Same(target),
            Target::Span(place) => Self::Span(timeline.at(place)?.2.id.clone()),
            Target::Pod(pod) => Self::Pod(timeline.pods().get(pod)?.uid.clone()),
            Target::Mark { pod, mark } => {
                let pod = timeline.pods().get(pod)?;
                Self::Mark(pod.uid.clone(), pod.marks.get(mark)?.clone())
            }
        })
    }

    /// None when it was forgotten.
    fn find(&self, timeline: &Timeline) -> Option<Target> {
        Some(match self {
            Self::Same(target) => *target,
            Self::Span(id) => Target::Span(timeline.place(id)?),
            Self::Pod(uid) => Target::Pod(timeline.index_of(uid)?),
            Self::Mark(uid, mark) => {
                let pod = timeline.index_of(uid)?;
                let mark = timeline.pods().get(pod)?.marks.iter().position(|other| other == mark)?;
                Target::Mark { pod, mark }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{frames, ms, timeline};
    use pleg_core::follow::Follower;

    #[test]
    fn too_many_things_go_even_when_they_are_in_sight() {
        let mut relists = timeline("1000 shop/cart: ready, app running").relists().to_vec();
        let model = relists.pop().unwrap();
        for n in 1..=10 {
            let mut relist = model.clone();
            (relist.n, relist.start, relist.events) = (n, ms(1_000 * n as i64), CAPACITY as u32 / 10);
            relists.push(relist);
        }
        // Each is a tenth and a little; the newest seven make less than three quarters.
        assert_eq!(limit(&relists, ms(0)), Some(ms(4_000)));
        assert_eq!(limit(relists.get(1..).unwrap(), ms(0)), None);
        relists.last_mut().unwrap().events = 2 * CAPACITY as u32;
        assert_eq!(limit(&relists, ms(0)), Some(ms(10_000)), "the last one always stays");
        assert_eq!(limit(relists.get(9..).unwrap(), ms(0)), None);
    }

    #[test]
    fn what_is_chosen_is_found_again() {
        let mut follower = Follower::new();
        let told = "
            1000 shop/cart: ready, app running; shop/web: ready, app running
            2000 shop/web: ready, app running
            3000 shop/web: ready, app exited 1
        ";
        frames(told).iter().for_each(|frame| follower.handle_frame(frame).map(|_| ()).unwrap());
        let before = follower.timeline().clone();
        follower.forget_before(ms(2_500));
        let after = follower.timeline();
        let again = |target| Anchor::new(&before, target).and_then(|anchor| anchor.find(after));
        let (cart, web) = (before.index_of("uid-cart").unwrap(), before.index_of("uid-web").unwrap());
        assert_eq!(again(Target::Pod(cart)), None);
        assert_eq!(again(Target::Pod(web)), Some(Target::Pod(0)));
        assert_eq!(again(Target::Span(before.place("cart-app").unwrap())), None);
        assert_eq!(
            again(Target::Span(before.place("web-app").unwrap())),
            after.place("web-app").map(Target::Span)
        );
        let died = before.pods().get(web).unwrap().marks.len() - 1;
        assert_eq!(again(Target::Mark { pod: web, mark: died }), Some(Target::Mark { pod: 0, mark: 0 }));
        assert_eq!(again(Target::Mark { pod: web, mark: 0 }), None);
        assert_eq!(again(Target::Node), Some(Target::Node));
    }
}
