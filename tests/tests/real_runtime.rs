//! The agent on a real containerd: the same events from the agent, from the page and from the capture, and the ones
//! that what happened on the node must give.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, ensure};
use pleg_core::follow::EventLine;
use pleg_core::pleg::EventType::{self, ContainerDied, ContainerRemoved, ContainerStarted};
use pleg_tests::agent::{self, Agent};
use pleg_tests::browser::Browser;
use pleg_tests::cri::{Pod, Sandbox};
use pleg_tests::node::Node;
use pleg_tests::relay::Relay;
use pleg_tests::suite::{Need, Suite, artifact};

fn main() -> ExitCode {
    Suite::default()
        .test(
            "agent_page_and_capture_give_the_same_events",
            &[Need::Containerd, Need::Chromium],
            agent_page_and_capture_give_the_same_events,
        )
        .test(
            "a_frozen_runtime_is_seen_while_it_hangs",
            &[Need::Containerd, Need::Chromium],
            a_frozen_runtime_is_seen_while_it_hangs,
        )
        .test(
            "a_hanging_inspection_names_its_pod",
            &[Need::Containerd, Need::Chromium],
            a_hanging_inspection_names_its_pod,
        )
        .run()
}

/// Runs until told to end, and then ends well.
const UNTIL_STOPPED: [&str; 3] = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.1; done"];

async fn agent_page_and_capture_give_the_same_events() -> Result<()> {
    let capture = artifact("recordings", "scenario.plegcap")?;
    let mut story = Story::begin(&capture).await?;
    let browser = Browser::open(1280, 800).await?;
    browser.goto(&story.agent.address().await?).await?;
    browser.wait_for("window.plegscope.events() === ''").await?;
    tell(&mut story).await?;

    let printed = story.agent.events();
    story.check(&printed)?;
    let count = printed.len();
    browser.wait_for(&format!("window.plegscope.events().trim().split('\\n').length >= {count}")).await?;
    let page = browser.eval("window.plegscope.events()").await?;
    let page = lines(page.as_str().context("window.plegscope.events() gives no text")?);
    ensure!(page == printed, "the page's events:\n{}\nthe agent's:\n{}", page.join("\n"), printed.join("\n"));
    browser.expect_no_errors().await?;
    browser.picture("scenario").await?;
    browser.close().await?;

    story.agent.stop().await?;
    let recorded = agent::output(&["events", "--json", &capture.display().to_string()]).await?;
    fs::write(artifact("recordings", "scenario.events.jsonl")?, &recorded)?;
    let recorded = lines(&recorded);
    ensure!(
        recorded == printed,
        "of the capture:\n{}\nthe agent's:\n{}",
        recorded.join("\n"),
        printed.join("\n")
    );
    Ok(())
}

async fn a_frozen_runtime_is_seen_while_it_hangs() -> Result<()> {
    let mut node = Node::start().await?;
    let web = node.cri.run_sandbox(&Pod::new("shop", "web", "6f1c7d52-0f7e-4b4c-9a51-000000000001")).await?;
    node.cri.run(&web, "app", 0, &["sleep", "3600"]).await?;
    let endpoint = node.containerd.endpoint();
    let mut agent = Agent::start(&[
        "--runtime-endpoint",
        &endpoint,
        "--listen",
        "127.0.0.1:0",
        "--relist-threshold",
        "5s",
    ])?;
    let browser = Browser::open(1280, 800).await?;
    browser.goto(&agent.address().await?).await?;
    browser.wait_for("window.plegscope.health().healthy").await?;
    browser.wait_for("document.querySelector('#health.good')").await?;
    browser.picture("healthy").await?;

    node.containerd.freeze()?;
    browser.wait_for("document.querySelector('#relist.hanging')").await?;
    let running = browser.text("#relist").await?;
    ensure!(running.contains("running for") && running.contains("in List"), "the running relist: {running}");
    browser.picture("hanging").await?;
    browser.wait_for("document.querySelector('#health.bad')").await?;
    let badge = browser.text("#health").await?;
    let kubelet =
        badge.contains("PLEG is not healthy: pleg was last seen active") && badge.contains("threshold is 5s");
    ensure!(kubelet, "the badge says: {badge}");
    let health = browser.eval("window.plegscope.health().error").await?;
    let text = health.as_str().unwrap_or_default();
    ensure!(
        text.starts_with("pleg was last seen active ") && text.ends_with("; threshold is 5s"),
        "{health}"
    );
    browser.picture("unhealthy").await?;

    browser.wait_for("/running for 1\\d/.test(document.querySelector('#relist').textContent)").await?;
    node.containerd.thaw()?;
    browser.wait_for("document.querySelector('#health.good')").await?;
    browser.wait_for("!document.querySelector('#relist.hanging')").await?;
    browser.picture("recovered").await?;
    browser.expect_no_errors().await?;
    browser.close().await?;
    agent.stop().await
}

