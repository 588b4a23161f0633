//! See `tests/fuzz/src/frames.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pleg_fuzz_checks::frames(bytes));
