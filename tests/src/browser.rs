//! Chromium, driven through its WebDriver.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use pleg_containerd::on_path;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::suite::artifact;
use crate::wait;

const DRIVER: &str = "chromedriver";
const CHROMIUM: &str = "chromium";

/// What makes Chromium quiet, offline but for what it is told, and able to run as root without a screen.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// Gives a page a file as if it were dropped on it.
const DROP_FILE: &str = "
    const [selector, name, content] = arguments;
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    const target = document.querySelector(selector);
    for (const type of ['dragenter', 'dragover', 'drop'])
      target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));";

/// A browser with one window. It and its driver are killed when this is dropped.
pub struct Browser {
    /// The WebDriver client, for whatever has no method here.
    pub client: Client,
    _driver: Child,
    profile: TempDir,
}

impl Drop for Browser {
    /// Kills what [`Browser::close`] did not end: Chromium outlives a driver that is killed.
    fn drop(&mut self) {
        if let Some(pid) = chromium_of(self.profile.path())
            && let Err(error) = kill_process(pid, Signal::KILL)
        {
            eprintln!("Chromium could not be killed: {error}");
        }
    }
}

/// The process that runs with this profile: its lock there is a link to `HOST-PID`.
fn chromium_of(profile: &Path) -> Option<Pid> {
    let lock = fs::read_link(profile.join("SingletonLock")).ok()?;
    let (_, pid) = lock.to_str()?.rsplit_once('-')?;
    // The lock may be left over, and its number another process's by now.
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let runs = String::from_utf8_lossy(&command).contains(profile.to_str()?);
    Pid::from_raw(pid.parse().ok()?).filter(|_| runs)
}

impl Browser {
    /// Why this machine has none; none if it has.
    #[must_use]
    pub fn unavailable() -> Option<String> {
        let missing: Vec<&str> =
            [CHROMIUM, DRIVER].into_iter().filter(|program| on_path(program).is_none()).collect();
        let advice = "run `cargo xtask setup --browser`";
        (!missing.is_empty()).then(|| format!("not installed: {} ({advice})", missing.join(", ")))
    }

