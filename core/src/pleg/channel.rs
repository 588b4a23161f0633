//! The bounded event channel: what does not fit is lost.

use super::Event;
use alloc::{collections::VecDeque, vec::Vec};
use serde::{Deserialize, Serialize};

/// Events on their way to `syncLoop`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Channel(VecDeque<Event>);

impl Channel {
    /// A non-blocking send. Gives the event back: as sent, or as discarded when `capacity` events wait already.
    pub(super) fn send(&mut self, event: Event, capacity: usize) -> Result<Event, Event> {
        if self.0.len() >= capacity {
            return Err(event);
        }
        self.0.push_back(event.clone());
        Ok(event)
    }

    pub(super) fn drain(&mut self, max: usize) -> Vec<Event> {
        self.0.drain(..max.min(self.0.len())).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
