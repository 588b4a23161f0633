//! pleg-core as a WebAssembly module that imports nothing: a capture goes in byte by byte, its lifecycle events come
//! out as JSON Lines in the same way.
#![expect(unsafe_code, reason = "a module exports only what is not mangled")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use pleg_core::follow::Follower;
use pleg_core::wire::CaptureReader;

static CAPTURE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static EVENTS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn bytes(shared: &'static Mutex<Vec<u8>>) -> MutexGuard<'static, Vec<u8>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a byte to the capture.
#[unsafe(no_mangle)]
pub extern "C" fn push(byte: u8) {
    bytes(&CAPTURE).push(byte);
}

/// Reads the capture and forgets it; how many bytes of events there are now, or -1 if it cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn replay() -> i32 {
    let capture = std::mem::take(&mut *bytes(&CAPTURE));
    let Some(events) = events(&capture) else { return -1 };
    let length = i32::try_from(events.len()).unwrap_or(-1);
    *bytes(&EVENTS) = events;
    length
}

/// A byte of the events.
#[unsafe(no_mangle)]
pub extern "C" fn at(index: usize) -> u8 {
    bytes(&EVENTS).get(index).copied().unwrap_or_default()
}

fn events(capture: &[u8]) -> Option<Vec<u8>> {
    let mut frames = Vec::new();
    CaptureReader::new().push(capture, &mut frames).ok()?;
    let (mut follower, mut text) = (Follower::new(), Vec::new());
    for frame in frames {
        follower.handle_frame(&frame).ok()?;
        while let Some(event) = follower.poll_event() {
            text.extend(event.to_json().bytes());
            text.push(b'\n');
        }
    }
    Some(text)
}
