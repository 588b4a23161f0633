//! The engine's memory as a value that can be written, sent and restored.

use super::State;
use serde::{Deserialize, Serialize};

/// All that an engine remembers: records, cache, pending requests and reinspections, a running relist, metrics.
/// Opaque; made by `Engine::checkpoint`, used by `Engine::restore`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineCheckpoint(State);

impl EngineCheckpoint {
    pub(super) fn of(state: &State) -> Self {
        Self(state.clone())
    }

    pub(super) fn into_state(self) -> State {
        self.0
    }
}
