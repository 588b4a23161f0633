//! Threads that may block where nothing can wake them, in a read or a write: their end is awaited with a limit.

use std::{
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread::{self, JoinHandle},
    time::Duration,
};

/// A running thread.
#[derive(Debug)]
pub(crate) struct Thread {
    handle: JoinHandle<()>,
    done: Receiver<()>,
}

impl Thread {
    /// Starts a thread.
    ///
    /// # Errors
    /// When the system gives none.
    pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        // Nothing is ever sent: that the thread's end is dropped is the message, also of one that panics.
        let (held, done) = sync_channel(0);
        let handle = thread::Builder::new().name(name.to_owned()).spawn(move || {
            work();
            drop(held);
        })?;
        Ok(Self { handle, done })
    }

    /// Waits for the thread's end, at most this long; whether it came. A thread that does not end is left to
    /// itself: it ends with the process.
    pub(crate) fn ends_within(self, limit: Duration) -> bool {
        if self.done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        let name = self.handle.thread().name().unwrap_or_default().to_owned();
        if self.handle.join().is_err() {
            tracing::error!(name, "a thread panicked: please report this");
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_blocks_is_left_and_one_that_ends_or_panics_is_not() {
        let (hold, held) = sync_channel::<()>(0);
        let blocked = Thread::start("test", move || assert!(held.recv().is_err())).unwrap();
        assert!(!blocked.ends_within(Duration::from_millis(1)));
        drop(hold);
        for work in [|| (), || panic!("on purpose")] {
            assert!(Thread::start("test", work).unwrap().ends_within(Duration::MAX));
        }
    }
}
