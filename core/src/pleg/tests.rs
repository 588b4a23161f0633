//! What the recorded cases cannot show: the law and what breaking it does.

use super::*;
use crate::pod::{Container, ContainerId, Pod, PodStatus, State as PodState};
use alloc::{sync::Arc, vec};

fn pod(uid: &str, state: PodState) -> Arc<Pod> {
    let id = ContainerId { runtime: "cri".into(), id: "c".into() };
    let containers = vec![Container { id, state, ..Container::default() }];
    Arc::new(Pod { uid: uid.into(), containers, ..Pod::default() })
}

fn outputs(engine: &mut Engine) -> Vec<Output> {
    core::iter::from_fn(|| engine.poll_output()).collect()
}

fn relist(engine: &mut Engine, now: i64, listing: Listing) -> Vec<Output> {
    engine.handle_relist(Time(now));
    engine.handle_listed(Time(now), listing);
    let mut all = Vec::new();
    while let Some(output) = engine.poll_output() {
        if let Output::Inspect { pod } = &output {
            engine.handle_inspected(Time(now), &pod.uid, Ok(PodStatus::default().into()));
        }
        all.push(output);
    }
    all
}

#[track_caller]
fn ignored(engine: &mut Engine, input: &'static str) {
    assert_eq!(outputs(engine), [Output::Ignored { input }]);
}

#[test]
fn an_input_out_of_turn_is_ignored_and_said_so() {
    let mut engine = Engine::new(Config::default());
    engine.handle_listed(Time(1), Listing::Full(vec![]));
    ignored(&mut engine, "handle_listed");
    engine.handle_list_failed(Time(1), "boom");
    ignored(&mut engine, "handle_list_failed");
    engine.handle_pod_listed(Time(1), Ok(pod("p", PodState::Running)));
    ignored(&mut engine, "handle_pod_listed");
    engine.handle_inspected(Time(1), &"p".into(), Err("boom".into()));
    ignored(&mut engine, "handle_inspected");
    engine.handle_conditions_checked(Time(1), &"p".into(), &[]);
    ignored(&mut engine, "handle_conditions_checked");
    engine.handle_cri_event(Time(1), Arc::default());
    ignored(&mut engine, "handle_cri_event");
    assert_eq!(engine.set_watch_condition(&"p".into(), &"k".into()), None);
    ignored(&mut engine, "set_watch_condition");
    assert_eq!(engine.checkpoint(), EngineCheckpoint::default());
}

#[test]
fn a_relist_waits_for_its_inspections() {
    let mut engine = Engine::new(Config::default());
    engine.handle_relist(Time(1));
    engine.handle_listed(Time(1), Listing::Full(vec![pod("p", PodState::Running)]));
    outputs(&mut engine);
    engine.handle_relist(Time(2));
    ignored(&mut engine, "handle_relist");
    engine.handle_pod_relist(Time(2), &"p".into());
    ignored(&mut engine, "handle_pod_relist");
    engine.handle_inspected(Time(2), &"q".into(), Ok(PodStatus::default().into()));
    ignored(&mut engine, "handle_inspected");
    engine.handle_inspected(Time(3), &"p".into(), Ok(PodStatus::default().into()));
    let took = 2;
    assert_eq!(outputs(&mut engine).last(), Some(&Output::Relisted { took, interval: None }));
}

#[test]
fn a_pod_relist_takes_only_the_pod_that_it_is_of() {
    let mut engine = Engine::new(Config::default());
    engine.handle_pod_relist(Time(1), &"p".into());
    outputs(&mut engine);
    engine.handle_pod_listed(Time(1), Ok(pod("q", PodState::Running)));
    ignored(&mut engine, "handle_pod_listed");
    engine.handle_pod_listed(Time(1), Err("pod not found".into()));
    assert_eq!(outputs(&mut engine).last(), Some(&Output::PodRelisted { uid: "p".into(), took: 0 }));
}

#[test]
fn what_v1_35_does_not_know_is_ignored() {
    let mut engine = Engine::new(Config { profile: Profile::V1_35, ..Config::default() });
    engine.request_reinspect(&"p".into());
    ignored(&mut engine, "request_reinspect");
    engine.request_relist(Time(1), &"p".into());
    ignored(&mut engine, "request_relist");
    engine.handle_pod_relist(Time(1), &"p".into());
    ignored(&mut engine, "handle_pod_relist");
}

