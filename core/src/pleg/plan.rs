//! What the running relist has yet to do.

use super::{Engine, transition::transitions};
use crate::{id::Uid, pod::Pod};
use alloc::sync::Arc;

impl Engine {
    /// The pods that the running relist has yet to inspect, in order, the one being inspected first. Empty while it waits
    /// for its listing: what that will say decides.
    ///
    /// Costs a comparison of every pod that is still to be reconciled.
    pub fn to_inspect(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let pending = self.state.pending.iter().filter_map(|uid| self.needs_inspection(uid));
        self.inspected().into_iter().chain(pending).chain(self.state.passes.to_inspect())
    }

    /// The pod of a record that is still to be reconciled, if that needs an inspection. A vanished pod needs none.
    fn needs_inspection(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        let record = self.state.records.get(uid)?;
        let listed = record.listed.as_ref()?;
        let asked = self.state.to_reinspect.contains(uid) || self.state.watch.watches(uid);
        let changed = || !transitions(record.old.as_deref(), Some(listed)).is_empty();
        (asked || changed()).then_some(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pleg::{Config, Listing, Output, Profile},
        pod::{Container, ContainerId, PodStatus, State},
        time::Time,
    };
    use alloc::{vec, vec::Vec};

    fn pod(uid: &str, state: State) -> Arc<Pod> {
        let id = ContainerId { runtime: "cri".into(), id: "c".into() };
        let containers = vec![Container { id, state, ..Container::default() }];
        Arc::new(Pod { uid: uid.into(), containers, ..Pod::default() })
    }

    fn uids<'a>(pods: impl Iterator<Item = &'a Arc<Pod>>) -> Vec<Uid> {
        pods.map(|pod| pod.uid.clone()).collect()
    }

    /// Relists, with the inspection of `bad` failing. Returns the pods inspected, each with what was said to come then.
    fn relist(engine: &mut Engine, listing: Vec<Arc<Pod>>, bad: &str) -> Vec<(Uid, Vec<Uid>)> {
        engine.handle_relist(Time(0));
        assert_eq!(uids(engine.to_inspect()), [], "nothing is known before the listing");
        engine.handle_listed(Time(0), Listing::Full(listing));
        let mut inspected = Vec::new();
        while let Some(output) = engine.poll_output() {
            match output {
                Output::Inspect { pod } => {
                    let to_inspect = uids(engine.to_inspect());
                    inspected.push((pod.uid.clone(), to_inspect));
                    let result =
                        if *pod.uid == *bad { Err("boom".into()) } else { Ok(PodStatus::default().into()) };
                    engine.handle_inspected(Time(0), &pod.uid, result);
                }
                Output::CheckConditions { uid, .. } => {
                    engine.handle_conditions_checked(Time(0), &uid, &[]);
                }
                _ => {}
            }
        }
        assert_eq!(uids(engine.to_inspect()), [], "nothing is left after the relist");
        inspected
    }

    #[test]
    fn what_is_to_be_inspected_is_inspected_and_nothing_else() {
        use State::{Created, Exited, Running, Unknown};
        let mut engine = Engine::new(Config { profile: Profile::V1_35, ..Config::default() });
        let names = ["changed", "created", "failed", "gone", "same", "watched"];
        let first = names.map(|uid| pod(uid, if uid == "created" { Created } else { Running }));
        let all = relist(&mut engine, first.into(), "failed");
        assert_eq!(all.len(), names.len());
        engine.set_watch_condition(&"watched".into(), &"key".into());
        let second = vec![
            pod("changed", Exited),
            pod("created", Unknown),
            pod("failed", Running),
            pod("new", Running),
            pod("same", Running),
            pod("watched", Running),
        ];
        let some = relist(&mut engine, second, "");
        let names: Vec<Uid> = ["changed", "failed", "new", "watched"].map(Uid::from).into();
        for inspected in [all, some] {
            let order: Vec<Uid> = inspected.iter().map(|(uid, _)| uid.clone()).collect();
            for (place, (_, to_inspect)) in inspected.iter().enumerate() {
                assert_eq!(to_inspect.as_slice(), order.get(place..).unwrap());
            }
            assert!(order.len() > 4 || order == names, "{order:?}");
        }
    }
}
