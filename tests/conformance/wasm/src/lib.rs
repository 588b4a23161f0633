//! The conformance run as a WebAssembly module that imports nothing: a line of a vector file goes in, whether it
//! passed and the hash of what the engine gave out come out.
#![expect(unsafe_code, reason = "a module exports only what is not mangled")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use pleg_conformance::{Report, run_line};

static LINE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static REPORT: Mutex<Option<Report>> = Mutex::new(None);

/// Makes room for a line of this many bytes and says where: write them there, then call [`run`].
#[unsafe(no_mangle)]
pub extern "C" fn line(bytes: usize) -> *mut u8 {
    let mut line = lock(&LINE);
    line.clear();
    line.resize(bytes, 0);
    line.as_mut_ptr()
}

/// Runs the line: 1 when it gave what upstream gave, 0 when not, -1 when it is no scenario.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> i32 {
    let result = str::from_utf8(&lock(&LINE)).map_err(|error| error.to_string()).and_then(run_line);
    let outcome = match &result {
        Ok(report) => i32::from(report.differences.is_empty()),
        Err(_) => -1,
    };
    *lock(&REPORT) = result.ok();
    outcome
}

/// Hash of what came out of the line that was run last; 0 when it was no scenario.
#[unsafe(no_mangle)]
pub extern "C" fn hash() -> u64 {
    lock(&REPORT).as_ref().map_or(0, |report| report.hash)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
