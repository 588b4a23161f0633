//! See `tests/fuzz/src/capture.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pleg_fuzz_checks::capture(bytes));
