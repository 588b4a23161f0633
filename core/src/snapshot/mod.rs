//! The two listings of one relist, and the lossless difference between two of them.
//!
//! containerd lists in a new random order each time, so a snapshot is kept in the order of ids; items that
//! share an id keep the runtime's order among themselves. A [`Delta`] holds what changed, and the hash of
//! the result proves that the receiver has the very list that the runtime sent.

mod delta;
mod group;
mod hash;
mod item;

pub use delta::{Delta, DeltaError};
pub use hash::Hash;

use crate::{
    cri::{Container, Sandbox},
    id::CriId,
};
use alloc::vec::Vec;
use group::Group;
use hash::Rule;
use item::Item;
use serde::{Deserialize, Deserializer, Serialize};

/// What both listings of a relist said, in the order of ids.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Snapshot {
    sandboxes: Group<Sandbox>,
    containers: Group<Container>,
    /// Hash of the whole, by the rule of the stream that this snapshot follows.
    #[serde(skip)]
    hash: u64,
    #[serde(skip)]
    rule: Rule,
}

impl Snapshot {
    /// A snapshot of two listings as the runtime ordered them.
    pub fn new(sandboxes: Vec<Sandbox>, containers: Vec<Container>) -> Self {
        Self::of(Group::new(sandboxes), Group::new(containers))
    }

    fn of(sandboxes: Group<Sandbox>, containers: Group<Container>) -> Self {
        let mut snapshot = Self { sandboxes, containers, hash: 0, rule: Rule::default() };
        snapshot.hash = snapshot.hash_by(snapshot.rule);
        snapshot
    }

    /// The sandboxes, in the order of their ids.
    pub fn sandboxes(&self) -> impl Iterator<Item = &Sandbox> {
        self.sandboxes.iter()
    }

    /// The containers, in the order of their ids.
    pub fn containers(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter()
    }

    /// The sandboxes with this id; more than one only in broken answers.
    pub fn sandboxes_with(&self, id: &CriId) -> impl Iterator<Item = &Sandbox> {
        self.sandboxes.with(id)
    }

    /// The containers with this id; more than one only in broken answers.
    pub fn containers_with(&self, id: &CriId) -> impl Iterator<Item = &Container> {
        self.containers.with(id)
    }

    /// Hash of the whole; at no cost, but for a snapshot that follows a stream of format 1.
    pub fn hash(&self) -> Hash {
        match self.rule {
            Rule::Parts => Hash(self.hash),
            Rule::Whole => Hash(self.hash_by(Rule::Parts)),
        }
    }

    /// What turns this snapshot into `new`.
    pub fn delta_to(&self, new: &Snapshot) -> Delta {
        self.delta_to_sorted(&new.sandboxes().collect::<Vec<_>>(), &new.containers().collect::<Vec<_>>())
    }

    /// What turns this snapshot into one of two listings as the runtime ordered them. Costs a comparison for what
    /// is as before, and a hash for what changed in more than its state.
    pub fn delta_to_lists(&self, sandboxes: &[Sandbox], containers: &[Container]) -> Delta {
        self.delta_to_sorted(&sorted(sandboxes), &sorted(containers))
    }

    fn delta_to_sorted(&self, sandboxes: &[&Sandbox], containers: &[&Container]) -> Delta {
        let (sandboxes, containers) =
            (self.sandboxes.difference(sandboxes), self.containers.difference(containers));
        let Hash(hash) = self.hash();
        let hash = hash.wrapping_add(sandboxes.hash).wrapping_add(containers.hash);
        Delta::new(Hash(hash), sandboxes.changes, containers.changes)
    }

    /// Applies a delta, at the cost of what it changes.
    ///
    /// # Errors
    /// When the delta was made from another snapshot. The snapshot is then of no more use: the receiver
    /// needs a keyframe.
    pub fn apply(&mut self, delta: &Delta) -> Result<(), DeltaError> {
        let (rule, expected) = match delta.proof() {
            Some(proof) => proof,
            None if delta.is_empty() => return Ok(()),
            None => return Err(DeltaError::Unproven),
        };
        self.follow(rule);
        for change in
            [self.sandboxes.apply(&delta.sandboxes, rule)?, self.containers.apply(&delta.containers, rule)?]
        {
            self.hash = self.hash.wrapping_add(change);
        }
        let found = Hash(self.hash);
        if found == expected { Ok(()) } else { Err(DeltaError::Hash { expected, found }) }
    }

    /// The stream hashes by this rule: a walk over everything, when a stream of format 1 begins.
    fn follow(&mut self, rule: Rule) {
        if self.rule != rule {
            self.hash = self.hash_by(rule);
            self.rule = rule;
        }
    }

    fn hash_by(&self, rule: Rule) -> u64 {
        self.sandboxes.hash(rule).wrapping_add(self.containers.hash(rule))
    }
}

/// In the order of ids; those with one id in the order of the list.
fn sorted<T: Item>(list: &[T]) -> Vec<&T> {
    let mut sorted: Vec<&T> = list.iter().collect();
    sorted.sort_by(|a, b| a.id().cmp(b.id()));
    sorted
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.sandboxes == other.sandboxes && self.containers == other.containers
    }
}

