//! The events that pass the filter.

use pleg_core::{
    follow::{EventLine, Filter},
    time::Time,
};

/// Indices of the events that pass the filter, kept up to date at the cost of what is new.
#[derive(Debug, Default)]
pub struct EventLog {
    matching: Vec<usize>,
    seen: usize,
    filter: Filter,
}

impl EventLog {
    /// Takes in new events, or all again after the filter or the source has changed.
    pub fn refresh(&mut self, events: &[EventLine], filter: &Filter) {
        if self.filter != *filter || self.seen > events.len() {
            *self = Self { filter: filter.clone(), ..Self::default() };
        }
        let new = events.iter().enumerate().skip(self.seen);
        self.matching.extend(new.filter(|(_, event)| filter.matches_event(event)).map(|(index, _)| index));
        self.seen = events.len();
    }

    /// The oldest `count` events are gone.
    pub fn forget(&mut self, count: usize) {
        let gone = self.matching.partition_point(|index| *index < count);
        self.matching.drain(..gone);
        self.matching.iter_mut().for_each(|index| *index -= count);
        self.seen = self.seen.saturating_sub(count);
    }

    /// The matching events up to `now`, as indices, oldest first.
    pub fn until(&self, events: &[EventLine], now: Time) -> &[usize] {
        let after =
            self.matching.partition_point(|index| events.get(*index).is_some_and(|event| event.time <= now));
        self.matching.get(..after).unwrap_or_default()
    }
}
