//! Follows a stream of frames: engine and timeline of one observer.
use serde::{Deserialize, Serialize};
/// What a reader needs to go on without what came before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {}
