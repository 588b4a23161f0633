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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pleg::{Config, Listing},
        time::SECOND,
    };
    use alloc::vec;

    fn relist(relist_loop: &mut RelistLoop, engine: &mut Engine, from: i64, to: i64) {
        engine.handle_relist(Time(from));
        engine.handle_listed(Time(to), Listing::Full(vec![]));
        relist_loop.handle_relisted(Time(to), engine);
    }

    #[test]
    fn the_period_counts_from_the_end_and_the_timer_wins() {
        let (mut relist_loop, mut engine) = (RelistLoop::default(), Engine::new(Config::default()));
        assert_eq!(relist_loop.turn(Time(0), &mut engine), Turn::Stopped);
        relist_loop.start(Time(0));
        assert_eq!(relist_loop.turn(Time(0), &mut engine), Turn::Relist);
        assert_eq!(relist_loop.turn(Time(1), &mut engine), Turn::Busy);
        relist(&mut relist_loop, &mut engine, 0, 7);
        assert_eq!(relist_loop.turn(Time(7), &mut engine), Turn::WaitUntil(Time(SECOND + 7)));
        engine.request_relist(Time(8), &"p".into());
        engine.request_relist(Time(9), &"q".into());
        assert_eq!(relist_loop.turn(Time(9), &mut engine), Turn::RelistPod("p".into()));
        assert_eq!(relist_loop.turn(Time(SECOND + 7), &mut engine), Turn::Relist);
        relist(&mut relist_loop, &mut engine, SECOND + 7, SECOND + 7);
        assert_eq!(relist_loop.turn(Time(SECOND + 8), &mut engine), Turn::RequestVoid("q".into()));
    }

    #[test]
    fn a_stopped_loop_starts_no_other_relist() {
        let (mut relist_loop, mut engine) = (RelistLoop::default(), Engine::new(Config::default()));
        relist_loop.start(Time(0));
        assert_eq!(relist_loop.turn(Time(0), &mut engine), Turn::Relist);
        relist_loop.stop();
        relist(&mut relist_loop, &mut engine, 0, 7);
        assert_eq!(relist_loop.turn(Time(2 * SECOND), &mut engine), Turn::Stopped);
    }
}
