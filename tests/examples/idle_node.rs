//! What the agent costs on a real containerd on which nothing changes.
//!
//! `cargo run -p pleg-tests --example idle_node -- [PODS] [SECONDS]` (root; `PLEGSCOPE_BIN` names the agent,
//! a release build for figures that count). Prints the bytes on the WebSocket for each relist, and the agent's memory
//! and processor time.

use std::{
    env, fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use pleg_tests::{
    agent::Agent,
    cri::{CriClient, Pod},
    node::Node,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut args = env::args().skip(1);
    let pods: u32 = args.next().map_or(Ok(110), |text| text.parse()).context("PODS is a number")?;
    let seconds: u64 = args.next().map_or(Ok(60), |text| text.parse()).context("SECONDS is a number")?;
    let mut node = Node::start().await?;
    for number in 0..pods {
        run_pod(&mut node.cri, number).await?;
        eprint!("\r{} of {pods} pods", number + 1);
    }
    eprintln!();
    let endpoint = node.containerd.endpoint();
    let mut agent = Agent::start(&["serve", "--runtime-endpoint", &endpoint, "--listen", "127.0.0.1:0"])?;
    let address = agent.address().await?;
    let mut socket = WebSocket::open(&address)?;
    // The first relists inspect everything.
    socket.read_for(Duration::from_secs(10))?;

    let pid = agent.pid().context("the agent has ended")?;
    let (before, began) = (cpu_ticks(pid)?, Instant::now());
    let text = socket.read_for(Duration::from_secs(seconds))?;
    let busy = (cpu_ticks(pid)? - before) as f64 / 100.0 / began.elapsed().as_secs_f64();
    let relists = text.windows(7).filter(|window| window == b"{\"done\"").count();
    ensure!(relists > 0, "no relist in {seconds} s");
    println!("pods                        {pods}, two containers each");
    println!("relists                     {relists}");
    println!("WebSocket bytes per relist  {}", text.len() / relists);
    println!(
        "agent's memory              {} KiB resident, {} KiB at most",
        rss(pid, "VmRSS")?,
        rss(pid, "VmHWM")?
    );
    println!("agent's processor time      {:.2} % of a core", busy * 100.0);
    agent.stop().await
}

async fn run_pod(cri: &mut CriClient, number: u32) -> Result<()> {
    let uid = format!("6f1c7d52-0f7e-4b4c-9a51-{number:012}");
    let sandbox = cri.run_sandbox(&Pod::new("load", &format!("pod-{number}"), &uid)).await?;
    for name in ["app", "sidecar"] {
        cri.run(&sandbox, name, 0, &["sleep", "3600"]).await?;
    }
    Ok(())
}

/// The bytes of a WebSocket as they come over the wire, frame headers and all.
struct WebSocket(TcpStream);

impl WebSocket {
    fn open(address: &str) -> Result<Self> {
        let host = address.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "GET /ws HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )?;
        Ok(Self(stream))
    }

    fn read_for(&mut self, time: Duration) -> Result<Vec<u8>> {
        let (end, mut bytes, mut buffer) = (Instant::now() + time, Vec::new(), [0; 65536]);
        self.0.set_read_timeout(Some(Duration::from_millis(200)))?;
        while Instant::now() < end {
            match self.0.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }
}

/// User and system time of a process, in hundredths of a second.
fn cpu_ticks(pid: u32) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = stat.rsplit_once(')').context("no stat")?;
    rest.split_whitespace().skip(11).take(2).try_fold(0, |sum, ticks| Ok(sum + ticks.parse::<u64>()?))
}

/// A line of the process's status, in KiB.
fn rss(pid: u32, line: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let value =
        status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).context("no status")?;
    Ok(value.trim().trim_end_matches(" kB").parse()?)
}
