//! The node as a whole: its pods, its runtime, and what is due when.

use super::{
    catalogue::{Task, WORKLOADS, Workload},
    dice::Dice,
    faults::Faults,
    identity::{Identity, Revision},
    runtime::{Exit, Runtime},
    script::{self, Cue, Scene},
    start,
};
use crate::{id::CriId, time::Time};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// A pod of the node, by the order in which the node was told of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PodKey(u64);

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its containers are being started for the first time in this sandbox.
    Starting,
    Running,
    /// Its sandbox died: the containers end, then it gets a new sandbox.
    Recreating,
    /// A job's pod whose container has ended.
    Finished,
    /// It was deleted.
    Ending,
}

#[derive(Clone, Debug)]
pub(super) struct Pod {
    pub(super) workload: &'static Workload,
    /// Number of the workload's revision that it was made from.
    pub(super) revision: u32,
    pub(super) identity: Identity,
    pub(super) phase: Phase,
    /// Sandboxes that are still there, newest last.
    pub(super) sandboxes: Vec<CriId>,
    /// Attempt of the next sandbox.
    pub(super) sandbox_attempt: u32,
    pub(super) slots: Vec<Slot>,
}

/// One container of a pod's specification, over all its attempts.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) task: &'static Task,
    pub(super) is_init: bool,
    pub(super) current: Option<CriId>,
    /// The attempt before, which the kubelet keeps until the current one ends.
    pub(super) previous: Option<CriId>,
    /// Attempt of the next container.
    pub(super) attempt: u32,
    /// Whether the current sandbox has had it started.
    pub(super) placed: bool,
    /// Ends in a row, for the back-off.
    pub(super) crashes: usize,
}

/// Something that is due at a time.
#[derive(Clone, Debug)]
pub(super) enum Step {
    RunSandbox(PodKey),
    /// In this sandbox.
    Create(PodKey, usize, CriId),
    Start(PodKey, usize, CriId),
    /// This very container ends; nothing when it has ended before.
    End(PodKey, usize, CriId, Exit),
    /// Whatever attempt runs then is killed.
    Kill(PodKey, usize, Exit),
    KillSandbox(PodKey),
    StopSandbox(PodKey),
    RemoveContainers(PodKey),
    RemoveSandboxes(PodKey),
    Delete(PodKey),
    Scene(Scene),
    Cue(&'static Cue),
}

/// Addresses in the node's pod network, a /24.
const HOSTS: u8 = 254;

/// The simulated node. Its story depends on the seed and the epoch alone, never on who asks when.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) runtime: Runtime,
    pub(super) pods: BTreeMap<PodKey, Pod>,
    pub(super) faults: Faults,
    pub(super) dice: Dice,
    revisions: BTreeMap<&'static str, Revision>,
    agenda: BTreeMap<(Time, u64), Step>,
    steps: u64,
    next_pod: u64,
    next_host: u8,
}

impl Node {
    /// A node with all its pods, some of them days old at `epoch`.
    pub(super) fn new(seed: u64, epoch: Time) -> Self {
        let mut node = Self {
            runtime: Runtime::default(),
            pods: BTreeMap::new(),
            faults: Faults::default(),
            dice: Dice::new(seed),
            revisions: BTreeMap::new(),
            agenda: BTreeMap::new(),
            steps: 0,
            next_pod: 0,
            next_host: HOSTS,
        };
        for workload in WORKLOADS {
            let number = u32::try_from(node.dice.between(1, 9)).unwrap_or(1);
            let revision = Revision::new(workload.kind, number, &mut node.dice);
            node.revisions.insert(workload.name, revision);
        }
        start::settle(&mut node, epoch);
        script::begin(&mut node, epoch);
        node
    }

    /// Does all that is due up to `now`. A `now` that lies back does nothing.
    pub(super) fn advance(&mut self, now: Time) {
        while let Some(entry) = self.agenda.first_entry() {
            let (at, _) = *entry.key();
            if at > now {
                return;
            }
            let step = entry.remove();
            self.perform(at, step);
        }
    }

