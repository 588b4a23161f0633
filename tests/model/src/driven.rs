//! The engine, driven through a history by its public API.

use crate::{
    history::{Action, Feed, Kubelet, PERIOD, Plan, Setup, Step, THRESHOLD},
    trace::{After, Histogram, Numbers, Seen, Subject, askers},
    world::{World, others_status},
};
use pleg_core::{
    id::Uid,
    pleg::{Config, Durations, Engine, Listing, Output, Profile, RelistLoop, RelistRequest, Turn, WatchKey},
    pod::Pod,
    time::Time,
};
use std::{collections::BTreeMap, sync::Arc};

/// More questions than any relist of a history has; an engine that asks on and on is a difference, not a hang.
const QUESTIONS: usize = 100;

pub(crate) struct Driven {
    feed: Feed,
    gate: bool,
    world: World,
    engine: Engine,
    relist_loop: RelistLoop,
    /// The last good listing, as far as the engine was told of it.
    told: BTreeMap<Uid, Arc<Pod>>,
    seen: Vec<Seen>,
}

impl Driven {
    pub(crate) fn new(setup: &Setup, feed: Feed) -> Self {
        let profile = match setup.kubelet {
            Kubelet::V1_36 => Profile::V1_36,
            Kubelet::V1_35 => Profile::V1_35,
        };
        let mut engine = Engine::new(Config {
            profile,
            relist_period: PERIOD,
            relist_threshold: THRESHOLD,
            channel_capacity: setup.capacity,
            evented_gate: setup.gate,
        });
        engine.set_evented_in_use(setup.evented_in_use);
        Self {
            feed,
            gate: setup.gate,
            world: World::new(setup.kubelet),
            engine,
            relist_loop: RelistLoop::default(),
            told: BTreeMap::new(),
            seen: Vec::new(),
        }
    }

    fn relist(&mut self, plan: &Plan) {
        let started = self.world.now;
        self.engine.handle_relist(started);
        self.answer(started, plan);
    }

    fn relist_pod(&mut self, uid: &Uid, plan: &Plan) {
        let started = self.world.now;
        self.engine.handle_pod_relist(started, uid);
        self.answer(started, plan);
    }

    /// Takes all outputs; the last may be a question.
    fn poll(&mut self) -> Option<Output> {
        let mut last = None;
        while let Some(output) = self.engine.poll_output() {
            self.seen.push(Seen::Output(output.clone()));
            last = Some(output);
        }
        last
    }

    fn answer(&mut self, started: Time, plan: &Plan) {
        for _ in 0..QUESTIONS {
            match self.poll() {
                Some(Output::Relisting) => self.answer_listing(started, plan),
                Some(Output::RelistingPod { uid }) => {
                    self.pass_listing(plan);
                    let pod = self.world.pod(&uid, started);
                    let result = if plan.listing_fails { Err("cannot list".into()) } else { pod };
                    self.engine.handle_pod_listed(self.world.now, result);
                }
                Some(Output::Inspect { pod }) => {
                    let (inspection, started) = (plan.inspection(&pod.uid), self.world.now);
                    self.world.wait(inspection.takes);
                    self.act_all(&inspection.meanwhile);
                    let result = self.world.inspect(&pod, started, &inspection);
                    self.engine.handle_inspected(self.world.now, &pod.uid, result.map(Arc::new));
                }
                Some(Output::CheckConditions { uid, conditions, .. }) => {
                    let inspection = plan.inspection(&uid);
                    self.act_all(&inspection.while_checking);
                    let keys = conditions.into_iter().map(|(key, _)| key);
                    let met: Vec<WatchKey> = keys.filter(|key| inspection.meets.contains(&&**key)).collect();
                    self.engine.handle_conditions_checked(self.world.now, &uid, &met);
                }
                _ => return,
            }
        }
    }

    fn pass_listing(&mut self, plan: &Plan) {
        self.world.wait(plan.listing_takes);
        self.act_all(&plan.meanwhile);
    }

    fn answer_listing(&mut self, started: Time, plan: &Plan) {
        self.pass_listing(plan);
        if plan.listing_fails {
            return self.engine.handle_list_failed(self.world.now, "cannot list");
        }
        let listing = match self.feed {
            Feed::Full => Listing::Full(self.world.pods(started)),
            Feed::Changed => self.changes(started),
        };
        // Not earlier: an order that waits for its listing is no part of a checkpoint.
        self.engine.set_order(&plan.order);
        self.engine.handle_listed(self.world.now, listing);
    }

    fn changes(&mut self, started: Time) -> Listing {
        let pods = self.world.distinct_pods(started);
        let listed: BTreeMap<Uid, Arc<Pod>> = pods.iter().map(|pod| (pod.uid.clone(), pod.clone())).collect();
        let told = std::mem::replace(&mut self.told, listed);
        let as_before = |pod: &Arc<Pod>| {
            let before = told.get(&pod.uid);
            before.is_some_and(|before| Pod { timestamp: pod.timestamp, ..Pod::clone(before) } == **pod)
        };
        Listing::Changed {
            pods: pods.iter().filter(|pod| !as_before(pod)).cloned().collect(),
            gone: told.keys().filter(|uid| !self.told.contains_key(*uid)).cloned().collect(),
        }
    }

