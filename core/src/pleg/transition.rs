//! What changed between two sights of a pod, and the events that follow from it.

use super::{EventType, PlegState};
use crate::{
    id::CriId,
    pod::{Container, ContainerId, Pod},
};
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
struct Sight<'a> {
    /// Place among the old containers, old sandboxes, new containers, new sandboxes, in this order.
    place: usize,
    current: bool,
    id: &'a ContainerId,
    state: PlegState,
}

/// All state changes from `old` to `new`, in upstream's order: that of the first sight of each id among the
/// old containers, old sandboxes, new containers and new sandboxes (`computeEvents`, generic.go).
pub(super) fn transitions(old: Option<&Pod>, new: Option<&Pod>) -> Vec<Transition> {
    match (old, new) {
        (Some(old), Some(new)) if core::ptr::eq(old, new) => Vec::new(),
        (Some(old), Some(new)) if have_same_ids(old, new) => in_step(old, new),
        _ => sort(old, new),
    }
}

/// How many containers a pod may have for its ids to be compared each with each.
const FEW: usize = 16;

/// Whether both pods list the same ids in the same places, and none twice: so it is when containers only moved from
/// state to state.
fn have_same_ids(old: &Pod, new: &Pod) -> bool {
    let same = |old: &[Container], new: &[Container]| {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.id == new.id)
    };
    let is_among = |id: &CriId, list: &[Container]| list.iter().any(|other| other.id.id == *id);
    let distinct = |list: &[Container]| {
        let has_twin =
            |(place, c): (usize, &Container)| is_among(&c.id.id, list.get(..place).unwrap_or(list));
        !list.iter().enumerate().any(has_twin)
    };
    let Pod { sandboxes, containers, .. } = old;
    sandboxes.len() + containers.len() <= FEW
        && same(containers, &new.containers)
        && same(sandboxes, &new.sandboxes)
        && distinct(containers)
        && distinct(sandboxes)
        && !sandboxes.iter().any(|sandbox| is_among(&sandbox.id.id, containers))
}

/// The state changes of two pods that [have the same ids](have_same_ids).
fn in_step(old: &Pod, new: &Pod) -> Vec<Transition> {
    let containers = old.containers.iter().zip(&new.containers);
    let sandboxes = old.sandboxes.iter().zip(&new.sandboxes);
    let change = |(old, new): (&Container, &Container)| {
        let (id, old, new) = (&old.id, old.state.into(), new.state.into());
        (old != new).then(|| Transition { id: id.clone(), old, new })
    };
    containers.chain(sandboxes).filter_map(change).collect()
}

/// The state changes of any two pods.
///
/// Upstream walks both lists once for each id. Sorting them does the same in `n log n`: a pod with a few
/// thousand dead containers is not unheard of.
fn sort(old: Option<&Pod>, new: Option<&Pod>) -> Vec<Transition> {
    let mut sights: Vec<Sight<'_>> = sights(old, new).collect();
    sights.sort_unstable_by(|a, b| a.id.id.cmp(&b.id.id).then(a.place.cmp(&b.place)));
    let mut found: Vec<(usize, Transition)> =
        sights.chunk_by(|a, b| a.id.id == b.id.id).filter_map(transition).collect();
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, transition)| transition).collect()
}

