//! Reads gzip (RFC 1952) as it comes, member after member, and gives what a cut file still holds.
//!
//! Browsers read gzip too, but only one member and nothing of a file without its end; a capture has many
//! members and, after a crash, no end.

use alloc::{boxed::Box, vec, vec::Vec};
use miniz_oxide::inflate::{
    TINFLStatus,
    core::{DecompressorOxide, decompress, inflate_flags::TINFL_FLAG_HAS_MORE_INPUT},
};

/// The first two bytes of a gzip member.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Size of the window that DEFLATE looks back on; a power of two, as the decoder wants it.
const WINDOW: usize = 32 * 1024;
/// Bytes of CRC-32 and length after each member. They are passed over: every line is checked as JSON and
/// every list by its hash, which also hold for a file that was cut.
const TRAILER: usize = 8;

/// Why a gzip stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GzipError {
    /// A member does not begin as a gzip member does.
    #[error("no gzip member begins here")]
    Header,
    /// The compressed data are damaged.
    #[error("the compressed data are damaged")]
    Data,
}

/// A decoder that is fed pieces of any size.
pub(super) struct Gunzip {
    state: State,
    /// Bytes that wait until a header or trailer is whole.
    pending: Vec<u8>,
    inflate: Box<DecompressorOxide>,
    window: Box<[u8]>,
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Header,
    Body,
    Trailer,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self {
            state: State::Header,
            pending: Vec::new(),
            inflate: Box::default(),
            window: vec![0; WINDOW].into_boxed_slice(),
            at: 0,
        }
    }

    /// Whether the input ends here as a whole file would.
    pub(super) fn is_at_end(&self) -> bool {
        self.state == State::Header && self.pending.is_empty()
    }

    /// Decompresses a piece to `out`. What was decompressed before an error is in `out`.
    pub(super) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), GzipError> {
        self.pending.extend_from_slice(piece);
        let input = core::mem::take(&mut self.pending);
        let mut rest = input.as_slice();
        while let Some(used) = self.step(rest, out)? {
            rest = rest.get(used..).unwrap_or_default();
        }
        self.pending = rest.to_vec();
        Ok(())
    }

    /// Reads one part. Returns how much of the input it took, none when it needs more.
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, GzipError> {
        match self.state {
            State::Header => {
                let Some(length) = header_length(input)? else { return Ok(None) };
                self.inflate.init();
                self.at = 0;
                self.state = State::Body;
                Ok(Some(length))
            }
            State::Body => self.inflate(input, out),
            State::Trailer if input.len() < TRAILER => Ok(None),
            State::Trailer => {
                self.state = State::Header;
                Ok(Some(TRAILER))
            }
        }
    }

    fn inflate(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, GzipError> {
        let (status, used, made) =
            decompress(&mut self.inflate, input, &mut self.window, self.at, TINFL_FLAG_HAS_MORE_INPUT);
        let end = self.at + made;
        out.extend_from_slice(self.window.get(self.at..end).unwrap_or_default());
        self.at = end % WINDOW;
        match status {
            TINFLStatus::Done => {
                self.state = State::Trailer;
                Ok(Some(used))
            }
            TINFLStatus::HasMoreOutput => Ok(Some(used)),
            TINFLStatus::NeedsMoreInput => Ok((used > 0 || made > 0).then_some(used)),
            _ => Err(GzipError::Data),
        }
    }
}

/// Length of a member's header; none when more input is needed.
fn header_length(input: &[u8]) -> Result<Option<usize>, GzipError> {
    const METHOD_DEFLATE: u8 = 8;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const CHECKSUM: u8 = 2;
    let begins_well = input.iter().zip(MAGIC.iter().chain(&[METHOD_DEFLATE])).all(|(a, b)| a == b);
    if !begins_well {
        return Err(GzipError::Header);
    }
    let Some(flags) = input.get(3).filter(|_| input.len() >= 10).copied() else { return Ok(None) };
    let mut length = 10;
    if flags & EXTRA != 0 {
        let Some(&[low, high]) = input.get(length..length + 2) else { return Ok(None) };
        length += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let Some(zero) = input.get(length..).and_then(|rest| rest.iter().position(|byte| *byte == 0))
            else {
                return Ok(None);
            };
            length += zero + 1;
        }
    }
    length += if flags & CHECKSUM != 0 { 2 } else { 0 };
    Ok((input.len() >= length).then_some(length))
}
