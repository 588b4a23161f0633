//! A socket in front of the runtime's: every byte passes as it is, and something happens just before a certain call.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// What a client of HTTP/2 says first.
const PREFACE: usize = 24;
/// Length (3 bytes), type, flags and stream (4 bytes) of a frame.
const FRAME_HEAD: usize = 9;
/// Type of the frame that begins a call.
const HEADERS: u8 = 1;

/// Counts the calls of all clients, and acts before one of them.
struct Trap {
    calls_before: usize,
    act: Option<Box<dyn FnOnce() + Send>>,
}

/// The socket, in a directory of its own.
pub struct Relay {
    dir: tempfile::TempDir,
}

impl Relay {
    /// Listens, and passes on to the socket `to`. `act` is called when `calls_before` calls have been passed on and
    /// one more has come, which is passed on after it.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start(to: &Path, calls_before: usize, act: impl FnOnce() + Send + 'static) -> Result<Self> {
        let relay = Self { dir: tempfile::tempdir()? };
        let listener = UnixListener::bind(relay.socket()).context("the relay's socket")?;
        let trap = Arc::new(Mutex::new(Trap { calls_before, act: Some(Box::new(act)) }));
        let to = to.to_owned();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, to.clone(), Arc::clone(&trap)));
            }
        });
        Ok(relay)
    }

    /// Where the agent is to connect to.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("relay.sock")
    }
}

/// One client's connection, until either side ends it.
async fn pass(client: UnixStream, to: PathBuf, trap: Arc<Mutex<Trap>>) -> Result<()> {
    let runtime = UnixStream::connect(to).await?;
    let (client, (mut answers, requests)) = (client.into_split(), runtime.into_split());
    let (from_client, mut to_client) = client;
    tokio::select! {
        ended = pass_requests(from_client, requests, &trap) => ended,
        ended = tokio::io::copy(&mut answers, &mut to_client) => Ok(ended.map(drop)?),
    }
}

async fn pass_requests(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    trap: &Mutex<Trap>,
) -> Result<()> {
    pass_bytes(&mut from, &mut to, PREFACE).await?;
    loop {
        let mut head = [0; FRAME_HEAD];
        from.read_exact(&mut head).await?;
        let [a, b, c, kind, ..] = head;
        if kind == HEADERS {
            trap.lock().unwrap_or_else(PoisonError::into_inner).call();
        }
        to.write_all(&head).await?;
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        pass_bytes(&mut from, &mut to, length).await?;
    }
}

async fn pass_bytes(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    length: usize,
) -> Result<()> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    Ok(to.write_all(&bytes).await?)
}

impl Trap {
    fn call(&mut self) {
        match self.calls_before.checked_sub(1) {
            Some(left) => self.calls_before = left,
            None => {
                if let Some(act) = self.act.take() {
                    act();
                }
            }
        }
    }
}
