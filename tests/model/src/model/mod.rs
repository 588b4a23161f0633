//! The model: a kubelet's PLEG, told in plain loops.
//!
//! A relist walks every record, whatever changed, in the order of upstream's effects (generic.go and cache.go of
//! v1.36.2; where it says so, of v1.35.2).

mod cache;
mod numbers;
mod reconcile;

use crate::{
    history::{Action, Kubelet, PERIOD, Plan, Setup, Step, THRESHOLD},
    trace::{After, Seen, Subject, askers},
    world::{World, others_status},
};
use cache::Cache;
use numbers::Observations;
use pleg_core::{
    id::Uid,
    pleg::{Event, Output, RelistRequest, Turn, WatchKey},
    pod::Pod,
    time::{Nanos, Time},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// What PLEG remembers of a pod.
#[derive(Clone, Debug, Default)]
struct Record {
    old: Option<Arc<Pod>>,
    current: Option<Arc<Pod>>,
}

pub(crate) struct Model {
    setup: Setup,
    period: Nanos,
    threshold: Nanos,
    /// Whether a uid that is listed twice is counted once.
    distinct: bool,
    world: World,
    records: BTreeMap<Uid, Record>,
    reinspect: BTreeSet<Uid>,
    /// v1.35: pods whose inspection failed in this relist.
    failed: BTreeSet<Uid>,
    requests: Vec<(Uid, Time)>,
    conditions: BTreeMap<Uid, BTreeMap<WatchKey, u64>>,
    channel: Vec<Event>,
    cache: Cache,
    relist_time: Option<Time>,
    observed: Observations,
    looping: bool,
    timer: Option<Time>,
    seen: Vec<Seen>,
    /// How often a status got its addresses from the cached one.
    pub(crate) addresses_kept: u64,
}

const REQUESTS: usize = 200;

impl Model {
    pub(crate) fn new(setup: &Setup, distinct: bool) -> Self {
        Self {
            world: World::new(setup.kubelet),
            setup: setup.clone(),
            period: PERIOD,
            threshold: THRESHOLD,
            distinct,
            records: BTreeMap::new(),
            reinspect: BTreeSet::new(),
            failed: BTreeSet::new(),
            requests: Vec::new(),
            conditions: BTreeMap::new(),
            channel: Vec::new(),
            cache: Cache::default(),
            relist_time: None,
            observed: Observations::default(),
            looping: false,
            timer: None,
            seen: Vec::new(),
            addresses_kept: 0,
        }
    }

    fn out(&mut self, output: Output) {
        self.seen.push(Seen::Output(output));
    }

    fn relist(&mut self, plan: &Plan) {
        self.out(Output::Relisting);
        let started = self.world.now;
        let interval = self.relist_time.map(|last| started.0 - last.0);
        if let Some(interval) = interval {
            self.observed.intervals.push(interval);
        }
        self.world.wait(plan.listing_takes);
        self.act_all(&plan.meanwhile);
        if plan.listing_fails {
            self.out(Output::ListFailed { error: "cannot list".into() });
        } else {
            self.relist_listed(started, plan);
        }
        let took = self.world.now.0 - started.0;
        self.observed.relists.push(took);
        self.out(Output::Relisted { took, interval });
    }

    fn relist_listed(&mut self, started: Time, plan: &Plan) {
        self.relist_time = Some(started);
        let pods = if self.distinct { self.world.distinct_pods(started) } else { self.world.pods(started) };
        self.observed.count_running(&pods);
        for record in self.records.values_mut() {
            record.current = None;
        }
        for pod in pods {
            let record = self.records.entry(pod.uid.clone()).or_default();
            record.current = Some(pod);
        }
        for uid in self.conditions.keys().cloned().collect::<Vec<_>>() {
            if self.records.get(&uid).is_none_or(|record| record.current.is_none()) {
                self.conditions.remove(&uid);
            }
        }
        for uid in self.in_order(&plan.order) {
            self.reconcile(&uid, plan);
        }
        if self.setup.kubelet == Kubelet::V1_35 {
            self.reinspect = std::mem::take(&mut self.failed);
        }
        self.cache.global_time = Some(started);
        self.out(Output::GlobalTime { time: started });
    }

    /// Every record: the named ones in front, the others in the order of uids.
    fn in_order(&self, named: &[Uid]) -> Vec<Uid> {
        let mut order: Vec<Uid> = Vec::new();
        for uid in named.iter().chain(self.records.keys()) {
            if self.records.contains_key(uid) && !order.contains(uid) {
                order.push(uid.clone());
            }
        }
        order
    }

    fn relist_pod(&mut self, uid: &Uid, plan: &Plan) {
        if self.setup.kubelet == Kubelet::V1_35 {
            return self.out(Output::Ignored { input: "handle_pod_relist" });
        }
        self.out(Output::RelistingPod { uid: uid.clone() });
        let started = self.world.now;
        self.world.wait(plan.listing_takes);
        self.act_all(&plan.meanwhile);
        let listed =
            if plan.listing_fails { Err("cannot list".into()) } else { self.world.pod(uid, started) };
        match listed {
            Err(error) => self.out(Output::PodListFailed { uid: uid.clone(), error }),
            Ok(pod) => {
                self.records.entry(uid.clone()).or_default().current = Some(pod);
                self.reconcile(uid, plan);
                self.cache.observe(uid, started);
                self.out(Output::PodTimeObserved { uid: uid.clone(), time: started });
            }
        }
        let took = self.world.now.0 - started.0;
        self.observed.pod_relists.push(took);
        self.out(Output::PodRelisted { uid: uid.clone(), took });
    }

    /// The oldest request: to be served only if it is later than the last good listing.
    fn next_request(&mut self) -> Option<(Uid, bool)> {
        if self.requests.is_empty() {
            return None;
        }
        let (uid, asked) = self.requests.remove(0);
        let fresh = self.relist_time.is_none_or(|relist_time| asked > relist_time);
        Some((uid, fresh))
    }

    fn serve(&mut self, plan: &Plan) {
        let next = self.next_request();
        self.seen.push(Seen::Request(
            next.clone().map(
                |(uid, fresh)| {
                    if fresh { RelistRequest::Fresh(uid) } else { RelistRequest::Void(uid) }
                },
            ),
        ));
        if let Some((uid, true)) = next {
            self.relist_pod(&uid, plan);
        }
    }

    fn turn(&mut self, plan: &Plan) {
        let Some(timer) = self.timer.filter(|_| self.looping) else {
            return self.seen.push(Seen::Turn(Turn::Stopped));
        };
        if timer <= self.world.now {
            self.seen.push(Seen::Turn(Turn::Relist));
            self.relist(plan);
            self.timer = Some(self.world.now + self.period);
            return;
        }
        match self.next_request() {
            None => self.seen.push(Seen::Turn(Turn::WaitUntil(timer))),
            Some((uid, false)) => self.seen.push(Seen::Turn(Turn::RequestVoid(uid))),
            Some((uid, true)) => {
                self.seen.push(Seen::Turn(Turn::RelistPod(uid.clone())));
                self.relist_pod(&uid, plan);
            }
        }
    }

    fn act_all(&mut self, actions: &[Action]) {
        for action in actions {
            self.act(action);
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Reinspect(uid) => self.request_reinspect(uid),
            Action::Request(uid, times) => (0..*times).for_each(|_| self.request_relist(uid)),
            Action::SetCondition(uid, key) => self.set_condition(uid, key),
            Action::ClearCondition(uid, key) => {
                if let Some(conditions) = self.conditions.get_mut(uid) {
                    conditions.remove(*key);
                }
            }
            Action::Drain(max) => {
                let taken = self.channel.len().min(*max);
                let drained = self.channel.drain(..taken).collect();
                self.seen.push(Seen::Drained(drained));
            }
            Action::CheckHealth => {
                if let Some(relist_time) = self.relist_time {
                    self.observed.last_seen = Some(relist_time.0.div_euclid(1_000_000_000));
                }
                let health = self.health();
                self.seen.push(Seen::Health(health));
            }
            Action::Write(uid, ahead) => {
                let status = others_status(uid);
                let time = self.world.now + *ahead;
                let written = self.cache.set(uid, Ok(status), time, self.setup.gate);
                self.seen.push(Seen::Written(written));
            }
            Action::Stop => self.looping = false,
            Action::Restore => self.seen.push(Seen::Restored),
        }
    }

    fn request_reinspect(&mut self, uid: &Uid) {
        match self.setup.kubelet {
            Kubelet::V1_36 => {
                self.reinspect.insert(uid.clone());
            }
            Kubelet::V1_35 => self.out(Output::Ignored { input: "request_reinspect" }),
        }
    }

    fn request_relist(&mut self, uid: &Uid) {
        if self.setup.kubelet == Kubelet::V1_35 {
            self.out(Output::Ignored { input: "request_relist" });
        } else if self.requests.len() == REQUESTS {
            self.out(Output::RequestDropped { uid: uid.clone() });
        } else {
            self.requests.push((uid.clone(), self.world.now));
        }
    }

    fn set_condition(&mut self, uid: &Uid, key: &str) {
        if self.setup.kubelet == Kubelet::V1_36 {
            self.out(Output::Ignored { input: "set_watch_condition" });
            return self.seen.push(Seen::Version(None));
        }
        let conditions = self.conditions.entry(uid.clone()).or_default();
        let version = conditions.get(key).map_or(0, |version| version + 1);
        conditions.insert(key.into(), version);
        self.seen.push(Seen::Version(Some(version)));
    }

    fn health(&self) -> Option<String> {
        let Some(relist_time) = self.relist_time else { return Some("pleg has yet to be successful".into()) };
        let age = self.world.now.0 - relist_time.0;
        (age > self.threshold).then(|| {
            let (age, threshold) = (numbers::go_duration(age), numbers::go_duration(self.threshold));
            format!("pleg was last seen active {age} ago; threshold is {threshold}")
        })
    }
}

impl Subject for Model {
    fn step(&mut self, step: &Step) -> Vec<Seen> {
        match step {
            Step::Pod { place, look } => self.world.put(*place, look),
            Step::Gone { place } => self.world.remove(*place),
            Step::Wait(nanos) => self.world.wait(*nanos),
            Step::Relist(plan) => self.relist(plan),
            Step::RelistPod(uid, plan) => self.relist_pod(uid, plan),
            Step::Serve(plan) => self.serve(plan),
            Step::Start => {
                if !self.looping {
                    self.looping = true;
                    self.timer = Some(self.world.now);
                }
            }
            Step::Turn(plan) => self.turn(plan),
            Step::Act(action) => self.act(action),
            Step::Update { period, threshold } => (self.period, self.threshold) = (*period, *threshold),
        }
        std::mem::take(&mut self.seen)
    }

    fn after(&self) -> After {
        After {
            relist_time: self.relist_time,
            recorded: self.records.keys().cloned().collect(),
            to_reinspect: self.reinspect.iter().cloned().collect(),
            conditions: self.conditions.clone(),
            cache: self.cache.entries.clone(),
            global_time: self.cache.global_time,
            channel: self.channel.len(),
            health: self.health(),
            served: askers(self.world.now).filter(|(uid, time)| self.cache.is_newer(uid, *time)).collect(),
            metrics: self.observed.numbers(),
        }
    }
}
