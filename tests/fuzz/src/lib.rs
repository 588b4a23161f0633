//! What must hold for any bytes: the bodies of the fuzz targets in `fuzz/`.
//!
//! Each check takes bytes and panics when something is wrong. A fuzzer runs them with bytes that it makes up; a plain
//! test runs them with those that fuzzers found worth keeping (`fuzz/corpus/`).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a check fails by panicking")]

mod capture;
mod cri;
mod delta;
mod frames;
mod lists;

pub use capture::check as capture;
pub use cri::check as cri;
pub use delta::check as delta;
pub use frames::check as frames;

/// A check: panics when the bytes show a fault.
pub type Check = fn(&[u8]);

/// The checks by name: that of the fuzz target, and of the folder of its corpus.
pub const CHECKS: [(&str, Check); 4] =
    [("capture", capture), ("cri", cri), ("delta", delta), ("frames", frames)];
