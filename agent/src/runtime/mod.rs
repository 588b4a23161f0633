//! Where relists get their answers from: a container runtime over CRI, or the simulated node.

mod codes;
pub(crate) mod cri;
pub(crate) mod discover;
pub(crate) mod events;
mod rpc;
pub(crate) mod sim;

pub(crate) use codes::deadline_exceeded;

use pleg_core::{
    cri::{Answer, Container, Op, RpcError, Sandbox},
    id::CriId,
    time::Time,
    wire::RuntimeInfo,
};

/// What a call brought.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// Size of the answer's message in bytes, as protobuf; 0 for a failure.
    pub(crate) bytes: u64,
    /// What the runtime said.
    pub(crate) result: Result<Said, RpcError>,
}

/// A good answer, by kind of call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// To `ListPodSandbox`.
    Sandboxes(Vec<Sandbox>),
    /// To `ListContainers`.
    Containers(Vec<Container>),
    /// To the two inspecting calls.
    Answer(Answer),
}

/// One of the places that answer.
#[derive(Debug)]
pub(crate) enum Source {
    /// A container runtime.
    Cri(cri::CriSource),
    /// The simulated node.
    Sim(Box<sim::SimSource>),
}

impl Source {
    /// Asks. Dropping the future takes the question back. `now` is what the simulated node goes by.
    pub(crate) async fn call(&mut self, now: Time, op: Op, id: Option<&CriId>) -> Reply {
        match self {
            Source::Cri(source) => source.call(op, id).await,
            Source::Sim(source) => source.call(now, op, id).await,
        }
    }

    /// Gives the runtime a moment to say who it is.
    pub(crate) async fn prepare(&mut self) {
        if let Source::Cri(source) = self
            && let Err(error) = source.probe().await
        {
            tracing::warn!(endpoint = source.info().endpoint, %error, "the runtime does not answer yet");
        }
    }

    /// What is known of the runtime by now.
    pub(crate) fn info(&self) -> &RuntimeInfo {
        match self {
            Source::Cri(source) => source.info(),
            Source::Sim(source) => source.info(),
        }
    }
}