    fn serve(&mut self, plan: &Plan) {
        let request = self.engine.next_request();
        self.seen.push(Seen::Request(request.clone()));
        if let Some(RelistRequest::Fresh(uid)) = request {
            self.relist_pod(&uid, plan);
        }
    }

    fn turn(&mut self, plan: &Plan) {
        let turn = self.relist_loop.turn(self.world.now, &mut self.engine);
        self.seen.push(Seen::Turn(turn.clone()));
        match turn {
            Turn::Relist => {
                self.relist(plan);
                self.relist_loop.handle_relisted(self.world.now, &self.engine);
            }
            Turn::RelistPod(uid) => self.relist_pod(&uid, plan),
            Turn::RequestVoid(_) | Turn::WaitUntil(_) | Turn::Busy | Turn::Stopped => {}
        }
    }

    fn act_all(&mut self, actions: &[Action]) {
        for action in actions {
            self.act(action);
        }
    }

    fn act(&mut self, action: &Action) {
        let now = self.world.now;
        let seen = match action {
            Action::Reinspect(uid) => {
                self.engine.request_reinspect(uid);
                None
            }
            Action::Request(uid, times) => {
                (0..*times).for_each(|_| self.engine.request_relist(now, uid));
                None
            }
            Action::SetCondition(uid, key) => {
                Some(Seen::Version(self.engine.set_watch_condition(uid, &WatchKey::from(*key))))
            }
            Action::ClearCondition(uid, key) => {
                self.engine.clear_watch_condition(uid, &WatchKey::from(*key));
                None
            }
            Action::Drain(max) => Some(Seen::Drained(self.engine.drain_channel(*max))),
            Action::CheckHealth => Some(Seen::Health(self.engine.check_health(now).error())),
            Action::Write(uid, ahead) => {
                let status = Ok(others_status(uid));
                Some(Seen::Written(self.engine.cache_mut().set(uid, status, now + *ahead, self.gate)))
            }
            Action::Stop => {
                self.relist_loop.stop();
                None
            }
            Action::Restore => {
                let config = self.engine.config().clone();
                self.engine = Engine::restore(config, self.engine.checkpoint());
                Some(Seen::Restored)
            }
        };
        self.poll();
        self.seen.extend(seen);
    }
}

impl Subject for Driven {
    fn step(&mut self, step: &Step) -> Vec<Seen> {
        match step {
            Step::Pod { place, look } => self.world.put(*place, look),
            Step::Gone { place } => self.world.remove(*place),
            Step::Wait(nanos) => self.world.wait(*nanos),
            Step::Relist(plan) => self.relist(plan),
            Step::RelistPod(uid, plan) => self.relist_pod(uid, plan),
            Step::Serve(plan) => self.serve(plan),
            Step::Start => self.relist_loop.start(self.world.now),
            Step::Turn(plan) => self.turn(plan),
            Step::Act(action) => self.act(action),
            Step::Update { period, threshold } => self.engine.set_relist_duration(*period, *threshold),
        }
        self.poll();
        std::mem::take(&mut self.seen)
    }

    fn after(&self) -> After {
        let cache = self.engine.cache();
        After {
            relist_time: self.engine.relist_time(),
            recorded: self.engine.recorded().cloned().collect(),
            to_reinspect: self.engine.to_reinspect().cloned().collect(),
            conditions: self
                .engine
                .watch_conditions()
                .map(|(uid, keys)| (uid.clone(), keys.clone()))
                .collect(),
            cache: cache.entries().map(|(uid, entry)| (uid.clone(), entry.clone())).collect(),
            global_time: cache.global_time(),
            channel: self.engine.channel_len(),
            health: self.engine.health(self.world.now).error(),
            served: askers(self.world.now).filter(|(uid, time)| cache.is_newer_than(uid, *time)).collect(),
            metrics: numbers(&self.engine),
        }
    }
}

fn numbers(engine: &Engine) -> Numbers {
    let metrics = engine.metrics();
    let histogram = |durations: &Durations| Histogram {
        count: durations.count,
        sum: durations.sum,
        buckets: durations.buckets.to_vec(),
    };
    Numbers {
        relist_duration: histogram(&metrics.relist_duration),
        relist_interval: histogram(&metrics.relist_interval),
        pod_relist_duration: histogram(&metrics.pod_relist_duration),
        discarded: metrics.discard_events,
        last_seen: metrics.last_seen_seconds,
        running_pods: metrics.running_pods,
        running_containers: metrics.running_containers.clone(),
    }
}
