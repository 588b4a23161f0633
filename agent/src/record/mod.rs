//! Records the stream to a capture file, from a thread of its own: a slow disk costs nobody else.

mod capture_file;
mod writer;

use anyhow::Context as _;
use axum::extract::ws::Utf8Bytes;
use capture_file::CaptureFile;
use pleg_core::time::{Nanos, SECOND, Time};
use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};
use writer::Message;

/// A segment is closed after this time, in nanoseconds.
const SEGMENT_AGE: Nanos = 600 * SECOND;
/// A segment is closed at this size, in bytes of text.
const SEGMENT_BYTES: usize = 4 << 20;
/// Bytes that are kept for a disk that does not take them.
const BACKLOG: usize = 16 << 20;
/// Lines that may wait for the writer.
const CAPACITY: usize = 4096;
/// How long a disk that hangs may delay our end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The end of the recorder that the hub holds.
#[derive(Debug)]
pub(crate) struct Recorder {
    messages: SyncSender<Message>,
    done: Receiver<()>,
    /// Set by the writer when it had to drop lines: it needs a new segment to go on.
    behind: Arc<AtomicBool>,
    start: Option<Time>,
    bytes: usize,
    lost: u64,
}

impl Recorder {
    /// Begins a capture file.
    ///
    /// # Errors
    /// When the file exists and `force` is not given, or cannot be created.
    pub(crate) fn create(path: &Path, force: bool) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(force).create_new(!force);
        let file = options.open(path).map_err(|error| refusal(path, error))?;
        Self::start(file).with_context(|| format!("cannot record to {}", path.display()))
    }

    fn start(file: File) -> io::Result<Self> {
        let (messages, queue) = sync_channel(CAPACITY);
        let (finished, done) = sync_channel(1);
        let behind = Arc::new(AtomicBool::new(false));
        let capture = CaptureFile::new(file, BACKLOG);
        let writers_behind = Arc::clone(&behind);
        thread::Builder::new().name("record".to_owned()).spawn(move || {
            writer::write_all(&queue, capture, &writers_behind);
            drop(finished);
        })?;
        Ok(Self { messages, done, behind, start: None, bytes: 0, lost: 0 })
    }

    /// Whether a new segment is to be begun at the next occasion.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.lost > 0
            || self.bytes >= SEGMENT_BYTES
            || self.start.is_none_or(|start| now.since(start) >= SEGMENT_AGE)
            || self.behind.load(Ordering::Relaxed)
    }

    /// Begins a segment, with lines that hold all that a reader needs.
    pub(crate) fn begin_segment(&mut self, head: Utf8Bytes, now: Time) {
        self.behind.store(false, Ordering::Relaxed);
        if self.messages.try_send(Message::Segment { head, lost: self.lost }).is_ok() {
            (self.start, self.bytes, self.lost) = (Some(now), 0, 0);
        } else {
            self.lose();
        }
    }

    /// Records a line; with `flush` so that it survives our end.
    pub(crate) fn push(&mut self, line: &Utf8Bytes, flush: bool) {
        if self.lost > 0 || self.messages.try_send(Message::Line { line: line.clone(), flush }).is_err() {
            self.lose();
        } else {
            self.bytes = self.bytes.saturating_add(line.len());
        }
    }

    fn lose(&mut self) {
        if self.lost == 0 {
            tracing::warn!("the disk is too slow for the capture: frames are left out of it");
        }
        self.lost += 1;
    }

    /// Writes what waits and closes the file.
    pub(crate) fn close(self) {
        drop(self.messages);
        // Nothing is ever sent back: that the writer's end is dropped is the message.
        if self.done.recv_timeout(CLOSE_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            tracing::error!("the disk hangs: the end of the capture is not written");
        }
    }
}

fn refusal(path: &Path, error: io::Error) -> anyhow::Error {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            anyhow::anyhow!("{path} exists already: choose another name, or overwrite it with --force")
        }
        _ => anyhow::Error::new(error).context(format!("cannot create {path}")),
    }
}

#[cfg(test)]
mod tests;
