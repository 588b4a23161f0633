//! The kubelet's relist loop: what is to be done when, without a clock.

use super::{Engine, RelistRequest};
use crate::{id::Uid, time::Time};

/// `Start`, `Stop` and the goroutine between them (generic.go v1.36.2). Before v1.36 the loop had no queue; with
/// a profile without requests it is the same.
///
/// Ask [`RelistLoop::turn`] what to do, do it, and report the end of a relist of all pods to
/// [`RelistLoop::handle_relisted`]: the period counts from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelistLoop {
    running: bool,
    /// When the timer fires; none while a relist of all pods runs, and when stopped.
    timer: Option<Time>,
}

/// One turn of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Relist all pods now.
    Relist,
    /// Relist this pod now.
    RelistPod(Uid),
    /// A request was dropped without a word: a relist of all pods began after it.
    RequestVoid(Uid),
    /// Nothing is to be done before this time, unless a request or a stop comes in.
    WaitUntil(Time),
    /// A relist of all pods runs: its end is awaited.
    Busy,
    /// The loop does not run.
    Stopped,
}

impl RelistLoop {
    /// Starts the loop with a timer that fires at once. Nothing happens when it runs already.
    pub fn start(&mut self, now: Time) {
        if !self.running {
            *self = Self { running: true, timer: Some(now) };
        }
    }

    /// Stops the loop. A relist that runs is finished.
    pub fn stop(&mut self) {
        *self = Self::default();
    }

    /// What to do now. A timer that fired wins over the queue of requests.
    pub fn turn(&mut self, now: Time, engine: &mut Engine) -> Turn {
        if !self.running {
            return Turn::Stopped;
        }
        if self.timer.is_some_and(|fires| fires <= now) {
            self.timer = None;
            return Turn::Relist;
        }
        let Some(fires) = self.timer else { return Turn::Busy };
        match engine.next_request() {
            Some(RelistRequest::Fresh(uid)) => Turn::RelistPod(uid),
            Some(RelistRequest::Void(uid)) => Turn::RequestVoid(uid),
            None => Turn::WaitUntil(fires),
        }
    }

    /// A relist of all pods ended: the next begins a period later.
    pub fn handle_relisted(&mut self, now: Time, engine: &Engine) {
        if self.running {
            self.timer = Some(now + engine.config().relist_period);
        }
    }
}
