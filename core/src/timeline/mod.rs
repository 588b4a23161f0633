//! What a person looks at: pods with their lanes and spans, and relists with their calls.
//!
//! ```text
//!  relist lane   ▕█▏▕█▏▕██████▒▒▒▒▒▒▏▕█▏       Relist: listing, then inspections; each with its calls
//!  pod  default/web-0                          Pod
//!    sandbox     ▕ready────────────────────    Lane ▸ Span (one attempt) ▸ Segment (one state)
//!    app         ▕running──▏exited▕running─
//!    marks          ▲          ✕      ▲        Mark: an event that PLEG sent, discarded or held back
//! ```
//!
//! All times are on the observer's time line; what the runtime's own clock says is kept beside them.

mod forget;
mod holes;
mod pods;
mod relists;

pub use holes::Hole;
pub use pods::{Lane, LaneKind, Mark, MarkKind, Place, Pod, Segment, Span};
pub use relists::{CallBar, Relist};

use crate::{
    id::{CriId, Uid},
    pleg::{Event, Listing},
    pod,
    time::Time,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

/// Everything seen so far.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pods: Vec<Pod>,
    by_uid: BTreeMap<Uid, usize>,
    places: BTreeMap<CriId, Place>,
    relists: Vec<Relist>,
    holes: Vec<Hole>,
}

impl Timeline {
    /// The pods, in the order of first sight.
    pub fn pods(&self) -> &[Pod] {
        &self.pods
    }

    /// The relists, oldest first. Only the last may still be running.
    pub fn relists(&self) -> &[Relist] {
        &self.relists
    }

    /// The relist that is running now.
    pub fn running(&self) -> Option<&Relist> {
        self.relists.last().filter(|relist| relist.end.is_none())
    }

    /// A pod by its UID.
    pub fn pod(&self, uid: &str) -> Option<&Pod> {
        self.pods.get(self.index_of(uid)?)
    }

    /// The index of a pod among [`Timeline::pods`], by its UID.
    pub fn index_of(&self, uid: &str) -> Option<usize> {
        self.by_uid.get(uid).copied()
    }

    /// Where the span of a sandbox or container is.
    pub fn place(&self, id: &str) -> Option<Place> {
        self.places.get(id).copied()
    }

    /// The span at a place, with its lane and its pod.
    pub fn at(&self, place: Place) -> Option<(&Pod, &Lane, &Span)> {
        let pod = self.pods.get(place.pod)?;
        let lane = pod.lanes.get(place.lane)?;
        Some((pod, lane, lane.spans.get(place.span)?))
    }

    /// The span of a sandbox or container, with its lane and its pod.
    pub fn find(&self, id: &str) -> Option<(&Pod, &Lane, &Span)> {
        self.at(self.place(id)?)
    }

    /// A listing shows this.
    pub(crate) fn listed(&mut self, seen: Time, listing: &Listing) {
        match listing {
            Listing::Full(pods) => {
                let listed: BTreeSet<&Uid> = pods.iter().map(|pod| &pod.uid).collect();
                for pod in self.pods.iter_mut().filter(|pod| !listed.contains(&pod.uid)) {
                    pod.end(seen);
                }
                pods.iter().for_each(|pod| self.pod_listed(seen, pod));
            }
            Listing::Changed { pods, gone } => {
                pods.iter().for_each(|pod| self.pod_listed(seen, pod));
                gone.iter().for_each(|uid| {
                    if let Some(pod) = self.pod_mut(uid) {
                        pod.end(seen);
                    }
                });
            }
        }
    }

    /// Forgets the relists after this one and what they did, because they come again.
    pub(crate) fn forget_relists_after(&mut self, n: u64) {
        self.relists.retain(|relist| relist.n <= n);
        let end = self.relists.last().and_then(|relist| relist.end);
        self.holes.retain(|hole| end.is_some_and(|end| hole.to <= end));
        for pod in &mut self.pods {
            pod.marks.retain(|mark| mark.relist <= n);
        }
    }

    fn pod_listed(&mut self, seen: Time, listed: &pod::Pod) {
        let index = self.pod_index(seen, listed);
        let Some(pod) = self.pods.get_mut(index) else { return };
        pod.gone = None;
        for container in listed.sandboxes.iter().rev() {
            let at = pod.see(LaneKind::Sandbox, container, seen);
            self.places.insert(container.id.id.clone(), Place { pod: index, ..at });
        }
        for container in listed.containers.iter().rev() {
            let at = pod.see(LaneKind::Container(container.name.clone()), container, seen);
            self.places.insert(container.id.id.clone(), Place { pod: index, ..at });
        }
        let listed_ids = |id: &CriId| {
            listed.sandboxes.iter().chain(&listed.containers).any(|container| container.id.id == *id)
        };
        pod.end_all_but(seen, listed_ids);
    }

    /// An inspection found this.
    pub(crate) fn pod_inspected(&mut self, status: &pod::PodStatus) {
        let Some(pod) = self.pod_mut(&status.uid) else { return };
        pod.ips.clone_from(&status.ips);
        for container in &status.containers {
            pod.learn(container);
        }
    }

    /// PLEG sent or discarded an event.
    pub(crate) fn event(&mut self, time: Time, event: &Event, discarded: bool) {
        let relist = self.count(|relist| if discarded { &mut relist.discarded } else { &mut relist.events });
        let kind = MarkKind::Event { kind: event.kind, discarded };
        self.mark(&event.uid, Mark { time, relist, id: event.data.clone(), kind });
    }

    /// PLEG holds a pod's events back.
    pub(crate) fn held(&mut self, time: Time, uid: &Uid, error: Arc<str>) {
        let relist = self.count(|relist| &mut relist.held);
        self.mark(uid, Mark { time, relist, id: None, kind: MarkKind::Held { error } });
    }

    /// Counts one in the last relist. Returns the relist's number, 0 when there is none.
    fn count(&mut self, counter: impl FnOnce(&mut Relist) -> &mut u32) -> u64 {
        self.relists.last_mut().map_or(0, |relist| {
            *counter(relist) += 1;
            relist.n
        })
    }

    fn mark(&mut self, uid: &Uid, mark: Mark) {
        if let Some(pod) = self.pod_mut(uid) {
            pod.marks.push(mark);
        }
    }

    pub(crate) fn relists_mut(&mut self) -> &mut Vec<Relist> {
        &mut self.relists
    }

    fn pod_mut(&mut self, uid: &Uid) -> Option<&mut Pod> {
        self.pods.get_mut(*self.by_uid.get(uid)?)
    }

    fn pod_index(&mut self, seen: Time, listed: &pod::Pod) -> usize {
        if let Some(index) = self.by_uid.get(&listed.uid) {
            return *index;
        }
        let index = self.pods.len();
        self.pods.push(Pod::new(seen, listed));
        self.by_uid.insert(listed.uid.clone(), index);
        index
    }
}
