//! The node's `Ready` condition at any moment, read from the relists.

use super::health::Past;
use pleg_core::{
    kubelet::{NODE_STATUS_PERIOD, NodeCondition, NodeStatusTimer, RuntimeChecks, RuntimeErrors},
    time::Time,
    timeline::Timeline,
    wire::Hello,
};

/// What decides the condition.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    /// How PLEG was.
    pub past: Past<'a>,
    /// When the kubelet computes the condition.
    pub timer: NodeStatusTimer,
}

/// The condition, and how long it has been so.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeStatus {
    /// What `kubectl describe node` shows.
    pub condition: NodeCondition,
    /// When it was computed.
    pub computed: Time,
    /// The first computation in a row that said the same of readiness.
    pub since: Time,
    /// Whether nothing is known of the one before that.
    pub or_longer: bool,
}

/// When the condition changes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Then, unless a listing succeeds before.
    NotReadyAt(Time),
    /// Then: PLEG is healthy again.
    ReadyAt(Time),
    /// Not before a listing succeeds.
    NotBeforeListing,
}

impl<'a> Node<'a> {
    /// The node of an observer.
    pub fn new(hello: &Hello, timeline: &'a Timeline) -> Self {
        Self { past: Past::new(timeline, hello.threshold), timer: NodeStatusTimer::start(Time(hello.wall)) }
    }

    /// The condition that the node shows at `at`; none before the first computation, and where the relist that decides it
    /// is older than what was received.
    pub fn status(&self, at: Time) -> Option<NodeStatus> {
        let computed = self.timer.last(at)?;
        let condition = self.computed(computed)?;
        let (mut since, mut or_longer) = (computed, true);
        while let Some(before) = self.timer.last(since - NODE_STATUS_PERIOD).filter(|before| *before < since)
        {
            let Some(earlier) = self.computed(before) else { break };
            if earlier.ready != condition.ready {
                or_longer = false;
                break;
            }
            since = before;
        }
        Some(NodeStatus { condition, computed, since, or_longer })
    }

    /// When the condition shown at `at` changes.
    pub fn flip(&self, at: Time) -> Option<Flip> {
        let shown = self.status(at)?;
        let stale = self.past.relist_time(at).flatten().map(|good| good + self.past.threshold);
        Some(match (shown.condition.ready, stale) {
            (true, Some(stale)) => Flip::NotReadyAt(self.timer.next(stale.max(at))),
            (true, None) => Flip::NotReadyAt(self.timer.next(at)),
            (false, Some(stale)) if at <= stale => Flip::ReadyAt(self.timer.next(at)),
            (false, _) => Flip::NotBeforeListing,
        })
    }

    fn computed(&self, at: Time) -> Option<NodeCondition> {
        let health = self.past.health_at(at)?;
        let errors = RuntimeErrors::at(at, &RuntimeChecks::of_pleg(health));
        Some(NodeCondition::of(errors, []))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{follow, ms};
    use pleg_core::follow::Follower;

    /// Threshold 5 s, the condition every 10 s.
    const TOLD: &str = "
        1000 shop/cart: ready, app running
        4000 ~9000 shop/cart: ready, app exited 1
        27000 shop/cart: ready, app exited 1
        28000 shop/cart: ready, app exited 1
    ";

    fn node(follower: &Follower) -> Node<'_> {
        Node::new(follower.hello().unwrap(), follower.timeline())
    }

    fn shown(at: i64) -> Option<(bool, String, Time, Time)> {
        let status = node(&follow(TOLD)).status(ms(at))?;
        Some((status.condition.ready, status.condition.message, status.computed, status.since))
    }

    #[test]
    fn the_node_shows_what_was_computed_last() {
        assert_eq!(shown(9_999), None);
        let stale =
            |age: &str| format!("PLEG is not healthy: pleg was last seen active {age} ago; threshold is 5s");
        assert_eq!(shown(10_000), Some((false, stale("6s"), ms(10_000), ms(10_000))));
        assert_eq!(shown(19_999), Some((false, stale("6s"), ms(10_000), ms(10_000))));
        assert_eq!(
            shown(29_000),
            Some((false, stale("16s"), ms(20_000), ms(10_000))),
            "listed well, not told yet"
        );
        assert_eq!(
            shown(30_000),
            Some((true, "kubelet is posting ready status".into(), ms(30_000), ms(30_000)))
        );
    }

    #[test]
    fn it_changes_with_a_computation_and_not_before() {
        let follower = follow(TOLD);
        let flip = |at| node(&follower).flip(ms(at));
        assert_eq!(flip(5_000), None);
        assert_eq!(flip(11_000), Some(Flip::NotBeforeListing));
        assert_eq!(flip(29_000), Some(Flip::ReadyAt(ms(30_000))));
        assert_eq!(flip(31_000), Some(Flip::NotReadyAt(ms(40_000))), "stale from 33 s on");
    }

    #[test]
    fn what_came_before_is_not_made_up() {
        let follower = follow(TOLD);
        let late = follower.timeline().relists().get(2..).unwrap();
        let with = |relists| {
            let node = node(&follower);
            Node { past: Past { relists, ..node.past }, ..node }
        };
        let status = with(late).status(ms(35_000)).unwrap();
        assert_eq!((status.since, status.or_longer), (ms(30_000), true));
        assert_eq!(with(&[]).status(ms(35_000)), None);
    }
}
