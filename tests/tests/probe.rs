//! `plegscope probe` on a real containerd: it names the container that hangs the whole node.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use pleg_core::cri::Op;
use pleg_core::diagnose::Verdict;
use pleg_tests::agent;
use pleg_tests::cri::{Pod, Sandbox};
use pleg_tests::node::Node;
use pleg_tests::suite::{Need, Suite};
use pleg_tests::wait;

fn main() -> ExitCode {
    Suite::default()
        .test("the_container_that_hangs_the_list_is_named", &[Need::Containerd], the_culprit_is_named)
        .test("a_runtime_that_is_frozen_or_gone_is_told_apart", &[Need::Containerd], frozen_and_gone)
        .run()
}

/// A shim that does not answer, and an update of its container in flight: from then on `ListContainers` hangs for the
/// whole node (containerd issue 9770).
async fn the_culprit_is_named() -> Result<()> {
    let mut node = Node::start().await?;
    let mut pods = Vec::new();
    for number in 0..5 {
        pods.push(run_pod(&mut node, number).await?);
    }
    let files = tempfile::tempdir()?;
    let known = files.path().join("known.plegcap").display().to_string();
    let endpoint = node.containerd.endpoint();
    agent::output(&["record", &known, "--duration", "2s", "--runtime-endpoint", &endpoint]).await?;
    let healthy = probe(&["--runtime-endpoint", &endpoint]).await?;
    ensure!(healthy == Verdict::Healthy { inspected: 10 }, "{healthy:?}");

    let (sandbox, container) = pods.get(2).context("five pods")?;
    node.containerd.freeze_shim(&sandbox.id)?;
    let Verdict::ShimFrozen { targets } = probe(&["--runtime-endpoint", &endpoint]).await? else {
        anyhow::bail!("a frozen shim is seen by verbose inspections");
    };
    ensure!(targets.iter().map(|target| &*target.id).eq([&*sandbox.id]), "{targets:?}");

    let (mut cri, id) = (node.cri.clone(), container.clone());
    let update = tokio::spawn(async move { cri.update(&id, 512).await });
    let args = ["--runtime-endpoint", &endpoint, "--known", &known, "--timeout", "1s"];
    let blamed = wait::until("a list that hangs", async || match probe(&args).await? {
        Verdict::Hangs { targets, listing: Some(listing) } => Ok(Some((targets, listing))),
        _ => Ok(None),
    });
    let (targets, listing) = blamed.await?;
    ensure!(listing == Op::ListContainers, "{listing}");
    ensure!(targets.iter().map(|target| &*target.id).eq([container.as_str()]), "{targets:?}");
    let (code, text, _) = agent::run(&[&["probe"], &args[..]].concat()).await?;
    let named = text.contains("because of shop/web-2/app (") && text.contains("last seen running");
    ensure!(code == 13 && named, "exit code {code}: {text}");

    node.containerd.thaw_shim(&sandbox.id)?;
    update.await??;
    let healthy = probe(&["--runtime-endpoint", &endpoint]).await?;
    ensure!(healthy == Verdict::Healthy { inspected: 10 }, "{healthy:?}");
    Ok(())
}

async fn frozen_and_gone() -> Result<()> {
    let node = Node::start().await?;
    let endpoint = node.containerd.endpoint();
    node.containerd.freeze()?;
    let args = ["probe", "--runtime-endpoint", &endpoint, "--timeout", "1s"];
    let (code, text, _) = agent::run(&args).await?;
    ensure!(code == 15 && text.contains("The runtime is frozen"), "exit code {code}: {text}");
    node.containerd.thaw()?;
    node.containerd.stop()?;
    let (code, text, _) = agent::run(&args).await?;
    ensure!(code == 15 && text.contains("The runtime is down: rpc error"), "exit code {code}: {text}");
    Ok(())
}

async fn run_pod(node: &mut Node, number: u32) -> Result<(Sandbox, String)> {
    let uid = format!("6f1c7d52-0f7e-4b4c-9a51-{number:012}");
    let sandbox = node.cri.run_sandbox(&Pod::new("shop", &format!("web-{number}"), &uid)).await?;
    let container = node.cri.run(&sandbox, "app", 0, &["sleep", "3600"]).await?;
    Ok((sandbox, container))
}

/// The verdict that `plegscope probe --json` ends with.
async fn probe(args: &[&str]) -> Result<Verdict> {
    let (_, stdout, stderr) = agent::run(&[&["probe", "--json"], args].concat()).await?;
    let last = stdout.lines().last().with_context(|| format!("no verdict: {stderr}"))?;
    serde_json::from_str(last).with_context(|| last.to_owned())
}
