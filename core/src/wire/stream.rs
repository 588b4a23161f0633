//! What the runtime's stream of events said (`GetContainerEvents`), and when.

use crate::cri::{ContainerEvent, RpcError};
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};

/// One thing that the stream of CRI events said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Number since the observer started, from 1.
    pub n: u64,
    /// Monotonic clock, nanoseconds since boot.
    pub mono: i64,
    /// What it said.
    pub what: StreamNews,
}

/// What the stream said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamNews {
    /// There is a connection, and the stream was asked for.
    Opened,
    /// An event.
    Event(Box<ContainerEvent>),
    /// So many events came faster than the observer could take them over: they are lost.
    Dropped(u64),
    /// The runtime ended the stream without an error.
    Ended,
    /// The stream failed, or there is none: a runtime without it says `Unimplemented`.
    Failed(RpcError),
}
