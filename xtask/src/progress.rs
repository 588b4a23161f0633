//! The lines that say what a command is doing, with the seconds since it began.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Starts the clock that every line shows.
pub(crate) fn begin() {
    BEGAN.get_or_init(Instant::now);
}

/// Prints one line: `[plegscope  12s] text`.
pub(crate) fn say(text: impl std::fmt::Display) {
    eprintln!("[plegscope {:>3}s] {text}", elapsed().as_secs());
}

/// Since the command began.
pub(crate) fn elapsed() -> Duration {
    BEGAN.get_or_init(Instant::now).elapsed()
}
