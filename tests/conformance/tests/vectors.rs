//! The engine agrees with the kubelet on every recorded case, native.

use pleg_conformance::{count_lines, run_file, vector_files};
use std::{env, io, path::Path};

/// Runs every line of every vector file in a folder, and checks that none was left out.
fn check(folder: &Path) -> io::Result<()> {
    let files = vector_files(folder)?;
    assert!(!files.is_empty(), "no vector file in {}", folder.display());
    let mut failures = Vec::new();
    for file in files {
        let report = run_file(&file)?;
        println!("{report}");
        assert_eq!(report.run, count_lines(&file)?, "{}: lines were left out", report.name);
        failures.extend(report.failed.into_iter().map(|failed| format!("{} {failed}", report.name)));
    }
    assert!(failures.is_empty(), "{} failed, among them:\n{}", failures.len(), first(&failures, 5));
    Ok(())
}

fn first(failures: &[String], count: usize) -> String {
    failures.iter().take(count).map(String::as_str).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_selection_passes() -> io::Result<()> {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors"))
}

/// Where `PLEGSCOPE_VECTORS` names a folder with more of them.
#[test]
fn the_full_set_passes() -> io::Result<()> {
    match env::var_os("PLEGSCOPE_VECTORS") {
        Some(folder) => check(Path::new(&folder)),
        None => {
            println!("PLEGSCOPE_VECTORS names no folder: only the selection was run");
            Ok(())
        }
    }
}
