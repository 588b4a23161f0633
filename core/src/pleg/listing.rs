//! What a relist's listing says: everything, or what changed.

use super::{Engine, metrics::Tally, record::Record};
use crate::{id::Uid, pod::Pod, time::Time};
use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};

/// The pods of a listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Listing {
    /// All pods. Of two with one uid the last counts.
    Full(Vec<Arc<Pod>>),
    /// What changed since the last good listing. Every other pod is listed as before.
    Changed {
        /// Pods that are new, or differ in anything but their timestamp.
        pods: Vec<Arc<Pod>>,
        /// Pods that are no longer listed.
        gone: Vec<Uid>,
    },
}

impl Engine {
    /// Takes the listing over into the records and notes which of them are to be reconciled, in order.
    pub(super) fn record_listing(&mut self, listing: Listing, started: Time) {
        let uids = match listing {
            Listing::Full(pods) => self.record_all(pods),
            Listing::Changed { pods, gone } => self.record_changes(pods, gone, started),
        };
        self.drop_unlisted_conditions();
        let uids = self.in_order(uids);
        self.state.pending.extend(uids);
    }

    fn record_all(&mut self, pods: Vec<Arc<Pod>>) -> Vec<Uid> {
        let state = &mut self.state;
        state.records.values_mut().for_each(|record| record.listed = None);
        let (mut all, mut by_uid) = (Tally::default(), Tally::default());
        for pod in pods {
            all.add(&pod);
            let record = state.records.entry(pod.uid.clone()).or_default();
            by_uid.replace(record.listed.as_ref(), Some(&pod));
            record.listed = Some(pod);
        }
        state.listed = by_uid;
        // Upstream counts what was listed, a pod that came twice twice.
        state.metrics.set_running(&all);
        state.records.keys().cloned().collect()
    }

    fn record_changes(&mut self, pods: Vec<Arc<Pod>>, gone: Vec<Uid>, started: Time) -> Vec<Uid> {
        let waiting = self.waiting();
        for uid in &waiting {
            self.refresh(uid, started);
        }
        let mut uids = waiting;
        for pod in pods {
            uids.push(pod.uid.clone());
            let record = self.state.records.entry(pod.uid.clone()).or_default();
            self.state.listed.replace(record.listed.as_ref(), Some(&pod));
            record.listed = Some(pod);
        }
        for uid in gone {
            if let Some(record) = self.state.records.get_mut(&uid) {
                self.state.listed.replace(record.listed.as_ref(), None);
                record.listed = None;
                uids.push(uid);
            }
        }
        self.state.metrics.set_running(&self.state.listed);
        uids.sort_unstable();
        uids.dedup();
        uids
    }

    /// Pods to be looked at though they are listed as before.
    fn waiting(&self) -> Vec<Uid> {
        let state = &self.state;
        let uids = state.to_reinspect.iter().chain(&state.unsettled).chain(state.watch.watched());
        uids.cloned().collect()
    }

    /// A pod that is listed as before was still listed anew: an inspection takes the time of this listing.
    pub(super) fn refresh(&mut self, uid: &Uid, started: Time) {
        let Some(record) = self.state.records.get_mut(uid) else { return };
        if let Some(listed) = &mut record.listed {
            Arc::make_mut(listed).timestamp = started;
        }
    }

    fn drop_unlisted_conditions(&mut self) {
        let records = &self.state.records;
        self.state.watch.retain(|uid| records.get(uid).is_some_and(Record::is_listed));
    }

    /// Puts the pods that [`Engine::set_order`] named in front.
    fn in_order(&mut self, mut uids: Vec<Uid>) -> Vec<Uid> {
        if !self.order.is_empty() {
            let order = core::mem::take(&mut self.order);
            let mut rank = BTreeMap::new();
            for (place, uid) in order.iter().enumerate() {
                rank.entry(uid).or_insert(place);
            }
            uids.sort_by_key(|uid| rank.get(uid).copied().unwrap_or(usize::MAX));
            if let Some(relist) = &mut self.state.relist {
                relist.order = order;
            }
        }
        uids
    }
}
