//! Where frames go: the agent's own engine, the past for late clients, clients, recorder, printed events.

mod history;
mod queue;

pub(crate) use history::Past;
pub(crate) use queue::Queue;

use crate::{memory::Memory, print::EventPrinter, record::Recorder};
use axum::extract::ws::Utf8Bytes;
use history::History;
use pleg_core::{
    cri::{Container, Op, Sandbox},
    follow::{Follower, Taken},
    id::CriId,
    pleg::{Health, StreamAction},
    snapshot::Delta,
    time::{Nanos, Time},
    wire::{Frame, Gap},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes frames in and hands them on. Nothing in it waits: queues are bounded, and what does not fit is
/// counted and made up for.
pub(crate) struct Hub {
    state: Mutex<State>,
}

struct State {
    follower: Follower,
    memory: Memory,
    history: History,
    clients: Vec<Arc<Queue>>,
    recorder: Option<Recorder>,
    printer: Option<EventPrinter>,
    closed: bool,
}

/// What a new client gets.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// To be sent first.
    pub(crate) past: Past,
    /// What follows, beginning with `live`.
    pub(crate) queue: Arc<Queue>,
}

/// Health of PLEG as the agent derives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HealthReport {
    /// The kubelet's verdict.
    pub(crate) health: Health,
    /// The moment it is true at.
    pub(crate) now: Time,
}

impl Hub {
    /// A hub that keeps the past of `history` nanoseconds.
    pub(crate) fn new(history: Nanos, recorder: Option<Recorder>, printer: Option<EventPrinter>) -> Self {
        let state = State {
            follower: Follower::new(),
            memory: Memory::default(),
            history: History::new(history),
            clients: Vec::new(),
            recorder,
            printer,
            closed: false,
        };
        Self { state: Mutex::new(state) }
    }

    /// Takes a frame in.
    pub(crate) fn publish(&self, frame: &Frame) {
        self.state().publish(frame);
    }

    /// What the running relist has to ask next; none when it is complete.
    pub(crate) fn next_call(&self) -> Option<(Op, Option<CriId>)> {
        self.state().follower.next_call()
    }

    /// What turns the lists that were published last into these; none before the hello.
    pub(crate) fn delta_to(&self, sandboxes: &[Sandbox], containers: &[Container]) -> Option<Delta> {
        Some(self.state().follower.snapshot()?.delta_to_lists(sandboxes, containers))
    }

    /// What is to be done about the runtime's stream of events.
    pub(crate) fn stream_action(&self) -> StreamAction {
        self.state().follower.stream_action()
    }

    /// Time between two relists, in nanoseconds; none before the hello. It changes when Evented PLEG gives up.
    pub(crate) fn relist_period(&self) -> Option<Nanos> {
        self.state().follower.engine().map(|engine| engine.config().relist_period)
    }

    /// A new client.
    pub(crate) fn subscribe(&self) -> Subscription {
        let mut state = self.state();
        let queue = Arc::new(Queue::default());
        if let Some(live) = line(&Frame::Live {}) {
            queue.push(&live);
        }
        if state.closed {
            queue.close();
        }
        state.clients.push(Arc::clone(&queue));
        Subscription { past: state.history.past(), queue }
    }

    /// PLEG's health at the last frame. A frame comes at least once a second.
    pub(crate) fn health(&self) -> HealthReport {
        let state = self.state();
        let now = state.follower.now();
        HealthReport { health: state.follower.health(now), now }
    }

    /// Ends all streams, and closes the capture.
    ///
    /// # Errors
    /// When the capture is not whole.
    pub(crate) fn close(&self) -> anyhow::Result<()> {
        let (recorder, printer) = {
            let mut state = self.state();
            state.closed = true;
            state.clients.drain(..).for_each(|client| client.close());
            (state.recorder.take(), state.printer.take())
        };
        if let Some(printer) = printer {
            printer.close();
        }
        recorder.map_or(Ok(()), Recorder::close)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn publish(&mut self, frame: &Frame) {
        let Some(line) = line(frame) else { return };
        match self.follower.handle_frame(frame) {
            // A capture repeats hello and checkpoint in each of its segments.
            Ok(Taken::Repeated) => return,
            Ok(Taken::News) => {}
            Err(error) => tracing::error!(%error, "a frame does not fit the ones before it"),
        }
        while let Some(event) = self.follower.poll_event() {
            if let Some(printer) = &self.printer {
                printer.print(&event);
            }
        }
        match frame {
            Frame::Hello(_) if !self.history.is_begun() => self.begin_stream(&line),
            _ => self.keep(&line, matches!(frame, Frame::Done(_) | Frame::Tick(_))),
        }
        self.clients.retain(|client| Arc::strong_count(client) > 1 && !client.is_closed());
        self.clients.iter().for_each(|client| client.push(&line));
        if matches!(frame, Frame::Done(_)) {
            self.between_relists();
        }
    }

    fn begin_stream(&mut self, hello: &Utf8Bytes) {
        self.history.begin(hello, self.follower.now());
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_segment(hello.clone(), self.follower.now());
        }
    }

    fn keep(&mut self, line: &Utf8Bytes, flush: bool) {
        self.history.push(line);
        if let Some(recorder) = &mut self.recorder {
            recorder.push(line, flush);
        }
    }

    /// Between two relists a checkpoint is complete: begins what is due, and picks up clients that lost frames.
    fn between_relists(&mut self) {
        self.memory.forget_old(&mut self.follower);
        let now = self.follower.now();
        let history_is_due = self.history.is_due(now);
        let recorder_is_due = self.recorder.as_ref().is_some_and(|recorder| recorder.is_due(now));
        let slow: Vec<_> = self.clients.iter().filter(|client| client.missed() > 0).cloned().collect();
        if !history_is_due && !recorder_is_due && slow.is_empty() {
            return;
        }
        let Some(head) = self.head() else { return };
        if history_is_due {
            self.history.begin(&head, now);
        }
        if let (true, Some(recorder)) = (recorder_is_due, &mut self.recorder) {
            recorder.begin_segment(head.clone(), now);
        }
        for client in slow {
            let gap = line(&Frame::Gap(Gap { dropped: client.missed() }));
            client.resume(gap.into_iter().chain([head.clone()]));
        }
    }

    /// `hello` and `checkpoint`: all that a reader needs to go on from here.
    fn head(&self) -> Option<Utf8Bytes> {
        let hello = Frame::Hello(Box::new(self.follower.hello()?.clone())).to_line();
        let checkpoint = Frame::Checkpoint(Box::new(self.follower.checkpoint()?)).to_line();
        match (hello, checkpoint) {
            (Ok(hello), Ok(checkpoint)) => Some(Utf8Bytes::from(hello + &checkpoint)),
            (Err(error), _) | (_, Err(error)) => {
                tracing::error!(%error, "no checkpoint can be written");
                None
            }
        }
    }
}

/// The frame as a line, shared by all who get it.
fn line(frame: &Frame) -> Option<Utf8Bytes> {
    match frame.to_line() {
        Ok(line) => Some(line.into()),
        Err(error) => {
            tracing::debug!(%error, "a frame of an unknown kind is not passed on");
            None
        }
    }
}

#[cfg(test)]
mod tests;
