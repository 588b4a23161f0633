//! Where the frames come from, and how that stands.

use super::Millis;
use pleg_core::time::{MILLISECOND, Nanos};

/// How the source stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SourceState {
    /// There is none yet.
    #[default]
    None,
    /// The socket is being opened for the nth time since it was last open.
    Connecting {
        /// Failed attempts so far.
        failures: u32,
    },
    /// The socket is open.
    Connected {
        /// When the last frame came.
        heard: Millis,
    },
    /// The socket was closed, and is opened again later.
    Lost {
        /// When, by the page's clock.
        retry_at: Millis,
        /// Failed attempts so far.
        failures: u32,
    },
    /// A file is being read.
    Reading {
        /// Bytes read.
        done: u64,
        /// Bytes in all; 0 where that is not known.
        total: u64,
    },
    /// A file was read, as far as it could be.
    Read,
}

/// Where the frames come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// Address of the socket, or name of the file.
    pub name: String,
    /// How it stands.
    pub state: SourceState,
}

impl Source {
    /// Whether the source is a socket, open or not.
    pub fn is_socket(&self) -> bool {
        use SourceState::{Connected, Connecting, Lost};
        matches!(self.state, Connecting { .. } | Connected { .. } | Lost { .. })
    }

    /// How long nothing was heard from an open socket, in nanoseconds.
    pub fn silence(&self, at: Millis) -> Option<Nanos> {
        match self.state {
            SourceState::Connected { heard } => Some(((at - heard).max(0.0) * MILLISECOND as f64) as Nanos),
            _ => None,
        }
    }
}

/// How long to wait before the socket is opened again, in milliseconds.
pub(super) fn back_off(failures: u32) -> Millis {
    f64::from(500 * (1_u32 << failures.min(5))).min(10_000.0)
}
