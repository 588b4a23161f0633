//! The ways to measure a case.

use anyhow::{Context, Result, ensure};
use pleg_bench::{Bench, Case};
use std::{
    env,
    hint::black_box,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// What a case costs.
pub(crate) struct Figures {
    pub(crate) allocations: u64,
    pub(crate) instructions: u64,
    /// Nanoseconds.
    pub(crate) native: u64,
    /// Nanoseconds in node.
    pub(crate) wasm: u64,
}

/// Nanoseconds of the quickest relist in so many seconds.
pub(crate) fn time(case: Case, seconds: f64) -> u64 {
    let mut bench = Bench::new(case);
    let (end, mut best, mut rounds) = (Instant::now() + Duration::from_secs_f64(seconds), Duration::MAX, 0);
    while rounds < 3 || Instant::now() < end {
        bench.prepare(case.batch());
        let begun = Instant::now();
        black_box(bench.run());
        best = best.min(begun.elapsed());
        rounds += 1;
    }
    let nanos = best.as_nanos() / case.batch().max(1) as u128;
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// One relist.
pub(crate) fn once(case: Case) {
    let mut bench = Bench::new(case);
    bench.prepare(1);
    black_box(bench.run());
}

/// Instructions of one relist, as callgrind counts them in a process of its own.
pub(crate) fn instructions(number: usize) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*Bench*run*"]);
    let output = valgrind.arg(env::current_exe()?).args(["count", &number.to_string()]).output();
    let output = output.context("cannot start valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    let (_, count) = collected.with_context(|| format!("valgrind counted nothing:\n{report}"))?;
    count.trim().parse().context("valgrind's count is no number")
}

/// A number for each case, from a program that prints them a line each.
pub(crate) fn numbers(program: &mut Command) -> Result<Vec<u64>> {
    let output = program.output().with_context(|| format!("cannot start {program:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{program:?}: {}", String::from_utf8_lossy(&output.stderr));
    let numbers: Result<Vec<u64>, _> = text.lines().map(str::parse).collect();
    let numbers = numbers.with_context(|| format!("{program:?} printed:\n{text}"))?;
    ensure!(numbers.len() == Case::all().len(), "{program:?} measured {} cases", numbers.len());
    Ok(numbers)
}

/// The program beside this one that counts allocations.
pub(crate) fn allocations() -> Result<Command> {
    Ok(Command::new(env::current_exe()?.with_file_name("allocations")))
}

/// This program, natively.
pub(crate) fn native(seconds: f64) -> Result<Command> {
    let mut native = Command::new(env::current_exe()?);
    native.args(["time", &seconds.to_string()]);
    Ok(native)
}

/// The module, in node.
pub(crate) fn wasm(module: &Path, seconds: f64) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm/run.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(module).arg(seconds.to_string());
    node
}
