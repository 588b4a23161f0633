//! An engine restored from a checkpoint behaves as the one that it was taken from.

use pleg_conformance::{lines, run_line_restored, vector_files};
use std::{io, path::Path};

/// The engine is restored at every point at which it waits: before each listing, inspection and step. Every
/// twelfth line of each file of the selection; the others do the same to other pods.
#[test]
fn a_restored_engine_goes_on_as_before() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    for file in vector_files(&folder)? {
        for line in lines(&file)?.step_by(12) {
            let report = run_line_restored(&line?).map_err(io::Error::other)?;
            assert!(report.differences.is_empty(), "{} {report}", file.display());
        }
    }
    Ok(())
}
