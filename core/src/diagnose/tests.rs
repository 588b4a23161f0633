use super::*;
use alloc::{borrow::ToOwned, string::ToString, vec};

const QUICK: Nanos = MILLISECOND;

fn call(method: Method, target: Option<&str>, took: Nanos, outcome: Outcome) -> ProbeCall {
    let target = target.map(|name| Target {
        id: name.into(),
        namespace: "shop".to_owned(),
        pod: "web".to_owned(),
        container: (method == Method::Relist(Op::ContainerStatus)).then(|| name.to_owned()),
        last_state: Some("running".to_owned()),
    });
    ProbeCall { method, target, took, outcome }
}

fn version(outcome: Outcome) -> ProbeCall {
    call(Method::Version, None, QUICK, outcome)
}

fn list(op: Op, outcome: Outcome) -> ProbeCall {
    call(Method::Relist(op), None, QUICK, outcome)
}

fn container(name: &str, outcome: Outcome) -> ProbeCall {
    call(Method::Relist(Op::ContainerStatus), Some(name), QUICK, outcome)
}

fn refused() -> Outcome {
    Outcome::Failed(RpcError::new("Unavailable", "Connection refused"))
}

/// A probe of a runtime that lists, with these inspections.
fn probe(inspections: &[ProbeCall]) -> Vec<ProbeCall> {
    let mut calls = vec![
        version(Outcome::Answered),
        list(Op::ListPodSandbox, Outcome::Answered),
        list(Op::ListContainers, Outcome::Answered),
    ];
    calls.extend_from_slice(inspections);
    calls
}

#[track_caller]
fn check(calls: &[ProbeCall], exit_code: u8, text: &str) {
    let verdict = diagnose(calls);
    assert_eq!((verdict.exit_code(), verdict.to_string().as_str()), (exit_code, text));
    let json = serde_json::to_string(&verdict).unwrap();
    assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict, "{json}");
}

#[test]
fn what_answers_is_healthy_and_what_is_gone_is_no_fault() {
    let calls = probe(&[container("a", Outcome::Answered), container("b", Outcome::Gone)]);
    check(&calls, 0, "Healthy: both lists and 2 inspections answered in time.");
    check(&probe(&[]), 0, "Healthy: both lists and 0 inspections answered in time.");
}

#[test]
fn a_list_that_hangs_is_blamed_on_the_container_that_hangs() {
    let mut calls = probe(&[container("a", Outcome::Answered), container("b", Outcome::Hung)]);
    check(
        &calls,
        13,
        "Inspection hangs: shop/web/b (b), last seen running. Every relist that inspects it hangs.",
    );
    calls[2].outcome = Outcome::Hung;
    check(
        &calls,
        13,
        "ListContainers hangs for the whole node because of shop/web/b (b), last seen running, whose inspection hangs.",
    );
}

#[test]
fn a_list_that_hangs_alone_is_its_own_fault() {
    let mut calls = probe(&[container("a", Outcome::Answered)]);
    calls[2].outcome = Outcome::Hung;
    check(
        &calls,
        14,
        "ListContainers fails: no answer. 1 inspections answered, so no single container shows why.",
    );
    calls[2].outcome = Outcome::Failed(RpcError::new("Unknown", "too big"));
    calls.truncate(3);
    check(
        &calls,
        14,
        "ListContainers fails: rpc error: code = Unknown desc = too big. 0 inspections answered, so no single container \
         shows why.",
    );
}

#[test]
fn a_runtime_that_answers_nothing_is_down() {
    let down = "The runtime is down: rpc error: code = Unavailable desc = Connection refused.";
    check(&[version(refused())], 15, down);
    let frozen = "The runtime is frozen: it takes connections and answers nothing.";
    check(&[version(Outcome::Hung)], 15, frozen);
    let mut calls = probe(&[container("a", Outcome::Hung), container("b", Outcome::Hung)]);
    calls.iter_mut().for_each(|call| call.outcome = Outcome::Hung);
    calls[0].outcome = Outcome::Answered;
    check(&calls, 15, frozen);
}

#[test]
fn failing_inspections_frozen_shims_and_slow_calls_are_told_in_this_order() {
    let verbose = |took, outcome| call(Method::VerbosePodSandboxStatus, Some("s"), took, outcome);
    let slow = call(Method::Relist(Op::ContainerStatus), Some("a"), 2 * SLOW, Outcome::Answered);
    let mut calls = probe(&[slow]);
    check(
        &calls,
        10,
        "Slow: 1 calls took over 500 ms, the slowest ContainerStatus 1000 ms of shop/web/a (a), last seen running.",
    );
    calls.push(verbose(QUICK, Outcome::Answered));
    assert_eq!(diagnose(&calls).exit_code(), 10);
    for (took, outcome) in [(QUICK, Outcome::Hung), (4 * SLOW, Outcome::Answered)] {
        *calls.last_mut().unwrap() = verbose(took, outcome);
        check(
            &calls,
            12,
            "A shim does not answer: the sandbox of shop/web (s), last seen running. Relists do not show it yet; an update \
             or stop of its containers may hang the node.",
        );
    }
    calls.push(container("c", Outcome::Failed(RpcError::new("Internal", "broken"))));
    check(
        &calls,
        11,
        "Inspections fail, so PLEG holds back what happens to: shop/web/c (c), last seen running: rpc error: code = Internal \
         desc = broken.",
    );
}

#[test]
fn a_bound_that_the_runtime_has_itself_counts_as_no_answer() {
    let error = |code| RpcError::new(code, "text");
    assert_eq!(Outcome::of_error(error("DeadlineExceeded")), Outcome::Hung);
    assert_eq!(Outcome::of_error(error("NotFound")), Outcome::Gone);
    assert_eq!(Outcome::of_error(error("Unknown")), Outcome::Failed(error("Unknown")));
}
