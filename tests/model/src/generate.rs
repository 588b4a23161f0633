//! Random histories: a node whose pods come, change, go and come back, with all that can go wrong in between.

use crate::history::{Action, History, Inspection, Item, Kubelet, Look, Plan, Setup, Step};
use fastrand::Rng;
use pleg_core::{
    id::Uid,
    pod::State,
    time::{MILLISECOND, Nanos, SECOND},
};

/// The pods. The empty uid is the pod of all unlabelled containers.
pub(crate) const UIDS: [&str; 5] = ["a", "b", "c", "d", ""];
const PLACES: u8 = 5;
const CONTAINERS: [&str; 4] = ["c0", "c1", "c2", "c3"];
const SANDBOXES: [&str; 3] = ["s0", "s1", "s2"];
const KEYS: [&str; 2] = ["k0", "k1"];
const STATES: [State; 6] =
    [State::Running, State::Running, State::Exited, State::Exited, State::Created, State::Unknown];
/// Usually no time passes, so that times are often equal.
const TIMES: [Nanos; 8] = [0, 0, 0, 0, MILLISECOND, SECOND, 3 * SECOND, 12 * SECOND];

/// The history of a seed.
pub fn generate(seed: u64) -> History {
    let mut generator = Generator::new(seed);
    let by_loop = generator.one_in(3);
    if by_loop {
        generator.steps.push(Step::Start);
    }
    for _ in 0..generator.rng.u8(2..=12) {
        generator.changes();
        generator.interlude();
        generator.relist(by_loop);
    }
    History { seed, setup: generator.setup, steps: generator.steps }
}

