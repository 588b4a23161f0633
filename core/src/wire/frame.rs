//! The frames: what the runtime said, and when.

use crate::{
    cri::{Answer, Op, RpcError},
    id::CriId,
    snapshot::{Delta, Snapshot},
    time::Nanos,
};
use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};

/// Version of the format. Readers open every version up to this one, and skip frames of unknown kinds. An observer that
/// does not read the runtime's events writes version 2: see [`Hello::version`].
pub const VERSION: u32 = 3;

/// One line. Written as an object with one member that names the kind: `{"relist":{"n":812,…}}`.
///
/// A stream is `hello`, `checkpoint`, then for each relist: `relist`, one `call` for each runtime call as it
/// ends (announced by `calling` when it takes long), `key` or `delta` after the two listings succeeded, and
/// `done`. `live` marks the end of the past in a WebSocket stream. Times inside a relist are nanoseconds
/// since its start, by the monotonic clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Frame {
    /// First line: who observes what, since when.
    Hello(Box<Hello>),
    /// All that a reader needs to go on from here without what came before.
    Checkpoint(Box<crate::follow::Checkpoint>),
    /// A relist begins.
    Relist(Relist),
    /// A call is still running.
    Calling(Calling),
    /// A call ended.
    Call(Box<Call>),
    /// Both lists, whole.
    Key(Box<Snapshot>),
    /// Both lists, as the difference to the ones before.
    Delta(Box<Delta>),
    /// A relist ended.
    Done(Done),
    /// The runtime's stream of events said something; anywhere, also within a relist (format 3).
    Stream(Box<super::Stream>),
    /// The observer is alive and nothing else is to be said.
    Tick(Tick),
    /// What follows is live.
    Live {},
    /// The receiver was too slow: frames were dropped, a `hello` and a `checkpoint` follow.
    Gap(Gap),
    /// A kind that a newer version writes.
    #[serde(skip_serializing)]
    Unknown(String),
}

/// Who observes what, since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the format.
    pub plegscope: u32,
    /// Version of the observer.
    pub agent: String,
    /// Name of the node.
    pub node: String,
    /// Boot id of the node: monotonic times of one boot can be compared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot: String,
    /// The runtime that is observed.
    pub runtime: RuntimeInfo,
    /// Minor release of the kubelet whose behaviour is derived: `1.36`.
    pub kubelet: String,
    /// Whether the runtime's events are read too, as a kubelet with the gate EventedPLEG does (format 3).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub container_events: bool,
    /// Relist period in nanoseconds.
    pub period: Nanos,
    /// Relist threshold in nanoseconds.
    pub threshold: Nanos,
    /// Capacity of the event channel.
    pub capacity: u32,
    /// Deadline of one runtime call in nanoseconds.
    pub deadline: Nanos,
    /// Wall clock, nanoseconds since the epoch.
    pub wall: i64,
    /// Monotonic clock at the same moment, nanoseconds since boot.
    pub mono: i64,
}

/// The runtime that is observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeInfo {
    /// Name as its `Version` answer has it: `containerd`, `cri-o`; `simulated` for the built-in node.
    pub name: String,
    /// Its version.
    pub version: String,
    /// CRI version spoken: `v1`, `v1alpha2`.
    pub api: String,
    /// Where it was reached.
    pub endpoint: String,
}

/// A relist begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relist {
    /// Number since the observer started, from 1.
    pub n: u64,
    /// Wall clock, nanoseconds since the epoch. Only to be shown: it may step.
    pub wall: i64,
    /// Monotonic clock, nanoseconds since boot.
    pub mono: i64,
}

/// A call has been running for a while and still is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calling {
    /// Which call.
    pub op: Op,
    /// Id of the sandbox or container asked for; absent for listings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<CriId>,
    /// When it began, in nanoseconds since the relist's start.
    pub at: Nanos,
}

