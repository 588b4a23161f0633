//! Whole-system tests; see the files under `tests/tests`.
