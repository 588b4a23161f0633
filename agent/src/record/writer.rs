//! The thread that writes the capture.

use super::capture_file::{CaptureFile, Store};
use axum::extract::ws::Utf8Bytes;
use pleg_core::wire::{Frame, Gap};
use std::sync::{
    atomic::{AtomicBool, Ordering},
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

/// What a capture lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// Frames that were left out while the disk was full.
    pub(super) frames: u64,
    /// Whether what was to be written last was not.
    pub(super) end: bool,
}

/// Writes until the hub is gone, and says what is missing then. Sets `behind` when lines had to be dropped: only a new
/// segment can follow.
pub(super) fn write_all<S: Store>(
    queue: &Receiver<Message>,
    mut file: CaptureFile<S>,
    behind: &AtomicBool,
) -> Missing {
    let (mut dropped, mut missing) = (0, 0);
    while let Ok(message) = queue.recv() {
        match message {
            _ if file.is_full() => {
                dropped += 1;
                behind.store(true, Ordering::Relaxed);
                file.flush();
            }
            Message::Segment { head, lost } => {
                missing += dropped;
                push_gap(&mut file, std::mem::take(&mut dropped) + lost);
                file.end_segment();
                file.push(&head);
                file.flush();
            }
            Message::Line { .. } if dropped > 0 => dropped += 1,
            Message::Line { line, flush } => {
                file.push(&line);
                if flush {
                    file.flush();
                }
            }
        }
    }
    push_gap(&mut file, dropped);
    file.end_segment();
    Missing { frames: missing + dropped, end: !file.is_written() }
}

/// Says in the segment that ends what is missing before the next.
fn push_gap<S: Store>(file: &mut CaptureFile<S>, dropped: u64) {
    if dropped == 0 {
        return;
    }
    match Frame::Gap(Gap { dropped }).to_line() {
        Ok(line) => file.push(&line),
        Err(error) => tracing::error!(%error, "a gap cannot be recorded"),
    }
}
