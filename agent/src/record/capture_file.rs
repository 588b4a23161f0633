//! A capture file: gzip members, each a segment of its own, written so that it can be cut anywhere.

use flate2::{Compression, write::GzEncoder};
use std::{
    fs::File,
    io::{self, Write},
};

/// Where the bytes go: a file, or a test's stand-in for a full disk.
pub(super) trait Store: Write {
    /// Makes room for a new capture: what an old one left here goes.
    fn clear(&mut self) -> io::Result<()>;
    /// Makes what was written survive the machine.
    fn sync(&mut self) -> io::Result<()>;
}

impl Store for File {
    fn clear(&mut self) -> io::Result<()> {
        // A pipe or a device holds nothing, and refuses to be cut.
        if self.metadata()?.len() > 0 { self.set_len(0) } else { Ok(()) }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Compresses lines, and keeps what the disk does not take until it does.
#[derive(Debug)]
pub(super) struct CaptureFile<S> {
    store: S,
    backlog: usize,
    member: GzEncoder<Vec<u8>>,
    begun: bool,
    pending: Vec<u8>,
    cleared: bool,
    failing: bool,
}

impl<S: Store> CaptureFile<S> {
    /// A file that keeps up to `backlog` bytes while the disk does not take them.
    pub(super) fn new(store: S, backlog: usize) -> Self {
        let (member, pending) = (encoder(), Vec::new());
        Self { store, backlog, member, begun: false, pending, cleared: false, failing: false }
    }

    /// Whether the disk has refused so much that lines have to be dropped.
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() > self.backlog
    }

    /// Whether there is room for a new segment, and for what follows it.
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() <= self.backlog / 2
    }

    /// Adds a line to the open segment.
    pub(super) fn push(&mut self, line: &str) {
        self.begun = true;
        // The encoder writes to memory, which does not fail.
        if let Err(error) = self.member.write_all(line.as_bytes()) {
            tracing::error!(%error, "a line of the capture cannot be compressed");
        }
    }

    /// Writes all lines so far so that a reader gets them whole, whatever follows.
    pub(super) fn flush(&mut self) {
        if let Err(error) = self.member.flush() {
            tracing::error!(%error, "the capture cannot be compressed");
        }
        self.pending.append(self.member.get_mut());
        self.write_pending();
    }

    /// Ends the segment; the next line begins a new one.
    pub(super) fn end_segment(&mut self) {
        if !std::mem::take(&mut self.begun) {
            return;
        }
        match std::mem::replace(&mut self.member, encoder()).finish() {
            Ok(mut rest) => self.pending.append(&mut rest),
            Err(error) => tracing::error!(%error, "a segment of the capture cannot be ended"),
        }
        self.write_pending();
        if !self.failing
            && let Err(error) = self.store.sync()
        {
            tracing::warn!(%error, "the capture is written but not yet safe on the disk");
        }
    }

    /// Whether everything is written.
    pub(super) fn is_written(&self) -> bool {
        self.pending.is_empty()
    }

    /// Before the first byte is written, and not earlier: a run that never gets so far leaves an old capture alone.
    fn clear(&mut self) -> io::Result<()> {
        if !self.cleared && !self.pending.is_empty() {
            self.store.clear()?;
            self.cleared = true;
        }
        Ok(())
    }

    fn write_pending(&mut self) {
        let (written, result) = match self.clear() {
            Ok(()) => write_some(&mut self.store, &self.pending),
            Err(error) => (0, Err(error)),
        };
        self.pending.drain(..written);
        match result {
            Ok(()) if std::mem::take(&mut self.failing) => {
                tracing::info!("the capture is written again");
            }
            Ok(()) => {}
            Err(error) if !std::mem::replace(&mut self.failing, true) => {
                tracing::warn!(%error, "the capture cannot be written now; trying again after each relist");
            }
            Err(_) => {}
        }
    }
}

fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

/// As `write_all`, but says how much was written before the error.
fn write_some(store: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match store.write(rest) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}
