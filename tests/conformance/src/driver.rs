//! Runs a scenario: a fake clock, the scripted runtime, and the engine between them.

use super::{
    outcome::{End, Outcome},
    runtime::{Runtime, at, config, cri_event},
    scenario::{Condition, Op, Scenario, Step, Watch},
};
use pleg_core::{
    id::Uid,
    pleg::{Engine, EntryTime, ErrorText, Listing, Output, RelistLoop, Turn, WatchKey},
    pod::{Pod, PodStatus},
    time::Time,
};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt, sync::Arc};
use xxhash_rust::xxh3::xxh3_64;

/// How the engine is driven. Nothing of it may show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With whole listings, as the kubelet sees them.
    Whole,
    /// With what changed.
    Changes,
    /// With what changed, and replaced by its own checkpoint, written and read again, whenever it waits for something.
    Restored,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Whole => "whole listings",
            Mode::Changes => "changes",
            Mode::Restored => "restored",
        })
    }
}

/// A runtime call in progress, with what it is going to answer.
struct Call {
    ends: Time,
    answer: Answer,
}

enum Answer {
    Pods(Result<Vec<Arc<Pod>>, ErrorText>),
    Pod(Result<Arc<Pod>, ErrorText>),
    Status(Uid, Result<PodStatus, ErrorText>),
}

struct Driver<'a> {
    engine: Engine,
    mode: Mode,
    /// What the engine took for the last listing, when it gets changes.
    listed: BTreeMap<Uid, Arc<Pod>>,
    runtime: Runtime,
    relist_loop: RelistLoop,
    /// Every condition ever set, by pod, key and version.
    conditions: BTreeMap<(Uid, WatchKey, u64), Condition>,
    now: Time,
    call: Option<Call>,
    /// Whether the relist that runs is the loop's.
    loop_relists: bool,
    step: &'a Step,
    outcome: Outcome,
}

/// Runs a scenario: where it differs from upstream, and the hash of all that came out.
pub(crate) fn run(scenario: &Scenario, mode: Mode) -> (Vec<String>, u64) {
    let panicked = scenario.steps.iter().any(|step| step.out.panic.is_some());
    let instead = panicked.then(|| instead_of_panic(&scenario.id)).flatten();
    let Some(first) = scenario.steps.first() else { return (vec!["no step".into()], 0) };
    let mut driver = Driver::new(scenario, first, mode);
    let (mut differences, mut all) = (Vec::new(), String::new());
    for (place, step) in scenario.steps.iter().enumerate() {
        let mut outcome = driver.run_step(step);
        all.push_str(&serde_json::to_string(&outcome).unwrap_or_default());
        if !has_log(scenario) {
            outcome.log.clear();
        }
        let expected = match &instead {
            Some(instead) if step.out.panic.is_some() => &instead.out,
            _ => &step.out,
        };
        let found = outcome.differences(expected);
        differences.extend(found.iter().map(|difference| format!("step {place}: {difference}")));
    }
    let end = End::of(&mut driver.engine);
    all.push_str(&serde_json::to_string(&end).unwrap_or_default());
    let expected = instead.as_ref().map_or(&scenario.end, |instead| &instead.end);
    differences.extend(end.differences(expected).iter().map(|difference| format!("end: {difference}")));
    (differences, xxh3_64(all.as_bytes()))
}

/// What the engine does where upstream panics.
#[derive(Deserialize)]
struct Instead {
    out: Outcome,
    #[serde(rename = "final")]
    end: End,
}

/// By the scenario's id: `tests/vectors/instead-of-panic.json`. A panic that is not in there fails its scenario.
fn instead_of_panic(id: &str) -> Option<Instead> {
    let all = include_str!("../../vectors/instead-of-panic.json");
    let mut all: BTreeMap<String, Instead> = serde_json::from_str(all).ok()?;
    all.remove(id)
}

/// Only these sets carry log lines.
fn has_log(scenario: &Scenario) -> bool {
    matches!(scenario.set.as_str(), "upstream" | "quirk")
}

impl<'a> Driver<'a> {
    fn new(scenario: &Scenario, step: &'a Step, mode: Mode) -> Self {
        let mut engine = Engine::new(config(scenario));
        engine.set_evented_in_use(scenario.evented_in_use);
        let mut relist_loop = RelistLoop::default();
        if scenario.looping {
            relist_loop.start(at(0));
        }
        Self {
            engine,
            mode,
            listed: BTreeMap::new(),
            runtime: Runtime::default(),
            relist_loop,
            conditions: BTreeMap::new(),
            now: at(0),
            call: None,
            loop_relists: false,
            step,
            outcome: Outcome::default(),
        }
    }

