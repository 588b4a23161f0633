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

/// Writes until the hub is gone. Sets `behind` when lines had to be dropped: only a new segment can follow.
pub(super) fn write_all<S: Store>(queue: &Receiver<Message>, mut file: CaptureFile<S>, behind: &AtomicBool) {
    let mut dropped = 0;
    while let Ok(message) = queue.recv() {
        match message {
            _ if file.is_full() => {
                dropped += 1;
                behind.store(true, Ordering::Relaxed);
                file.flush();
            }
            Message::Segment { head, lost } => {
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
    file.end_segment();
    if !file.is_written() {
        tracing::error!("the end of the capture could not be written");
    }
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
