//! What the fuzzers found worth keeping is checked again by every test run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pleg_fuzz_checks::CHECKS;
use std::{fs, path::Path};

#[test]
fn every_kept_input_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, check) in CHECKS {
        let mut inputs = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            let path = entry.unwrap().path();
            // Seen only when the check fails.
            println!("{}", path.display());
            check(&fs::read(&path).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has a corpus");
    }
}
