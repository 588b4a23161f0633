//! A history that shows a difference, made small: chunks of steps out, single steps out, steps made plainer.

use crate::history::{Action, History, Inspection, Look, Plan, Setup, Step};
use pleg_core::{
    id::Uid,
    time::{Nanos, SECOND},
};

/// The smallest history that can be reached from this one by leaving out and simplifying, and that still `fails`.
pub fn shrink(history: &History, fails: impl Fn(&History) -> bool) -> History {
    let mut best = history.clone();
    loop {
        let before = best.clone();
        leave_out_steps(&mut best, &fails);
        simplify_steps(&mut best, &fails);
        simplify_setup(&mut best, &fails);
        if best == before {
            return best;
        }
    }
}

fn leave_out_steps(best: &mut History, fails: &impl Fn(&History) -> bool) {
    let mut chunk = best.steps.len();
    while chunk > 0 {
        let mut from = 0;
        while from < best.steps.len() {
            let mut less = best.clone();
            less.steps.drain(from..(from + chunk).min(best.steps.len()));
            if fails(&less) {
                *best = less;
            } else {
                from += chunk;
            }
        }
        chunk /= 2;
    }
}

fn simplify_steps(best: &mut History, fails: &impl Fn(&History) -> bool) {
    for at in 0..best.steps.len() {
        while let Some(simpler) = best
            .steps
            .get(at)
            .into_iter()
            .flat_map(simpler_steps)
            .map(|step| with_step(best, at, step))
            .find(|history| fails(history))
        {
            *best = simpler;
        }
    }
}

fn with_step(history: &History, at: usize, step: Step) -> History {
    let mut changed = history.clone();
    if let Some(place) = changed.steps.get_mut(at) {
        *place = step;
    }
    changed
}

fn simplify_setup(best: &mut History, fails: &impl Fn(&History) -> bool) {
    let setup = &best.setup;
    let simpler = [
        Setup { evented_in_use: false, ..setup.clone() },
        Setup { evented_in_use: false, gate: false, ..setup.clone() },
        Setup { capacity: 1000, ..setup.clone() },
    ];
    for setup in simpler {
        let history = History { setup, ..best.clone() };
        if history != *best && fails(&history) {
            *best = history;
        }
    }
}

/// Plainer steps, none of them like the step itself, so that simplifying ends.
fn simpler_steps(step: &Step) -> Vec<Step> {
    match step {
        Step::Pod { place, look } => {
            simpler_looks(look).into_iter().map(|look| Step::Pod { place: *place, look }).collect()
        }
        Step::Wait(nanos) => shorter(*nanos).into_iter().map(Step::Wait).collect(),
        Step::Relist(plan) => simpler_plans(plan).into_iter().map(Step::Relist).collect(),
        Step::RelistPod(uid, plan) => {
            simpler_plans(plan).into_iter().map(|plan| Step::RelistPod(uid.clone(), plan)).collect()
        }
        Step::Serve(plan) => simpler_plans(plan).into_iter().map(Step::Serve).collect(),
        Step::Turn(plan) => {
            let plans = simpler_plans(plan).into_iter().map(Step::Turn);
            plans.chain([Step::Relist(plan.clone())]).collect()
        }
        Step::Act(Action::Request(uid, 2..)) => vec![Step::Act(Action::Request(uid.clone(), 1))],
        Step::Gone { .. } | Step::Start | Step::Act(_) | Step::Update { .. } => Vec::new(),
    }
}

/// Every list that is the same but for one item.
fn without_one<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let without =
        |at| items.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, item)| item.clone()).collect();
    (0..items.len()).map(without).collect()
}

fn shorter(nanos: Nanos) -> Vec<Nanos> {
    if nanos > SECOND { vec![SECOND] } else { Vec::new() }
}

fn simpler_looks(look: &Look) -> Vec<Look> {
    let mut looks = Vec::new();
    looks.extend(
        without_one(&look.containers).into_iter().map(|containers| Look { containers, ..look.clone() }),
    );
    looks
        .extend(without_one(&look.sandboxes).into_iter().map(|sandboxes| Look { sandboxes, ..look.clone() }));
    if look.addresses > 0 {
        looks.push(Look { addresses: 0, ..look.clone() });
    }
    looks
}

fn simpler_plans(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    if !plan.order.is_empty() {
        plans.push(Plan { order: Vec::new(), ..plan.clone() });
    }
    if plan.listing_takes > 0 {
        plans.push(Plan { listing_takes: 0, ..plan.clone() });
    }
    if plan.listing_fails {
        plans.push(Plan { listing_fails: false, ..plan.clone() });
    }
    plans
        .extend(without_one(&plan.meanwhile).into_iter().map(|meanwhile| Plan { meanwhile, ..plan.clone() }));
    let fewer = without_one(&plan.inspections).into_iter();
    plans.extend(fewer.map(|inspections| Plan { inspections, ..plan.clone() }));
    plans.extend(
        simpler_inspections(&plan.inspections).map(|inspections| Plan { inspections, ..plan.clone() }),
    );
    plans
}

/// Every list of inspections with one made plainer.
fn simpler_inspections(all: &[(Uid, Inspection)]) -> impl Iterator<Item = Vec<(Uid, Inspection)>> {
    all.iter().enumerate().flat_map(move |(at, (uid, inspection))| {
        simpler_inspection(inspection).into_iter().map(move |simpler| {
            let mut changed = all.to_vec();
            if let Some(place) = changed.get_mut(at) {
                *place = (uid.clone(), simpler);
            }
            changed
        })
    })
}

fn simpler_inspection(inspection: &Inspection) -> Vec<Inspection> {
    let plain = [
        Inspection { takes: 0, ..inspection.clone() },
        Inspection { fails: false, ..inspection.clone() },
        Inspection { sandboxes_changed: false, ..inspection.clone() },
        Inspection { container_gone: false, ..inspection.clone() },
        Inspection { stamp: 0, ..inspection.clone() },
    ];
    let mut simpler: Vec<Inspection> = plain.into_iter().filter(|plain| plain != inspection).collect();
    let fewer = without_one(&inspection.meanwhile).into_iter();
    simpler.extend(fewer.map(|meanwhile| Inspection { meanwhile, ..inspection.clone() }));
    let fewer = without_one(&inspection.while_checking).into_iter();
    simpler.extend(fewer.map(|while_checking| Inspection { while_checking, ..inspection.clone() }));
    let fewer = without_one(&inspection.meets).into_iter();
    simpler.extend(fewer.map(|meets| Inspection { meets, ..inspection.clone() }));
    simpler
}