struct Generator {
    rng: Rng,
    setup: Setup,
    /// How many places of the list are in use.
    places: u8,
    looks: Vec<Look>,
    steps: Vec<Step>,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let kubelet = if rng.u8(0..5) < 3 { Kubelet::V1_36 } else { Kubelet::V1_35 };
        let gate = rng.u8(0..4) == 0;
        let capacity = rng.choice([0, 1, 2, 3, 5, 8, 1000, 1000, 1000]).unwrap_or(1000);
        let setup = Setup { kubelet, gate, evented_in_use: gate && rng.bool(), capacity };
        let places = rng.u8(1..=PLACES);
        let looks =
            (0..PLACES).zip(UIDS).map(|(_, uid)| Look { uid: uid.into(), ..Look::default() }).collect();
        Self { rng, setup, places, looks, steps: Vec::new() }
    }

    fn one_in(&mut self, n: u8) -> bool {
        self.rng.u8(0..n) == 0
    }

    fn pick<T: Copy + Default, const N: usize>(&mut self, from: [T; N]) -> T {
        self.rng.choice(from).unwrap_or_default()
    }

    fn uid(&mut self) -> Uid {
        let used = self.rng.u8(0..self.places);
        UIDS.get(usize::from(used)).copied().unwrap_or_default().into()
    }

    /// Pods that change, go or come back.
    fn changes(&mut self) {
        for _ in 0..self.pick([0_u8, 1, 1, 2, 3]) {
            let place = self.rng.u8(0..self.places);
            let Some(mut look) = self.looks.get(usize::from(place)).cloned() else { continue };
            if self.one_in(5) {
                self.steps.push(Step::Gone { place });
                continue;
            }
            // A pod that went may come back as it was.
            if !self.one_in(8) {
                for _ in 0..self.rng.u8(1..=3) {
                    self.change(&mut look);
                }
            }
            if self.one_in(25) {
                look.uid = self.uid();
            }
            if let Some(known) = self.looks.get_mut(usize::from(place)) {
                known.clone_from(&look);
            }
            self.steps.push(Step::Pod { place, look });
        }
    }

    fn change(&mut self, look: &mut Look) {
        if self.one_in(8) {
            look.addresses = self.rng.u8(0..4);
        }
        let sandbox = self.one_in(3);
        let items = if sandbox { &mut look.sandboxes } else { &mut look.containers };
        let at = self.rng.usize(0..items.len().max(1));
        match self.rng.u8(0..20) {
            9..=12 => self.add_item(items, at, sandbox),
            _ if items.is_empty() => items.push(self.item(sandbox)),
            13..=15 => drop(items.remove(at)),
            16 => items.rotate_left(1),
            17 => items.clear(),
            other => {
                if let Some(item) = items.get_mut(at) {
                    self.change_item(item, other);
                }
            }
        }
    }

    fn add_item(&mut self, items: &mut Vec<Item>, at: usize, sandbox: bool) {
        let item = self.item(sandbox);
        let again = items.iter().any(|other| other.id == item.id);
        if items.len() < 4 && (!again || self.one_in(6)) {
            items.insert(at, item);
        }
    }

    fn change_item(&mut self, item: &mut Item, what: u8) {
        match what {
            18 => item.runtime = self.pick(["containerd", "docker"]),
            19 => item.attempt += 1,
            _ => item.state = self.pick(STATES),
        }
    }

    fn item(&mut self, sandbox: bool) -> Item {
        // Rarely a sandbox and a container share an id.
        let id = if sandbox != self.one_in(16) { self.pick(SANDBOXES) } else { self.pick(CONTAINERS) };
        Item { id, runtime: "containerd", attempt: 0, state: self.pick(STATES) }
    }

    /// What happens between two relists besides.
    fn interlude(&mut self) {
        if !self.one_in(4) {
            let wait = self.pick([SECOND, SECOND, SECOND, 2 * SECOND, 500 * MILLISECOND, 200 * SECOND]);
            self.steps.push(Step::Wait(wait));
        }
        for _ in 0..self.pick([0_u8, 0, 1, 1, 2]) {
            let action = self.action();
            self.steps.push(Step::Act(action));
        }
        if self.one_in(40) {
            let period = self.pick([SECOND, 5 * SECOND, 300 * SECOND]);
            let threshold = self.pick([2 * SECOND, 90 * SECOND + 500 * MILLISECOND, 3 * 3600 * SECOND]);
            self.steps.push(Step::Update { period, threshold });
        }
    }

    fn relist(&mut self, by_loop: bool) {
        let plan = self.plan();
        let step = match (self.rng.u8(0..20), self.setup.kubelet) {
            (0..=1, Kubelet::V1_36) | (0, Kubelet::V1_35) => Step::RelistPod(self.uid(), plan),
            (2..=4, Kubelet::V1_36) => Step::Serve(plan),
            (5, _) if by_loop => Step::Start,
            _ if by_loop => Step::Turn(plan),
            _ => Step::Relist(plan),
        };
        self.steps.push(step);
    }

    fn plan(&mut self) -> Plan {
        let mut plan = Plan {
            listing_takes: self.time(),
            listing_fails: self.one_in(10),
            meanwhile: self.actions(6),
            ..Plan::default()
        };
        if self.one_in(5) {
            plan.order = (0..self.rng.u8(1..4)).map(|_| self.uid()).collect();
        }
        for uid in UIDS.into_iter().take(usize::from(self.places)) {
            if self.one_in(3) {
                plan.inspections.push((uid.into(), self.inspection()));
            }
        }
        plan
    }

    fn inspection(&mut self) -> Inspection {
        Inspection {
            takes: self.time(),
            fails: self.one_in(2),
            sandboxes_changed: self.one_in(5),
            container_gone: self.one_in(5),
            stamp: self.pick([0, 0, -2 * SECOND, SECOND]),
            meanwhile: self.actions(3),
            meets: KEYS.into_iter().filter(|_| self.rng.bool()).collect(),
            while_checking: self.actions(4),
        }
    }

    fn time(&mut self) -> Nanos {
        if self.one_in(60) { 200 * SECOND } else { self.pick(TIMES) }
    }

    /// Something in one of `n` cases.
    fn actions(&mut self, n: u8) -> Vec<Action> {
        if !self.one_in(n) {
            return Vec::new();
        }
        (0..self.rng.u8(1..=2)).map(|_| self.action()).collect()
    }

    fn action(&mut self) -> Action {
        let uid = self.uid();
        // Rarely what this kubelet does not know.
        let requests = (self.setup.kubelet == Kubelet::V1_36) != self.one_in(30);
        match (self.rng.u8(0..20), requests) {
            (0..=4, true) => Action::Reinspect(uid),
            (5..=10, true) => Action::Request(uid, if self.one_in(20) { 205 } else { 1 }),
            (0..=8, false) => Action::SetCondition(uid, self.pick(KEYS)),
            (9..=10, false) => Action::ClearCondition(uid, self.pick(KEYS)),
            (11..=13, _) => Action::CheckHealth,
            (14, _) if self.one_in(3) => Action::Stop,
            (14, _) => Action::Restore,
            (15..=16, _) if self.setup.gate => {
                Action::Write(uid, self.pick([-SECOND, 0, SECOND, 5 * SECOND]))
            }
            _ => Action::Drain(self.pick([1, 2, 5, 1000])),
        }
    }
}
