//! Reads a capture: the frames of a file, as its bytes come.
//!
//! A capture is JSON Lines, gzip'd in members that each begin with `hello` and `checkpoint`; the plain lines
//! are read as well, so that `zcat FILE | grep … | plegscope events -` works. A file that was cut short
//! gives all of its whole lines.

use super::{
    Frame, FrameError,
    gzip::{Gunzip, GzipError, MAGIC},
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde::Deserialize;

/// The longest line that is read, in bytes: far more than a checkpoint of the largest node.
/// Beyond it a file is taken for damaged, so that its memory stays bounded.
pub const MAX_LINE: usize = 256 * 1024 * 1024;

/// Why a capture cannot be read on. The frames before it are good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// Neither gzip nor JSON Lines.
    #[error("this is not a plegscope capture: it is neither gzip nor JSON Lines that begin with a hello")]
    NotACapture,
    /// Written by a newer version of the format.
    #[error(
        "the capture has format {found}, and this version of plegscope reads up to {known}: use a newer one"
    )]
    TooNew {
        /// Version of the file.
        found: u32,
        /// Version that this code reads.
        known: u32,
    },
    /// The gzip layer is damaged.
    #[error("the capture is damaged after line {line}: {error}")]
    Gzip {
        /// Number of good lines before.
        line: u64,
        /// What is wrong.
        error: GzipError,
    },
    /// A line is damaged.
    #[error("line {line} of the capture is damaged: {error}")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong.
        error: FrameError,
    },
    /// A line has no end.
    #[error("line {line} of the capture is longer than {} MiB", MAX_LINE / (1024 * 1024))]
    TooLong {
        /// Number of the line, from 1.
        line: u64,
    },
}

/// The file ended where no whole file ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the capture is cut short: it was read up to its last whole line, number {lines}; {lost} bytes after it are lost"
)]
pub struct CutShort {
    /// Number of whole lines.
    pub lines: u64,
    /// Bytes of the last, incomplete line.
    pub lost: usize,
}

/// A reader that is fed pieces of a file.
pub struct CaptureReader {
    gunzip: Option<Gunzip>,
    begun: bool,
    /// The first bytes, until it is known what they are.
    head: Vec<u8>,
    /// The line whose end has not come yet.
    text: Vec<u8>,
    /// Bytes of it that were searched for its end: a long line comes in many pieces.
    searched: usize,
    lines: u64,
}

impl Default for CaptureReader {
    fn default() -> Self {
        Self::new()
    }
}

impl CaptureReader {
    /// A reader at the start of a file.
    pub fn new() -> Self {
        Self { gunzip: None, begun: false, head: Vec::new(), text: Vec::new(), searched: 0, lines: 0 }
    }

    /// Number of whole lines read so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads a piece; its frames are added to `frames`, also those before an error.
    ///
    /// # Errors
    /// When the file is damaged. Nothing after that can be read.
    pub fn push(&mut self, piece: &[u8], frames: &mut Vec<Frame>) -> Result<(), CaptureError> {
        if self.begun {
            return self.push_body(piece, frames);
        }
        self.head.extend_from_slice(piece);
        if self.head.len() < MAGIC.len() {
            return Ok(());
        }
        self.begun = true;
        if self.head.starts_with(&MAGIC) {
            self.gunzip = Some(Gunzip::new());
        } else if self.head.first() != Some(&b'{') {
            return Err(CaptureError::NotACapture);
        }
        let head = core::mem::take(&mut self.head);
        self.push_body(&head, frames)
    }

    /// The end of the file.
    ///
    /// # Errors
    /// When the file holds no capture at all.
    pub fn finish(&self) -> Result<Option<CutShort>, CaptureError> {
        if !self.begun || (self.lines == 0 && self.gunzip.is_none()) {
            return Err(CaptureError::NotACapture);
        }
        let whole = self.gunzip.as_ref().is_none_or(Gunzip::is_at_end) && self.text.is_empty();
        Ok((!whole).then_some(CutShort { lines: self.lines, lost: self.text.len() }))
    }

    fn push_body(&mut self, piece: &[u8], frames: &mut Vec<Frame>) -> Result<(), CaptureError> {
        let Some(gunzip) = &mut self.gunzip else {
            self.text.extend_from_slice(piece);
            return self.take_lines(frames);
        };
        let result = gunzip.push(piece, &mut self.text);
        self.take_lines(frames)?;
        result.map_err(|error| CaptureError::Gzip { line: self.lines, error })
    }

    fn take_lines(&mut self, frames: &mut Vec<Frame>) -> Result<(), CaptureError> {
        let mut text = core::mem::take(&mut self.text);
        let (mut begin, mut from) = (0, core::mem::take(&mut self.searched));
        while let Some(length) = text.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let line = text.get(begin..from + length).unwrap_or_default();
            if !line.is_empty() {
                frames.push(self.read_line(line)?);
            }
            self.lines += 1;
            begin = from + length + 1;
            from = begin;
        }
        text.drain(..begin);
        if text.len() > MAX_LINE {
            return Err(CaptureError::TooLong { line: self.lines + 1 });
        }
        self.searched = text.len();
        self.text = text;
        Ok(())
    }

    fn read_line(&self, line: &[u8]) -> Result<Frame, CaptureError> {
        let frame = match core::str::from_utf8(line) {
            Ok(text) => Frame::from_line(text).map_err(|error| (version_of(text), error)),
            // Repaired in silence, it would be another name.
            Err(error) => Err((None, FrameError::new(&error.to_string(), &String::from_utf8_lossy(line)))),
        };
        let known = super::VERSION;
        match frame {
            Ok(Frame::Hello(hello)) if hello.plegscope > known => {
                Err(CaptureError::TooNew { found: hello.plegscope, known })
            }
            Ok(frame) if self.lines > 0 || matches!(frame, Frame::Hello(_)) => Ok(frame),
            Err((Some(found), _)) if found > known => Err(CaptureError::TooNew { found, known }),
            Err((_, error)) if self.lines > 0 => Err(CaptureError::Line { line: self.lines + 1, error }),
            Ok(_) | Err(_) => Err(CaptureError::NotACapture),
        }
    }
}

