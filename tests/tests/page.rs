//! The page in Chromium, served by the agent on a simulated node.

use std::process::ExitCode;

use anyhow::Result;
use pleg_tests::agent::Agent;
use pleg_tests::browser::Browser;
use pleg_tests::suite::{Need, Suite};

fn main() -> ExitCode {
    Suite::default().test("the_demo_runs_in_the_page", &[Need::Chromium], the_demo_runs_in_the_page).run()
}

async fn the_demo_runs_in_the_page() -> Result<()> {
    let mut agent = Agent::start(&["serve", "--demo", "--listen", "127.0.0.1:0"])?;
    let browser = Browser::open(1280, 800).await?;
    browser.goto(&agent.address().await?).await?;
    browser.wait_for("window.plegscope.events().length > 0").await?;
    let mark = "performance.getEntriesByName('plegscope:first-pods')[0].startTime";
    let painted = browser.wait_for(mark).await?;
    println!("first pods painted {painted} ms after the navigation began");
    browser.picture("demo").await?;
    browser.expect_no_errors().await?;
    browser.close().await?;
    agent.stop().await
}
