//! One of the two lists, in the order of ids.

use super::{
    delta::{Changes, DeltaError},
    hash::Rule,
    item::{Item, Kept, sum},
};
use crate::id::CriId;
use alloc::{collections::BTreeMap, vec::Vec};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Items by id; nearly always one for each.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    items: BTreeMap<CriId, Vec<Kept<T>>>,
}

/// What changed in a list, and by how much its hash.
pub(super) struct Difference<T: Item> {
    pub(super) changes: Changes<T, T::State>,
    /// To be added, wrapping, to the hash by [`Rule::Parts`].
    pub(super) hash: u64,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new() }
    }
}

impl<T: Item> Group<T> {
    pub(super) fn new(list: Vec<T>) -> Self {
        let mut group = Self::default();
        for item in list {
            group.items.entry(item.id().clone()).or_default().push(Kept::new(item));
        }
        group
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.values().flatten().map(|kept| &kept.item)
    }

    pub(super) fn with(&self, id: &CriId) -> impl Iterator<Item = &T> {
        self.items.get(id).into_iter().flatten().map(|kept| &kept.item)
    }

    pub(super) fn hash(&self, rule: Rule) -> u64 {
        sum(self.items.values().flatten(), rule)
    }

    /// What turns this list into `new`, which is in the order of ids. One walk along both; what is as before costs a
    /// comparison.
    pub(super) fn difference<'a>(&self, new: &[&'a T]) -> Difference<T>
    where
        T: 'a,
    {
        let mut difference = Difference { changes: Changes::default(), hash: 0 };
        let mut old = self.items.iter().peekable();
        for items in new.chunk_by(|a, b| a.id() == b.id()) {
            let Some(id) = items.first().map(|item| item.id()) else { continue };
            while let Some((gone, was)) = old.next_if(|(before, _)| *before < id) {
                difference.gone(gone, was);
            }
            match old.next_if(|(same, _)| *same == id) {
                Some((_, was)) => difference.compare(was, items),
                None => difference.put(items),
            }
        }
        old.for_each(|(gone, was)| difference.gone(gone, was));
        difference
    }

    /// Applies changes; returns what to add, wrapping, to the hash by `rule`.
    pub(super) fn apply(&mut self, changes: &Changes<T, T::State>, rule: Rule) -> Result<u64, DeltaError> {
        let mut change = 0u64;
        for id in &changes.gone {
            let gone = self.items.remove(id).ok_or_else(|| DeltaError::UnknownId(id.clone()))?;
            change = change.wrapping_sub(sum(&gone, rule));
        }
        for (id, state) in &changes.state {
            let Some([kept]) = self.items.get_mut(id).map(Vec::as_mut_slice) else {
                return Err(DeltaError::UnknownId(id.clone()));
            };
            change = change.wrapping_sub(kept.hash(rule));
            *kept.item.state_mut() = *state;
            change = change.wrapping_add(kept.hash(rule));
        }
        Ok(change.wrapping_add(self.put(&changes.put, rule)))
    }

    /// Puts items in the place of all that have their ids.
    fn put(&mut self, items: &[T], rule: Rule) -> u64 {
        let mut change = 0u64;
        for was in items.iter().filter_map(|item| self.items.remove(item.id())) {
            change = change.wrapping_sub(sum(&was, rule));
        }
        for item in items {
            let kept = Kept::new(item.clone());
            change = change.wrapping_add(kept.hash(rule));
            self.items.entry(item.id().clone()).or_default().push(kept);
        }
        change
    }
}

impl<T: Item> Difference<T> {
    fn compare(&mut self, was: &[Kept<T>], items: &[&T]) {
        match (was, items) {
            ([was], [item]) if was.item.same_but_for_state(item) => self.state(was, item.state()),
            _ if was.iter().map(|kept| &kept.item).eq(items.iter().copied()) => {}
            _ => {
                self.take(was);
                self.put(items);
            }
        }
    }

    fn state(&mut self, was: &Kept<T>, state: T::State) {
        if was.item.state() != state {
            self.hash = self.hash.wrapping_sub(was.hash(Rule::Parts)).wrapping_add(was.hash_in(state));
            self.changes.state.insert(was.item.id().clone(), state);
        }
    }

    fn put(&mut self, items: &[&T]) {
        for item in items {
            let kept = Kept::new((*item).clone());
            self.hash = self.hash.wrapping_add(kept.hash(Rule::Parts));
            self.changes.put.push(kept.item);
        }
    }

    fn gone(&mut self, id: &CriId, was: &[Kept<T>]) {
        self.take(was);
        self.changes.gone.push(id.clone());
    }

    fn take(&mut self, was: &[Kept<T>]) {
        self.hash = self.hash.wrapping_sub(sum(was, Rule::Parts));
    }
}

impl<T: Item> PartialEq for Group<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Item + Eq> Eq for Group<T> {}

impl<T: Item> Serialize for Group<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Item + Deserialize<'de>> Deserialize<'de> for Group<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Group::new)
    }
}