/// The format's version in a line that may be a hello of a later one, of which nothing else is known.
fn version_of(line: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Line {
        hello: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        plegscope: u32,
    }
    serde_json::from_str::<Line>(line).ok().map(|line| line.hello.plegscope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Done, Hello, Relist, RuntimeInfo, Tick, VERSION};
    use alloc::{boxed::Box, format, vec};
    use miniz_oxide::deflate::compress_to_vec;

    fn hello(version: u32) -> Frame {
        Frame::Hello(Box::new(Hello {
            plegscope: version,
            agent: "0".into(),
            node: "n".into(),
            boot: String::new(),
            runtime: RuntimeInfo::default(),
            kubelet: "1.36".into(),
            container_events: false,
            period: 1,
            threshold: 2,
            capacity: 3,
            deadline: 4,
            wall: 5,
            mono: 6,
        }))
    }

    fn frames() -> Vec<Frame> {
        let relist = |n| Frame::Relist(Relist { n, wall: 7, mono: 8 });
        vec![
            hello(VERSION),
            relist(1),
            Frame::Done(Done { at: 9 }),
            relist(2),
            Frame::Tick(Tick { mono: 10 }),
        ]
    }

    fn text(frames: &[Frame]) -> String {
        frames.iter().map(|frame| frame.to_line().unwrap()).collect()
    }

    /// A gzip member with a file name in its header; checksum and length are not looked at.
    fn member(text: &str) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255, b'f', 0];
        bytes.extend(compress_to_vec(text.as_bytes(), 6));
        bytes.extend([0; 8]);
        bytes
    }

    fn read(file: &[u8], piece: usize) -> (Vec<Frame>, Result<Option<CutShort>, CaptureError>) {
        let (mut reader, mut frames) = (CaptureReader::new(), vec![]);
        for piece in file.chunks(piece) {
            if let Err(error) = reader.push(piece, &mut frames) {
                return (frames, Err(error));
            }
        }
        (frames, reader.finish())
    }

    #[test]
    fn any_split_of_the_bytes_reads_alike() {
        let frames = frames();
        let members = [member(&text(&frames[..3])), member(&text(&frames[3..]))].concat();
        for file in [members.as_slice(), text(&frames).as_bytes()] {
            for piece in 1..=file.len() {
                assert_eq!(read(file, piece), (frames.clone(), Ok(None)), "pieces of {piece}");
            }
        }
    }

    #[test]
    fn a_cut_file_gives_its_whole_lines_and_says_so() {
        let (frames, file) = (frames(), member(&text(&frames())));
        for length in 2..file.len() {
            let (got, end) = read(&file[..length], 7);
            assert_eq!(got, frames[..got.len()]);
            assert_eq!(end.unwrap().expect("cut").lines, got.len() as u64);
        }
        assert!(read(&file[..file.len() - 8], 7).0.len() == frames.len());
    }

    #[test]
    fn damage_is_named_and_what_came_before_is_kept() {
        let two = text(&frames()[..2]);
        let (got, end) = read((two.clone() + "{\"relist\":{}}\n").as_bytes(), 9);
        assert_eq!(got.len(), 2);
        assert!(end.unwrap_err().to_string().starts_with("line 3 of the capture is damaged: not a frame"));
        let (got, end) = read(&[member(&two), vec![1, 2, 3]].concat(), 9);
        assert_eq!((got.len(), end), (2, Err(CaptureError::Gzip { line: 2, error: GzipError::Header })));
        for garbage in
            [&b"PNG"[..], b"{}\n{}\n", b"x", b"", b"{\"relist\":{\"n\":1,\"wall\":1,\"mono\":1}}\n"]
        {
            assert_eq!(read(garbage, 2).1, Err(CaptureError::NotACapture), "{garbage:?}");
        }
        let (found, known) = (VERSION + 1, VERSION);
        let newer = text(&[hello(found)]);
        let otherwise = format!("{{\"hello\":{{\"who\":[],\"plegscope\":{found}}}}}\n");
        for newer in [newer, otherwise] {
            assert_eq!(read(newer.as_bytes(), 9).1, Err(CaptureError::TooNew { found, known }), "{newer}");
        }
        let name = [text(&frames()[..1]).as_bytes(), b"{\"node\":\"caf\xe9\"}\n"].concat();
        let Err(CaptureError::Line { line: 2, error }) = read(&name, 7).1 else { panic!("a damaged byte") };
        assert!(error.to_string().contains("invalid utf-8"), "{error}");
    }

    /// One that is searched anew with each piece would take minutes.
    #[test]
    fn a_long_line_in_small_pieces_is_read() {
        let long = format!("{{\"weather\":\"{}\"}}\n", "x".repeat(4 << 20));
        let text = text(&frames()[..1]) + &long;
        assert_eq!(read(text.as_bytes(), 16).0[1], Frame::Unknown("weather".into()));
    }

    #[test]
    fn unknown_kinds_are_passed_on() {
        let text = text(&frames()[..1]) + "{\"weather\":[1,{\"sun\":true}]}\n";
        assert_eq!(read(text.as_bytes(), 5).0[1], Frame::Unknown("weather".into()));
    }
}
