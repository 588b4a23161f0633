//! A node of its own for a test: a fresh containerd without pods, removed with all its pods at the end.

use anyhow::{Context, Result};
use pleg_containerd::Containerd;

use crate::cri::CriClient;

/// The node.
pub struct Node {
    /// Its runtime.
    pub containerd: Containerd,
    /// The client that makes its pods.
    pub cri: CriClient,
}

impl Node {
    /// Starts it; what an earlier test left behind is removed first.
    ///
    /// # Errors
    /// When containerd does not start.
    pub async fn start() -> Result<Self> {
        let containerd = Containerd::from_env();
        containerd.clean()?;
        containerd.start().context("starting the node")?;
        let cri = CriClient::connect(&containerd).await?;
        Ok(Self { containerd, cri })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Err(error) = self.containerd.clean() {
            eprintln!("the node could not be removed: {error:#}");
        }
    }
}
