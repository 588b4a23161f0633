//! Deltas between snapshots of any content, deltas of another snapshot, and deltas that nobody made.

use crate::lists::{Item, Lists, id};
use arbitrary::{Arbitrary, Unstructured};
use pleg_core::{
    kuberuntime::PodSet,
    pod::Pod,
    snapshot::{Delta, DeltaError, Snapshot},
    time::Time,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Arbitrary, Debug)]
struct Input {
    base: Lists,
    target: Lists,
    other: Lists,
    sandboxes: MadeUp,
    containers: MadeUp,
}

/// One half of a delta that no two snapshots have between them.
#[derive(Arbitrary, Debug)]
struct MadeUp {
    put: Vec<Item>,
    state: Vec<(u8, i8)>,
    gone: Vec<u8>,
}

/// Takes the bytes for three snapshots and a delta.
pub fn check(bytes: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let [base, target, other] = [&input.base, &input.target, &input.other].map(Lists::snapshot);
    assert!(base.delta_to(&base).is_empty());
    let delta = sent(&base.delta_to(&target));
    assert_eq!(delta.is_empty(), base == target);
    let mut after = base.clone();
    assert_eq!(after.apply(&delta), Ok(()));
    assert_same(&after, &target);
    pods_follow(&base, &after, &delta);
    refused_or_right(other, &delta, &target);
    made_up(&base, &input);
}

/// The delta as its receiver has it.
fn sent(delta: &Delta) -> Delta {
    let text = serde_json::to_string(delta).expect("a delta can be written");
    let received = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(*delta, received, "{text}");
    received
}

fn assert_same(found: &Snapshot, wanted: &Snapshot) {
    assert_eq!(found, wanted);
    assert_eq!(found.hash(), wanted.hash());
}

/// On whatever snapshot a delta is applied: it is refused, or the result is the list that the sender had. One without
/// changes proves nothing and changes nothing.
fn refused_or_right(mut snapshot: Snapshot, delta: &Delta, target: &Snapshot) {
    if delta.is_empty() {
        let before = snapshot.clone();
        assert_eq!(snapshot.apply(delta), Ok(()));
        assert_same(&snapshot, &before);
    } else if snapshot.apply(delta).is_ok() {
        assert_same(&snapshot, target);
    }
}

/// The pods follow a delta to where a fresh start would be.
fn pods_follow(before: &Snapshot, after: &Snapshot, delta: &Delta) {
    let mut set = PodSet::from_snapshot(before, "runtime", Time(0));
    set.apply(after, delta, Time(0));
    assert_eq!(pods(&set), pods(&PodSet::from_snapshot(after, "runtime", Time(0))));
}

fn pods(set: &PodSet) -> BTreeMap<String, Pod> {
    set.pods().map(|pod| (pod.uid.to_string(), Pod::clone(pod))).collect()
}

/// A delta that nobody made is refused for its hash, in either format. With the right one it is applied, and what
/// comes out is a snapshot like any other.
fn made_up(base: &Snapshot, input: &Input) {
    for proof in ["sum", "hash"] {
        let delta = |hash: &str| MadeUp::delta(proof, hash, &input.sandboxes, &input.containers);
        let mut after = base.clone();
        let delta = match after.apply(&delta("0")) {
            Err(DeltaError::Hash { found, .. }) => delta(&found.to_string()),
            Err(DeltaError::UnknownId(_)) => continue,
            Err(DeltaError::Unproven) => unreachable!("it has a hash"),
            Ok(()) => delta("0"),
        };
        let mut after = base.clone();
        assert_eq!(after.apply(&delta), Ok(()));
        let lists = (after.sandboxes().cloned().collect(), after.containers().cloned().collect());
        assert_same(&after, &Snapshot::new(lists.0, lists.1));
        pods_follow(base, &after, &delta);
    }
}

impl MadeUp {
    fn delta(proof: &str, hash: &str, sandboxes: &Self, containers: &Self) -> Delta {
        let delta = json!({
            proof: hash,
            "sandboxes": sandboxes.changes(|item| json!(item.sandbox())),
            "containers": containers.changes(|item| json!(item.container())),
        });
        serde_json::from_value(delta).expect("this is a delta")
    }

    fn changes(&self, put: fn(&Item) -> Value) -> Value {
        let state: BTreeMap<_, _> = self.state.iter().map(|(number, state)| (id(*number), *state)).collect();
        json!({
            "put": self.put.iter().map(put).collect::<Vec<_>>(),
            "state": state,
            "gone": self.gone.iter().map(|number| id(*number)).collect::<Vec<_>>(),
        })
    }
}