/// The runtime freezes in the midst of a relist that inspects every pod: the page names the call and whose it is.
async fn a_hanging_inspection_names_its_pod() -> Result<()> {
    let mut node = Node::start().await?;
    for number in 0..10 {
        let uid = format!("6f1c7d52-0f7e-4b4c-9a51-{number:012}");
        let sandbox = node.cri.run_sandbox(&Pod::new("shop", &format!("web-{number}"), &uid)).await?;
        node.cri.run(&sandbox, "app", 0, &["sleep", "3600"]).await?;
    }
    // The first relist makes two listings and twenty inspections; a few calls come before it.
    let containerd = node.containerd.clone();
    let frozen = Arc::new(OnceLock::new());
    let freeze = {
        let frozen = Arc::clone(&frozen);
        move || drop(frozen.set(containerd.freeze().map_err(|error| format!("{error:#}"))))
    };
    let relay = Relay::start(&node.containerd.socket(), 12, freeze)?;
    let mut agent = Agent::start(&[
        "--runtime-endpoint",
        &relay.endpoint(),
        "--listen",
        "127.0.0.1:0",
        "--relist-threshold",
        "5s",
    ])?;
    let browser = Browser::open(1280, 800).await?;
    browser.goto(&agent.address().await?).await?;
    browser.wait_for("document.querySelector('#relist.hanging')").await?;
    ensure!(frozen.get() == Some(&Ok(())), "containerd was to be frozen: {frozen:?}");
    let running = browser.text("#relist").await?;
    let named = ["in PodSandboxStatus of shop/web-", "in ContainerStatus of shop/web-"];
    ensure!(
        named.iter().any(|name| running.contains(name))
            && running.contains("Relist 1 running for")
            && running.contains("of 10 pods inspected"),
        "the running relist: {running}"
    );
    browser.wait_for("document.querySelector('#health.bad')").await?;
    browser.picture("hanging-inspection").await?;

    node.containerd.thaw()?;
    browser.wait_for("document.querySelector('#health.good')").await?;
    browser.wait_for("!document.querySelector('#relist.hanging')").await?;
    browser.expect_no_errors().await?;
    browser.close().await?;
    agent.stop().await
}

/// What happens on the node. Each step waits until the agent has seen the one before, so that no two changes fall
/// into one relist, and the order of the events is the order of the steps.
async fn tell(story: &mut Story) -> Result<()> {
    let web = story.sandbox("shop", "web", "6f1c7d52-0f7e-4b4c-9a51-000000000001").await?;
    let app = story.container(&web, "app", 0, &["sleep", "3600"]).await?;

    let report = story.sandbox("batch", "report", "6f1c7d52-0f7e-4b4c-9a51-000000000002").await?;
    let main = story.container(&report, "main", 0, &UNTIL_STOPPED).await?;
    story.node.cri.stop(&main, 30).await?;
    story.node.cri.expect_exit(&main, 0).await?;
    story.expect(&[(ContainerDied, &report, Some(("main", 0)), &main, Some(0))]).await?;

    let cart = story.sandbox("shop", "cart", "6f1c7d52-0f7e-4b4c-9a51-000000000003").await?;
    let killed = story.container(&cart, "cart", 0, &["sleep", "3600"]).await?;
    story.node.cri.stop(&killed, 0).await?;
    story.node.cri.expect_exit(&killed, 137).await?;
    story.expect(&[(ContainerDied, &cart, Some(("cart", 0)), &killed, Some(137))]).await?;
    story.container(&cart, "cart", 1, &["sleep", "3600"]).await?;

    let empty = story.sandbox("ops", "empty", "6f1c7d52-0f7e-4b4c-9a51-000000000004").await?;

    // Removed while it runs. Whether a relist sees it dead in between is chance; the events are the same.
    story.node.cri.remove(&app).await?;
    let app_is = Some(("app", 0));
    story
        .expect(&[(ContainerDied, &web, app_is, &app, None), (ContainerRemoved, &web, app_is, &app, None)])
        .await?;

    story.end_sandbox(&empty).await?;
    story.node.cri.remove(&main).await?;
    story.expect(&[(ContainerRemoved, &report, Some(("main", 0)), &main, None)]).await?;
    story.end_sandbox(&report).await
}

