//! Reads the runtime's stream of events (`GetContainerEvents`, CRI v1) in a thread that does nothing else: containerd 2
//! creates no pod while a subscriber does not read.

use super::{codes, cri, rpc};
use crate::background::Background;
use pleg_core::wire::StreamNews;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Notify, mpsc};
use tonic::{Code, Status, transport::Channel};

/// News that may wait to be taken over: the kubelet's `plegChannelCapacity`.
const CAPACITY: usize = 1000;

/// The stream, read in the background.
pub(crate) struct EventFeed {
    handover: Arc<Handover>,
    reopen: mpsc::Sender<()>,
    /// Ends when this is dropped.
    _reader: Background,
}

impl EventFeed {
    /// Opens the stream of the runtime at this endpoint.
    ///
    /// # Errors
    /// When the endpoint is none, or no thread can be started.
    pub(crate) fn start(endpoint: &str) -> anyhow::Result<Self> {
        let handover = Arc::new(Handover::default());
        let (reopen, reopened) = mpsc::channel(1);
        let (endpoint, readers) = (endpoint.to_owned(), Arc::clone(&handover));
        let reader = Background::start("events", move || async move {
            read_all(&cri::connect(&endpoint)?, &readers, reopened).await;
            Ok(())
        })?;
        Ok(Self { handover, reopen, _reader: reader })
    }

    /// What the stream said next. After an end or a failure nothing follows until [`EventFeed::reopen`].
    pub(crate) async fn next(&mut self) -> StreamNews {
        loop {
            let ready = self.handover.ready.notified();
            if let Some(news) = self.handover.waiting().take() {
                return news;
            }
            ready.await;
        }
    }

    /// Opens the stream again, after it ended.
    pub(crate) fn reopen(&self) {
        if self.reopen.try_send(()).is_err() {
            tracing::error!("the reader of container events is gone");
        }
    }
}

/// Between the reader and the worker. The reader never waits for it.
#[derive(Default)]
struct Handover {
    waiting: Mutex<Waiting>,
    ready: Notify,
}

#[derive(Default)]
struct Waiting {
    news: VecDeque<StreamNews>,
    dropped: u64,
}

impl Handover {
    /// Hands over; an event that does not fit is counted instead.
    fn give(&self, news: StreamNews) {
        let mut waiting = self.waiting();
        if matches!(news, StreamNews::Event(_)) && waiting.news.len() >= CAPACITY {
            if waiting.dropped == 0 {
                tracing::warn!("container events come faster than they can be taken over: some are lost");
            }
            waiting.dropped += 1;
        } else {
            let dropped = waiting.take_dropped();
            waiting.news.extend(dropped);
            waiting.news.push_back(news);
        }
        self.ready.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self) -> Option<StreamNews> {
        self.news.pop_front().or_else(|| self.take_dropped())
    }

    fn take_dropped(&mut self) -> Option<StreamNews> {
        match std::mem::take(&mut self.dropped) {
            0 => None,
            dropped => Some(StreamNews::Dropped(dropped)),
        }
    }
}

/// Reads until nobody asks for the stream again.
async fn read_all(channel: &Channel, handover: &Handover, mut reopened: mpsc::Receiver<()>) {
    loop {
        let end = match read(channel, handover).await {
            Ok(()) => StreamNews::Ended,
            Err(status) => {
                tell(&status);
                StreamNews::Failed(codes::rpc_error(&status))
            }
        };
        handover.give(end);
        if reopened.recv().await.is_none() {
            return;
        }
    }
}

/// Reads one stream to its end. The kubelet counts it as opened once there is a connection; that the runtime does not
/// know it is only found out then.
async fn read(channel: &Channel, handover: &Handover) -> Result<(), Status> {
    let client = rpc::ready(channel).await?;
    handover.give(StreamNews::Opened);
    let mut events = rpc::container_events(client).await?;
    while let Some(event) = events.message().await? {
        handover.give(StreamNews::Event(Box::new(pleg_cri::container_event(event.message))));
    }
    Ok(())
}

fn tell(status: &Status) {
    match status.code() {
        Code::Unimplemented => tracing::warn!(
            "this runtime has no stream of container events (GetContainerEvents is unimplemented): relists alone tell \
             what happens"
        ),
        _ => tracing::warn!(error = %codes::rpc_error(status), "the stream of container events failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleg_core::cri::ContainerEvent;

    #[test]
    fn what_does_not_fit_is_counted_and_said_in_its_place() {
        let handover = Handover::default();
        let event = |n: i64| {
            StreamNews::Event(Box::new(ContainerEvent { created_at: n, ..ContainerEvent::default() }))
        };
        for n in 0..CAPACITY as i64 + 3 {
            handover.give(event(n));
        }
        assert_eq!(handover.waiting().take(), Some(event(0)));
        handover.give(event(-1));
        handover.give(event(-2));
        handover.give(StreamNews::Ended);
        let all: Vec<_> = std::iter::from_fn(|| handover.waiting().take()).collect();
        let last = [StreamNews::Dropped(3), event(-1), StreamNews::Dropped(1), StreamNews::Ended];
        assert_eq!(all.get(CAPACITY - 1..), Some(last.as_slice()));
    }

    #[test]
    fn a_loss_is_said_although_nothing_follows() {
        let handover = Handover::default();
        for _ in 0..=CAPACITY {
            handover.give(StreamNews::Event(Box::default()));
        }
        let last = std::iter::from_fn(|| handover.waiting().take()).last();
        assert_eq!(last, Some(StreamNews::Dropped(1)));
    }
}