    /// Opens a window whose page has this many CSS pixels.
    ///
    /// # Errors
    /// When the browser does not start.
    pub async fn open(width: u32, height: u32) -> Result<Self> {
        let (driver, port) = start_driver().await?;
        let profile = tempfile::tempdir()?;
        let mut flags: Vec<String> = FLAGS.iter().map(|&flag| flag.to_owned()).collect();
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        flags.push(format!("--window-size={width},{height}"));
        let capabilities: Capabilities = [
            ("goog:chromeOptions".to_owned(), json!({ "args": flags })),
            ("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" })),
        ]
        .into_iter()
        .collect();
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = ClientBuilder::new(connector)
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .context("Chromium did not start")?;
        let browser = Self { client, _driver: driver, profile };
        browser.set_page_size(width, height).await?;
        Ok(browser)
    }

    /// Makes the window as much larger as its frame takes.
    async fn set_page_size(&self, width: u32, height: u32) -> Result<()> {
        let frame = self.eval("[outerWidth - innerWidth, outerHeight - innerHeight]").await?;
        let part =
            |index| frame.get(index).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        self.client.set_window_size(width + part(0), height + part(1)).await.context("resizing the window")
    }

    /// Goes to an address.
    ///
    /// # Errors
    /// When nothing answers there.
    pub async fn goto(&self, url: &str) -> Result<()> {
        self.client.goto(url).await.with_context(|| format!("going to {url}"))
    }

    /// The value of a JavaScript expression.
    ///
    /// # Errors
    /// When it throws, with what it threw.
    pub async fn eval(&self, expression: &str) -> Result<Value> {
        let script = format!("return ({expression});");
        self.client.execute(&script, Vec::new()).await.with_context(|| format!("in the page: {expression}"))
    }

    /// Waits until a JavaScript expression is neither null nor undefined nor false; its value. One that throws is
    /// not there yet.
    ///
    /// # Errors
    /// When that does not happen.
    pub async fn wait_for(&self, expression: &str) -> Result<Value> {
        let guarded = format!("(() => {{ try {{ return {expression}; }} catch {{ return null; }} }})()");
        let waited = wait::until(expression, async || {
            let value = self.eval(&guarded).await?;
            Ok((!value.is_null() && value != Value::Bool(false)).then_some(value))
        })
        .await;
        match waited {
            Ok(value) => Ok(value),
            Err(error) => bail!("{error:#}\nthe page's console: {:#?}", self.console().await?),
        }
    }

    /// Clicks the element.
    ///
    /// # Errors
    /// When it is not there, or covered.
    pub async fn click(&self, selector: &str) -> Result<()> {
        let element = self.client.wait().for_element(Locator::Css(selector)).await;
        element.with_context(|| selector.to_owned())?.click().await.with_context(|| selector.to_owned())
    }

    /// The element's text as shown.
    ///
    /// # Errors
    /// When it is not there.
    pub async fn text(&self, selector: &str) -> Result<String> {
        let element = self.client.find(Locator::Css(selector)).await.with_context(|| selector.to_owned())?;
        element.text().await.with_context(|| selector.to_owned())
    }

    /// Drops a file on the element.
    ///
    /// # Errors
    /// When there is no such element, or the file cannot be read.
    pub async fn drop_file(&self, selector: &str, file: &Path) -> Result<()> {
        let content = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let arguments = vec![json!(selector), json!(name), json!(BASE64_STANDARD.encode(content))];
        self.client.execute(DROP_FILE, arguments).await.context("dropping a file").map(drop)
    }

    /// Takes a picture of the page, for people to look at: `target/pictures/NAME.png`.
    ///
    /// # Errors
    /// When it cannot be taken or written.
    pub async fn picture(&self, name: &str) -> Result<()> {
        let file = artifact("pictures", &format!("{name}.png"))?;
        let picture = self.client.screenshot().await.context("taking a picture")?;
        fs::write(&file, picture).with_context(|| format!("cannot write {}", file.display()))
    }

    /// What the page wrote to its console since the last call, and errors: `LEVEL message`.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn console(&self) -> Result<Vec<String>> {
        let entries = self.client.issue_cmd(ConsoleLog).await.context("reading the console")?;
        let line = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            format!("{} {}", text("level"), text("message"))
        };
        Ok(entries.as_array().map(|list| list.iter().map(line).collect()).unwrap_or_default())
    }

    /// Fails if there were errors in the console since the last look at it.
    ///
    /// # Errors
    /// With those errors.
    pub async fn expect_no_errors(&self) -> Result<()> {
        let errors: Vec<String> =
            self.console().await?.into_iter().filter(|line| line.starts_with("SEVERE")).collect();
        if !errors.is_empty() {
            bail!("errors in the page's console:\n{}", errors.join("\n"));
        }
        Ok(())
    }

    /// Closes the window and ends the browser.
    ///
    /// # Errors
    /// When it is gone already.
    pub async fn close(self) -> Result<()> {
        self.client.clone().close().await.context("closing Chromium")
    }
}

/// Starts the driver on a free port; it says which.
async fn start_driver() -> Result<(Child, u16)> {
    let mut driver = Command::new(DRIVER)
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("cannot start chromedriver")?;
    let mut lines = BufReader::new(driver.stdout.take().context("no stdout")?).lines();
    let mut said = Vec::new();
    while let Some(line) = lines.next_line().await? {
        let port = line.split("successfully on port ").nth(1).map(|rest| rest.trim_end_matches('.'));
        if let Some(port) = port.and_then(|port| port.parse().ok()) {
            // Somebody must go on reading, or the driver stops at a full pipe.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((driver, port));
        }
        said.push(line);
    }
    bail!("chromedriver ended:\n{}", said.join("\n"))
}

/// Chromium's own command `se/log`.
#[derive(Debug)]
struct ConsoleLog;

impl WebDriverCompatibleCommand for ConsoleLog {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}
