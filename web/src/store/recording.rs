//! What was received over the socket, kept to be saved as a capture.

use pleg_core::{
    follow::Checkpoint,
    wire::{Frame, Hello},
};
use std::{collections::VecDeque, mem};

/// Bytes kept in all. What is older is dropped.
const CAPACITY: usize = 64 << 20;
/// Bytes after which a new segment begins, at the next end of a relist.
const SEGMENT: usize = 2 << 20;

/// Lines in segments that each stand for themselves, so that the oldest can be dropped.
#[derive(Debug, Default)]
pub struct Recording {
    whole: VecDeque<String>,
    current: String,
    bytes: usize,
    dropped: bool,
}

impl Recording {
    /// Adds received lines.
    pub fn push(&mut self, lines: &str) {
        self.current.push_str(lines);
        self.bytes += lines.len();
        if !lines.is_empty() && !lines.ends_with('\n') {
            self.current.push('\n');
            self.bytes += 1;
        }
    }

    /// Whether it is time for a new segment.
    pub fn is_segment_full(&self) -> bool {
        self.current.len() >= SEGMENT
    }

    /// Begins a new segment, with what a reader needs that has nothing before it.
    pub fn begin_segment(&mut self, hello: &Hello, checkpoint: Checkpoint) {
        let start = [Frame::Hello(Box::new(hello.clone())), Frame::Checkpoint(Box::new(checkpoint))];
        // Writing known frames to memory cannot fail; without them the segment would go on.
        let Ok(start) = start.iter().map(Frame::to_line).collect::<Result<String, _>>() else { return };
        self.bytes += start.len();
        self.whole.push_back(mem::replace(&mut self.current, start));
        while self.bytes > CAPACITY {
            let Some(oldest) = self.whole.pop_front() else { break };
            self.bytes -= oldest.len();
            self.dropped = true;
        }
    }

    /// The lines, oldest first.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.whole.iter().chain([&self.current]).map(String::as_str)
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether older lines were dropped.
    pub fn has_dropped(&self) -> bool {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{follow, frames, lines};
    use pleg_core::{follow::Follower, wire::CaptureReader};

    fn read(recording: &Recording) -> Follower {
        let (mut reader, mut read) = (CaptureReader::new(), Vec::new());
        recording.parts().for_each(|part| reader.push(part.as_bytes(), &mut read).unwrap());
        assert_eq!(reader.finish().unwrap(), None);
        let mut follower = Follower::new();
        for frame in &read {
            follower.handle_frame(frame).unwrap();
        }
        follower
    }

    #[test]
    fn a_saved_capture_is_what_was_received() {
        let received = lines(&frames("1000 shop/cart: ready, app running"));
        let mut recording = Recording::default();
        received.lines().for_each(|line| recording.push(line));
        assert_eq!(recording.parts().collect::<String>(), received);
        assert_eq!(read(&recording).timeline().relists().len(), 1);
    }

    #[test]
    fn the_oldest_segment_goes_when_there_are_too_many_bytes() {
        let told = "1000 shop/cart: ready, app running";
        let follower = follow(told);
        let mut recording = Recording::default();
        recording.push(&lines(&frames(told)));
        while !recording.has_dropped() {
            // Any line of a kind that is passed over will do.
            recording.push(&format!("{{\"padding\":\"{}\"}}\n", "x".repeat(SEGMENT)));
            assert!(recording.is_segment_full());
            recording.begin_segment(follower.hello().unwrap(), follower.checkpoint().unwrap());
            assert_eq!(recording.parts().map(str::len).sum::<usize>(), recording.bytes());
        }
        assert!(recording.bytes() <= CAPACITY && recording.bytes() > CAPACITY - 2 * SEGMENT);
        let rest = read(&recording);
        assert_eq!((rest.timeline().relists().len(), rest.timeline().pods().len()), (0, 1));
    }
}
