//! The two listings of one relist, and the lossless difference between two of them.
//!
//! containerd lists in a new random order each time, so a snapshot is kept in the order of ids; items that
//! share an id keep the runtime's order among themselves. A [`Delta`] holds what changed, and the hash of
//! the result proves that the receiver has the very list that the runtime sent.

use crate::{
    cri::{Container, ContainerState, Sandbox, SandboxState},
    id::CriId,
};
use alloc::{collections::BTreeMap, vec::Vec};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use xxhash_rust::xxh3::xxh3_64;

/// A listed thing: what a delta needs to know of it.
trait Item: Clone + PartialEq + Serialize {
    type State: Copy;
    fn id(&self) -> &CriId;
    /// The new state when nothing but the state differs: by far the most frequent change.
    fn only_state_differs(&self, new: &Self) -> Option<Self::State>;
    fn set_state(&mut self, state: Self::State);
}

macro_rules! item {
    ($item:ty, $state:ty) => {
        impl Item for $item {
            type State = $state;

            fn id(&self) -> &CriId {
                &self.id
            }

            fn only_state_differs(&self, new: &Self) -> Option<$state> {
                let same = self.created_at == new.created_at && {
                    let mut moved = self.clone();
                    moved.state = new.state;
                    moved == *new
                };
                same.then_some(new.state)
            }

            fn set_state(&mut self, state: $state) {
                self.state = state;
            }
        }
    };
}

item!(Sandbox, SandboxState);
item!(Container, ContainerState);

/// What both listings of a relist said, in the order of ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    sandboxes: Group<Sandbox>,
    containers: Group<Container>,
}

/// Items by id; nearly always one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group<T> {
    items: BTreeMap<CriId, Vec<T>>,
    sum: u64,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new(), sum: 0 }
    }
}

/// What changed between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Hash of the snapshot that results.
    pub hash: Hash,
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    sandboxes: Changes<Sandbox, SandboxState>,
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    containers: Changes<Container, ContainerState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Changes<T, S> {
    /// Items that are new or changed in more than their state; they replace all that have their id.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    put: Vec<T>,
    /// Items of which only the state changed.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    state: BTreeMap<CriId, S>,
    /// Ids that are no longer listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<CriId>,
}

impl<T, S> Default for Changes<T, S> {
    fn default() -> Self {
        Self { put: Vec::new(), state: BTreeMap::new(), gone: Vec::new() }
    }
}

impl<T, S> Changes<T, S> {
    fn is_empty(&self) -> bool {
        self.put.is_empty() && self.state.is_empty() && self.gone.is_empty()
    }

    fn ids(&self) -> impl Iterator<Item = &CriId>
    where
        T: Item,
    {
        self.put.iter().map(Item::id).chain(self.state.keys()).chain(&self.gone)
    }
}

/// A delta that does not belong to the snapshot at hand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeltaError {
    /// A change names an id that is not in the snapshot.
    #[error("the delta changes {0}, which is not in the snapshot it is applied to")]
    UnknownId(CriId),
    /// The result is not the list that the sender had.
    #[error("the list has hash {found} after the delta, the sender's has {expected}")]
    Hash {
        /// What the sender had.
        expected: Hash,
        /// What applying gave.
        found: Hash,
    },
}

/// Hash of a snapshot: the wrapping sum of the 64-bit XXH3 of each item's JSON, sandboxes and containers
/// alike. As a sum it follows a delta at the cost of the change. Written as 16 hex digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hash(pub u64);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <alloc::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Hash).map_err(D::Error::custom)
    }
}

impl Snapshot {
    /// A snapshot of two listings as the runtime ordered them.
    pub fn new(sandboxes: Vec<Sandbox>, containers: Vec<Container>) -> Self {
        Self { sandboxes: Group::new(sandboxes), containers: Group::new(containers) }
    }

    /// The sandboxes, in the order of their ids.
    pub fn sandboxes(&self) -> impl Iterator<Item = &Sandbox> {
        self.sandboxes.items.values().flatten()
    }

    /// The containers, in the order of their ids.
    pub fn containers(&self) -> impl Iterator<Item = &Container> {
        self.containers.items.values().flatten()
    }

    /// The sandboxes with this id; more than one only in broken answers.
    pub fn sandboxes_with(&self, id: &CriId) -> &[Sandbox] {
        self.sandboxes.items.get(id).map_or(&[], Vec::as_slice)
    }

    /// The containers with this id; more than one only in broken answers.
    pub fn containers_with(&self, id: &CriId) -> &[Container] {
        self.containers.items.get(id).map_or(&[], Vec::as_slice)
    }

