//! Captures that the agent writes: of an agent that was killed, and of a file that was cut, in the page.

use std::{fs, path::Path, process::ExitCode};

use anyhow::{Context, Result, ensure};
use pleg_core::{
    follow::EventLine,
    wire::{CaptureReader, CutShort, Frame},
};
use pleg_tests::{
    agent::{self, Agent},
    browser::Browser,
    suite::{Need, Suite},
    wait,
};

fn main() -> ExitCode {
    Suite::default()
        .test(
            "a_killed_agent_leaves_all_but_the_last_relist",
            &[],
            a_killed_agent_leaves_all_but_the_last_relist,
        )
        .test("a_cut_capture_opens_in_the_page", &[Need::Chromium], a_cut_capture_opens_in_the_page)
        .run()
}

async fn a_killed_agent_leaves_all_but_the_last_relist() -> Result<()> {
    let files = tempfile::tempdir()?;
    let capture = files.path().join("node.plegcap");
    let path = capture.display().to_string();
    let agent =
        Agent::start(&["serve", "--demo", "--print-events", "--listen", "127.0.0.1:0", "--record", &path])?;
    // Events in several relists: at the kill at least one relist is in the file and one may be on its way.
    let last = wait::until("events of the tenth relist", async || {
        Ok(relists(&agent.events())?.last().copied().filter(|relist| *relist >= 10))
    })
    .await?;
    let printed = agent.events();
    agent.kill().await?;

    let (frames, cut) = read(&fs::read(&capture)?)?;
    cut.context("a killed agent cannot have ended its file")?;
    let done = frames.iter().filter(|frame| matches!(frame, Frame::Done(_))).count();
    ensure!(done as u64 + 1 >= last, "{done} relists recorded, events of relist {last} were printed");

    let recorded = agent::output(&["events", "--json", &path]).await?;
    let recorded: Vec<&str> = recorded.lines().collect();
    let missing: Vec<&String> = printed.iter().filter(|line| !recorded.contains(&line.as_str())).collect();
    for line in missing {
        let event: EventLine = serde_json::from_str(line)?;
        ensure!(event.relist == last, "an event of relist {} is lost: {line}", event.relist);
    }
    Ok(())
}

async fn a_cut_capture_opens_in_the_page() -> Result<()> {
    let files = tempfile::tempdir()?;
    let (whole, cut) = (files.path().join("whole.plegcap"), files.path().join("cut.plegcap"));
    let mut agent = Agent::start(&["serve", "--demo", "--listen", "127.0.0.1:0"])?;
    let address = agent.address().await?;
    record(&whole).await?;
    let bytes = fs::read(&whole)?;
    let kept = bytes.get(..bytes.len() * 3 / 4).context("an empty capture")?;
    fs::write(&cut, kept)?;
    let (frames, _) = read(kept)?;
    let relists = frames.iter().filter(|frame| matches!(frame, Frame::Relist(_))).count();

    let browser = Browser::open(1280, 800).await?;
    browser.goto(&address).await?;
    browser.wait_for("window.plegscope.stats().live").await?;
    browser.drop_file("body", &cut).await?;
    browser.wait_for("!window.plegscope.stats().live").await?;
    browser.wait_for(&format!("window.plegscope.stats().relists === {relists}")).await?;
    browser.wait_for("document.body.innerText.includes('cut short')").await?;

    // What is no capture is refused, and the page goes on.
    let broken = files.path().join("broken.plegcap");
    fs::write(&broken, "<h1>no capture</h1>")?;
    browser.drop_file("body", &broken).await?;
    browser.wait_for("document.body.innerText.includes('not a plegscope capture')").await?;
    browser.drop_file("body", &whole).await?;
    browser.wait_for(&format!("window.plegscope.stats().relists > {relists}")).await?;
    browser.close().await?;
    agent.stop().await
}

async fn record(file: &Path) -> Result<()> {
    let file = file.display().to_string();
    agent::output(&["record", "--demo", "--duration", "8s", &file]).await.map(drop)
}

fn relists(events: &[String]) -> Result<Vec<u64>> {
    let relist = |line: &String| Ok(serde_json::from_str::<EventLine>(line)?.relist);
    events.iter().map(relist).collect()
}

fn read(file: &[u8]) -> Result<(Vec<Frame>, Option<CutShort>)> {
    let (mut reader, mut frames) = (CaptureReader::new(), Vec::new());
    reader.push(file, &mut frames)?;
    let cut = reader.finish()?;
    Ok((frames, cut))
}
