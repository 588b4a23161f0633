//! The recent past, kept for clients that come late: segments that each begin with all that a reader needs.

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use pleg_core::time::{Nanos, SECOND, Time};
use std::{
    collections::VecDeque,
    io::{self, Read as _, Write as _},
};

/// A segment is closed after this time, in nanoseconds.
const SEGMENT_AGE: Nanos = 120 * SECOND;
/// A segment is closed at this size, in bytes of text.
const SEGMENT_BYTES: usize = 1 << 20;
/// Bytes that all segments together may take.
const TOTAL_BYTES: usize = 8 << 20;

/// Segments of the stream, oldest first.
#[derive(Debug)]
pub(super) struct History {
    keep: Nanos,
    closed: VecDeque<Segment>,
    open: Option<Open>,
}

/// A part of the stream that can be read without what came before.
#[derive(Clone, Debug)]
struct Segment {
    /// `hello` and, but for the very first segment, `checkpoint`: gzip'd, because only the oldest is ever read.
    head: Bytes,
    text: Utf8Bytes,
    end: Time,
}

#[derive(Debug)]
struct Open {
    head: Bytes,
    text: String,
    start: Time,
}

/// What a late client is sent first.
#[derive(Debug)]
pub(crate) struct Past {
    head: Bytes,
    texts: Vec<Utf8Bytes>,
}

impl History {
    /// Keeps the past of `keep` nanoseconds, in whole segments.
    pub(super) fn new(keep: Nanos) -> Self {
        Self { keep, closed: VecDeque::new(), open: None }
    }

    /// Adds a line to the open segment.
    pub(super) fn push(&mut self, line: &str) {
        if let Some(open) = &mut self.open {
            open.text.push_str(line);
        }
    }

    /// Whether there is a segment to add lines to.
    pub(super) fn is_begun(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a new segment is to be begun at the next occasion.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.open
            .as_ref()
            .is_none_or(|open| now.since(open.start) >= SEGMENT_AGE || open.text.len() >= SEGMENT_BYTES)
    }

    /// Begins a segment with these lines.
    pub(super) fn begin(&mut self, head: &str, now: Time) {
        let open = Open { head: compress(head), text: String::new(), start: now };
        if let Some(Open { head, text, .. }) = self.open.replace(open) {
            self.closed.push_back(Segment { head, text: text.into(), end: now });
        }
        while self.closed.front().is_some_and(|oldest| now.since(oldest.end) >= self.keep)
            || self.bytes() > TOTAL_BYTES
        {
            if self.closed.pop_front().is_none() {
                break;
            }
        }
    }

    /// All that is kept.
    pub(super) fn past(&self) -> Past {
        let oldest = self.closed.front().map(|segment| &segment.head);
        let head = oldest.or(self.open.as_ref().map(|open| &open.head)).cloned().unwrap_or_default();
        let closed = self.closed.iter().map(|segment| segment.text.clone());
        let open = self.open.iter().map(|open| Utf8Bytes::from(open.text.as_str()));
        Past { head, texts: closed.chain(open).filter(|text| !text.is_empty()).collect() }
    }

    fn bytes(&self) -> usize {
        let closed = self.closed.iter().map(|segment| segment.head.len() + segment.text.len());
        closed.sum::<usize>() + self.open.as_ref().map_or(0, |open| open.head.len() + open.text.len())
    }
}

impl Past {
    /// The messages to send.
    ///
    /// # Errors
    /// None that can come up with what [`History`] compressed itself.
    pub(crate) fn into_messages(self) -> io::Result<Vec<Utf8Bytes>> {
        let mut head = String::new();
        if !self.head.is_empty() {
            GzDecoder::new(self.head.as_ref()).read_to_string(&mut head)?;
        }
        let mut messages = vec![head.into()];
        messages.extend(self.texts);
        messages.retain(|message: &Utf8Bytes| !message.is_empty());
        Ok(messages)
    }
}

fn compress(text: &str) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    match encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()) {
        Ok(bytes) => bytes.into(),
        Err(error) => {
            tracing::error!(%error, "a segment's head cannot be compressed");
            Bytes::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(history: &History) -> String {
        history.past().into_messages().unwrap().iter().map(Utf8Bytes::as_str).collect()
    }

    fn at(seconds: i64) -> Time {
        Time(seconds * SECOND)
    }

    #[test]
    fn the_past_begins_with_one_head_and_then_has_every_line() {
        let mut history = History::new(900 * SECOND);
        assert!(history.is_due(at(0)));
        history.begin("hello\n", at(0));
        history.push("a\n");
        assert!(!history.is_due(at(119)));
        assert!(history.is_due(at(120)));
        history.begin("hello\ncheckpoint\n", at(120));
        history.push("b\n");
        assert_eq!(text(&history), "hello\na\nb\n");
    }

    #[test]
    fn segments_older_than_the_history_are_left_out() {
        let mut history = History::new(60 * SECOND);
        for (head, line, start) in [("h1\n", "a\n", 0), ("h2\n", "b\n", 120), ("h3\n", "c\n", 240)] {
            history.begin(head, at(start));
            history.push(line);
        }
        assert_eq!(text(&history), "h2\nb\nc\n");
    }

    #[test]
    fn the_size_is_bounded() {
        let mut history = History::new(i64::MAX);
        let line = "x".repeat(SEGMENT_BYTES);
        for second in 0..20 {
            assert!(history.is_due(at(second)));
            history.begin("h\n", at(second));
            history.push(&line);
        }
        assert!(history.bytes() <= TOTAL_BYTES + SEGMENT_BYTES);
        assert!(text(&history).starts_with("h\nx"));
    }
}
