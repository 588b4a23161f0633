//! Relists and their calls.

use crate::{
    cri::{Op, RpcError},
    id::CriId,
    kuberuntime::Calls,
    time::{Nanos, Time},
    wire,
};
use alloc::{boxed::Box, vec::Vec};

/// One relist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relist {
    /// Its number.
    pub n: u64,
    /// When it began.
    pub start: Time,
    /// Wall clock at its begin, nanoseconds since the epoch.
    pub wall: i64,
    /// When both listings had succeeded; none while they run or when one failed.
    pub listed: Option<Time>,
    /// When it ended; none while it runs, or when the recording ends in it.
    pub end: Option<Time>,
    /// Whether its end was not observed: [`Self::end`] is then the last moment that was.
    pub cut: bool,
    /// Its calls in order. Only the last may still be running.
    pub calls: Vec<CallBar>,
    /// Number of events sent.
    pub events: u32,
    /// Number of events lost to a full channel.
    pub discarded: u32,
    /// Number of pods whose events are held back because their inspection failed.
    pub held: u32,
    /// The calls that it makes when nothing goes wrong: both listings, and those of the inspections begun so far. One
    /// that made fewer met an error.
    pub predicted: Calls,
    /// The calls that the followed kubelet makes for the same: before v1.36 two more for each inspection.
    pub kubelet: Calls,
}

/// One runtime call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBar {
    /// Which call.
    pub op: Op,
    /// The sandbox or container asked for; none for listings.
    pub id: Option<CriId>,
    /// When it began.
    pub start: Time,
    /// When it ended; none while it runs.
    pub end: Option<Time>,
    /// Size of the answer in bytes.
    pub bytes: u64,
    /// Why it failed.
    pub error: Option<Box<RpcError>>,
}

impl Relist {
    pub(crate) fn new(frame: &wire::Relist, start: Time) -> Self {
        Self {
            n: frame.n,
            start,
            wall: frame.wall,
            listed: None,
            end: None,
            cut: false,
            calls: Vec::new(),
            events: 0,
            discarded: 0,
            held: 0,
            predicted: Calls::LISTING,
            kubelet: Calls::LISTING,
        }
    }

    /// The call that is running now.
    pub fn running_call(&self) -> Option<&CallBar> {
        self.calls.last().filter(|call| self.call_end(call).is_none())
    }

    /// When one of its calls ended, or the relist was cut in it; none while both go on.
    pub fn call_end(&self, call: &CallBar) -> Option<Time> {
        call.end.or(self.end)
    }

    /// How long it took, or has taken so far.
    pub fn took(&self, now: Time) -> Nanos {
        self.end.unwrap_or(now).since(self.start).max(0)
    }

    /// The failed listing, when one failed: the relist changed nothing.
    pub fn failed_listing(&self) -> Option<&CallBar> {
        self.calls.iter().find(|call| call.op.is_listing() && call.error.is_some())
    }

    pub(crate) fn calling(&mut self, calling: &wire::Calling) {
        self.calls.push(CallBar {
            op: calling.op,
            id: calling.id.clone(),
            start: self.start + calling.at,
            end: None,
            bytes: 0,
            error: None,
        });
    }

    pub(crate) fn call(&mut self, call: &wire::Call) {
        // The call may have been announced while it ran.
        self.calls.pop_if(|last| last.end.is_none());
        let start = self.start + call.at;
        self.calls.push(CallBar {
            op: call.op,
            id: call.id.clone(),
            start,
            end: Some(start + call.took),
            bytes: call.bytes,
            error: call.error.clone().map(Box::new),
        });
    }
}
