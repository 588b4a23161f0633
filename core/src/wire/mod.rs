//! The one format of WebSocket, capture file and test: JSON Lines, one [`Frame`] a line.

mod frame;

pub use frame::{Call, Calling, Done, Frame, FrameError, Gap, Hello, Relist, RuntimeInfo, Tick, VERSION};
