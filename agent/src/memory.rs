//! How much of what it saw a follower of this program keeps: what runs for months, or reads a capture of months, stays
//! small.

use pleg_core::{
    follow::Follower,
    time::{Nanos, SECOND, Time},
};

/// How much of its timeline is kept, in nanoseconds: enough to name whatever an event is about.
const REMEMBER: Nanos = 600 * SECOND;
/// Forgetting goes through all that is kept, so it is done no more often than this, in nanoseconds.
const STEP: Nanos = 60 * SECOND;

/// Forgets what is old.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    last: Time,
}

impl Memory {
    /// To be called between two relists.
    pub(crate) fn forget_old(&mut self, follower: &mut Follower) {
        let now = follower.now();
        // Another observer's time may lie before.
        if now.since(self.last).saturating_abs() >= STEP {
            self.last = now;
            follower.forget_before(now - REMEMBER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hello;
    use pleg_core::wire::{Done, Frame, Relist};

    #[test]
    fn the_last_minutes_are_kept_also_of_an_observer_whose_clock_is_behind() {
        let (mut memory, mut follower) = (Memory::default(), Follower::new());
        for start in [5_000_000, 0] {
            let mut hello = hello();
            (hello.mono, hello.wall) = (start * SECOND, start * SECOND);
            follower.handle_frame(&Frame::Hello(Box::new(hello))).unwrap();
            for n in 1..=2_000_u32 {
                let mono = (start + i64::from(n)) * SECOND;
                follower.handle_frame(&Frame::Relist(Relist { n: n.into(), wall: mono, mono })).unwrap();
                follower.handle_frame(&Frame::Done(Done { at: 0 })).unwrap();
                memory.forget_old(&mut follower);
            }
            let kept = follower.timeline().relists().len();
            assert!((600..=660).contains(&kept), "{kept}");
        }
    }
}
