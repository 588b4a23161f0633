//! A simulated node: what a container runtime would say of believable workloads, in virtual time.
//!
//! The same seed, epoch and sequence of calls give the same answers, on every platform. What happens on the node
//! depends on the seed and the epoch alone; calls only look at it.
//!
//! Within two virtual minutes something of each kind happens: rollouts, a crash loop, a container out of memory, jobs,
//! one that is gone within a second, a drain, a sandbox that dies, slow inspections, a hung one of about 30 s, a
//! restart of the runtime.
//!
//! ```text
//! script  ── what happens when ──►  kubelet  ── starts, ends, removes ──►  runtime
//!    └──────── slow, hung, down ──►  faults ──► SimNode::call ◄── lists, statuses ──┘
//! ```

mod catalogue;
mod dice;
mod faults;
mod identity;
mod kubelet;
mod node;
mod runtime;
mod script;
mod start;
#[cfg(test)]
mod tests;

use crate::{
    cri::{Answer, Container, Op, RpcError, Sandbox, SandboxAnswer},
    id::CriId,
    time::{MILLISECOND, Nanos, Time},
};
use alloc::{boxed::Box, format, vec::Vec};
use dice::Dice;
use node::Node;

/// A node with about thirty pods, some of them days old, on which things happen.
#[derive(Clone, Debug)]
pub struct SimNode {
    node: Node,
    /// Of its own, so that how often one asks changes nothing of what happens.
    dice: Dice,
}

/// What a call to the simulated runtime comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimReply {
    /// How long the call takes, in nanoseconds. It tells what was true when the call began.
    pub took: Nanos,
    /// Size of the answer as protobuf, in bytes; 0 for an error.
    pub bytes: u64,
    /// The answer, or the error that the call ends with.
    pub result: Result<SimAnswer, RpcError>,
}

/// What a call to the simulated runtime answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimAnswer {
    /// Answer to `ListPodSandbox`, in random order.
    Sandboxes(Vec<Sandbox>),
    /// Answer to `ListContainers`, in random order.
    Containers(Vec<Container>),
    /// Answer to `PodSandboxStatus` or `ContainerStatus`.
    Answer(Answer),
}

/// Bytes of an item of `ListPodSandbox`, as measured on containerd 1.6.20.
const LISTED_SANDBOX_BYTES: usize = 382;
/// Bytes of an item of `ListContainers`, as measured on containerd 1.6.20.
const LISTED_CONTAINER_BYTES: usize = 690;
/// Bytes of a status, about.
const STATUS_BYTES: u64 = 1_024;
/// Percentage of calls that take many times as long as the others.
const TAIL: i64 = 2;

impl SimNode {
    /// A node whose story begins at `epoch`; the pods that it starts with are older.
    pub fn new(seed: u64, epoch: Time) -> Self {
        // Any other seed would do: the two must only not throw alike.
        Self { node: Node::new(seed, epoch), dice: Dice::new(!seed) }
    }

    /// Lets the node live up to `now`, then says what the call answers and how long it takes. Times that go back leave
    /// the node where it is.
    ///
    /// `id` is that of the sandbox or container to inspect; listings ignore it. Errors are those of a real runtime:
    /// `NotFound` for an id that it does not have (and for no id), `Unavailable` while it restarts,
    /// `DeadlineExceeded` at the end of a hung call.
    pub fn call(&mut self, now: Time, op: Op, id: Option<&CriId>) -> SimReply {
        self.node.advance(now);
        if let Some((took, error)) = self.node.faults.outage(now) {
            return SimReply { took, bytes: 0, result: Err(error) };
        }
        match op {
            Op::ListPodSandbox => self.list_sandboxes(),
            Op::ListContainers => self.list_containers(),
            Op::PodSandboxStatus | Op::ContainerStatus => {
                self.inspect(now, op, &id.cloned().unwrap_or_default())
            }
        }
    }

    fn list_sandboxes(&mut self) -> SimReply {
        let mut list = self.node.runtime.sandboxes();
        self.dice.shuffle(&mut list);
        let (took, bytes) = (self.list_took(list.len()), size(list.len(), LISTED_SANDBOX_BYTES));
        SimReply { took, bytes, result: Ok(SimAnswer::Sandboxes(list)) }
    }

    fn list_containers(&mut self) -> SimReply {
        let mut list = self.node.runtime.containers();
        self.dice.shuffle(&mut list);
        let (took, bytes) = (self.list_took(list.len()), size(list.len(), LISTED_CONTAINER_BYTES));
        SimReply { took, bytes, result: Ok(SimAnswer::Containers(list)) }
    }

    fn inspect(&mut self, now: Time, op: Op, id: &CriId) -> SimReply {
        let is_slow = self.node.runtime.pod_uid(id).is_some_and(|pod| self.node.faults.is_slow(now, pod));
        let mut took = if is_slow { self.slow_took() } else { self.with_tail((300, 460)) };
        let mut result = self.status(op, id);
        if let Some((hangs, fails)) = self.node.faults.hang(now, op, id) {
            took = hangs;
            if fails {
                result = Err(RpcError::new("DeadlineExceeded", "context deadline exceeded"));
            }
        }
        let bytes = if result.is_ok() { STATUS_BYTES } else { 0 };
        SimReply { took, bytes, result: result.map(SimAnswer::Answer) }
    }

    fn status(&self, op: Op, id: &CriId) -> Result<Answer, RpcError> {
        if op == Op::PodSandboxStatus {
            let status = self.node.runtime.sandbox_status(id);
            let status =
                status.ok_or_else(|| not_found("an error occurred when try to find sandbox: not found"))?;
            return Ok(Answer::Sandbox(Box::new(SandboxAnswer {
                status: Some(status),
                ..SandboxAnswer::default()
            })));
        }
        let status = self.node.runtime.container_status(id).ok_or_else(|| {
            not_found(&format!("an error occurred when try to find container \"{id}\": not found"))
        })?;
        Ok(Answer::Container(Some(Box::new(status))))
    }

    /// About half a millisecond, and ten microseconds for each item, as measured on containerd 1.6.20.
    fn list_took(&mut self, items: usize) -> Nanos {
        let micros = i64::try_from(items).unwrap_or(0).saturating_mul(10);
        self.with_tail((420 + micros, 560 + micros))
    }

    /// A duration between two numbers of microseconds, now and then many times as long.
    fn with_tail(&mut self, (low, high): (i64, i64)) -> Nanos {
        let times = if self.dice.chance(TAIL) { self.dice.between(3, 16) } else { 1 };
        self.dice.between(low, high) * times * (MILLISECOND / 1_000)
    }

    fn slow_took(&mut self) -> Nanos {
        let range = if self.dice.chance(20) { (1_200, 3_000) } else { (400, 1_200) };
        self.dice.millis(range)
    }
}

fn not_found(message: &str) -> RpcError {
    RpcError::new("NotFound", message)
}

fn size(items: usize, bytes: usize) -> u64 {
    u64::try_from(items.saturating_mul(bytes)).unwrap_or(u64::MAX)
}
