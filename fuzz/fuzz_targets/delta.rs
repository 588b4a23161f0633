//! See `tests/fuzz/src/delta.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pleg_fuzz_checks::delta(bytes));
