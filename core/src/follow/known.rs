//! How much of a stream is known: what of a repeated past is news, to the very frame.
//!
//! An agent sends its recent past to every client that comes, also to one that comes again; a capture repeats
//! hello and checkpoint at the start of each segment. The engine cannot take a relist in twice.

use super::Checkpoint;
use crate::wire::Frame;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was not known before.
    News,
    /// It repeats what is known, or says nothing of the node: it was passed over.
    Repeated,
}

/// What is to be done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It goes on from what is known.
    Take,
    /// It is known.
    Repeated,
    /// It is news, but what lies between is missing.
    Lost,
}

/// The last frame that was taken in.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Number of the last relist that began; 0 before the first.
    relist: u64,
    /// Frames of it that were taken in.
    frames: usize,
    ended: bool,
    /// Number of the last frame of the stream of CRI events.
    stream: u64,
    sight: Sight,
    passing: Option<Passing>,
}

/// Whether the next frame goes on from the last one taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sight {
    #[default]
    Whole,
    /// Frames were dropped. What is known is right: a past that comes again may fill the gap.
    Gap,
    /// A frame did not fit. What is known may be wrong: any checkpoint is better.
    Broken,
}

/// Where a repeated past is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    /// In relists before the last one known.
    Before,
    /// In the last one known, of which so many frames are still to come again.
    Within(usize),
}

impl Known {
    pub(super) fn is_whole(&self) -> bool {
        self.sight == Sight::Whole
    }

    /// A frame that was taken did not fit.
    pub(super) fn broken(&mut self) {
        self.sight = Sight::Broken;
    }

    /// Judges a frame, and counts on that it is taken if it is to be. `mono` is the moment of the last one on the
    /// monotonic clock, which never goes back for one observer.
    pub(super) fn judge(&mut self, frame: &Frame, mono: i64) -> Verdict {
        match frame {
            Frame::Live {} => Verdict::Repeated,
            Frame::Gap(_) => self.gap(),
            Frame::Checkpoint(checkpoint) => self.checkpoint(checkpoint),
            Frame::Relist(relist) => self.relist(relist.n),
            Frame::Calling(_) | Frame::Call(_) | Frame::Key(_) | Frame::Delta(_) => self.part(false),
            Frame::Done(_) => self.part(true),
            Frame::Stream(stream) => self.stream(stream.n),
            Frame::Tick(tick) if tick.mono <= mono => Verdict::Repeated,
            Frame::Unknown(_) if self.passing.is_some() => Verdict::Repeated,
            Frame::Hello(_) | Frame::Tick(_) | Frame::Unknown(_) => self.next(),
        }
    }

    fn next(&self) -> Verdict {
        if self.is_whole() { Verdict::Take } else { Verdict::Lost }
    }

    fn gap(&mut self) -> Verdict {
        let repeated = self.passing.take().is_some();
        if self.is_whole() {
            self.sight = Sight::Gap;
        }
        if repeated { Verdict::Repeated } else { Verdict::Take }
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Verdict {
        let at_end = self.ended && checkpoint.relist == self.relist;
        let older = checkpoint.evented.last <= self.stream;
        if self.sight != Sight::Broken && older && (at_end || checkpoint.relist < self.relist) {
            self.sight = Sight::Whole;
            self.passing = (!at_end).then_some(Passing::Before);
            return Verdict::Repeated;
        }
        let stream = checkpoint.evented.last;
        *self = Self { relist: checkpoint.relist, ended: true, stream, ..Self::default() };
        Verdict::Take
    }

    /// The numbers of one observer's relists rise: one that does not is a past that comes again.
    fn relist(&mut self, n: u64) -> Verdict {
        if self.sight != Sight::Broken && n <= self.relist {
            self.sight = Sight::Whole;
            self.passing = Some(if n < self.relist { Passing::Before } else { Passing::Within(self.frames) });
            return Verdict::Repeated;
        }
        self.passing = None;
        if self.sight == Sight::Gap && self.ended && n == self.relist + 1 {
            // What was dropped lay between two relists: nothing is missing.
            self.sight = Sight::Whole;
        }
        if self.is_whole() {
            (self.relist, self.frames, self.ended) = (n, 0, false);
        }
        self.next()
    }

    /// A frame of the stream of CRI events.
    fn stream(&mut self, n: u64) -> Verdict {
        if self.sight != Sight::Broken && n <= self.stream {
            return Verdict::Repeated;
        }
        if self.is_whole() {
            self.stream = n;
        }
        self.next()
    }

    /// A frame of a relist.
    fn part(&mut self, ends: bool) -> Verdict {
        match self.passing {
            Some(Passing::Before) => return Verdict::Repeated,
            Some(Passing::Within(left)) if left > 0 => {
                self.passing = Some(Passing::Within(left - 1));
                return Verdict::Repeated;
            }
            Some(Passing::Within(_)) | None => self.passing = None,
        }
        if self.is_whole() {
            self.frames += 1;
            self.ended |= ends;
        }
        self.next()
    }
}
