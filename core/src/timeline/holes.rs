//! What was not observed: between a stream that broke off and the checkpoint with which it goes on.

use super::Timeline;
use crate::time::Time;

/// A stretch of which nothing is known, neither relists nor events. What the pods are after it is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The last moment before it.
    pub from: Time,
    /// When observation goes on.
    pub to: Time,
    /// When the last good listing by then had begun; none when there was none yet.
    pub relist_time: Option<Time>,
}

impl Timeline {
    /// The holes, oldest first.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// The relist that still runs breaks off: what comes next does not belong to it.
    pub(crate) fn cut_running(&mut self, at: Time) {
        if let Some(relist) = self.relists.last_mut().filter(|relist| relist.end.is_none()) {
            relist.end = Some(at.max(relist.start));
            relist.cut = true;
        }
    }

    /// Observation goes on at `to`, after relist `n` ended. There is a hole if not all up to that end was seen; before
    /// the first relist there is none.
    pub(crate) fn goes_on(&mut self, n: u64, to: Time, relist_time: Option<Time>) {
        let Some(last) = self.relists.last() else { return };
        let from = last.end.unwrap_or(last.start);
        if (last.n < n || last.cut) && from < to {
            self.holes.push(Hole { from, to, relist_time });
        }
    }
}
