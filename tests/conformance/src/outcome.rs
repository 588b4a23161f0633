//! What a step gives out, as its line has it and as the engine does it.

use super::runtime::{since_start, state_name};
use pleg_core::{
    cri::SandboxState,
    pleg::{self, Engine, EventedOutput, LogValue, Output, log_line},
    pod::PodStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Fields that are zero or empty are left out of a line.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Outcome {
    t: i64,
    pub(crate) calls: Vec<String>,
    ev: Vec<Event>,
    disc: u64,
    pub(crate) chan: usize,
    pub(crate) drained: usize,
    cache: Vec<CacheOp>,
    fin: Vec<(String, String, i32)>,
    reinspect: Vec<String>,
    records: Vec<String>,
    watch: BTreeMap<String, BTreeMap<String, u64>>,
    relist_t: Option<i64>,
    ok: bool,
    herr: Option<String>,
    eok: Option<bool>,
    eerr: Option<String>,
    last_seen: Option<i64>,
    run_pods: i64,
    run_ctr: BTreeMap<String, i64>,
    relists: u64,
    relist_dur: i64,
    intervals: u64,
    interval_dur: i64,
    pod_relists: u64,
    latency: u64,
    pub(crate) log: Vec<Line>,
    pub(crate) panic: Option<String>,
}

/// Type, uid, data.
type Event = (String, String, Option<String>);

/// `["set", uid, error, time, addresses, taken]`, `["del", uid]`, `["obs", uid, time]`, `["time", time]`.
type CacheOp = Vec<Value>;

/// A log line.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Line {
    /// −1: an error.
    v: i8,
    msg: String,
    kv: Vec<LogValue>,
    err: Option<String>,
}

/// What is left when a scenario is over.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    cache: BTreeMap<String, CacheEntry>,
    chan: Vec<Event>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct CacheEntry {
    err: Option<String>,
    ips: Vec<String>,
    sb: Vec<String>,
    c: Vec<String>,
}

impl Outcome {
    /// The pods in the order in which upstream came to them, as far as it did anything to them.
    pub(crate) fn order(&self) -> Vec<pleg_core::id::Uid> {
        let uid = |op: &CacheOp| match op.first().and_then(Value::as_str) {
            Some("set" | "del") => op.get(1).and_then(Value::as_str).map(Into::into),
            _ => None,
        };
        self.cache.iter().filter_map(uid).collect()
    }

    /// Takes in what the engine decided.
    pub(crate) fn record(&mut self, output: &Output) {
        if let Some(line) = log_line(output) {
            self.log.push(Line::of(line));
        }
        match output {
            Output::StatusWritten { pod, time, result, accepted } => {
                let ips = result.as_ref().ok().map(|status| &status.ips);
                let error = result.as_ref().err().map(|error| &**error);
                let time = since_start(*time);
                self.cache.push(cache_op(json!(["set", &*pod.uid, error, time, ips, accepted])));
            }
            Output::StatusDeleted { uid } | Output::Evented(EventedOutput::StatusDeleted { uid }) => {
                self.cache.push(cache_op(json!(["del", &**uid])));
            }
            Output::PodTimeObserved { uid, time } => {
                self.cache.push(cache_op(json!(["obs", &**uid, since_start(*time)])));
            }
            Output::GlobalTime { time } => self.cache.push(cache_op(json!(["time", since_start(*time)]))),
            Output::Event(event) => self.ev.push(event_of(event)),
            Output::Finished { uid, id, exit_code } => {
                self.fin.push((uid.to_string(), id.to_string(), *exit_code));
            }
            Output::Evented(EventedOutput::StatusWritten { status, time, accepted }) => {
                self.set(status, since_start(*time), *accepted);
            }
            _ => {}
        }
    }

    /// A status that another writer than PLEG put into the cache.
    pub(crate) fn set(&mut self, status: &PodStatus, time: i64, taken: bool) {
        self.cache.push(cache_op(json!(["set", &*status.uid, null, time, status.ips, taken])));
    }

