//! pleg-core as a WebAssembly module that imports nothing: a capture goes in byte by byte, counts come out.
#![expect(unsafe_code, reason = "a module exports only what is not mangled")]

use std::sync::{Mutex, PoisonError};

use pleg_core::wire::CaptureReader;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Adds a byte to the capture.
#[unsafe(no_mangle)]
pub extern "C" fn push(byte: u8) {
    INPUT.lock().unwrap_or_else(PoisonError::into_inner).push(byte);
}

/// Reads the capture and forgets it; its number of frames, or -1 if it cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn frames() -> i32 {
    let capture = std::mem::take(&mut *INPUT.lock().unwrap_or_else(PoisonError::into_inner));
    let mut reader = CaptureReader::new();
    let mut frames = Vec::new();
    match reader.push(&capture, &mut frames) {
        Ok(()) => i32::try_from(frames.len()).unwrap_or(i32::MAX),
        Err(_) => -1,
    }
}
