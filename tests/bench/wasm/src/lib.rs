//! The measured relists as a WebAssembly module that imports nothing: whoever loads it holds the clock.
#![expect(unsafe_code, reason = "a module exports only what is not mangled")]

use pleg_bench::{Bench, Case};
use std::sync::{Mutex, MutexGuard, PoisonError};

static BENCH: Mutex<Option<(Case, Bench)>> = Mutex::new(None);

fn bench() -> MutexGuard<'static, Option<(Case, Bench)>> {
    BENCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets up the case of this number; how many relists are prepared at once, or 0 when there is no such case.
#[unsafe(no_mangle)]
pub extern "C" fn begin(number: usize) -> usize {
    let case = Case::all().get(number).copied();
    *bench() = case.map(|case| (case, Bench::new(case)));
    case.map_or(0, |case| case.batch())
}

/// Prepares the next relists: not to be measured.
#[unsafe(no_mangle)]
pub extern "C" fn prepare() {
    if let Some((case, bench)) = &mut *bench() {
        bench.prepare(case.batch());
    }
}

/// Runs what was prepared. How many outputs the engine gave.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    bench().as_mut().map_or(0, |(_, bench)| bench.run())
}
