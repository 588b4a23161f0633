//! The one format of WebSocket, capture file and test: JSON Lines, one [`Frame`] a line.

mod capture;
mod frame;
mod gzip;
mod stream;

pub use capture::{CaptureError, CaptureReader, CutShort, MAX_LINE};
pub use frame::{Call, Calling, Done, Frame, FrameError, Gap, Hello, Relist, RuntimeInfo, Tick, VERSION};
pub use gzip::GzipError;
pub use stream::{Stream, StreamNews};