fn sights<'a>(old: Option<&'a Pod>, new: Option<&'a Pod>) -> impl Iterator<Item = Sight<'a>> {
    let of_pod = |pod: Option<&'a Pod>, current| {
        let listed = pod.into_iter().flat_map(|pod| pod.containers.iter().chain(&pod.sandboxes));
        listed.map(move |container| (current, container))
    };
    of_pod(old, false).chain(of_pod(new, true)).enumerate().map(|(place, (current, container))| Sight {
        place,
        current,
        id: &container.id,
        state: container.state.into(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::State;
    use alloc::{format, string::String};

    /// `docker:a=running` is container a of another runtime; behind a bar come the sandboxes.
    fn pod(text: &str) -> Pod {
        let (containers, sandboxes) = text.split_once('|').unwrap_or((text, ""));
        let list = |text: &str| text.split_whitespace().map(container).collect();
        Pod { containers: list(containers), sandboxes: list(sandboxes), ..Pod::default() }
    }

    fn container(text: &str) -> Container {
        let (id, state) = text.split_once('=').unwrap();
        let (runtime, id) = id.split_once(':').unwrap_or(("cri", id));
        let states = [State::Created, State::Running, State::Exited, State::Unknown];
        let state = states.into_iter().find(|known| known.name() == state).unwrap();
        Container {
            id: ContainerId { runtime: runtime.into(), id: id.into() },
            state,
            ..Container::default()
        }
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let (old, new) = (&pod(old), &pod(new));
        let found = transitions(Some(old), Some(new));
        assert_eq!(sort(Some(old), Some(new)), found, "both ways find the same");
        let text = |t: &Transition| {
            let events: Vec<_> = t.events().iter().map(|kind| &kind.name()["Container".len()..]).collect();
            format!("{} {} -> {}: {}", t.id.id, t.old.name(), t.new.name(), events.join(", "))
        };
        let found: Vec<String> = found.iter().map(text).collect();
        assert_eq!(found.iter().map(|text| text.trim_end()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_change_of_state_has_its_events() {
        for state in ["a=created", "a=running", "a=exited", "a=unknown", ""] {
            check(state, state, &[]);
        }
        check("", "a=running", &["a non-existent -> running: Started"]);
        check("", "a=exited", &["a non-existent -> exited: Died"]);
        check("", "a=unknown", &["a non-existent -> unknown:"]);
        check("a=running", "a=exited", &["a running -> exited: Died"]);
        check("a=running", "a=unknown", &["a running -> unknown:"]);
        check("a=running", "", &["a running -> non-existent: Died, Removed"]);
        check("a=exited", "a=running", &["a exited -> running: Started"]);
        check("a=exited", "a=unknown", &["a exited -> unknown:"]);
        check("a=exited", "", &["a exited -> non-existent: Removed"]);
        check("a=unknown", "a=running", &["a unknown -> running: Started"]);
        check("a=unknown", "a=exited", &["a unknown -> exited: Died"]);
        check("a=unknown", "", &["a unknown -> non-existent: Died, Removed"]);
    }

    #[test]
    fn created_is_unknown() {
        check("a=created", "a=unknown", &[]);
        check("a=running", "a=created", &["a running -> unknown:"]);
    }

    #[test]
    fn old_containers_come_first_then_old_sandboxes_then_what_is_new() {
        check(
            "z=running b=running | y=running",
            "c=running b=exited | a=running",
            &[
                "z running -> non-existent: Died, Removed",
                "b running -> exited: Died",
                "y running -> non-existent: Died, Removed",
                "c non-existent -> running: Started",
                "a non-existent -> running: Started",
            ],
        );
    }

    #[test]
    fn the_first_of_several_with_one_id_counts() {
        check("a=running a=exited", "a=exited a=running", &["a running -> exited: Died"]);
        check("| a=running", "a=exited | a=running", &["a running -> exited: Died"]);
    }

    #[test]
    fn an_id_of_another_runtime_is_gone_and_the_new_one_not_looked_at() {
        check("docker:a=running", "containerd:a=running", &["a running -> non-existent: Died, Removed"]);
        check(
            "docker:a=running containerd:a=running",
            "containerd:a=exited",
            &["a running -> non-existent: Died, Removed"],
        );
    }

    #[test]
    fn a_pod_that_is_new_or_gone() {
        let running = pod("a=running");
        assert_eq!(transitions(None, Some(&running)).len(), 1);
        assert_eq!(transitions(Some(&running), None).len(), 1);
        assert_eq!(transitions(None, None), []);
    }
}