    fn run_step(&mut self, step: &'a Step) -> Outcome {
        self.step = step;
        self.now = self.now + step.adv;
        self.runtime.change(step);
        self.engine.set_order(&step.out.order());
        let before = self.engine.metrics().clone();
        self.operate(step);
        self.outcome.measure(self.now, &mut self.engine, &before);
        if let Some(drain) = step.drain {
            let max = usize::try_from(drain).unwrap_or(usize::MAX);
            self.outcome.drained = self.engine.drain_channel(max).len();
        }
        self.outcome.chan = self.engine.channel_len();
        std::mem::take(&mut self.outcome)
    }

    fn operate(&mut self, step: &Step) {
        let uid: Uid = step.uid.as_deref().unwrap_or_default().into();
        match step.op {
            Op::Relist => self.engine.handle_relist(self.now),
            Op::RelistPod => self.engine.handle_pod_relist(self.now, &uid),
            Op::Reinspect => self.engine.request_reinspect(&uid),
            Op::RequestRelist => {
                (0..step.num.unwrap_or(1)).for_each(|_| self.engine.request_relist(self.now, &uid));
            }
            Op::Worker => self.iterate_loop(),
            Op::Watch => step.watch.iter().for_each(|watch| self.set_condition(watch)),
            Op::CriEvent => {
                let event = step.cri.as_ref().map(|event| Arc::new(cri_event(event)));
                event.into_iter().for_each(|event| self.engine.handle_cri_event(self.now, event));
            }
            Op::CacheSet => self.set_cache(uid, step.ts.unwrap_or_default()),
            Op::Update => {
                let period = self.engine.config().relist_period;
                self.engine.set_relist_duration(period, step.num.unwrap_or_default());
            }
            Op::Start => self.relist_loop.start(self.now),
            Op::Stop => self.relist_loop.stop(),
            Op::Run | Op::Health | Op::Drain => {}
        }
        match step.op {
            Op::Start | Op::Run => self.run_loop(self.now + step.num.unwrap_or_default()),
            Op::Stop => {}
            _ => self.run_to_end(),
        }
    }

    /// Lets the engine and the runtime work until neither has anything to do.
    fn run_to_end(&mut self) {
        self.drain_outputs();
        while let Some(Call { ends, answer }) = self.call.take() {
            self.now = ends;
            self.answer(answer);
        }
    }

    /// One iteration of the loop; waits for its timer when nothing is queued.
    fn iterate_loop(&mut self) {
        loop {
            match self.relist_loop.turn(self.now, &mut self.engine) {
                Turn::WaitUntil(fires) => self.now = fires,
                turn => return self.take_turn(turn),
            }
        }
    }

    /// The loop and the runtime, until `deadline`.
    fn run_loop(&mut self, deadline: Time) {
        self.drain_outputs();
        loop {
            if let Some(Call { ends, answer }) = self.call.take_if(|call| call.ends <= deadline) {
                self.now = ends;
                self.answer(answer);
                continue;
            }
            if self.call.is_some() {
                break;
            }
            match self.relist_loop.turn(self.now, &mut self.engine) {
                Turn::WaitUntil(fires) if fires <= deadline => self.now = fires,
                Turn::WaitUntil(_) | Turn::Busy | Turn::Stopped => break,
                turn => self.take_turn(turn),
            }
        }
        self.now = deadline;
    }

    fn take_turn(&mut self, turn: Turn) {
        match turn {
            Turn::Relist => {
                self.loop_relists = true;
                self.engine.handle_relist(self.now);
            }
            Turn::RelistPod(uid) => self.engine.handle_pod_relist(self.now, &uid),
            Turn::RequestVoid(_) | Turn::WaitUntil(_) | Turn::Busy | Turn::Stopped => {}
        }
        self.drain_outputs();
    }

