//! The kubelet around PLEG, as far as it decides what a person sees: who reads the events, which pods wait, and what
//! becomes of the node.
//!
//! ```text
//!  pleg::Engine ── event channel ──► SyncLoop ── each event ──► PodWorkers ── GetNewerThan ──► pleg::Cache
//!       │ health                         │ skips, and reads nothing, while there are
//!       └──────────────► RuntimeErrors ◄─┘
//!                              └────────► NodeCondition, every 10 s
//! ```
//!
//! Time is an argument here too, and whether more or fewer frames come in between changes nothing.
//!
//! # What it does not do
//!
//! What cannot be seen from CRI's listings and statuses is an input or stays out: whether the runtime's own `Status`
//! answers and what it says ([`StatusCheck`], [`RuntimeChecks::runtime_error`]), errors of network, storage and
//! shutdown ([`NodeCondition::of`]), and which pods the kubelet's pod manager knows: every pod counts as known. How long a
//! turn of the loop or a sync takes is not visible either: they take no time here.

mod node_condition;
mod runtime_errors;
mod sync_loop;
mod workers;

pub use node_condition::{NODE_STATUS_PERIOD, NodeCondition, NodeStatusTimer};
pub use runtime_errors::{RUNTIME_STATUS_THRESHOLD, RuntimeChecks, RuntimeErrors, StatusCheck};
pub use sync_loop::{LONGEST_SKIP, SHORTEST_SKIP, Skip, SyncLoop};
pub use workers::PodWorkers;

use crate::{id::Uid, pleg::Engine, time::Time};
use serde::{Deserialize, Serialize};

/// The sync loop and the pod workers behind it, at the end of one engine's channel.
///
/// Before each input of the engine call [`Kubelet::handle_time`], after it [`Kubelet::handle_sent`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kubelet {
    #[serde(default, skip_serializing_if = "crate::is_default")]
    sync_loop: SyncLoop,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    workers: PodWorkers,
}

impl Kubelet {
    /// A kubelet that starts now. Its PLEG has yet to be successful, so it begins with a skip.
    pub fn start(now: Time) -> Self {
        Self { sync_loop: SyncLoop::start(now), workers: PodWorkers::default() }
    }

    /// Time went on to `now`, and nothing happened to the engine since the last call. A sync loop that woke up meanwhile
    /// read the channel then.
    pub fn handle_time(&mut self, now: Time, engine: &mut Engine) {
        if let Some(woke) = self.sync_loop.handle_time(now, engine) {
            self.read(woke, engine);
        }
    }

    /// The engine may have sent events: a sync loop that does not skip reads them at once.
    pub fn handle_sent(&mut self, now: Time, engine: &mut Engine) {
        if self.sync_loop.skip().is_none() {
            // Each turn of the loop begins with the health check, which moves the metric "last seen".
            engine.check_health(now);
            self.read(now, engine);
        }
    }

    /// A relist ended: who need not wait any more is forgotten.
    pub fn handle_relisted(&mut self, engine: &Engine) {
        self.workers.forget_answered(engine.cache());
    }

    /// The sync loop.
    pub fn sync_loop(&self) -> &SyncLoop {
        &self.sync_loop
    }

    /// The pods whose next sync would wait, in the order of UIDs, each with the end of its last sync. See [`PodWorkers`].
    pub fn stalled<'a>(&'a self, engine: &'a Engine) -> impl Iterator<Item = (&'a Uid, Time)> {
        self.workers.stalled(engine.cache())
    }

    fn read(&mut self, now: Time, engine: &mut Engine) {
        for event in engine.drain_channel(usize::MAX) {
            self.workers.handle_event(now, event);
        }
    }
}

#[cfg(test)]
mod tests;
