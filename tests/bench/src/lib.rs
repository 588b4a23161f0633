//! One relist, measured: from what was listed to the last output of the engine, inspections answered from memory.
//!
//! A [`Bench`] does first what is not to be measured ([`Bench::prepare`]), then what is ([`Bench::run`]). The same code
//! runs under criterion, under callgrind, in the allocation counter and as WebAssembly.

mod node;

use fastrand::Rng;
use node::Node;
use pleg_core::{
    cri::{Container, Sandbox},
    id::Uid,
    kuberuntime::PodSet,
    pleg::{Config, Engine, Listing, Output},
    pod::PodStatus,
    snapshot::{Delta, Snapshot},
    time::{SECOND, Time},
};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Pods, and containers in each.
pub const SIZES: [(usize, usize); 3] = [(110, 2), (1_000, 3), (10_000, 3)];
/// How many of a hundred containers changed since the relist before.
pub const CHANGED: [usize; 3] = [0, 1, 100];

/// Relists before any that are measured.
const WARM_UP: usize = 3;

/// What a relist begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum From {
    /// The pods that changed, in memory: the engine alone.
    Pods,
    /// A delta, as decoded from its frame: what a reader of frames does.
    Delta,
    /// Both lists, as decoded from the runtime's answers: what the agent does.
    Lists,
}

/// One thing to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// What a relist begins with.
    pub from: From,
    /// How many pods.
    pub pods: usize,
    /// How many containers in each.
    pub containers: usize,
    /// How many of a hundred containers change.
    pub percent: usize,
}

/// A node that is relisted.
pub struct Bench {
    case: Case,
    node: Node,
    rng: Rng,
    /// What the relists still to be run will have listed; ahead of what was run.
    ahead: (Snapshot, PodSet),
    /// The delta of a relist in which nothing changed.
    unchanged: Delta,
    snapshot: Snapshot,
    pods: PodSet,
    engine: Engine,
    /// What each pod's inspection finds: one and the same object each time, as a fake runtime in memory has it.
    statuses: BTreeMap<Uid, Arc<PodStatus>>,
    /// The relists to run, the next one last.
    inputs: Vec<Input>,
    now: Time,
}

struct Input {
    listed: Listed,
    /// What the inspections find, the next one last.
    statuses: Vec<Arc<PodStatus>>,
}

enum Listed {
    Pods(Listing),
    Delta(Delta),
    Lists(Vec<Sandbox>, Vec<Container>),
}

impl Case {
    /// All cases, in the order of the table.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for from in [From::Pods, From::Delta, From::Lists] {
            for (pods, containers) in SIZES {
                all.extend(CHANGED.map(|percent| Self { from, pods, containers, percent }));
            }
        }
        all
    }

    /// How many containers change in a relist.
    pub fn changes(&self) -> usize {
        (self.pods * self.containers * self.percent).div_ceil(100)
    }

    /// How many relists to prepare at once, so that a clock's resolution does not show.
    pub fn batch(&self) -> usize {
        match self.from {
            From::Lists => 1,
            From::Pods | From::Delta => (1_000 / (1 + self.changes())).max(1),
        }
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            From::Pods => "pods",
            From::Delta => "delta",
            From::Lists => "lists",
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, pods, containers, percent } = self;
        write!(f, "{from}/{pods}x{containers}/{percent}%")
    }
}

impl Bench {
    /// A node that was relisted a few times already: what changes from here on is all that the next relist finds, and
    /// the engine's buffers have grown.
    pub fn new(case: Case) -> Self {
        let node = Node::new(case.pods, case.containers);
        let snapshot = Snapshot::new(node.sandboxes.clone(), node.containers.clone());
        let pods = PodSet::from_snapshot(&snapshot, "containerd", Time(0));
        let mut bench = Self {
            case,
            ahead: (snapshot.clone(), pods.clone()),
            unchanged: snapshot.delta_to(&snapshot),
            snapshot,
            pods,
            engine: Engine::new(Config::default()),
            statuses: node.statuses(case.containers),
            inputs: Vec::new(),
            rng: Rng::with_seed(1),
            node,
            now: Time(0),
        };
        let listing = bench.ahead.1.listing();
        bench.relist(Input { statuses: bench.found(&listing), listed: Listed::Pods(listing) });
        for _ in 0..WARM_UP {
            let input = bench.input();
            bench.relist(input);
        }
        bench
    }

    /// Gets the inputs of the next relists ready.
    pub fn prepare(&mut self, relists: usize) {
        let mut inputs: Vec<Input> = (0..relists).map(|_| self.input()).collect();
        inputs.reverse();
        self.inputs = inputs;
    }

    fn input(&mut self) -> Input {
        let delta = self.change();
        let listing = self.ahead.1.apply(&self.ahead.0, &delta, self.now);
        let statuses = self.found(&listing);
        let listed = match self.case.from {
            From::Pods => Listed::Pods(listing),
            From::Delta => Listed::Delta(delta),
            From::Lists => {
                let (sandboxes, containers) = self.node.lists(&mut self.rng);
                Listed::Lists(sandboxes, containers)
            }
        };
        Input { listed, statuses }
    }

    fn change(&mut self) -> Delta {
        if self.case.changes() == 0 {
            return self.unchanged.clone();
        }
        self.node.change(self.case.changes());
        let after = Snapshot::new(self.node.sandboxes.clone(), self.node.containers.clone());
        let delta = self.ahead.0.delta_to(&after);
        self.ahead.0 = after;
        delta
    }

    /// What the inspections of these pods find, the last one first.
    fn found(&self, listing: &Listing) -> Vec<Arc<PodStatus>> {
        let (Listing::Full(pods) | Listing::Changed { pods, .. }) = listing;
        pods.iter().rev().filter_map(|pod| self.statuses.get(&pod.uid)).cloned().collect()
    }

    /// Runs the relists that were prepared. How many outputs the engine gave. Not inlined, so that callgrind can tell
    /// it from the preparation.
    #[inline(never)]
    pub fn run(&mut self) -> usize {
        let mut outputs = 0;
        while let Some(input) = self.inputs.pop() {
            outputs += self.relist(input);
        }
        outputs
    }

    fn relist(&mut self, Input { listed, mut statuses }: Input) -> usize {
        self.now = self.now + SECOND;
        let listing = self.listing(listed);
        self.engine.handle_relist(self.now);
        self.engine.handle_listed(self.now, listing);
        let mut outputs = 0;
        while let Some(output) = self.engine.poll_output() {
            if let Output::Inspect { pod } = &output {
                let status = statuses.pop().ok_or_else(|| "not in memory".into());
                self.engine.handle_inspected(self.now, &pod.uid, status);
            }
            outputs += 1;
        }
        self.engine.drain_channel(usize::MAX);
        outputs
    }

    fn listing(&mut self, listed: Listed) -> Listing {
        let delta = match listed {
            Listed::Pods(listing) => return listing,
            Listed::Delta(delta) => delta,
            Listed::Lists(sandboxes, containers) => self.snapshot.delta_to_lists(&sandboxes, &containers),
        };
        match self.snapshot.apply(&delta) {
            Ok(()) => self.pods.apply(&self.snapshot, &delta, self.now),
            // No case makes such a delta; all pods anew would show in the figures.
            Err(_) => self.pods.listing(),
        }
    }
}
