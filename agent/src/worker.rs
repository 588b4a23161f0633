//! The relist worker: asks the runtime what the engine wants to know, when it wants to know it, and times it.

use crate::{
    clock::Clock,
    hub::Hub,
    runtime::{Reply, Said, Source, deadline_exceeded},
    stream::EventStream,
};
use pleg_core::{
    cri::{Container, Op, Sandbox},
    id::CriId,
    pleg::StreamAction,
    snapshot::Snapshot,
    time::Nanos,
    wire::{Call, Calling, Done, Frame, Hello, Relist, RuntimeInfo, Tick},
};
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};

/// A call that takes longer is announced while it runs.
const ANNOUNCE_AFTER: Duration = Duration::from_millis(20);
/// A sign of life when nothing else is to be said.
const TICK: Duration = Duration::from_secs(1);

/// Relists for ever.
pub(crate) struct Worker {
    clock: Clock,
    hub: Arc<Hub>,
    source: Source,
    hello: Hello,
    stream: EventStream,
    deadline: Duration,
    /// Number of the relist, from 1.
    n: u64,
    /// Start of the relist on the monotonic clock.
    start: Nanos,
    /// Whether the lists have been told whole.
    has_listed: bool,
}

impl Worker {
    /// A worker that observes `source` as `hello` says, and `stream` beside it.
    pub(crate) fn new(
        clock: Clock,
        hub: Arc<Hub>,
        source: Source,
        stream: EventStream,
        hello: Hello,
    ) -> Self {
        Self {
            stream,
            deadline: duration(hello.deadline),
            clock,
            hub,
            source,
            hello,
            n: 0,
            start: 0,
            has_listed: false,
        }
    }

    /// Relists until dropped. The period counts from a relist's end, as in `GenericPLEG.Start`.
    pub(crate) async fn run(mut self) {
        self.source.prepare().await;
        self.hello.runtime = self.source.info().clone();
        self.say_hello();
        loop {
            self.relist().await;
            self.introduce_runtime();
            self.stream.go_on(&self.hub);
            self.wait().await;
        }
    }

    fn say_hello(&self) {
        self.hub.publish(&Frame::Hello(Box::new(self.hello.clone())));
    }

    /// Says who the runtime is once that is known, or when another answers in its place.
    fn introduce_runtime(&mut self) {
        let info: &RuntimeInfo = self.source.info();
        if *info != self.hello.runtime {
            tracing::info!(name = info.name, version = info.version, api = info.api, "the runtime answers");
            self.hello.runtime = info.clone();
            self.say_hello();
        }
    }

    /// One relist: both lists, then the inspections that the engine asks for.
    async fn relist(&mut self) {
        self.n += 1;
        let now = self.clock.now();
        self.start = now.mono;
        self.hub.publish(&Frame::Relist(Relist { n: self.n, wall: now.wall, mono: now.mono }));
        if let Some((sandboxes, containers)) = self.list().await {
            self.publish_lists(sandboxes, containers);
            while let Some((op, id)) = self.hub.next_call() {
                self.call(op, id).await;
            }
        }
        self.hub.publish(&Frame::Done(Done { at: self.elapsed() }));
    }

    /// `GetPods`: the second list is not asked for when the first fails.
    async fn list(&mut self) -> Option<(Vec<Sandbox>, Vec<Container>)> {
        let Said::Sandboxes(sandboxes) = self.call(Op::ListPodSandbox, None).await? else { return None };
        let Said::Containers(containers) = self.call(Op::ListContainers, None).await? else { return None };
        Some((sandboxes, containers))
    }

    fn publish_lists(&mut self, sandboxes: Vec<Sandbox>, containers: Vec<Container>) {
        let delta = if self.has_listed { self.hub.delta_to(&sandboxes, &containers) } else { None };
        let frame = match delta {
            Some(delta) => Frame::Delta(Box::new(delta)),
            None => Frame::Key(Box::new(Snapshot::new(sandboxes, containers))),
        };
        self.has_listed = true;
        self.hub.publish(&frame);
    }

    /// Makes a call and says how it went. Returns a listing; an inspection's answer goes out in its frame.
    async fn call(&mut self, op: Op, id: Option<CriId>) -> Option<Said> {
        let at = self.elapsed();
        let reply = self.ask(op, id.as_ref(), at).await;
        let took = self.elapsed() - at;
        let mut call = Call { op, id, at, took, bytes: reply.bytes, error: None, answer: None };
        let said = match reply.result {
            Ok(Said::Answer(answer)) => {
                call.answer = Some(answer);
                None
            }
            Ok(listing) => Some(listing),
            Err(error) => {
                call.error = Some(error);
                None
            }
        };
        self.hub.publish(&Frame::Call(Box::new(call)));
        said
    }

    /// Asks, within the deadline, and says while the answer is awaited that it is.
    async fn ask(&mut self, op: Op, id: Option<&CriId>, at: Nanos) -> Reply {
        let now = self.clock.time();
        let Self { source, hub, clock, deadline, stream, .. } = self;
        let mut answer = pin!(timeout(*deadline, source.call(now, op, id)));
        let mut patience = pin!(sleep(ANNOUNCE_AFTER));
        let mut announced = false;
        loop {
            tokio::select! {
                biased;
                reply = &mut answer => {
                    return reply.unwrap_or_else(|_| Reply { bytes: 0, result: Err(deadline_exceeded()) });
                }
                () = &mut patience => patience.set(sleep(TICK)),
                news = stream.next() => {
                    stream.publish(news, hub, *clock);
                    continue;
                }
            }
            if announced {
                hub.publish(&Frame::Tick(Tick { mono: clock.mono() }));
            } else {
                hub.publish(&Frame::Calling(Calling { op, id: id.cloned(), at }));
                announced = true;
            }
        }
    }

    /// Waits for a period, with a sign of life after each second without any. A stream of events that failed demands a
    /// relist at once.
    async fn wait(&mut self) {
        let mut over = pin!(sleep(duration(self.hub.relist_period().unwrap_or(self.hello.period))));
        while self.hub.stream_action() != StreamAction::Relist {
            tokio::select! {
                biased;
                () = &mut over => return,
                news = self.stream.next() => self.stream.publish(news, &self.hub, self.clock),
                () = sleep(TICK) => self.hub.publish(&Frame::Tick(Tick { mono: self.clock.mono() })),
            }
        }
    }

    /// Nanoseconds since the relist's start.
    fn elapsed(&self) -> Nanos {
        self.clock.mono() - self.start
    }
}

fn duration(nanos: Nanos) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
