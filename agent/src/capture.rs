//! A capture on disk, frame by frame.

use anyhow::Context as _;
use pleg_core::wire::{CaptureReader, CutShort, Frame};
use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Bytes read from the file at once.
const PIECE: usize = 64 << 10;

/// A capture that is being read.
pub(crate) struct Capture {
    path: PathBuf,
    input: Box<dyn Read + Send>,
    reader: CaptureReader,
    frames: VecDeque<Frame>,
    /// Why nothing after `frames` can be read.
    failure: Option<anyhow::Error>,
    at_end: bool,
}

impl Capture {
    /// Opens a file; `-` is the standard input.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let input: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?)
        };
        Ok(Self {
            path: path.to_owned(),
            input,
            reader: CaptureReader::new(),
            frames: VecDeque::new(),
            failure: None,
            at_end: false,
        })
    }

    /// The next frame; none at the end of the file. That a file is cut short is told as a warning.
    ///
    /// # Errors
    /// When the file is no capture, or damaged. All frames before the damage have been given then.
    pub(crate) fn next_frame(&mut self) -> anyhow::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Ok(Some(frame));
            }
            if let Some(failure) = self.failure.take() {
                self.at_end = true;
                return Err(failure.context(format!("cannot read {}", self.path.display())));
            }
            if self.at_end {
                return Ok(None);
            }
            self.read_piece();
        }
    }

    /// Reads the beginning, to see whether this is a capture at all.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn peek(&mut self) -> anyhow::Result<()> {
        if let Some(first) = self.next_frame()? {
            self.frames.push_front(first);
        }
        Ok(())
    }

    fn read_piece(&mut self) {
        let mut piece = vec![0; PIECE];
        let result = match self.input.read(&mut piece) {
            Ok(0) => {
                self.at_end = true;
                self.reader.finish().map(|cut| self.warn(cut)).map_err(anyhow::Error::new)
            }
            Ok(n) => self.read_frames(piece.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        };
        self.failure = result.err();
    }

    fn read_frames(&mut self, piece: &[u8]) -> anyhow::Result<()> {
        let mut frames = Vec::new();
        let result = self.reader.push(piece, &mut frames);
        self.frames.extend(frames);
        Ok(result?)
    }

    fn warn(&self, cut: Option<CutShort>) {
        if let Some(cut) = cut {
            tracing::warn!("{}: {cut}", self.path.display());
        }
    }
}
