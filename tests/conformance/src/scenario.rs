//! A scenario as its line has it. All times are nanoseconds since the scenario's start.

use super::outcome::{End, Outcome};
use pleg_core::pleg::Profile;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) id: String,
    #[serde(deserialize_with = "crate::profile")]
    pub(crate) profile: Profile,
    pub(crate) set: String,
    #[serde(default, rename = "note")]
    _note: String,
    pub(crate) cap: usize,
    pub(crate) period: i64,
    pub(crate) threshold: i64,
    #[serde(default)]
    pub(crate) evented_gate: bool,
    #[serde(default)]
    pub(crate) evented_in_use: bool,
    /// The relist loop runs, its timer due at the start.
    #[serde(default, rename = "loop")]
    pub(crate) looping: bool,
    pub(crate) steps: Vec<Step>,
    #[serde(rename = "final")]
    pub(crate) end: End,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) op: Op,
    #[serde(default)]
    pub(crate) adv: i64,
    #[serde(default)]
    pub(crate) del: Vec<String>,
    #[serde(default)]
    pub(crate) set: Vec<Pod>,
    #[serde(default)]
    pub(crate) raw: Vec<Pod>,
    pub(crate) list_err: Option<String>,
    #[serde(default)]
    pub(crate) st_err: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) st: BTreeMap<String, Status>,
    #[serde(default)]
    pub(crate) lat_list: i64,
    #[serde(default)]
    pub(crate) lat_st: i64,
    #[serde(default)]
    pub(crate) in_status: BTreeMap<String, InStatus>,
    /// −1: all.
    pub(crate) drain: Option<i64>,
    pub(crate) uid: Option<String>,
    pub(crate) num: Option<i64>,
    pub(crate) ts: Option<i64>,
    pub(crate) watch: Option<Watch>,
    pub(crate) cri: Option<CriEvent>,
    pub(crate) out: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    Relist,
    RelistPod,
    Reinspect,
    RequestRelist,
    Worker,
    Watch,
    CriEvent,
    CacheSet,
    Update,
    Start,
    Stop,
    Run,
    Health,
    Drain,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pod {
    pub(crate) uid: String,
    pub(crate) name: String,
    pub(crate) ns: String,
    #[serde(default)]
    pub(crate) ips: Vec<String>,
    #[serde(default)]
    pub(crate) sb: Vec<Container>,
    #[serde(default)]
    pub(crate) c: Vec<Container>,
    pub(crate) ts: Option<i64>,
}

/// A container, or a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Container {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) n: String,
    pub(crate) s: String,
    #[serde(default)]
    pub(crate) x: i32,
    #[serde(default)]
    pub(crate) at: i64,
    #[serde(default = "default_runtime", rename = "type")]
    pub(crate) runtime: String,
}

fn default_runtime() -> String {
    "cri".into()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    #[serde(default)]
    pub(crate) ips: Vec<String>,
    #[serde(default)]
    pub(crate) sb: Vec<SandboxStatus>,
    #[serde(default)]
    pub(crate) c: Vec<Container>,
    pub(crate) ts: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SandboxStatus {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) ready: bool,
}

/// What arrives while a pod is inspected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InStatus {
    #[serde(default)]
    pub(crate) reinspect: Vec<String>,
    #[serde(default)]
    pub(crate) watch: Vec<Watch>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watch {
    pub(crate) uid: String,
    pub(crate) key: String,
    pub(crate) cond: Condition,
}

/// A watch condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "k", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Condition {
    True,
    False,
    /// Container `n` is in state `s`.
    State {
        n: String,
        s: String,
    },
    /// At least `num` container statuses.
    Count {
        num: usize,
    },
    NoIp,
    /// Upstream's wrapper: met also when container `n` does not run.
    Running {
        n: String,
        #[serde(rename = "in")]
        inner: Box<Condition>,
    },
    /// Replaces itself by `in` while it is checked, then true.
    Update {
        #[serde(rename = "in")]
        inner: Box<Condition>,
    },
    /// Sets its version to 0 while it is checked, then true.
    Rewind,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CriEvent {
    #[serde(rename = "type")]
    pub(crate) kind: pleg_core::cri::ContainerEventType,
    pub(crate) cid: String,
    pub(crate) at: i64,
    #[serde(default)]
    pub(crate) no_sandbox: bool,
    pub(crate) uid: String,
    pub(crate) name: String,
    pub(crate) ns: String,
    pub(crate) sb: String,
    #[serde(default)]
    pub(crate) ready: bool,
    #[serde(default)]
    pub(crate) ips: Vec<String>,
    #[serde(default)]
    pub(crate) c: Vec<Container>,
}
