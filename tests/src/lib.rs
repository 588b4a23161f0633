//! Whole-system tests; see the files under `tests/tests`.

pub mod scenario;
pub mod simulated;
