//! The thread that writes the capture.

use super::capture_file::{CaptureFile, Store};
use axum::extract::ws::Utf8Bytes;
use pleg_core::wire::{Frame, Gap};
use std::sync::{
    atomic::{AtomicBool, AtomicU64, Ordering},
    mpsc::Receiver,
};

/// What the hub sends.
#[derive(Debug)]
pub(super) enum Message {
    /// A segment begins with these lines; before it, this many frames were lost.
    Segment { head: Utf8Bytes, lost: u64 },
    /// A line of the open segment; with `flush` it ends what must survive together.
    Line { line: Utf8Bytes, flush: bool },
}

/// What both ends of the queue know of each other.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Messages that the writer has taken.
    pub(super) taken: AtomicU64,
    /// The writer left out lines: only a new segment can follow.
    pub(super) behind: AtomicBool,
    /// There is no room for a segment now.
    pub(super) full: AtomicBool,
    /// Frames left out before the queue when it was closed.
    pub(super) lost_at_end: AtomicU64,
}

/// What a capture lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// Frames that were left out while the disk was full.
    pub(super) frames: u64,
    /// Whether what was to be written last was not.
    pub(super) end: bool,
}

/// Writes until the hub is gone, and says what is missing then.
pub(super) fn write_all<S: Store>(
    queue: &Receiver<Message>,
    file: CaptureFile<S>,
    progress: &Progress,
) -> Missing {
    let mut writer = Writer { file, dropped: 0, missing: 0, lost: 0 };
    while let Ok(message) = queue.recv() {
        progress.taken.fetch_add(1, Ordering::Relaxed);
        if writer.file.is_full() {
            writer.leave_out(&message);
            progress.behind.store(true, Ordering::Relaxed);
        } else {
            writer.write(message);
        }
        progress.full.store(!writer.file.has_room(), Ordering::Relaxed);
    }
    writer.lost += progress.lost_at_end.load(Ordering::Relaxed);
    writer.end()
}

/// The file, and what is not yet said in it to be missing.
struct Writer<S> {
    file: CaptureFile<S>,
    /// Frames left out here.
    dropped: u64,
    /// Frames left out here and told.
    missing: u64,
    /// Frames left out before the queue, which who sends counts.
    lost: u64,
}

impl<S: Store> Writer<S> {
    /// Leaves out what the disk has no room for, and tries whether it has by now.
    fn leave_out(&mut self, message: &Message) {
        match message {
            Message::Line { .. } => self.dropped += 1,
            // What a segment begins with repeats what is known: nothing is lost with it but what it tells.
            Message::Segment { lost, .. } => self.lost += lost,
        }
        self.file.flush();
    }

    fn write(&mut self, message: Message) {
        match message {
            Message::Segment { head, lost } => {
                self.lost += lost;
                self.push_gap();
                self.file.end_segment();
                self.file.push(&head);
                self.file.flush();
            }
            // Without the frames before it, it says nothing.
            Message::Line { .. } if self.dropped + self.lost > 0 => self.leave_out(&message),
            Message::Line { line, flush } => {
                self.file.push(&line);
                if flush {
                    self.file.flush();
                }
            }
        }
    }

    fn end(mut self) -> Missing {
        self.push_gap();
        self.file.end_segment();
        Missing { frames: self.missing, end: !self.file.is_written() }
    }

    /// Says in the segment that ends what is missing before the next.
    fn push_gap(&mut self) {
        let gap = Gap { dropped: self.dropped + std::mem::take(&mut self.lost) };
        self.missing += std::mem::take(&mut self.dropped);
        if gap.dropped == 0 {
            return;
        }
        match Frame::Gap(gap).to_line() {
            Ok(line) => self.file.push(&line),
            Err(error) => tracing::error!(%error, "a gap cannot be recorded"),
        }
    }
}
