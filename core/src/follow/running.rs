//! The relist that is running, and what it waits for.

use super::{FollowError, progress::Ahead};
use crate::{
    cri::{Answer, Op, RpcError},
    id::{CriId, Uid},
    kuberuntime::{Calls, Inspection, InspectionOptions},
    pod::Pod,
    time::Time,
    wire::Call,
};
use alloc::{boxed::Box, format, string::String, string::ToString, sync::Arc};

/// The relist that is running.
pub(super) struct Running {
    pub(super) n: u64,
    pub(super) start: Time,
    pub(super) stage: Stage,
    pub(super) inspected: usize,
    /// What comes after the running inspection; known once the relist has proved to be slow.
    pub(super) ahead: Option<Ahead>,
}

pub(super) enum Stage {
    /// Waits for the answer of `ListPodSandbox`.
    Sandboxes,
    /// Waits for the answer of `ListContainers`.
    Containers,
    /// Both listings succeeded; waits for what they said.
    Lists,
    /// Waits for the answer of one pod's inspection.
    Inspecting(Uid, Box<Inspection>),
    /// Nothing more to be asked.
    Ending,
}

impl Running {
    pub(super) fn new(n: u64, start: Time) -> Self {
        Self { n, start, stage: Stage::Sandboxes, inspected: 0, ahead: None }
    }

    /// The inspection of a pod begins, one with so many calls.
    pub(super) fn inspect(&mut self, pod: &Arc<Pod>, cost: Calls, options: InspectionOptions) {
        let inspection = Inspection::new(pod.clone(), options);
        self.stage = Stage::Inspecting(pod.uid.clone(), Box::new(inspection));
        if let Some(ahead) = &mut self.ahead {
            ahead.pods = ahead.pods.saturating_sub(1);
            ahead.calls = ahead.calls.without(cost);
        }
    }

    /// Something was recorded that does not fit here.
    pub(super) fn unexpected(&self, found: String) -> FollowError {
        FollowError::Unexpected { relist: self.n, found, wanted: self.stage.wanted() }
    }
}

impl Stage {
    /// The call that is needed next.
    pub(super) fn next_call(&self) -> Option<(Op, Option<CriId>)> {
        match self {
            Stage::Sandboxes => Some((Op::ListPodSandbox, None)),
            Stage::Containers => Some((Op::ListContainers, None)),
            Stage::Inspecting(_, inspection) => inspection.next_call().map(|(op, id)| (op, Some(id))),
            Stage::Lists | Stage::Ending => None,
        }
    }

    /// What is needed next, for a person.
    fn wanted(&self) -> String {
        match (self.next_call(), self) {
            (Some((op, id)), _) => call_name(op, id.as_ref()),
            (None, Stage::Lists) => "what both listings said".into(),
            (None, _) => "the end of the relist".into(),
        }
    }
}

/// A call as a person names it.
pub(super) fn call_name(op: Op, id: Option<&CriId>) -> String {
    id.map_or_else(|| op.to_string(), |id| format!("{op} of {id}"))
}

/// The answer of a status call. One without answer or error counts as an answer without a status.
pub(super) fn answer(call: &Call) -> Result<Answer, RpcError> {
    match (&call.error, &call.answer, call.op) {
        (Some(error), ..) => Err(error.clone()),
        (None, Some(answer), _) => Ok(answer.clone()),
        (None, None, Op::PodSandboxStatus) => Ok(Answer::Sandbox(Box::default())),
        (None, None, _) => Ok(Answer::Container(None)),
    }
}