/// A call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Which call.
    pub op: Op,
    /// Id of the sandbox or container asked for; absent for listings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<CriId>,
    /// When it began, in nanoseconds since the relist's start.
    pub at: Nanos,
    /// How long it took, in nanoseconds.
    pub took: Nanos,
    /// Size of the answer's message in bytes, as protobuf.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub bytes: u64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
    /// What it answered; absent for listings and failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// A relist ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Nanoseconds since its start.
    pub at: Nanos,
}

/// Time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Monotonic clock, nanoseconds since boot.
    pub mono: i64,
}

/// Frames were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// How many.
    pub dropped: u64,
}

/// A line that is no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a frame: {reason}; the line begins with {start:?}")]
pub struct FrameError {
    /// What is wrong, with line and column where JSON is broken.
    pub reason: String,
    /// The first characters of the line.
    pub start: String,
}

impl FrameError {
    pub(super) fn new(reason: &str, line: &str) -> Self {
        Self { reason: reason.into(), start: line.chars().take(40).collect() }
    }
}

impl Hello {
    /// The oldest version of the format that holds all that such an observer says.
    pub fn version(container_events: bool) -> u32 {
        if container_events { VERSION } else { 2 }
    }

    /// Whether this is a hello of the same observer: it repeats its own, with the clocks of its start.
    pub fn is_of_same_observer(&self, other: &Hello) -> bool {
        (&self.boot, self.wall, self.mono) == (&other.boot, other.wall, other.mono)
    }
}

impl Frame {
    /// The frame as a line, with its line feed.
    ///
    /// # Errors
    /// For [`Frame::Unknown`], whose content was not kept.
    pub fn to_line(&self) -> Result<String, FrameError> {
        let mut line = serde_json::to_string(self)
            .map_err(|error| FrameError { reason: error.to_string(), start: String::new() })?;
        line.push('\n');
        Ok(line)
    }

    /// Reads one line, with or without its line feed.
    ///
    /// # Errors
    /// When the line is not one JSON object with one member, or the member's value is not what its kind holds.
    pub fn from_line(line: &str) -> Result<Frame, FrameError> {
        serde_json::from_str(line).map_err(|error| FrameError::new(&error.to_string(), line))
    }

    /// Reads all lines of one message.
    ///
    /// # Errors
    /// On the first line that is no frame.
    pub fn from_lines(lines: &str) -> Result<Vec<Frame>, FrameError> {
        lines.lines().filter(|line| !line.is_empty()).map(Frame::from_line).collect()
    }
}

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FrameVisitor)
    }
}

/// Written by hand because a derived enum refuses the kinds that it does not know.
struct FrameVisitor;

impl<'de> Visitor<'de> for FrameVisitor {
    type Value = Frame;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one member that names the frame's kind")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame, A::Error> {
        use serde::de::Error as _;
        let Some(kind) = map.next_key::<String>()? else {
            return Err(A::Error::custom("an empty object"));
        };
        let frame = match kind.as_str() {
            "hello" => Frame::Hello(map.next_value()?),
            "checkpoint" => Frame::Checkpoint(map.next_value()?),
            "relist" => Frame::Relist(map.next_value()?),
            "calling" => Frame::Calling(map.next_value()?),
            "call" => Frame::Call(map.next_value()?),
            "key" => Frame::Key(map.next_value()?),
            "delta" => Frame::Delta(map.next_value()?),
            "done" => Frame::Done(map.next_value()?),
            "stream" => Frame::Stream(map.next_value()?),
            "tick" => Frame::Tick(map.next_value()?),
            "live" => map.next_value::<IgnoredAny>().map(|_| Frame::Live {})?,
            "gap" => Frame::Gap(map.next_value()?),
            _ => map.next_value::<IgnoredAny>().map(|_| Frame::Unknown(kind))?,
        };
        match map.next_key::<String>()? {
            None => Ok(frame),
            Some(second) => Err(A::Error::custom(format_args!("a second member {second:?}"))),
        }
    }
}
