//! `conformance FOLDER`: runs every vector file of a folder, a line of counts for each and one for all.

use pleg_conformance::{FileReport, count_lines, run_file, vector_files};
use std::{env, io, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("usage: conformance FOLDER");
        return ExitCode::FAILURE;
    };
    match run(Path::new(&folder)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every line passed. The differences of the first lines that did not go to stderr.
fn run(folder: &Path) -> io::Result<bool> {
    let mut all = FileReport { name: "all".into(), ..FileReport::default() };
    let mut complete = true;
    for file in vector_files(folder)? {
        let report = run_file(&file)?;
        println!("{report}");
        for failed in report.failed.iter().take(3) {
            eprint!("{failed}");
        }
        let lines = count_lines(&file)?;
        if report.run != lines {
            eprintln!("{}: it has {lines} lines, and {} were run", report.name, report.run);
        }
        complete &= report.run == lines;
        all.add(report);
    }
    println!("{all}");
    Ok(complete && all.run > 0 && all.failed.is_empty())
}
