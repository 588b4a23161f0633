//! The pods of a snapshot, kept up at the cost of what a delta changes.

use super::pods::{Parts, container_owner, sandbox_owner};
use crate::{
    id::{CriId, Uid},
    pleg::Listing,
    pod::Pod,
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
    pods: BTreeMap<Uid, Listed>,
    /// The pods of each sandbox id; more than one only in broken answers.
    sandbox_owners: Owners,
    container_owners: Owners,
}

type Owners = BTreeMap<CriId, Vec<Uid>>;

#[derive(Clone, Debug, Default)]
struct Listed {
    sandboxes: BTreeSet<CriId>,
    containers: BTreeSet<CriId>,
    /// The pod as built from them; none while it is being built for the first time.
    pod: Option<Arc<Pod>>,
}

impl PodSet {
    /// The pods of a snapshot whose listing began at `timestamp`. `runtime` is the name that the runtime's `Version`
    /// answer has: PLEG compares it with each id.
    pub fn from_snapshot(snapshot: &Snapshot, runtime: &str, timestamp: Time) -> Self {
        let mut set = Self {
            runtime: runtime.into(),
            pods: BTreeMap::new(),
            sandbox_owners: Owners::new(),
            container_owners: Owners::new(),
        };
        for sandbox in snapshot.sandboxes() {
            set.add_sandbox(&sandbox.id, sandbox_owner(sandbox).cloned());
        }
        for container in snapshot.containers() {
            set.add_container(&container.id, container_owner(container));
        }
        let uids: Vec<Uid> = set.pods.keys().cloned().collect();
        set.rebuild(uids, snapshot, timestamp);
        set
    }

    /// All pods, as a whole listing.
    pub fn listing(&self) -> Listing {
        Listing::Full(self.pods().cloned().collect())
    }

    /// The pods, in the order of their uids.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.pods.values().filter_map(|listed| listed.pod.as_ref())
    }

    /// A pod by its uid.
    pub fn get(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.pods.get(uid)?.pod.as_ref()
    }

    /// Follows the snapshot: `after` is what it became by `delta`, in a listing that began at `timestamp`. Returns
    /// the pods that changed.
    pub fn apply(&mut self, after: &Snapshot, delta: &Delta, timestamp: Time) -> Listing {
        let mut touched = BTreeSet::new();
        for id in delta.sandbox_ids() {
            touched.extend(self.remove_sandbox(id));
            for sandbox in after.sandboxes_with(id) {
                touched.extend(self.add_sandbox(id, sandbox_owner(sandbox).cloned()));
            }
        }
        for id in delta.container_ids() {
            touched.extend(self.remove_container(id));
            for container in after.containers_with(id) {
                touched.extend(self.add_container(id, container_owner(container)));
            }
        }
        self.rebuild(touched, after, timestamp)
    }

    fn add_sandbox(&mut self, id: &CriId, owner: Option<Uid>) -> Option<Uid> {
        let uid = owner?;
        self.pods.entry(uid.clone()).or_default().sandboxes.insert(id.clone());
        self.sandbox_owners.entry(id.clone()).or_default().push(uid.clone());
        Some(uid)
    }

    fn add_container(&mut self, id: &CriId, owner: Option<Uid>) -> Option<Uid> {
        let uid = owner?;
        self.pods.entry(uid.clone()).or_default().containers.insert(id.clone());
        self.container_owners.entry(id.clone()).or_default().push(uid.clone());
        Some(uid)
    }

    fn remove_sandbox(&mut self, id: &CriId) -> Vec<Uid> {
        let owners = self.sandbox_owners.remove(id).unwrap_or_default();
        for uid in &owners {
            if let Some(pod) = self.pods.get_mut(uid) {
                pod.sandboxes.remove(id);
            }
        }
        owners
    }

    fn remove_container(&mut self, id: &CriId) -> Vec<Uid> {
        let owners = self.container_owners.remove(id).unwrap_or_default();
        for uid in &owners {
            if let Some(pod) = self.pods.get_mut(uid) {
                pod.containers.remove(id);
            }
        }
        owners
    }

    /// Builds these pods anew and says which of them really changed.
    fn rebuild(
        &mut self,
        uids: impl IntoIterator<Item = Uid>,
        snapshot: &Snapshot,
        timestamp: Time,
    ) -> Listing {
        let (mut pods, mut gone) = (Vec::new(), Vec::new());
        for uid in uids {
            let Some(listed) = self.pods.get_mut(&uid) else { continue };
            if listed.sandboxes.is_empty() && listed.containers.is_empty() {
                self.pods.remove(&uid);
                gone.push(uid);
                continue;
            }
            let built = listed.build(&uid, snapshot, &self.runtime, timestamp);
            if listed.pod.as_ref().is_none_or(|pod| !same_but_for_timestamp(pod, &built)) {
                let built = Arc::new(built);
                listed.pod = Some(built.clone());
                pods.push(built);
            }
        }
        Listing::Changed { pods, gone }
    }
}

impl Listed {
    fn build(&self, uid: &Uid, snapshot: &Snapshot, runtime: &Arc<str>, timestamp: Time) -> Pod {
        let sandboxes = self.sandboxes.iter().flat_map(|id| snapshot.sandboxes_with(id));
        let containers = self.containers.iter().flat_map(|id| snapshot.containers_with(id));
        let mut parts = Parts {
            sandboxes: sandboxes.filter(|sandbox| sandbox_owner(sandbox) == Some(uid)).collect(),
            containers: containers.filter(|c| container_owner(c).as_ref() == Some(uid)).collect(),
        };
        parts.sort();
        parts.build(uid.clone(), runtime, timestamp)
    }
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
