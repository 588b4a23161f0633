//! Forgets the past, so that who watches for months stays small.

use super::{MarkKind, Place, Pod, Timeline};
use crate::time::Time;

impl Timeline {
    /// Forgets what ended before `time`: relists, marks, pods that are gone, and sandboxes and containers that
    /// are no longer listed. Of a pod whose events are held back everything stays: they may be about any of them.
    pub(crate) fn forget_before(&mut self, time: Time) {
        let last = self.relists.last().map(|relist| relist.n);
        // One without an end runs, or its end was not observed: then only its begin tells how old it is.
        self.relists.retain(|relist| Some(relist.n) == last || relist.end.unwrap_or(relist.start) >= time);
        self.holes.retain(|hole| hole.to >= time);
        self.pods.retain(|pod| pod.gone.is_none_or(|gone| gone >= time));
        for pod in &mut self.pods {
            pod.marks.retain(|mark| mark.time >= time);
            if !is_held(pod) {
                pod.lanes.iter_mut().for_each(|lane| {
                    lane.spans.retain(|span| span.end.is_none_or(|end| end >= time));
                });
                pod.lanes.retain(|lane| !lane.spans.is_empty());
            }
        }
        self.index();
    }

    fn index(&mut self) {
        self.by_uid = self.pods.iter().enumerate().map(|(index, pod)| (pod.uid.clone(), index)).collect();
        let spans = self.pods.iter().enumerate().flat_map(|(pod, in_pod)| {
            in_pod.lanes.iter().enumerate().flat_map(move |(lane, in_lane)| {
                in_lane
                    .spans
                    .iter()
                    .enumerate()
                    .map(move |(span, this)| (this.id.clone(), Place { pod, lane, span }))
            })
        });
        self.places = spans.collect();
    }
}

/// Whether inspections of the pod failed lately: each failure leaves a mark, in every relist.
fn is_held(pod: &Pod) -> bool {
    pod.marks.iter().any(|mark| matches!(mark.kind, MarkKind::Held { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pleg::Listing,
        pod::{Container, ContainerId, Pod as Listed, State},
        timeline::Relist,
    };
    use alloc::{string::String, sync::Arc, vec, vec::Vec};

    fn pod(uid: &str, containers: &[&str]) -> Arc<Listed> {
        let container = |id: &&str| Container {
            id: ContainerId { runtime: "r".into(), id: (*id).into() },
            name: "app".into(),
            state: State::Running,
            ..Container::default()
        };
        let containers = containers.iter().map(container).collect();
        Arc::new(Listed { uid: uid.into(), containers, ..Listed::default() })
    }

    fn known(timeline: &Timeline) -> Vec<String> {
        let ids = ["a1", "a2", "b1", "c1"];
        let found = ids.iter().filter(|id| {
            timeline.find(id).is_some_and(|(pod, _, span)| {
                span.id.as_str() == **id && timeline.pod(&pod.uid).is_some_and(|same| same.uid == pod.uid)
            })
        });
        found.map(|id| (*id).into()).collect()
    }

    /// Container a1 and pod b are gone at 20.
    fn timeline() -> Timeline {
        let mut timeline = Timeline::default();
        timeline
            .listed(Time(10), &Listing::Full(vec![pod("b", &["b1"]), pod("a", &["a1"]), pod("c", &["c1"])]));
        timeline.listed(Time(20), &Listing::Full(vec![pod("a", &["a2"]), pod("c", &["c1"])]));
        timeline
    }

    #[test]
    fn what_ended_before_is_forgotten_and_the_rest_is_found() {
        let mut timeline = timeline();
        timeline.forget_before(Time(20));
        assert_eq!(known(&timeline), ["a1", "a2", "b1", "c1"]);
        timeline.forget_before(Time(21));
        assert_eq!(known(&timeline), ["a2", "c1"]);
        assert!(timeline.pod("b").is_none());
        timeline.listed(Time(30), &Listing::Full(vec![pod("a", &["a2", "a1"]), pod("b", &["b1"])]));
        assert_eq!(known(&timeline), ["a1", "a2", "b1", "c1"]);
    }

    #[test]
    fn a_relist_whose_end_was_not_observed_is_forgotten_and_a_running_one_is_not() {
        let mut timeline = Timeline::default();
        for (n, end) in [(1, Some(15)), (2, None), (3, Some(35)), (4, None)] {
            let frame = crate::wire::Relist { n, wall: 0, mono: 0 };
            let mut relist = Relist::new(&frame, Time(n as i64 * 10));
            relist.end = end.map(Time);
            timeline.relists.push(relist);
        }
        let mut left = |time| {
            timeline.forget_before(Time(time));
            timeline.relists().iter().map(|relist| relist.n).collect::<Vec<u64>>()
        };
        assert_eq!(left(16), [2, 3, 4]);
        assert_eq!(left(21), [3, 4]);
        assert_eq!(left(99), [4]);
    }

    #[test]
    fn of_a_pod_that_is_held_back_everything_stays() {
        let mut timeline = timeline();
        timeline.held(Time(25), &"a".into(), "rpc error".into());
        timeline.forget_before(Time(25));
        assert_eq!(known(&timeline), ["a1", "a2", "c1"]);
        timeline.forget_before(Time(26));
        assert_eq!(known(&timeline), ["a2", "c1"]);
    }
}
