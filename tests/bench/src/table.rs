//! The table: what each case costs, against what the kubelet's own engine does.

use super::measure::{self, Figures};
use anyhow::{Context, Result, ensure};
use pleg_bench::{Case, From};
use std::path::Path;

/// How often each case's quickest relist is looked for, native and WebAssembly in turns: other work on the machine
/// then hits both alike.
const ROUNDS: usize = 5;
/// For so long each time, in seconds.
const SECONDS: f64 = 0.4;

/// What the kubelet v1.36.2 needs, in microseconds of processor time, with every pod in memory: by the number of pods,
/// when nothing and when everything changed. Building the pods from the runtime's answers comes on top.
struct Kubelet {
    unchanged: f64,
    changed: f64,
    building: f64,
}

fn kubelet(pods: usize) -> Option<Kubelet> {
    match pods {
        110 => Some(Kubelet { unchanged: 75.0, changed: 353.0, building: 370.0 }),
        1_000 => Some(Kubelet { unchanged: 710.0, changed: 4_000.0, building: 7_300.0 }),
        10_000 => Some(Kubelet { unchanged: 17_500.0, changed: 112_000.0, building: 98_000.0 }),
        _ => None,
    }
}

/// What the kubelet needs for the same, in microseconds; it was not measured with one in a hundred changed.
fn kubelet_micros(case: Case) -> Option<f64> {
    let Kubelet { unchanged, changed, building } = kubelet(case.pods)?;
    let engine = match case.percent {
        0 => unchanged,
        100 => changed,
        _ => return None,
    };
    Some(if case.from == From::Pods { engine } else { engine + building })
}

/// Measures everything and prints it.
pub(crate) fn print(module: &Path) -> Result<()> {
    let cases = Case::all();
    eprintln!("allocations");
    let allocations = measure::numbers(&mut measure::allocations()?)?;
    let mut figures = Vec::new();
    for (number, allocations) in allocations.into_iter().enumerate() {
        eprintln!("instructions, case {} of {}", number + 1, cases.len());
        let instructions = measure::instructions(number)?;
        figures.push(Figures { allocations, instructions, native: u64::MAX, wasm: u64::MAX });
    }
    check_growth(&cases, &figures)?;
    for round in 1..=ROUNDS {
        eprintln!("times, round {round} of {ROUNDS}");
        let native = measure::numbers(&mut measure::native(SECONDS)?)?;
        let wasm = measure::numbers(&mut measure::wasm(module, SECONDS))?;
        for (figures, (native, wasm)) in figures.iter_mut().zip(native.into_iter().zip(wasm)) {
            figures.native = figures.native.min(native);
            figures.wasm = figures.wasm.min(wasm);
        }
    }
    println!("quickest of {ROUNDS} rounds of {SECONDS} s each");
    println!(
        "| from | pods × containers | changed | native | kubelet / native | wasm | wasm / native | instructions | allocations |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    cases.iter().zip(&figures).for_each(|(case, figures)| println!("{}", row(*case, figures)));
    Ok(())
}

/// Cost goes with the number of changes: from a delta on, a change costs about the same instructions on the largest node,
/// of which little changed, as on the smallest, of which everything did. Maps make it grow with the logarithm.
fn check_growth(cases: &[Case], figures: &[Figures]) -> Result<()> {
    let per_change = |pods: usize, percent: usize| {
        let wanted = |case: &Case| (case.from, case.pods, case.percent) == (From::Delta, pods, percent);
        let (case, figures) = cases.iter().zip(figures).find(|(case, _)| wanted(case))?;
        Some(figures.instructions as f64 / case.changes() as f64)
    };
    let (small, large) = (per_change(110, 100), per_change(10_000, 1));
    let (small, large) = small.zip(large).context("the cases to compare are missing")?;
    ensure!(
        large < 2.0 * small,
        "a change costs {small:.0} instructions on a small node, {large:.0} on a large one"
    );
    Ok(())
}

fn row(case: Case, figures: &Figures) -> String {
    let Figures { allocations, instructions, native, wasm } = *figures;
    let times = |kubelet: f64| format!("{:.0} ×", kubelet * 1e3 / native as f64);
    let kubelet = kubelet_micros(case).map_or("–".into(), times);
    let ratio = wasm as f64 / native as f64;
    format!(
        "| {} | {} × {} | {} % | {} | {kubelet} | {} | {ratio:.1} | {} | {allocations} |",
        case.from,
        grouped(case.pods as u64),
        case.containers,
        case.percent,
        micros(native),
        micros(wasm),
        grouped(instructions)
    )
}

/// Nanoseconds as microseconds, with three figures that count.
fn micros(nanos: u64) -> String {
    match nanos {
        0..10_000 => format!("{:.2} µs", nanos as f64 / 1e3),
        10_000..1_000_000 => format!("{:.0} µs", nanos as f64 / 1e3),
        _ => format!("{:.2} ms", nanos as f64 / 1e6),
    }
}

/// With a space behind each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(
            (micros(125), micros(93_604), micros(1_640_748)),
            ("0.12 µs".into(), "94 µs".into(), "1.64 ms".into())
        );
    }

    #[test]
    fn the_kubelet_was_measured_with_nothing_and_with_everything_changed() {
        let case = Case { from: From::Delta, pods: 110, containers: 2, percent: 100 };
        assert_eq!(kubelet_micros(case), Some(723.0));
        assert_eq!(kubelet_micros(Case { from: From::Pods, ..case }), Some(353.0));
        assert_eq!(kubelet_micros(Case { percent: 1, ..case }), None);
    }
}
