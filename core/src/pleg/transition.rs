//! What changed between two sights of a pod, and the events that follow from it.

use super::{EventType, PlegState};
use crate::pod::{ContainerId, Pod};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A container or sandbox whose state differs between the old and the current pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Transition {
    pub(super) id: ContainerId,
    pub(super) old: PlegState,
    pub(super) new: PlegState,
}

impl Transition {
    /// The events to send (`generateEvents`, generic.go). One to `unknown` has none: upstream builds a
    /// `ContainerChanged`, which has the pod inspected like any event, and is never sent.
    pub(super) fn events(&self) -> &'static [EventType] {
        use EventType::{ContainerDied, ContainerRemoved, ContainerStarted};
        match (self.old, self.new) {
            (_, PlegState::Running) => &[ContainerStarted],
            (_, PlegState::Exited) => &[ContainerDied],
            (_, PlegState::Unknown) => &[],
            // The death was reported already.
            (PlegState::Exited, PlegState::NonExistent) => &[ContainerRemoved],
            (_, PlegState::NonExistent) => &[ContainerDied, ContainerRemoved],
        }
    }
}

/// A container or sandbox in one of the two pods.
#[derive(Clone, Copy)]
struct Sight<'a> {
    /// Place among the old containers, old sandboxes, new containers, new sandboxes, in this order.
    place: usize,
    current: bool,
    id: &'a ContainerId,
    state: PlegState,
}

/// All state changes from `old` to `new`, in upstream's order: that of the first sight of each id among the
/// old containers, old sandboxes, new containers and new sandboxes (`computeEvents`, generic.go).
///
/// Upstream walks both lists once for each id. Sorting them does the same in `n log n`: a pod with a few
/// thousand dead containers is not unheard of.
pub(super) fn transitions(old: Option<&Pod>, new: Option<&Pod>) -> Vec<Transition> {
    let mut sights: Vec<Sight<'_>> = sights_of(old, false).chain(sights_of(new, true)).collect();
    for (place, sight) in sights.iter_mut().enumerate() {
        sight.place = place;
    }
    sights.sort_unstable_by(|a, b| a.id.id.cmp(&b.id.id).then(a.place.cmp(&b.place)));
    let mut found: Vec<(usize, Transition)> =
        sights.chunk_by(|a, b| a.id.id == b.id.id).filter_map(transition).collect();
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, transition)| transition).collect()
}

fn sights_of(pod: Option<&Pod>, current: bool) -> impl Iterator<Item = Sight<'_>> {
    pod.into_iter().flat_map(|pod| pod.containers.iter().chain(&pod.sandboxes)).map(move |c| Sight {
        place: 0,
        current,
        id: &c.id,
        state: c.state.into(),
    })
}

/// The change of one id, from all its sights in order of place.
///
/// Only the id text makes sights the same thing; states are then looked up by runtime type *and* id of the
/// first sight, and the first match counts. So when the type changes (docker to containerd), the old
/// container is gone and the new one is not looked at (`getContainersFromPods`, `getContainerState`).
fn transition(sights: &[Sight<'_>]) -> Option<(usize, Transition)> {
    let first = sights.first()?;
    let state = |current: bool| {
        let sight = sights.iter().find(|s| s.current == current && s.id.runtime == first.id.runtime);
        sight.map_or(PlegState::NonExistent, |sight| sight.state)
    };
    let (old, new) = (state(false), state(true));
    (old != new).then(|| (first.place, Transition { id: first.id.clone(), old, new }))
}