    fn drain_outputs(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            self.outcome.record(&output);
            match output {
                Output::Relisting => self.list(),
                Output::RelistingPod { uid } => self.list_pod(&uid),
                Output::Inspect { pod } => self.inspect(&pod),
                Output::CheckConditions { uid, status, conditions } => self.check(&uid, &status, conditions),
                Output::Relisted { .. } if self.loop_relists => {
                    self.loop_relists = false;
                    self.relist_loop.handle_relisted(self.now, &self.engine);
                }
                _ => {}
            }
        }
        self.restore();
    }

    /// Replaces the engine by its checkpoint. What a checkpoint does not hold is the order of the next relist.
    fn restore(&mut self) {
        if self.mode == Mode::Restored {
            let written = serde_json::to_string(&self.engine.checkpoint());
            let read = written.and_then(|json| serde_json::from_str(&json));
            match read {
                Ok(checkpoint) => self.engine = Engine::restore(self.engine.config().clone(), checkpoint),
                Err(error) => {
                    self.outcome.panic = Some(format!("the checkpoint does not read back: {error}"))
                }
            }
            self.engine.set_order(&self.step.out.order());
        }
    }

    fn list(&mut self) {
        self.outcome.calls.push("list".into());
        let answer = Answer::Pods(self.runtime.pods(self.step, self.now));
        self.call = Some(Call { ends: self.now + self.step.lat_list, answer });
    }

    fn list_pod(&mut self, uid: &Uid) {
        self.outcome.calls.push(format!("pod:{uid}"));
        let answer = Answer::Pod(self.runtime.pod(self.step, self.now, uid));
        self.call = Some(Call { ends: self.now + self.step.lat_list, answer });
    }

    fn inspect(&mut self, pod: &Pod) {
        self.outcome.calls.push(format!("status:{}", pod.uid));
        let time = match self.engine.config().profile.entry_time {
            EntryTime::Listing => pod.timestamp,
            EntryTime::Inspection => self.now,
        };
        let answer = Answer::Status(pod.uid.clone(), self.runtime.status(self.step, pod, time));
        self.call = Some(Call { ends: self.now + self.step.lat_st, answer });
        if let Some(arriving) = self.step.in_status.get(&*pod.uid) {
            arriving.reinspect.iter().for_each(|uid| self.engine.request_reinspect(&uid.as_str().into()));
            arriving.watch.iter().for_each(|watch| self.set_condition(watch));
        }
    }

    fn answer(&mut self, answer: Answer) {
        match answer {
            Answer::Pods(Ok(pods)) => {
                let listing = self.listing(pods);
                self.engine.handle_listed(self.now, listing);
            }
            Answer::Pods(Err(error)) => self.engine.handle_list_failed(self.now, &error),
            Answer::Pod(pod) => self.engine.handle_pod_listed(self.now, pod),
            Answer::Status(uid, status) => self.engine.handle_inspected(self.now, &uid, status.map(Arc::new)),
        }
        self.drain_outputs();
    }

    fn listing(&mut self, pods: Vec<Arc<Pod>>) -> Listing {
        let new: BTreeMap<Uid, Arc<Pod>> = pods.iter().map(|pod| (pod.uid.clone(), pod.clone())).collect();
        // Changes cannot say that a pod was listed twice.
        if self.mode == Mode::Whole || new.len() < pods.len() {
            self.listed = new;
            return Listing::Full(pods);
        }
        let gone = self.listed.keys().filter(|uid| !new.contains_key(*uid)).cloned().collect();
        let changed = |pod: &&Arc<Pod>| {
            let same = |old: &Arc<Pod>| Pod { timestamp: pod.timestamp, ..Pod::clone(old) } == ***pod;
            !self.listed.get(&pod.uid).is_some_and(same)
                || self.runtime.has_own_timestamp(self.step, &pod.uid)
        };
        let pods = pods.iter().filter(changed).cloned().collect();
        self.listed = new;
        Listing::Changed { pods, gone }
    }

    fn check(&mut self, uid: &Uid, status: &PodStatus, conditions: Vec<(WatchKey, u64)>) {
        let mut met = Vec::new();
        for (key, version) in conditions {
            let id = (uid.clone(), key, version);
            let Some(condition) = self.conditions.get(&id).cloned() else { continue };
            let (uid, key, _) = id;
            match &condition {
                Condition::Update { inner } => self.replace_condition(&uid, &key, inner),
                Condition::Rewind => {
                    self.engine.clear_watch_condition(&uid, &key);
                    self.replace_condition(&uid, &key, &condition);
                }
                _ => {}
            }
            if condition.is_met(status) {
                met.push(key);
            }
        }
        self.engine.handle_conditions_checked(self.now, uid, &met);
    }

    fn set_condition(&mut self, watch: &Watch) {
        self.replace_condition(&watch.uid.as_str().into(), &watch.key.as_str().into(), &watch.cond);
    }

    fn replace_condition(&mut self, uid: &Uid, key: &WatchKey, condition: &Condition) {
        if let Some(version) = self.engine.set_watch_condition(uid, key) {
            self.conditions.insert((uid.clone(), key.clone(), version), condition.clone());
        }
    }

    /// Another writer of the cache.
    fn set_cache(&mut self, uid: Uid, time: i64) {
        let status = Arc::new(PodStatus { uid: uid.clone(), ..PodStatus::default() });
        let keep_newer = self.engine.config().evented_gate;
        let taken = self.engine.cache_mut().set(&uid, Ok(status.clone()), at(time), keep_newer);
        self.outcome.set(&status, time, taken);
    }
}
