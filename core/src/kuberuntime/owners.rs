//! Which pod has which sandboxes, or containers.

use crate::id::{CriId, Uid};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

/// The pods of ids, and the ids of pods: one such index for sandboxes, one for containers.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    /// More than one pod for an id only in broken answers.
    owners: BTreeMap<CriId, Vec<Uid>>,
    ids: BTreeMap<Uid, BTreeSet<CriId>>,
}

impl Owners {
    /// The pods that have the id.
    pub(super) fn of(&self, id: &CriId) -> &[Uid] {
        self.owners.get(id).map_or(&[], Vec::as_slice)
    }

    /// The ids that a pod has, in order.
    pub(super) fn ids(&self, uid: &Uid) -> impl Iterator<Item = &CriId> {
        self.ids.get(uid).into_iter().flatten()
    }

    pub(super) fn has_any(&self, uid: &Uid) -> bool {
        self.ids.contains_key(uid)
    }

    /// Gives an id to a pod, which is returned.
    pub(super) fn add(&mut self, id: &CriId, uid: Uid) -> Uid {
        self.ids.entry(uid.clone()).or_default().insert(id.clone());
        self.owners.entry(id.clone()).or_default().push(uid.clone());
        uid
    }

    /// Gives an id to other pods. Returns those that had it and those that have it.
    pub(super) fn replace(&mut self, id: &CriId, new: impl Iterator<Item = Uid>) -> Vec<Uid> {
        let mut touched = self.owners.remove(id).unwrap_or_default();
        for uid in &touched {
            if let Some(ids) = self.ids.get_mut(uid) {
                ids.remove(id);
                if ids.is_empty() {
                    self.ids.remove(uid);
                }
            }
        }
        touched.extend(new.map(|uid| self.add(id, uid)));
        touched
    }
}
