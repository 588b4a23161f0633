//! A thread with an event loop of its own, so that its timing does not depend on who else has work to do.

use crate::thread::Thread;
use anyhow::Context as _;
use std::time::Duration;
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
};

/// How long work that blocks, as in reading a terminal, may delay our end.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A running thread.
#[derive(Debug)]
pub(crate) struct Background {
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<anyhow::Result<()>>,
    thread: Thread,
}

impl Background {
    /// Starts a thread that runs the future which `work` makes there.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start<W, F>(name: &str, work: W) -> anyhow::Result<Self>
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future<Output = anyhow::Result<()>>,
    {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let thread = Thread::start(name, move || {
            let result = event_loop().and_then(|event_loop| {
                event_loop.block_on(async {
                    tokio::select! {
                        result = work() => result,
                        _ = stopped => Ok(()),
                    }
                })
            });
            if let Err(Err(error)) = end.send(result) {
                tracing::error!("{error:#}");
            }
        })
        .with_context(|| format!("cannot start the {name} thread"))?;
        Ok(Self { stop, ended, thread })
    }

    /// Waits for the work's end.
    ///
    /// # Errors
    /// The work's, or that it panicked.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<()> {
        (&mut self.ended)
            .await
            .unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked: please report this")))
    }

    /// Drops what the work is waiting for, and waits for the thread's end, but not for ever.
    pub(crate) fn stop(self) {
        drop(self.stop);
        if !self.thread.ends_within(STOP_TIMEOUT) {
            tracing::debug!("a thread that blocks is left");
        }
    }
}

/// An event loop for this thread.
///
/// # Errors
/// When the system gives no descriptors for it.
pub(crate) fn event_loop() -> anyhow::Result<Runtime> {
    Builder::new_current_thread().enable_io().enable_time().build().context("cannot start an event loop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_ends_with_its_result_or_when_stopped() {
        let mut work = Background::start("test", || async { anyhow::bail!("broken") }).unwrap();
        assert_eq!(work.ended().await.unwrap_err().to_string(), "broken");
        work.stop();
        Background::start("test", std::future::pending).unwrap().stop();
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let mut work = Background::start("test", || async { panic!("on purpose") }).unwrap();
        assert!(work.ended().await.unwrap_err().to_string().contains("panicked"));
    }
}