    /// Hash of the whole, at no cost.
    pub fn hash(&self) -> Hash {
        Hash(self.sandboxes.sum.wrapping_add(self.containers.sum))
    }

    /// What turns this snapshot into `new`.
    pub fn delta_to(&self, new: &Snapshot) -> Delta {
        Delta {
            hash: new.hash(),
            sandboxes: self.sandboxes.changes_to(&new.sandboxes),
            containers: self.containers.changes_to(&new.containers),
        }
    }

    /// Applies a delta, at the cost of what it changes.
    ///
    /// # Errors
    /// When the delta was made from another snapshot. The snapshot is then of no more use: the receiver
    /// needs a keyframe.
    pub fn apply(&mut self, delta: &Delta) -> Result<(), DeltaError> {
        self.sandboxes.apply(&delta.sandboxes)?;
        self.containers.apply(&delta.containers)?;
        let found = self.hash();
        if found == delta.hash { Ok(()) } else { Err(DeltaError::Hash { expected: delta.hash, found }) }
    }
}

impl Delta {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.sandboxes.is_empty() && self.containers.is_empty()
    }

    /// Ids of the sandboxes that changed, came or went.
    pub fn sandbox_ids(&self) -> impl Iterator<Item = &CriId> {
        self.sandboxes.ids()
    }

    /// Ids of the containers that changed, came or went.
    pub fn container_ids(&self) -> impl Iterator<Item = &CriId> {
        self.containers.ids()
    }
}

impl<T: Item> Group<T> {
    fn new(list: Vec<T>) -> Self {
        let mut group = Self::default();
        for item in list {
            group.sum = group.sum.wrapping_add(hash_of(&item));
            group.items.entry(item.id().clone()).or_default().push(item);
        }
        group
    }

    fn changes_to(&self, new: &Self) -> Changes<T, T::State> {
        let gone = self.items.keys().filter(|id| !new.items.contains_key(*id)).cloned().collect();
        let mut changes = Changes { gone, ..Changes::default() };
        for (id, items) in &new.items {
            match self.items.get(id) {
                Some(old) if old == items => {}
                Some(old) => match only_state(old, items) {
                    Some(state) => {
                        changes.state.insert(id.clone(), state);
                    }
                    None => changes.put.extend(items.iter().cloned()),
                },
                None => changes.put.extend(items.iter().cloned()),
            }
        }
        changes
    }

    fn apply(&mut self, changes: &Changes<T, T::State>) -> Result<(), DeltaError> {
        for id in &changes.gone {
            if self.take(id).is_empty() {
                return Err(DeltaError::UnknownId(id.clone()));
            }
        }
        for (id, state) in &changes.state {
            let mut items = self.take(id);
            let [item] = items.as_mut_slice() else { return Err(DeltaError::UnknownId(id.clone())) };
            item.set_state(*state);
            self.put(items);
        }
        for item in &changes.put {
            self.take(item.id());
        }
        self.put(changes.put.clone());
        Ok(())
    }

    fn take(&mut self, id: &CriId) -> Vec<T> {
        let items = self.items.remove(id).unwrap_or_default();
        for item in &items {
            self.sum = self.sum.wrapping_sub(hash_of(item));
        }
        items
    }

    fn put(&mut self, items: Vec<T>) {
        for item in items {
            self.sum = self.sum.wrapping_add(hash_of(&item));
            self.items.entry(item.id().clone()).or_default().push(item);
        }
    }
}

fn only_state<T: Item>(old: &[T], new: &[T]) -> Option<T::State> {
    match (old, new) {
        ([old], [new]) => old.only_state_differs(new),
        _ => None,
    }
}

fn hash_of<T: Serialize>(item: &T) -> u64 {
    // Plain data with text keys: writing it to memory cannot fail, and an empty text would only make
    // the receiver ask for a keyframe.
    serde_json::to_vec(item).map_or(0, |json| xxh3_64(&json))
}

impl<T: Serialize> Serialize for Group<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.items.values().flatten())
    }
}

impl<'de, T: Item + Deserialize<'de>> Deserialize<'de> for Group<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Group::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{slice::from_ref, vec};

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
        let mut value = serde_json::to_value(&delta).unwrap();
        value.as_object_mut().unwrap().remove("hash");
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
    fn the_hash_is_that_of_a_fresh_snapshot() {
        let to = snapshot(&[container("a", ContainerState::Exited), container("b", ContainerState::Created)]);
        let mut from = snapshot(&[container("a", ContainerState::Running)]);
        from.apply(&from.clone().delta_to(&to)).unwrap();
        assert_eq!(from.hash(), to.hash());
        assert_ne!(from.hash(), Snapshot::default().hash());
    }
}
