//! How far the running relist is.

use super::{Session, running::Stage};
use crate::kuberuntime::Calls;

/// How far the running relist is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Pods whose inspection ended.
    pub inspected: usize,
    /// Pods that are still to be inspected, the one being inspected counted; none while the relist lists.
    pub waiting: usize,
    /// Calls to go, the running one counted: those of the listings first, then those of the inspections, which are not
    /// known before. An inspection that fails spares the rest of its own.
    pub calls: Calls,
}

/// The inspections after the running one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead {
    pub(super) pods: usize,
    pub(super) calls: Calls,
}

impl Session {
    pub(super) fn progress(&self) -> Option<Progress> {
        let running = self.relist.as_ref()?;
        let (current, calls) = match &running.stage {
            Stage::Sandboxes => (0, Calls::LISTING),
            Stage::Containers => (0, Calls { list_containers: 1, ..Calls::default() }),
            Stage::Inspecting(_, inspection) => (1, inspection.calls_to_go()),
            Stage::Lists | Stage::Ending => (0, Calls::default()),
        };
        let ahead = running.ahead.unwrap_or_else(|| self.ahead());
        Some(Progress {
            inspected: running.inspected,
            waiting: current + ahead.pods,
            calls: calls + ahead.calls,
        })
    }

    /// What comes after the running inspection. Walks all pods that are still to be reconciled, so a slow relist does it
    /// once and counts down from there.
    pub(super) fn ahead(&self) -> Ahead {
        let mut ahead = Ahead::default();
        for pod in self.engine.to_inspect().skip(1) {
            ahead.pods += 1;
            ahead.calls += self.observer().inspection(pod);
        }
        ahead
    }
}
