//! What others ask of PLEG (v1.36): to inspect a pod again, to relist one now.

use super::{Engine, Output, REQUEST_CAPACITY};
use crate::{id::Uid, time::Time};

/// A relist request taken out of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelistRequest {
    /// Relist this pod now, with [`Engine::handle_pod_relist`].
    Fresh(Uid),
    /// A good listing of all pods began after the request, or with it: nothing is to be done.
    Void(Uid),
}

impl Engine {
    /// `RequestReinspect`: inspect this pod in the next relist though nothing changed, and send `PodSync`; in the running
    /// one if the pod's turn is still to come. A uid without a record waits for one. A request that arrives during
    /// the pod's inspection is kept for the relist after.
    pub fn request_reinspect(&mut self, uid: &Uid) {
        if self.config.profile.requests {
            self.state.to_reinspect.insert(uid.clone());
            self.join_relist(uid);
        } else {
            self.ignore("request_reinspect");
        }
    }

    /// `RequestRelist`: queue an on-demand relist of one pod. Ends in [`Output::RequestDropped`] when
    /// [`REQUEST_CAPACITY`] requests wait already.
    pub fn request_relist(&mut self, now: Time, uid: &Uid) {
        if !self.config.profile.requests {
            self.ignore("request_relist");
        } else if self.state.requests.len() < REQUEST_CAPACITY {
            self.state.requests.push_back((uid.clone(), now));
        } else {
            self.push(Output::RequestDropped { uid: uid.clone() });
        }
    }

    /// Takes the oldest relist request out of the queue.
    pub fn next_request(&mut self) -> Option<RelistRequest> {
        let (uid, requested) = self.state.requests.pop_front()?;
        let fresh = self.state.relist_time.is_none_or(|relist_time| requested > relist_time);
        Some(if fresh { RelistRequest::Fresh(uid) } else { RelistRequest::Void(uid) })
    }
}