/// A pod relist that saw a change the next listing does not show: the record is compared with the listing anew.
#[test]
fn a_listing_without_a_change_is_compared_with_what_a_pod_relist_saw() {
    let mut engine = Engine::new(Config::default());
    relist(&mut engine, 1, Listing::Full(vec![pod("p", PodState::Running)]));
    engine.handle_pod_relist(Time(2), &"p".into());
    engine.handle_pod_listed(Time(2), Ok(pod("p", PodState::Exited)));
    engine.handle_inspected(Time(2), &"p".into(), Ok(PodStatus::default().into()));
    outputs(&mut engine);
    relist(&mut engine, 3, Listing::Changed { pods: vec![], gone: vec![] });
    let kinds: Vec<_> = engine.drain_channel(usize::MAX).iter().map(|event| event.kind).collect();
    use EventType::{ContainerDied, ContainerStarted};
    assert_eq!(kinds, [ContainerStarted, ContainerDied, ContainerStarted]);
}

/// The time of an entry is that of the listing which led to its inspection, also when that listing only said that the
/// pod is as before.
#[test]
fn a_reinspected_pod_has_the_time_of_the_last_listing() {
    let mut engine = Engine::new(Config::default());
    relist(&mut engine, 1, Listing::Full(vec![pod("p", PodState::Running)]));
    engine.request_reinspect(&"p".into());
    relist(&mut engine, 2, Listing::Changed { pods: vec![], gone: vec![] });
    assert_eq!(engine.cache().get(&"p".into()).and_then(|entry| entry.modified), Some(Time(2)));
}

/// Uids in the order of their inspections, in a relist that nothing changed in but that `asked` is asked for while `b` is
/// inspected.
fn inspected_when_asked_for(asked: &str, order: &[&str]) -> Vec<Uid> {
    let mut engine = Engine::new(Config::default());
    let all = ["a", "b", "c", "d"].map(|uid| pod(uid, PodState::Running));
    relist(&mut engine, 1, Listing::Full(all.to_vec()));
    for uid in ["b", "d"] {
        engine.request_reinspect(&uid.into());
    }
    engine.set_order(&order.iter().map(|uid| Uid::from(*uid)).collect::<Vec<_>>());
    engine.handle_relist(Time(2));
    engine.handle_listed(Time(2), Listing::Changed { pods: vec![], gone: vec![] });
    let mut inspected = Vec::new();
    while let Some(output) = engine.poll_output() {
        let Output::Inspect { pod } = output else { continue };
        assert_eq!(pod.timestamp, Time(2));
        inspected.push(pod.uid.clone());
        if *pod.uid == *"b" {
            engine.request_reinspect(&asked.into());
            engine = Engine::restore(engine.config().clone(), engine.checkpoint());
        }
        engine.handle_inspected(Time(2), &pod.uid, Ok(PodStatus::default().into()));
    }
    inspected
}

/// Upstream walks every record, so a request that comes in the middle of a relist is served in it if the pod's turn is
/// still to come, and else in the next.
#[test]
fn a_request_in_the_middle_of_a_relist_is_served_in_its_turn() {
    assert_eq!(inspected_when_asked_for("a", &[]), ["b", "d"].map(Uid::from));
    assert_eq!(inspected_when_asked_for("b", &[]), ["b", "d"].map(Uid::from));
    assert_eq!(inspected_when_asked_for("c", &[]), ["b", "c", "d"].map(Uid::from));
    assert_eq!(inspected_when_asked_for("d", &[]), ["b", "d"].map(Uid::from));
    assert_eq!(inspected_when_asked_for("z", &[]), ["b", "d"].map(Uid::from));
    assert_eq!(inspected_when_asked_for("c", &["d", "c", "b"]), ["d", "b"].map(Uid::from));
    assert_eq!(inspected_when_asked_for("a", &["d", "b", "a"]), ["d", "b", "a"].map(Uid::from));
}

#[test]
fn a_clock_that_runs_backwards_does_no_harm() {
    let mut engine = Engine::new(Config::default());
    relist(&mut engine, i64::MAX, Listing::Full(vec![pod("p", PodState::Running)]));
    let all = relist(&mut engine, i64::MIN, Listing::Full(vec![pod("p", PodState::Exited)]));
    assert_eq!(all.last(), Some(&Output::Relisted { took: 0, interval: Some(i64::MIN) }));
    assert!(engine.health(Time(i64::MIN)).is_healthy());
}
