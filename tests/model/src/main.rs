//! `pleg-model [HISTORIES] [FIRST SEED]`: runs random histories and prints what happened in them; or, where engine and
//! model part, the shrunken history.

use pleg_model::check;
use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).map(|word| word.parse::<u64>());
    let (Ok(histories), Ok(first)) = (numbers.next().unwrap_or(Ok(100_000)), numbers.next().unwrap_or(Ok(0)))
    else {
        eprintln!("usage: pleg-model [HISTORIES] [FIRST SEED], two numbers");
        return ExitCode::FAILURE;
    };
    match check(first..first.saturating_add(histories)) {
        Ok(counts) => {
            print!("{counts}");
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}
