//! The runtime's events on their way into frames, and what their end demands.

use crate::{clock::Clock, hub::Hub, runtime::events::EventFeed};
use pleg_core::{
    pleg::StreamAction,
    wire::{Frame, Stream, StreamNews},
};
use std::future::pending;

/// The stream of the runtime's events, where it is read.
pub(crate) struct EventStream {
    feed: Option<EventFeed>,
    /// Number of the last frame.
    n: u64,
    /// The stream ended, and nothing was done about it yet.
    ended: bool,
}

impl EventStream {
    /// A stream that is read, or none.
    pub(crate) fn new(feed: Option<EventFeed>) -> Self {
        Self { feed, n: 0, ended: false }
    }

    /// What the stream says next; never, where it is not read.
    pub(crate) async fn next(&mut self) -> StreamNews {
        match &mut self.feed {
            Some(feed) => feed.next().await,
            None => pending().await,
        }
    }

    /// Puts it into a frame.
    pub(crate) fn publish(&mut self, news: StreamNews, hub: &Hub, clock: Clock) {
        self.n += 1;
        self.ended = matches!(news, StreamNews::Ended | StreamNews::Failed(_));
        hub.publish(&Frame::Stream(Box::new(Stream { n: self.n, mono: clock.mono(), what: news })));
        self.go_on(hub);
    }

    /// Does what Evented PLEG wants after the stream's end, unless that is a relist: this is to be called after it again.
    pub(crate) fn go_on(&mut self, hub: &Hub) {
        if !self.ended {
            return;
        }
        match (hub.stream_action(), &self.feed) {
            (StreamAction::Open, Some(feed)) => {
                self.ended = false;
                feed.reopen();
            }
            (StreamAction::Nothing, Some(_)) => {
                tracing::warn!(
                    "container events are no longer read, as the kubelet gives up: relists go on alone"
                );
                (self.ended, self.feed) = (false, None);
            }
            _ => {}
        }
    }
}