/// An event as the story makes it: type, whose, which container (name and attempt; a sandbox if none), its id, and
/// the exit code where the story decides it.
type Step<'a> = (EventType, &'a Sandbox, Option<(&'a str, u32)>, &'a str, Option<i32>);

/// An event that must come.
#[derive(Debug)]
struct Expected {
    kind: EventType,
    pod: Pod,
    container: Option<String>,
    attempt: u32,
    id: String,
    exit_code: Option<i32>,
}

impl Expected {
    fn is(&self, event: &EventLine) -> bool {
        event.kind == self.kind
            && event.namespace == self.pod.namespace
            && event.pod == self.pod.name
            && *event.uid == *self.pod.uid
            && event.id.as_deref() == Some(self.id.as_str())
            && event.container.as_deref() == self.container.as_deref()
            && event.attempt == self.attempt
            && (self.exit_code.is_none() || event.exit_code == self.exit_code)
            && !event.discarded
    }
}

/// A node, an agent that observes and records it, and the events that must have come so far.
struct Story {
    node: Node,
    agent: Agent,
    expected: Vec<Expected>,
}

impl Story {
    async fn begin(capture: &Path) -> Result<Self> {
        let node = Node::start().await?;
        let endpoint = node.containerd.endpoint();
        let capture = capture.display().to_string();
        let agent = Agent::start(&[
            "serve",
            "--runtime-endpoint",
            &endpoint,
            "--listen",
            "127.0.0.1:0",
            "--node-name",
            "node-1",
            "--relist-period",
            "250ms",
            "--record",
            &capture,
            "--force",
            "--print-events",
        ])?;
        Ok(Self { node, agent, expected: Vec::new() })
    }

    async fn sandbox(&mut self, namespace: &str, name: &str, uid: &str) -> Result<Sandbox> {
        let sandbox = self.node.cri.run_sandbox(&Pod::new(namespace, name, uid)).await?;
        self.expect(&[(ContainerStarted, &sandbox, None, &sandbox.id, None)]).await?;
        Ok(sandbox)
    }

    async fn container(
        &mut self,
        sandbox: &Sandbox,
        name: &str,
        attempt: u32,
        command: &[&str],
    ) -> Result<String> {
        let id = self.node.cri.run(sandbox, name, attempt, command).await?;
        self.expect(&[(ContainerStarted, sandbox, Some((name, attempt)), &id, None)]).await?;
        Ok(id)
    }

    async fn end_sandbox(&mut self, sandbox: &Sandbox) -> Result<()> {
        self.node.cri.stop_sandbox(sandbox).await?;
        self.expect(&[(ContainerDied, sandbox, None, &sandbox.id, None)]).await?;
        self.node.cri.remove_sandbox(sandbox).await?;
        self.expect(&[(ContainerRemoved, sandbox, None, &sandbox.id, None)]).await
    }

    /// The next events must be these; waits until the agent has printed them.
    async fn expect(&mut self, steps: &[Step<'_>]) -> Result<()> {
        self.expected.extend(steps.iter().map(|&(kind, sandbox, container, id, exit_code)| Expected {
            kind,
            pod: sandbox.pod.clone(),
            container: container.map(|(name, _)| name.to_owned()),
            attempt: container.map_or(sandbox.pod.attempt, |(_, attempt)| attempt),
            id: id.to_owned(),
            exit_code,
        }));
        self.agent.expect_events(self.expected.len()).await
    }

    /// All events must be the expected ones, in order.
    fn check(&self, printed: &[String]) -> Result<()> {
        ensure!(
            printed.len() == self.expected.len(),
            "{} events, not {}",
            printed.len(),
            self.expected.len()
        );
        for (line, expected) in printed.iter().zip(&self.expected) {
            let event: EventLine = serde_json::from_str(line).with_context(|| line.clone())?;
            ensure!(expected.is(&event), "expected {expected:#?}\nbut the agent printed {line}");
        }
        Ok(())
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
