//! What changed between two snapshots.

use super::{
    hash::{Hash, Rule},
    item::Item,
};
use crate::{
    cri::{Container, ContainerState, Sandbox, SandboxState},
    id::CriId,
};
use alloc::{collections::BTreeMap, vec::Vec};
use serde::{Deserialize, Serialize};

/// What changed between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Hash of the snapshot that results; left out when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sum: Option<Hash>,
    /// The same as format 1 made it; written again where an old stream is handed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<Hash>,
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    pub(super) sandboxes: Changes<Sandbox, SandboxState>,
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    pub(super) containers: Changes<Container, ContainerState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Changes<T, S> {
    /// Items that are new or changed in more than their state; they replace all that have their id.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(super) put: Vec<T>,
    /// Items of which only the state changed.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) state: BTreeMap<CriId, S>,
    /// Ids that are no longer listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) gone: Vec<CriId>,
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
    /// The delta changes something and does not prove what comes out.
    #[error("the delta has changes and no hash of what they result in")]
    Unproven,
}

impl Delta {
    pub(super) fn new(
        sum: Hash,
        sandboxes: Changes<Sandbox, SandboxState>,
        containers: Changes<Container, ContainerState>,
    ) -> Self {
        let delta = Self { sum: None, hash: None, sandboxes, containers };
        let sum = (!delta.is_empty()).then_some(sum);
        Self { sum, ..delta }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.sandboxes.is_empty() && self.containers.is_empty()
    }

    /// Ids of the sandboxes that came, went, or changed in more than their state.
    pub fn moved_sandboxes(&self) -> impl Iterator<Item = &CriId> {
        self.sandboxes.moved()
    }

    /// Ids of the containers that came, went, or changed in more than their state.
    pub fn moved_containers(&self) -> impl Iterator<Item = &CriId> {
        self.containers.moved()
    }

    /// The new states of the sandboxes of which nothing else changed.
    pub fn sandbox_states(&self) -> impl Iterator<Item = (&CriId, SandboxState)> {
        self.sandboxes.state.iter().map(|(id, state)| (id, *state))
    }

    /// The new states of the containers of which nothing else changed.
    pub fn container_states(&self) -> impl Iterator<Item = (&CriId, ContainerState)> {
        self.containers.state.iter().map(|(id, state)| (id, *state))
    }

    /// What the sender says that comes out, and by which rule.
    pub(super) fn proof(&self) -> Option<(Rule, Hash)> {
        let parts = self.sum.map(|sum| (Rule::Parts, sum));
        parts.or(self.hash.map(|hash| (Rule::Whole, hash)))
    }
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

    fn moved(&self) -> impl Iterator<Item = &CriId>
    where
        T: Item,
    {
        self.put.iter().map(Item::id).chain(&self.gone)
    }
}