    /// Does one step. One whose pod has gone or moved on does nothing.
    fn perform(&mut self, at: Time, step: Step) {
        match step {
            Step::RunSandbox(key) => self.run_sandbox(at, key),
            Step::Create(key, index, sandbox) => self.create(at, key, index, sandbox),
            Step::Start(key, index, id) => self.start(at, key, index, &id),
            Step::End(key, index, id, exit) => self.end(at, key, index, &id, exit),
            Step::Kill(key, index, exit) => self.kill(at, key, index, exit),
            Step::KillSandbox(key) => self.kill_sandbox(at, key),
            Step::StopSandbox(key) => self.stop_sandbox(at, key),
            Step::RemoveContainers(key) => self.remove_containers(at, key),
            Step::RemoveSandboxes(key) => self.remove_sandboxes(key),
            Step::Delete(key) => self.delete(at, key),
            Step::Scene(scene) => script::play(self, at, scene),
            Step::Cue(cue) => script::play_cue(self, at, cue),
        }
    }

    /// Puts a step on the agenda. Steps of the same time keep their order.
    pub(super) fn plan(&mut self, at: Time, step: Step) {
        self.steps += 1;
        self.agenda.insert((at, self.steps), step);
    }

    /// Binds a new pod to the node: its sandbox follows once the runtime has made it.
    pub(super) fn add_pod(&mut self, at: Time, workload: &'static Workload) -> Option<PodKey> {
        let revision = self.revisions.get(workload.name)?;
        let identity = Identity::new(workload, revision, at, &mut self.dice);
        let slots = workload.all_tasks().enumerate().map(|(index, task)| Slot {
            task,
            is_init: index < workload.init.len(),
            current: None,
            previous: None,
            attempt: 0,
            placed: false,
            crashes: 0,
        });
        let pod = Pod {
            workload,
            revision: revision.number,
            identity,
            phase: Phase::Starting,
            sandboxes: Vec::new(),
            sandbox_attempt: 0,
            slots: slots.collect(),
        };
        let key = PodKey(self.next_pod);
        self.next_pod += 1;
        self.pods.insert(key, pod);
        let took = self.dice.millis((180, 450));
        self.plan(at + took, Step::RunSandbox(key));
        Some(key)
    }

    /// A new pod template: the next revision, with a hash of its own.
    pub(super) fn revise(&mut self, workload: &'static Workload) {
        if let Some(revision) = self.revisions.get_mut(workload.name) {
            *revision = Revision::new(workload.kind, revision.number + 1, &mut self.dice);
        }
    }

    /// Number of the workload's current revision.
    pub(super) fn revision(&self, workload: &Workload) -> u32 {
        self.revisions.get(workload.name).map_or(0, |revision| revision.number)
    }

    /// Keys of the pods that fit, in their order.
    pub(super) fn keys(&self, fits: impl Fn(&Pod) -> bool) -> Vec<PodKey> {
        self.pods.iter().filter(|(_, pod)| fits(pod)).map(|(key, _)| *key).collect()
    }

    /// Keys of the pods of such workloads that are as they should be: all containers run.
    pub(super) fn whole_keys(&self, fits: impl Fn(&Workload) -> bool) -> Vec<PodKey> {
        let runs =
            |slot: &Slot| slot.is_init || slot.current.as_ref().is_some_and(|id| self.runtime.is_running(id));
        self.keys(|pod| fits(pod.workload) && pod.phase == Phase::Running && pod.slots.iter().all(runs))
    }

    /// The next free address of the node's pod network, round and round as the CNI plugin `host-local` hands them out.
    pub(super) fn next_ip(&mut self) -> String {
        let last = self.next_host;
        loop {
            self.next_host = self.next_host % HOSTS + 1;
            let ip = format!("10.244.7.{}", self.next_host);
            if self.next_host == last || !self.runtime.uses_ip(&ip) {
                return ip;
            }
        }
    }
}
