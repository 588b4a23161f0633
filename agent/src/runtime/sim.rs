//! The simulated node as a source: its answers take as long as it says, in real time.

use super::{Reply, Said};
use pleg_core::{
    cri::Op,
    id::CriId,
    sim::{SimAnswer, SimNode},
    time::Time,
    wire::RuntimeInfo,
};
use std::time::Duration;

/// A node whose story follows from its seed.
#[derive(Debug)]
pub(crate) struct SimSource {
    node: SimNode,
    info: RuntimeInfo,
}

impl SimSource {
    /// A node whose story begins at `epoch`.
    pub(crate) fn new(seed: u64, epoch: Time) -> Self {
        let info = RuntimeInfo {
            name: "simulated".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api: "v1".to_owned(),
            endpoint: format!("demo, seed {seed}"),
        };
        Self { node: SimNode::new(seed, epoch), info }
    }

    pub(crate) fn info(&self) -> &RuntimeInfo {
        &self.info
    }

    pub(crate) async fn call(&mut self, now: Time, op: Op, id: Option<&CriId>) -> Reply {
        let reply = self.node.call(now, op, id);
        tokio::time::sleep(Duration::from_nanos(u64::try_from(reply.took).unwrap_or(0))).await;
        let result = reply.result.map(|answer| match answer {
            SimAnswer::Sandboxes(list) => Said::Sandboxes(list),
            SimAnswer::Containers(list) => Said::Containers(list),
            SimAnswer::Answer(answer) => Said::Answer(answer),
        });
        Reply { bytes: reply.bytes, result }
    }
}
