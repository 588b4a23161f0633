//! What a snapshot and a delta need to know of a listed thing.

use super::hash::Rule;
use crate::{
    cri::{Container, ContainerState, Sandbox, SandboxState},
    id::CriId,
};
use core::mem;
use serde::Serialize;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A sandbox or a container.
pub(super) trait Item: Clone + PartialEq + Serialize {
    type State: Copy + Default + PartialEq;
    fn id(&self) -> &CriId;
    fn state(&self) -> Self::State;
    fn state_mut(&mut self) -> &mut Self::State;
    fn same_but_for_state(&self, other: &Self) -> bool;
    /// CRI's number of a state.
    fn number(state: Self::State) -> i32;
}

impl Item for Sandbox {
    type State = SandboxState;

    fn id(&self) -> &CriId {
        &self.id
    }

    fn state(&self) -> SandboxState {
        self.state
    }

    fn state_mut(&mut self) -> &mut SandboxState {
        &mut self.state
    }

    fn same_but_for_state(&self, other: &Self) -> bool {
        let Self { id, metadata, state: _, created_at, labels, annotations, runtime_handler } = self;
        *created_at == other.created_at
            && *id == other.id
            && *metadata == other.metadata
            && *runtime_handler == other.runtime_handler
            && *labels == other.labels
            && *annotations == other.annotations
    }

    fn number(state: SandboxState) -> i32 {
        state.number()
    }
}

impl Item for Container {
    type State = ContainerState;

    fn id(&self) -> &CriId {
        &self.id
    }

    fn state(&self) -> ContainerState {
        self.state
    }

    fn state_mut(&mut self) -> &mut ContainerState {
        &mut self.state
    }

    fn same_but_for_state(&self, other: &Self) -> bool {
        let Self {
            id,
            pod_sandbox_id,
            metadata,
            image,
            image_ref,
            state: _,
            created_at,
            labels,
            annotations,
        } = self;
        *created_at == other.created_at
            && *id == other.id
            && *pod_sandbox_id == other.pod_sandbox_id
            && *metadata == other.metadata
            && *image == other.image
            && *image_ref == other.image_ref
            && *labels == other.labels
            && *annotations == other.annotations
    }

    fn number(state: ContainerState) -> i32 {
        state.number()
    }
}

/// An item with what its hash is made of, so that a new state costs no look at the rest of it.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    pub(super) item: T,
    /// Hash of the item in its default state.
    base: u64,
}

impl<T: Item> Kept<T> {
    pub(super) fn new(mut item: T) -> Self {
        let state = mem::take(item.state_mut());
        let base = hash_of_json(&item);
        *item.state_mut() = state;
        Self { item, base }
    }

    pub(super) fn hash(&self, rule: Rule) -> u64 {
        match rule {
            Rule::Whole => hash_of_json(&self.item),
            Rule::Parts => self.hash_in(self.item.state()),
        }
    }

    /// The hash that the item would have in another state, by [`Rule::Parts`].
    pub(super) fn hash_in(&self, state: T::State) -> u64 {
        xxh3_64_with_seed(&T::number(state).to_le_bytes(), self.base)
    }
}

/// Hash of these items, which may be many, by a rule.
pub(super) fn sum<'a, T: Item + 'a>(items: impl IntoIterator<Item = &'a Kept<T>>, rule: Rule) -> u64 {
    items.into_iter().fold(0, |sum, kept| sum.wrapping_add(kept.hash(rule)))
}

fn hash_of_json<T: Serialize>(item: &T) -> u64 {
    // Plain data with text keys: writing it to memory cannot fail, and a wrong hash would only make the receiver
    // ask for a keyframe.
    serde_json::to_vec(item).map_or(0, |json| xxh3_64(&json))
}
