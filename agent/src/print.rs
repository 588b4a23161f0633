//! Prints events as they come, from a thread of its own: a reader of our output that stops reading must not
//! stop the relist.

use crate::thread::Thread;
use pleg_core::follow::EventLine;
use std::{
    io::{self, Write},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

/// Events that may wait to be printed.
const CAPACITY: usize = 1 << 16;
/// How long a reader that does not read may delay our end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Prints events as JSON Lines.
#[derive(Debug)]
pub(crate) struct EventPrinter {
    lines: SyncSender<String>,
    lost: AtomicU64,
    thread: Thread,
}

impl EventPrinter {
    /// A printer that writes to `output`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, queue) = sync_channel(CAPACITY);
        let thread = Thread::start("print", move || print_all(&queue, output))?;
        Ok(Self { lines, lost: AtomicU64::new(0), thread })
    }

    /// Prints an event.
    pub(crate) fn print(&self, event: &EventLine) {
        if self.lines.try_send(event.to_json()).is_err() && self.lost.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("events are no longer printed: nobody reads them");
        }
    }

    /// Prints what waits, and ends; what a reader who has stopped reading does not take is given up.
    pub(crate) fn close(self) {
        drop(self.lines);
        if !self.thread.ends_within(CLOSE_TIMEOUT) {
            tracing::warn!("the last events were not printed: nobody reads them");
        }
        let lost = self.lost.into_inner();
        if lost > 0 {
            tracing::warn!(lost, "not all events were printed");
        }
    }
}

/// Ends when the reader is gone: its lines are then counted as lost.
fn print_all(queue: &Receiver<String>, output: impl Write) {
    let mut output = io::BufWriter::new(output);
    while let Ok(line) = queue.recv() {
        if let Err(error) = print_waiting(line, queue, &mut output) {
            tracing::debug!(%error, "events cannot be printed");
            return;
        }
    }
}

/// Prints this line and all that wait, then flushes: one write for many events.
fn print_waiting(line: String, queue: &Receiver<String>, output: &mut impl Write) -> io::Result<()> {
    let mut next = Ok(line);
    while let Ok(line) = next {
        writeln!(output, "{line}")?;
        next = queue.try_recv();
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe whose reader has stopped reading.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0.recv().map(|()| 0).map_err(io::Error::other)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_stopped_reading_does_not_keep_us() {
        let (hold, held) = sync_channel(0);
        let printer = EventPrinter::start(Stuck(held)).unwrap();
        printer.lines.send("{}".to_owned()).unwrap();
        // Comes back only because it does not wait for the write: that ends after it.
        printer.close();
        drop(hold);
    }
}
