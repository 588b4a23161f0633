//! Engine and model agree on random histories, and the histories are wild enough.

use pleg_model::{Counts, Step, check, generate, shrink};

const HISTORIES: u64 = 2_000;

#[test]
fn engine_and_model_agree_and_everything_happens() {
    let counts = check(0..HISTORIES).unwrap_or_else(|report| panic!("{report}"));
    println!("{counts}");
    assert_eq!(counts.get("histories"), HISTORIES);
    let rare: Vec<_> = Counts::KINDS.into_iter().filter(|kind| counts.get(kind) < HISTORIES / 50).collect();
    assert!(rare.is_empty(), "the generator has become tame: {rare:?} in\n{counts}");
}

#[test]
fn a_seed_is_one_history() {
    assert_eq!(generate(7), generate(7));
    assert_ne!(generate(7).steps, generate(8).steps);
}

#[test]
fn shrinking_leaves_what_fails() {
    let relists = |history: &pleg_model::History| {
        history.steps.iter().filter(|step| matches!(step, Step::Relist(_))).count()
    };
    let history = (0..).map(generate).find(|history| relists(history) > 5).unwrap();
    let small = shrink(&history, |history| relists(history) >= 3);
    assert_eq!((small.steps.len(), relists(&small)), (3, 3));
    assert!(small.steps.iter().all(|step| *step == Step::Relist(pleg_model::Plan::default())), "{small}");
}
