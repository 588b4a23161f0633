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
