//! What the frames say. The part that a worker can hold.

use pleg_core::{
    follow::{Checkpoint, EventLine, FollowError, Follower, Taken},
    pleg::Health,
    time::Time,
    timeline::Timeline,
    wire::{Frame, Hello},
};

/// What the frames say.
#[derive(Default)]
pub struct Model {
    follower: Follower,
    events: Vec<EventLine>,
    frames: u64,
    revision: u64,
    live: bool,
}

impl Model {
    /// Reads one frame, and says whether it was news.
    ///
    /// # Errors
    /// When it does not fit those before; what was derived so far stays.
    pub fn handle_frame(&mut self, frame: &Frame) -> Result<Taken, FollowError> {
        self.frames += 1;
        self.revision += 1;
        self.live |= matches!(frame, Frame::Live {});
        let result = self.follower.handle_frame(frame);
        while let Some(event) = self.follower.poll_event() {
            self.events.push(event);
        }
        result
    }

    /// Forgets what ended before `time`. To be called between two relists. Returns the number of events forgotten.
    pub fn forget_before(&mut self, time: Time) -> usize {
        self.follower.forget_before(time);
        self.revision += 1;
        let forgotten = self.events.partition_point(|event| event.time < time);
        self.events.drain(..forgotten);
        forgotten
    }

    /// Number of frames read.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Changes with every frame, and with every filter.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the past was received in full, and what comes is live.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// The events, oldest first.
    pub fn events(&self) -> &[EventLine] {
        &self.events
    }

    /// The hello of the observer.
    pub fn hello(&self) -> Option<&Hello> {
        self.follower.hello()
    }

    /// Pods and relists.
    pub fn timeline(&self) -> &Timeline {
        self.follower.timeline()
    }

    /// Time of the last frame.
    pub fn now(&self) -> Time {
        self.follower.now()
    }

    /// What the kubelet's health check would say.
    pub fn health(&self, now: Time) -> Health {
        self.follower.health(now)
    }

    /// What follows the frames: the kubelet as it is at the newest moment.
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// All that a reader needs to go on from here; none while a relist runs.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.follower.checkpoint()
    }

    /// When the data begin.
    pub fn start(&self) -> Time {
        let first = self.timeline().relists().first().map(|relist| relist.start);
        first.or_else(|| self.hello().map(|hello| Time(hello.wall))).unwrap_or_default()
    }
}
