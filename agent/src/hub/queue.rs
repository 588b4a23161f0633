//! What waits to be sent to one client: bounded, so that a slow one costs itself and nobody else.

use axum::extract::ws::Utf8Bytes;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Bytes that may wait for one client. The lines are shared among the clients, so this is not paid for each.
const LIMIT: usize = 4 << 20;
/// Lines are joined to messages up to this size, in bytes.
const MESSAGE: usize = 64 << 10;

/// The queue of one client.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    ready: Notify,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Utf8Bytes>,
    bytes: usize,
    dropped: u64,
    closed: bool,
}

impl Queue {
    /// Adds a line; drops and counts it when the queue is full, and from then on until [`Queue::resume`].
    pub(super) fn push(&self, line: &Utf8Bytes) {
        let mut state = self.state();
        if state.dropped > 0 || state.bytes.saturating_add(line.len()) > LIMIT {
            state.dropped += 1;
        } else {
            state.add(line.clone());
            self.ready.notify_one();
        }
    }

    /// How many lines were dropped, once there is room again to go on; 0 when none were or there is no room.
    pub(super) fn missed(&self) -> u64 {
        let state = self.state();
        if state.bytes > LIMIT / 2 { 0 } else { state.dropped }
    }

    /// Goes on after lines were dropped, with what makes up for them.
    pub(super) fn resume(&self, lines: impl IntoIterator<Item = Utf8Bytes>) {
        let mut state = self.state();
        state.dropped = 0;
        lines.into_iter().for_each(|line| state.add(line));
        self.ready.notify_one();
    }

    /// Ends the stream after what waits.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.ready.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// The next message, of one or more whole lines; none after the stream's end.
    pub(crate) async fn next(&self) -> Option<Utf8Bytes> {
        loop {
            let ready = self.ready.notified();
            if let Some(message) = self.state().take() {
                return Some(message);
            }
            if self.is_closed() {
                return None;
            }
            ready.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, line: Utf8Bytes) {
        self.bytes = self.bytes.saturating_add(line.len());
        self.lines.push_back(line);
    }

    fn take(&mut self) -> Option<Utf8Bytes> {
        let first = self.pop()?;
        let mut size = first.len();
        let more = self.lines.iter().take_while(|line| {
            size += line.len();
            size <= MESSAGE
        });
        let more = more.count();
        if more == 0 {
            return Some(first);
        }
        let mut joined = first.as_str().to_owned();
        for _ in 0..more {
            joined.extend(self.pop().as_deref());
        }
        Some(joined.into())
    }

    fn pop(&mut self) -> Option<Utf8Bytes> {
        let line = self.lines.pop_front()?;
        self.bytes = self.bytes.saturating_sub(line.len());
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whole_lines_are_joined_up_to_a_message() {
        let queue = Queue::default();
        let half: Utf8Bytes = format!("{}\n", "x".repeat(MESSAGE / 2 - 1)).into();
        for _ in 0..3 {
            queue.push(&half);
        }
        queue.close();
        assert_eq!(queue.next().await.unwrap().len(), MESSAGE);
        assert_eq!(queue.next().await.unwrap().len(), MESSAGE / 2);
        assert_eq!(queue.next().await, None);
    }

    #[tokio::test]
    async fn a_full_queue_counts_what_it_drops_and_goes_on_when_there_is_room() {
        let queue = Queue::default();
        let line: Utf8Bytes = "x".repeat(LIMIT / 4).into();
        for _ in 0..6 {
            queue.push(&line);
        }
        assert_eq!(queue.missed(), 0, "there is no room yet");
        queue.next().await;
        queue.next().await;
        queue.push(&line);
        assert_eq!(queue.missed(), 3, "nothing is let in between the loss and its repair");
        queue.resume(["gap\n".into()]);
        queue.push(&"on\n".into());
        queue.next().await;
        queue.next().await;
        assert_eq!(queue.next().await.unwrap().as_str(), "gap\non\n");
        assert_eq!(queue.missed(), 0);
    }
}