    /// Measures the engine when the step's operation is over.
    pub(crate) fn measure(
        &mut self,
        now: pleg_core::time::Time,
        engine: &mut Engine,
        before: &pleg::Metrics,
    ) {
        self.t = since_start(now);
        self.reinspect = engine.to_reinspect().map(ToString::to_string).collect();
        self.records = engine.recorded().map(ToString::to_string).collect();
        self.watch =
            engine.watch_conditions().map(|(uid, conditions)| (uid.to_string(), text(conditions))).collect();
        self.relist_t = engine.relist_time().map(since_start);
        let health = engine.check_health(now);
        (self.ok, self.herr) = (health.is_healthy(), health.error());
        if engine.config().evented_gate {
            self.eerr = engine.check_evented_health(now).err();
            self.eok = Some(self.eerr.is_none());
        }
        let metrics = engine.metrics();
        self.disc = metrics.discard_events - before.discard_events;
        self.last_seen = metrics.last_seen_seconds.map(super::runtime::seconds_since_start);
        self.run_pods = metrics.running_pods;
        self.run_ctr = metrics.running_containers.iter().map(|(s, n)| (s.name().into(), *n)).collect();
        (self.relists, self.relist_dur) = observed(&before.relist_duration, &metrics.relist_duration);
        (self.intervals, self.interval_dur) = observed(&before.relist_interval, &metrics.relist_interval);
        self.pod_relists = metrics.pod_relist_duration.count - before.pod_relist_duration.count;
        self.latency = metrics.evented_latency.count - before.evented_latency.count;
    }

    /// Where the two differ, field by field.
    pub(crate) fn differences(&self, expected: &Outcome) -> Vec<String> {
        differences(self, expected)
    }
}

impl End {
    pub(crate) fn of(engine: &mut Engine) -> Self {
        // `Get` answers alike for a pod that was only observed and for an absent one: upstream cannot tell them apart.
        let present =
            engine.cache().entries().filter(|(_, entry)| entry.status.is_some() || entry.error.is_some());
        let cache = present.map(|(uid, entry)| (uid.to_string(), CacheEntry::of(entry))).collect();
        Self { cache, chan: engine.drain_channel(usize::MAX).iter().map(event_of).collect() }
    }

    pub(crate) fn differences(&self, expected: &End) -> Vec<String> {
        differences(self, expected)
    }
}

impl CacheEntry {
    fn of(entry: &pleg::Entry) -> Self {
        let status = entry.status.as_deref().cloned().unwrap_or_default();
        let ready = |state| if state == SandboxState::Ready { "READY" } else { "NOTREADY" };
        Self {
            err: entry.error.as_deref().map(Into::into),
            sb: status.sandboxes.iter().map(|s| format!("{}={}", s.id, ready(s.state))).collect(),
            c: status
                .containers
                .iter()
                .map(|c| format!("{}={}/{}", c.id, state_name(c.state), c.exit_code))
                .collect(),
            ips: status.ips,
        }
    }
}

impl Line {
    fn of(line: pleg::LogLine) -> Self {
        Self {
            v: line.verbosity.map_or(-1, |v| i8::try_from(v).unwrap_or(i8::MAX)),
            msg: line.message.into(),
            kv: line
                .values
                .into_iter()
                .flat_map(|(key, value)| [LogValue::Text(key.into()), value])
                .collect(),
            err: line.error.map(|error| error.to_string()),
        }
    }
}

fn event_of(event: &pleg::Event) -> Event {
    (event.kind.name().into(), event.uid.to_string(), event.data.as_ref().map(ToString::to_string))
}

fn text(conditions: &BTreeMap<pleg::WatchKey, u64>) -> BTreeMap<String, u64> {
    conditions.iter().map(|(key, version)| (key.to_string(), *version)).collect()
}

fn cache_op(array: Value) -> CacheOp {
    match array {
        Value::Array(items) => items,
        other => vec![other],
    }
}

/// Count and sum of what was observed in between; the lines have the sum rounded to a microsecond.
fn observed(before: &pleg::Durations, after: &pleg::Durations) -> (u64, i64) {
    let sum = after.sum - before.sum;
    (after.count - before.count, (sum + 500).div_euclid(1000) * 1000)
}

fn differences<T: Serialize + PartialEq>(actual: &T, expected: &T) -> Vec<String> {
    if actual == expected {
        return Vec::new();
    }
    let fields = |value: &T| match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (actual, expected) = (fields(actual), fields(expected));
    let differs = |(name, value): (&String, &Value)| {
        let wanted = expected.get(name).unwrap_or(&Value::Null);
        (value != wanted).then(|| format!("{name}: {value}, upstream {wanted}"))
    };
    actual.iter().filter_map(differs).collect()
}
