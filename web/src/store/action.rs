//! What can happen to the store, and what it wants to happen outside.

use super::{Settings, Weight};
use crate::view::hit::Target;
use pleg_core::time::{Nanos, Time};

/// Something from the socket.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// It is open.
    Opened,
    /// Lines came.
    Text(String),
    /// It was closed, or could not be opened.
    Closed,
}

/// Number of the reading that a piece belongs to: each file or address opened on a page has one more than that before.
pub type Reading = u64;

/// Something from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A file is about to be read.
    Begin {
        /// Its name or address.
        name: String,
        /// Its size in bytes; 0 where that is not known.
        total: u64,
    },
    /// Bytes of it.
    Bytes(Vec<u8>),
    /// It was read to its end.
    End,
    /// It cannot be read.
    Failed(String),
}

/// How the time scale is to change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zooming {
    /// By this factor around this pixel, or around the middle.
    By(f64, Option<f64>),
    /// All data.
    Fit,
    /// From here, this long.
    To(Time, Nanos),
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Open the socket at this address.
    Connect(String),
    /// Open it again, after it was lost.
    Reconnect,
    /// Something came from the socket.
    Socket(Received),
    /// Something came from a file. Of several that are read at once only the one opened last counts.
    File(Reading, Piece),
    /// Time has passed.
    Tick,
    /// The timeline has this width and height in pixels.
    Resize(f64, f64),
    /// Change the time scale.
    Zoom(Zooming),
    /// Move the window by this many pixels.
    Pan(f64),
    /// Move the window to an end of the data.
    Home,
    /// Show the newest and go on with it.
    GoLive,
    /// Scroll the rows by this many pixels.
    Scroll(f64),
    /// Stop, or go on.
    TogglePause,
    /// Play from the shown moment at this speed; from the beginning when all is shown.
    Play(u32),
    /// Show things up to this moment.
    Seek(Time),
    /// Choose something, or nothing.
    Select(Option<Target>),
    /// Choose the event with this index and bring it into sight.
    Reveal(usize),
    /// Restrict pods and events.
    Filter(String),
    /// Change the person's choices.
    Settings(Settings),
    /// Show or hide the sheet of keys.
    Help(bool),
    /// Put a notice away.
    Dismiss(usize),
    /// Tell something.
    Tell(Weight, String),
    /// Save what was received.
    Save,
}

/// What the store wants to happen outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Open a socket at this address.
    Connect(String),
    /// Close the socket.
    Disconnect,
    /// Send [`Action::Reconnect`] in this many milliseconds.
    ReconnectIn(f64),
    /// Offer the recording as a file of this name.
    Save(String),
}
