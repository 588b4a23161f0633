//! Where a stream goes on after the socket was lost.
//!
//! An agent sends its recent past to every client that comes, also to one that comes again. What this one knows
//! already is passed over, to the very frame: the engine cannot take a relist in twice.

use pleg_core::wire::Frame;

/// The last frame taken in, and what is still to be passed over.
#[derive(Debug, Default)]
pub(super) struct Rejoin {
    /// Number of the last relist that began; 0 before the first.
    relist: u64,
    /// Frames of it that were taken in.
    frames: usize,
    ended: bool,
    passing: Option<Passing>,
}

#[derive(Clone, Copy, Debug)]
enum Passing {
    /// What comes belongs to relists before the last one known.
    Before,
    /// What comes belongs to the last one known, of which so many frames are known.
    Within(usize),
}

impl Rejoin {
    /// The socket was opened anew.
    pub(super) fn reopened(&mut self) {
        self.passing = (self.relist > 0).then_some(Passing::Before);
    }

    /// Whether a frame is news, and to be taken in.
    pub(super) fn takes(&mut self, frame: &Frame) -> bool {
        if self.passing.is_some() && !self.is_news(frame) {
            return false;
        }
        match frame {
            Frame::Relist(relist) => (self.relist, self.frames, self.ended) = (relist.n, 0, false),
            Frame::Checkpoint(checkpoint) => {
                (self.relist, self.frames, self.ended) = (checkpoint.relist, 0, true)
            }
            Frame::Calling(_) | Frame::Call(_) | Frame::Key(_) | Frame::Delta(_) => self.frames += 1,
            Frame::Done(_) => (self.frames, self.ended) = (self.frames + 1, true),
            Frame::Hello(_) | Frame::Tick(_) | Frame::Live {} | Frame::Gap(_) | Frame::Unknown(_) => {}
        }
        true
    }

    fn is_news(&mut self, frame: &Frame) -> bool {
        let still = match (frame, self.passing) {
            (Frame::Hello(_) | Frame::Unknown(_), _) => return true,
            // Its time is past.
            (Frame::Tick(_), _) => return false,
            (Frame::Relist(relist), _) if relist.n < self.relist => Some(Passing::Before),
            (Frame::Relist(relist), _) if relist.n == self.relist => Some(Passing::Within(self.frames)),
            (Frame::Checkpoint(checkpoint), passing)
                if checkpoint.relist < self.relist || self.ends_with(checkpoint.relist) =>
            {
                passing
            }
            (Frame::Relist(_) | Frame::Checkpoint(_) | Frame::Live {} | Frame::Gap(_), _) => None,
            (_, Some(Passing::Within(frames))) => frames.checked_sub(1).map(Passing::Within),
            (_, passing) => passing,
        };
        self.passing = still;
        still.is_none()
    }

    fn ends_with(&self, relist: u64) -> bool {
        self.ended && self.relist == relist
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{frames, lines};
    use pleg_core::{follow::Follower, wire::Tick};

    const TOLD: &str = "
        1000 shop/cart: ready, app running
        2000 ~500 shop/cart: ready, app exited 1; batch/export: ready, job running
        3000 shop/cart: ready, app exited 1, app#1 running; batch/export: ready, job exited 0
        4000 shop/cart: ready, app#1 running
    ";

    /// What is taken in of `before`, and of `again` after the socket was opened anew.
    fn taken(before: &[Frame], again: &[Frame]) -> Vec<Frame> {
        let mut rejoin = Rejoin::default();
        rejoin.reopened();
        let mut taken: Vec<Frame> = before.iter().filter(|frame| rejoin.takes(frame)).cloned().collect();
        rejoin.reopened();
        taken.extend(again.iter().filter(|frame| rejoin.takes(frame)).cloned());
        taken.retain(|frame| !matches!(frame, Frame::Hello(_) | Frame::Live {}));
        taken
    }

    #[test]
    fn a_stream_lost_at_any_frame_goes_on_there() {
        let mut all = frames(TOLD);
        let whole = all.get(1..).unwrap().to_vec();
        for cut in 1..all.len() {
            assert_eq!(taken(all.get(..cut).unwrap(), &all), whole, "lost after frame {cut}");
        }
        // Times that have passed are no news either.
        all.insert(5, Frame::Tick(Tick { mono: 1 }));
        assert_eq!(taken(&frames(TOLD), &all), whole);
    }

    #[test]
    fn a_past_that_begins_with_a_known_checkpoint_is_passed_over_too() {
        let all = frames(TOLD);
        let whole = all.get(1..).unwrap().to_vec();
        let mut follower = Follower::new();
        for (index, frame) in all.iter().enumerate() {
            follower.handle_frame(frame).unwrap();
            let Some(checkpoint) = follower.checkpoint().filter(|checkpoint| checkpoint.relist > 0) else {
                continue;
            };
            let start = [all.first().unwrap().clone(), Frame::Checkpoint(Box::new(checkpoint))];
            let past: Vec<Frame> = start.iter().chain(all.get(index + 1..).unwrap()).cloned().collect();
            for cut in index + 1..all.len() {
                assert_eq!(lines(&taken(all.get(..cut).unwrap(), &past)), lines(&whole), "lost after {cut}");
            }
        }
    }

    #[test]
    fn a_past_that_begins_later_is_taken_from_its_checkpoint() {
        let all = frames(TOLD);
        let mut follower = Follower::new();
        all.iter().for_each(|frame| follower.handle_frame(frame).unwrap());
        let checkpoint = Frame::Checkpoint(Box::new(follower.checkpoint().unwrap()));
        let begun =
            all.iter().position(|frame| matches!(frame, Frame::Relist(relist) if relist.n == 3)).unwrap();
        let before = all.get(..begun + 2).unwrap();
        let taken = taken(before, &[all.first().unwrap().clone(), checkpoint.clone(), Frame::Live {}]);
        assert_eq!(taken.last(), Some(&checkpoint));
    }
}
