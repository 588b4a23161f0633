//! The pods of a snapshot, kept up at the cost of what a delta changes.

use super::{
    owners::Owners,
    pods::{Parts, container_owner, sandbox_owner},
};
use crate::{
    id::{CriId, Uid},
    pleg::Listing,
    pod::{Pod, State},
    snapshot::{Delta, Snapshot},
    time::Time,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

/// `GetPods(all = true)` of v1.36 over a [`Snapshot`]. A snapshot keeps no order of the runtime's, and v1.36 sorts
/// what it lists, so the same pods come out.
#[derive(Clone, Debug)]
pub struct PodSet {
    runtime: Arc<str>,
    pods: BTreeMap<Uid, Arc<Pod>>,
    sandboxes: Owners,
    containers: Owners,
}

/// Which of a pod's two lists.
#[derive(Clone, Copy)]
enum Kind {
    Sandboxes,
    Containers,
}

impl PodSet {
    /// The pods of a snapshot whose listing began at `timestamp`. `runtime` is the name that the runtime's `Version`
    /// answer has: PLEG compares it with each id.
    pub fn from_snapshot(snapshot: &Snapshot, runtime: &str, timestamp: Time) -> Self {
        let mut set = Self {
            runtime: runtime.into(),
            pods: BTreeMap::new(),
            sandboxes: Owners::default(),
            containers: Owners::default(),
        };
        let mut uids = BTreeSet::new();
        for sandbox in snapshot.sandboxes() {
            uids.extend(sandbox_owner(sandbox).map(|uid| set.sandboxes.add(&sandbox.id, uid)));
        }
        for container in snapshot.containers() {
            uids.extend(container_owner(container).map(|uid| set.containers.add(&container.id, uid.into())));
        }
        for uid in uids {
            let pod = set.build(&uid, snapshot, timestamp);
            set.pods.insert(uid, Arc::new(pod));
        }
        set
    }

    /// All pods, as a whole listing.
    pub fn listing(&self) -> Listing {
        Listing::Full(self.pods().cloned().collect())
    }

    /// The pods, in the order of their uids.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.pods.values()
    }

    /// A pod by its uid.
    pub fn get(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.pods.get(uid)
    }

    /// Follows the snapshot: `after` is what it became by `delta`, in a listing that began at `timestamp`. Returns
    /// the pods that changed.
    pub fn apply(&mut self, after: &Snapshot, delta: &Delta, timestamp: Time) -> Listing {
        let mut changed = self.change_states(delta, timestamp);
        let mut gone = Vec::new();
        for uid in self.regroup(after, delta) {
            if !self.sandboxes.has_any(&uid) && !self.containers.has_any(&uid) {
                self.pods.remove(&uid);
                gone.push(uid);
            } else if self.rebuild(&uid, after, timestamp) {
                changed.push(uid);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let pods = changed.iter().filter_map(|uid| self.pods.get(uid)).cloned().collect();
        Listing::Changed { pods, gone }
    }

    /// Where only the state of a sandbox or container changed, its pod stays what it is but for that. Returns the
    /// pods that changed, some more than once.
    fn change_states(&mut self, delta: &Delta, timestamp: Time) -> Vec<Uid> {
        let mut changed = Vec::new();
        for (id, state) in delta.sandbox_states() {
            let owners = self.sandboxes.of(id).iter();
            let state = state.into();
            let change = |uid: &&Uid| change(&mut self.pods, uid, Kind::Sandboxes, id, state, timestamp);
            changed.extend(owners.filter(change).cloned());
        }
        for (id, state) in delta.container_states() {
            let owners = self.containers.of(id).iter();
            let state = state.into();
            let change = |uid: &&Uid| change(&mut self.pods, uid, Kind::Containers, id, state, timestamp);
            changed.extend(owners.filter(change).cloned());
        }
        changed
    }

    /// Gives what came, went, or may have changed its pod to the pod that it is now of. Returns the pods that had or
    /// have it.
    fn regroup(&mut self, after: &Snapshot, delta: &Delta) -> BTreeSet<Uid> {
        let mut touched = BTreeSet::new();
        for id in delta.moved_sandboxes() {
            let owners = after.sandboxes_with(id).filter_map(sandbox_owner);
            touched.extend(self.sandboxes.replace(id, owners));
        }
        for id in delta.moved_containers() {
            let owners = after.containers_with(id).filter_map(container_owner);
            touched.extend(self.containers.replace(id, owners.map(Uid::from)));
        }
        touched
    }

    /// Builds a pod anew; whether it really changed.
    fn rebuild(&mut self, uid: &Uid, snapshot: &Snapshot, timestamp: Time) -> bool {
        let built = self.build(uid, snapshot, timestamp);
        let changed = self.pods.get(uid).is_none_or(|pod| !same_but_for_timestamp(pod, &built));
        if changed {
            self.pods.insert(uid.clone(), Arc::new(built));
        }
        changed
    }

    fn build(&self, uid: &Uid, snapshot: &Snapshot, timestamp: Time) -> Pod {
        let sandboxes = self.sandboxes.ids(uid).flat_map(|id| snapshot.sandboxes_with(id));
        let containers = self.containers.ids(uid).flat_map(|id| snapshot.containers_with(id));
        let mut parts = Parts {
            sandboxes: sandboxes.filter(|sandbox| sandbox_owner(sandbox).as_ref() == Some(uid)).collect(),
            containers: containers.filter(|c| container_owner(c) == Some(uid.as_str())).collect(),
        };
        parts.sort();
        parts.build(uid.clone(), &self.runtime, timestamp)
    }
}

/// Gives a sandbox or container of a pod another state; whether that is another one to the kubelet too. The pod is
/// copied only if somebody else still holds it as it was.
fn change(
    pods: &mut BTreeMap<Uid, Arc<Pod>>,
    uid: &Uid,
    kind: Kind,
    id: &CriId,
    state: State,
    timestamp: Time,
) -> bool {
    let Some(pod) = pods.get_mut(uid) else { return false };
    let list = match kind {
        Kind::Sandboxes => &pod.sandboxes,
        Kind::Containers => &pod.containers,
    };
    let Some(place) = list.iter().position(|c| c.id.id == *id && c.state != state) else { return false };
    let pod = Arc::make_mut(pod);
    pod.timestamp = timestamp;
    let list = match kind {
        Kind::Sandboxes => &mut pod.sandboxes,
        Kind::Containers => &mut pod.containers,
    };
    if let Some(container) = list.get_mut(place) {
        container.state = state;
    }
    true
}

fn same_but_for_timestamp(old: &Pod, new: &Pod) -> bool {
    let Pod { uid, name, namespace, created_at, timestamp: _, sandboxes, containers } = new;
    old.uid == *uid
        && old.name == *name
        && old.namespace == *namespace
        && old.created_at == *created_at
        && old.sandboxes == *sandboxes
        && old.containers == *containers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cri::{
            Container, ContainerMetadata, ContainerState, POD_UID_LABEL, Sandbox, SandboxMetadata,
            SandboxState,
        },
        kuberuntime::get_pods,
    };
    use alloc::format;
    use fastrand::Rng;

    /// Two lists of a small node in which everything that can be broken is broken at times: missing metadata, images,
    /// labels and ids, ids that come twice, ids that change their pod.
    fn lists(rng: &mut Rng) -> (Vec<Sandbox>, Vec<Container>) {
        let sandboxes = (0..rng.usize(..6)).map(|_| sandbox(rng)).collect();
        let containers = (0..rng.usize(..8)).map(|_| container(rng)).collect();
        (sandboxes, containers)
    }

    fn uid(rng: &mut Rng) -> Uid {
        Uid::from(format!("uid-{}", rng.u8(..3)))
    }

    fn id(rng: &mut Rng) -> CriId {
        if rng.u8(..12) == 0 { CriId::default() } else { CriId::from(format!("id-{}", rng.u8(..6))) }
    }

    fn sandbox(rng: &mut Rng) -> Sandbox {
        let metadata = SandboxMetadata { uid: uid(rng), attempt: rng.u32(..3), ..SandboxMetadata::default() };
        Sandbox {
            id: id(rng),
            metadata: (rng.u8(..8) != 0).then_some(metadata),
            state: if rng.bool() { SandboxState::Ready } else { SandboxState::NotReady },
            created_at: rng.i64(..4),
            ..Sandbox::default()
        }
    }

    fn container(rng: &mut Rng) -> Container {
        let label = (rng.u8(..8) != 0).then(|| (POD_UID_LABEL.into(), uid(rng).as_str().into()));
        Container {
            id: id(rng),
            metadata: (rng.u8(..8) != 0).then(ContainerMetadata::default),
            image: (rng.u8(..8) != 0).then(Default::default),
            state: if rng.bool() { ContainerState::Running } else { ContainerState::Exited },
            created_at: rng.i64(..4),
            labels: label.into_iter().collect(),
            ..Container::default()
        }
    }

    /// The pods, without their timestamps.
    fn pods<'a>(pods: impl IntoIterator<Item = &'a Arc<Pod>>) -> BTreeMap<Uid, Pod> {
        let timeless = |pod: &Arc<Pod>| Pod { timestamp: Time(0), ..Pod::clone(pod) };
        pods.into_iter().map(|pod| (pod.uid.clone(), timeless(pod))).collect()
    }

    #[test]
    fn following_deltas_gives_what_listing_anew_gives_and_says_what_changed() {
        let mut rng = Rng::with_seed(0x6b75_6265);
        let mut before = Snapshot::default();
        let mut set = PodSet::from_snapshot(&before, "cri", Time(0));
        for round in 1..3_000 {
            let (sandboxes, containers) = lists(&mut rng);
            let after = Snapshot::new(sandboxes, containers);
            let had = pods(set.pods());
            let delta = before.delta_to(&after);
            let Listing::Changed { pods: changed, gone } = set.apply(&after, &delta, Time(round)) else {
                panic!("a delta gives changes");
            };
            let listed: (Vec<_>, Vec<_>) =
                (after.sandboxes().cloned().collect(), after.containers().cloned().collect());
            let anew = get_pods(&listed.0, &listed.1, &"cri".into(), Time(round), true);
            assert_eq!(pods(set.pods()), pods(&anew), "round {round}");
            assert!(changed.iter().all(|pod| pod.timestamp == Time(round)));
            let differs = |(uid, pod): &(&Uid, &Pod)| had.get(*uid) != Some(*pod);
            let expected: BTreeMap<_, _> = pods(&anew);
            let expected =
                expected.iter().filter(differs).map(|(uid, pod)| (uid.clone(), pod.clone())).collect();
            assert_eq!(pods(&changed), expected, "round {round}");
            assert!(
                gone.iter().eq(had.keys().filter(|uid| set.get(uid).is_none())),
                "round {round}: {gone:?}"
            );
            before = after;
        }
    }
}