impl Eq for Snapshot {}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Lists {
            sandboxes: Group<Sandbox>,
            containers: Group<Container>,
        }
        let Lists { sandboxes, containers } = Lists::deserialize(deserializer)?;
        Ok(Self::of(sandboxes, containers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cri::ContainerState;
    use alloc::{slice::from_ref, vec};
    use xxhash_rust::xxh3::xxh3_64;

    fn container(id: &str, state: ContainerState) -> Container {
        Container { id: id.into(), state, image: Some("busybox".into()), ..Container::default() }
    }

    fn snapshot(containers: &[Container]) -> Snapshot {
        Snapshot::new(vec![Sandbox { id: "s".into(), ..Sandbox::default() }], containers.to_vec())
    }

    #[track_caller]
    fn check(old: &[Container], new: &[Container], json: &str) {
        let (mut from, to) = (snapshot(old), snapshot(new));
        let delta = from.delta_to(&to);
        let lists = (to.sandboxes().cloned().collect::<Vec<_>>(), new);
        assert_eq!(from.delta_to_lists(&lists.0, lists.1), delta, "from lists as from a snapshot");
        let mut value = serde_json::to_value(&delta).unwrap();
        assert_eq!(value.as_object_mut().unwrap().remove("sum").is_none(), delta.is_empty());
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(json).unwrap());
        let read: Delta = serde_json::from_str(&serde_json::to_string(&delta).unwrap()).unwrap();
        from.apply(&read).unwrap();
        assert_eq!(from, to);
    }

    #[test]
    fn a_delta_holds_what_changed_and_no_more() {
        use ContainerState::*;
        let (a, b) = (container("a", Running), container("b", Running));
        check(&[a.clone(), b.clone()], &[b.clone(), a.clone()], "{}");
        check(&[a.clone(), b.clone()], from_ref(&b), r#"{"containers":{"gone":["a"]}}"#);
        check(
            &[a.clone(), b.clone()],
            &[container("a", Exited), b.clone()],
            r#"{"containers":{"state":{"a":"exited"}}}"#,
        );
        check(from_ref(&a), &[container("a", Other(9))], r#"{"containers":{"state":{"a":9}}}"#);
        check(
            &[],
            &[b],
            r#"{"containers":{"put":[{"id":"b","pod_sandbox_id":"","image":"busybox","state":"running","created_at":0}]}}"#,
        );
    }

    #[test]
    fn items_that_share_an_id_survive_in_order() {
        let twins = [container("a", ContainerState::Running), container("a", ContainerState::Exited)];
        let one = [container("a", ContainerState::Running)];
        let (mut from, to) = (snapshot(&one), snapshot(&twins));
        let (there, back) = (from.delta_to(&to), to.delta_to(&from));
        let start = from.clone();
        from.apply(&there).unwrap();
        assert_eq!(from, to);
        from.apply(&back).unwrap();
        assert_eq!(from, start);
    }

    #[test]
    fn a_delta_for_another_snapshot_is_refused() {
        let a = snapshot(&[container("a", ContainerState::Running)]);
        let b = snapshot(&[container("b", ContainerState::Running)]);
        let gone = a.delta_to(&snapshot(&[]));
        assert_eq!(b.clone().apply(&gone), Err(DeltaError::UnknownId("a".into())));
        let added = snapshot(&[]).delta_to(&a);
        assert!(matches!(b.clone().apply(&added), Err(DeltaError::Hash { .. })));
    }

    #[test]
    fn changes_without_a_proof_are_refused() {
        let mut snapshot = snapshot(&[container("a", ContainerState::Running)]);
        let delta: Delta = serde_json::from_str(r#"{"containers":{"gone":["a"]}}"#).unwrap();
        assert_eq!(snapshot.apply(&delta), Err(DeltaError::Unproven));
    }

    /// A stream of format 1, whose hashes are those of the whole JSON, then the same of this format.
    #[test]
    fn the_hash_of_each_format_is_followed() {
        let states = [ContainerState::Running, ContainerState::Exited, ContainerState::Created];
        let mut snapshot = snapshot(&[container("a", states[0])]);
        let of_format_1 = |state| {
            let json = |item| serde_json::to_vec(item).unwrap();
            let container = json(&container("a", state));
            let sandbox = serde_json::to_vec(&Sandbox { id: "s".into(), ..Sandbox::default() }).unwrap();
            Hash(xxh3_64(&container).wrapping_add(xxh3_64(&sandbox)))
        };
        let read = |hash: &str, state: &str| {
            let json = alloc::format!(r#"{{{hash},"containers":{{"state":{{"a":"{state}"}}}}}}"#);
            serde_json::from_str::<Delta>(&json).unwrap()
        };
        let hash = alloc::format!(r#""hash":"{}""#, of_format_1(states[1]));
        assert_eq!(snapshot.apply(&read(&hash, "exited")), Ok(()));
        let same: Delta = serde_json::from_str(&alloc::format!("{{{hash}}}")).unwrap();
        assert_eq!(snapshot.apply(&same), Ok(()));
        assert!(matches!(snapshot.clone().apply(&read(&hash, "created")), Err(DeltaError::Hash { .. })));
        let after = self::snapshot(&[container("a", states[2])]);
        let delta = snapshot.delta_to(&after);
        assert_eq!(delta, read(&alloc::format!(r#""sum":"{}""#, after.hash()), "created"));
        assert_eq!(snapshot.apply(&delta), Ok(()));
        assert_eq!(snapshot.hash(), after.hash());
    }

    #[test]
    fn the_hash_is_that_of_a_fresh_snapshot() {
        let to = snapshot(&[container("a", ContainerState::Exited), container("b", ContainerState::Created)]);
        let mut from = snapshot(&[container("a", ContainerState::Running)]);
        from.apply(&from.clone().delta_to(&to)).unwrap();
        assert_eq!(from.hash(), to.hash());
        assert_ne!(from.hash(), Snapshot::default().hash());
    }
}
