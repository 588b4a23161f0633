//! Records the stream to a capture file, from a thread of its own: a slow disk costs nobody else.

mod capture_file;
mod writer;

use anyhow::Context as _;
use axum::extract::ws::Utf8Bytes;
use capture_file::{CaptureFile, Store};
use pleg_core::time::{Nanos, SECOND, Time};
use std::{
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};
use writer::{Message, Missing, Progress};

/// A segment is closed after this time, in nanoseconds.
const SEGMENT_AGE: Nanos = 600 * SECOND;
/// A segment is closed at this size, in bytes of text.
const SEGMENT_BYTES: usize = 4 << 20;
/// Bytes that are kept for a disk that does not take them.
const BACKLOG: usize = 16 << 20;
/// Lines that may wait for the writer.
const CAPACITY: usize = 4096;
/// Lines that may still wait when frames were left out and the recorder goes on.
const CAPACITY_TO_GO_ON: u64 = CAPACITY as u64 / 2;
/// How long a disk that hangs may delay our end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The end of the recorder that the hub holds.
#[derive(Debug)]
pub(crate) struct Recorder {
    messages: SyncSender<Message>,
    path: PathBuf,
    done: Receiver<Missing>,
    progress: Arc<Progress>,
    /// Messages sent; more than the writer took by those that wait.
    sent: u64,
    start: Option<Time>,
    bytes: usize,
    /// Frames left out since the last segment began.
    lost: u64,
    /// Frames left out of all segments before.
    left_out: u64,
}

impl Recorder {
    /// Begins a capture file. What an old one holds is kept until the first bytes of the new are written.
    ///
    /// # Errors
    /// When the file exists and `force` is not given, or cannot be created.
    pub(crate) fn create(path: &Path, force: bool) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        // What is in it needed root to be read: labels and annotations of all pods.
        options.mode(0o600).write(true).create(true).truncate(false).create_new(!force);
        let file = options.open(path).map_err(|error| refusal(path, error))?;
        Self::start(path, file, BACKLOG).with_context(|| format!("cannot record to {}", path.display()))
    }

    fn start(path: &Path, store: impl Store + Send + 'static, backlog: usize) -> io::Result<Self> {
        let (messages, queue) = sync_channel(CAPACITY);
        let (finished, done) = sync_channel(1);
        let progress = Arc::new(Progress::default());
        let capture = CaptureFile::new(store, backlog);
        let writers = Arc::clone(&progress);
        thread::Builder::new().name("record".to_owned()).spawn(move || {
            let missing = writer::write_all(&queue, capture, &writers);
            // Who closes the capture may have given up waiting.
            finished.send(missing).unwrap_or_default();
        })?;
        let path = path.to_owned();
        Ok(Self { messages, path, done, progress, sent: 0, start: None, bytes: 0, lost: 0, left_out: 0 })
    }

    /// Whether a new segment is to be begun at the next occasion. After frames were left out it is, as soon as there
    /// is room for one: what it begins with is as large as the node, and is not to be made in vain.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        let has_room = self.waiting() <= CAPACITY_TO_GO_ON && !self.progress.full.load(Ordering::Relaxed);
        let is_behind = self.lost > 0 || self.progress.behind.load(Ordering::Relaxed);
        let is_old = self.start.is_none_or(|start| now.since(start) >= SEGMENT_AGE);
        has_room && (is_behind || is_old || self.bytes >= SEGMENT_BYTES)
    }

    /// Messages that the writer has not taken yet.
    fn waiting(&self) -> u64 {
        self.sent.saturating_sub(self.progress.taken.load(Ordering::Relaxed))
    }

    /// Begins a segment, with lines that hold all that a reader needs.
    pub(crate) fn begin_segment(&mut self, head: Utf8Bytes, now: Time) {
        let behind = self.progress.behind.swap(false, Ordering::Relaxed);
        if self.send(Message::Segment { head, lost: self.lost }) {
            self.left_out += self.lost;
            (self.start, self.bytes, self.lost) = (Some(now), 0, 0);
        } else {
            // Nothing is lost: the segment before goes on.
            self.progress.behind.fetch_or(behind, Ordering::Relaxed);
        }
    }

    /// Records a line; with `flush` so that it survives our end.
    pub(crate) fn push(&mut self, line: &Utf8Bytes, flush: bool) {
        if self.lost > 0 || !self.send(Message::Line { line: line.clone(), flush }) {
            self.lose();
        } else {
            self.bytes = self.bytes.saturating_add(line.len());
        }
    }

    /// Whether there was room for it.
    fn send(&mut self, message: Message) -> bool {
        let sent = self.messages.try_send(message).is_ok();
        self.sent += u64::from(sent);
        sent
    }

    fn lose(&mut self) {
        if self.lost == 0 {
            tracing::warn!("the disk is too slow for the capture: frames are left out of it");
        }
        self.lost += 1;
    }

    /// Writes what waits and closes the file.
    ///
    /// # Errors
    /// When frames are missing from it, with how many.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        self.progress.lost_at_end.store(self.lost, Ordering::Relaxed);
        drop(self.messages);
        let path = self.path.display();
        let missing = self.done.recv_timeout(CLOSE_TIMEOUT).map_err(|error| match error {
            RecvTimeoutError::Timeout => anyhow::anyhow!("the disk hangs: the end of {path} is not written"),
            RecvTimeoutError::Disconnected => {
                anyhow::anyhow!("the writer of {path} broke down: please report this")
            }
        })?;
        let frames = missing.frames + self.left_out + self.lost;
        anyhow::ensure!(!missing.end, "the end of {path} could not be written: is the disk full?");
        anyhow::ensure!(
            frames == 0,
            "{frames} frames are missing from {path}: its disk was full or too slow"
        );
        Ok(())
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
