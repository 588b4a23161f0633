//! The stream of CRI events that Evented PLEG reads: opened again after each end, given up after five errors.

use super::{Engine, ErrorText, Evented, EventedOutput, Output, RELIST_PERIOD, RELIST_THRESHOLD, RelistLoop};
use crate::time::{Nanos, SECOND, Time};
use serde::{Deserialize, Serialize};

/// Errors of the stream after which Evented PLEG gives up for good.
pub const STREAM_RETRIES: u32 = 5;
/// Time between two updates of the cache's global time while Evented PLEG is in use, in nanoseconds.
pub const CACHE_TIME_PERIOD: Nanos = 5 * SECOND;

/// `watchEventsChannel` and `updateGlobalCache` (evented.go, v1.26 to v1.36) without the I/O.
///
/// Do what [`EventStream::action`] says, report its end, ask again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventStream {
    state: Stream,
    /// Never reset, not by a stream that worked for days either.
    errors: u32,
    /// When the cache's global time is due.
    cache_time: Option<Time>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Stream {
    #[default]
    Stopped,
    Closed,
    Open,
    Failed(ErrorText),
}

/// What to do about the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamAction {
    /// Open the stream with `GetContainerEvents`, at once: there is no back-off.
    Open,
    /// The stream is open: feed its events to [`Engine::handle_cri_event`].
    Read,
    /// The stream failed: relist all pods now, then call [`EventStream::handle_relisted`].
    Relist,
    /// Evented PLEG is not in use: it was not started, or it gave up.
    Nothing,
}

impl EventStream {
    /// Starts Evented PLEG beside a generic one. Nothing happens when it is in use.
    pub fn start(&mut self, now: Time, engine: &mut Engine) {
        if self.state == Stream::Stopped {
            let writes = engine.config.profile.evented == Evented::Statuses;
            let cache_time = writes.then_some(now + CACHE_TIME_PERIOD);
            *self = Self { state: Stream::Closed, errors: 0, cache_time };
            engine.set_evented_in_use(writes);
        }
    }

    /// What to do now.
    pub fn action(&self) -> StreamAction {
        match self.state {
            Stream::Stopped => StreamAction::Nothing,
            Stream::Closed => StreamAction::Open,
            Stream::Open => StreamAction::Read,
            Stream::Failed(_) => StreamAction::Relist,
        }
    }

    /// When [`EventStream::handle_timer`] is due; never when Evented PLEG is not in use.
    pub fn timer(&self) -> Option<Time> {
        self.cache_time
    }

    /// Moves the cache's global time every five seconds, so that pod workers that wait for a pod without news go on. They
    /// may do so before the event of their pod has come: that made Evented PLEG alpha again (kubernetes issue 123087).
    pub fn handle_timer(&mut self, now: Time, engine: &mut Engine) {
        if self.cache_time.is_some_and(|due| due <= now) {
            self.cache_time = Some(now + CACHE_TIME_PERIOD);
            engine.state.cache.update_time(now);
            engine.push(Output::GlobalTime { time: now });
        }
    }

    /// The stream opened.
    pub fn handle_opened(&mut self, engine: &mut Engine) {
        if self.state == Stream::Closed {
            self.state = Stream::Open;
            engine.state.metrics.count_connection();
        }
    }

    /// The stream ended without an error. That counts for nothing before v1.37, and as an error from there on.
    pub fn handle_ended(&mut self, engine: &mut Engine) {
        match (&self.state, engine.config.profile.evented) {
            (Stream::Open, Evented::Statuses) => self.state = Stream::Closed,
            (_, Evented::Statuses) => {}
            (_, Evented::StopHint) => {
                self.handle_failed(engine, "CRI container event stream closed without an error");
            }
        }
    }

    /// The stream failed, or could not be opened.
    pub fn handle_failed(&mut self, engine: &mut Engine, error: &str) {
        if matches!(self.state, Stream::Closed | Stream::Open) {
            self.errors += 1;
            engine.state.metrics.count_connection_error();
            match engine.config.profile.evented {
                Evented::Statuses => self.state = Stream::Failed(error.into()),
                Evented::StopHint => self.try_again(engine, error.into()),
            }
        }
    }

    /// v1.37 opens the stream again without a relist, and gives it up without touching the generic PLEG.
    fn try_again(&mut self, engine: &mut Engine, error: ErrorText) {
        engine.push(Output::Evented(EventedOutput::StreamFailed { error: error.clone() }));
        self.state = Stream::Closed;
        if self.errors >= STREAM_RETRIES {
            let retries = self.errors;
            engine.push(Output::Evented(EventedOutput::HintsDisabled { retries, error }));
            *self = Self::default();
        }
    }

    /// The relist after a failure ended. After [`STREAM_RETRIES`] failures Evented PLEG stops for good, and the generic one
    /// starts anew with the period and the threshold that it has without the gate.
    pub fn handle_relisted(&mut self, now: Time, engine: &mut Engine, relist_loop: &mut RelistLoop) {
        let Stream::Failed(error) = &self.state else { return };
        engine.push(Output::Evented(EventedOutput::StreamFailed { error: error.clone() }));
        self.state = Stream::Closed;
        if self.errors >= STREAM_RETRIES {
            engine.push(Output::Evented(EventedOutput::FellBack));
            *self = Self::default();
            engine.set_evented_in_use(false);
            engine.set_relist_duration(RELIST_PERIOD, RELIST_THRESHOLD);
            relist_loop.stop();
            relist_loop.start(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cri::{ContainerEvent, ContainerEventType, SandboxMetadata, SandboxStatus},
        pleg::{Config, Listing, Profile, RelistRequest, Turn},
    };
    use alloc::{sync::Arc, vec::Vec};

    fn evented() -> (Engine, EventStream, RelistLoop) {
        let (period, threshold) = (300 * SECOND, 600 * SECOND);
        let config = Config {
            relist_period: period,
            relist_threshold: threshold,
            evented_gate: true,
            ..Config::default()
        };
        let (mut engine, mut stream) = (Engine::new(config), EventStream::default());
        stream.start(Time(0), &mut engine);
        (engine, stream, RelistLoop::default())
    }

    fn relist(engine: &mut Engine, now: Time) {
        engine.handle_relist(now);
        engine.handle_listed(now, Listing::Full(Vec::new()));
    }

    #[test]
    fn five_errors_in_all_end_evented_pleg_for_good() {
        let (mut engine, mut stream, mut relist_loop) = evented();
        for failure in 1..=STREAM_RETRIES {
            assert_eq!(stream.action(), StreamAction::Open);
            stream.handle_opened(&mut engine);
            stream.handle_ended(&mut engine);
            stream.handle_opened(&mut engine);
            assert_eq!(stream.action(), StreamAction::Read);
            stream.handle_failed(&mut engine, "the runtime restarts");
            assert_eq!(stream.action(), StreamAction::Relist);
            relist(&mut engine, Time(i64::from(failure)));
            stream.handle_relisted(Time(i64::from(failure)), &mut engine, &mut relist_loop);
        }
        assert_eq!((stream.action(), stream.timer()), (StreamAction::Nothing, None));
        assert_eq!(
            (engine.metrics().evented_connections, engine.metrics().evented_connection_errors),
            (10, 5)
        );
        assert_eq!((engine.config().relist_period, engine.config().relist_threshold), (SECOND, 180 * SECOND));
        assert_eq!(relist_loop.turn(Time(5), &mut engine), Turn::Relist);
        let fell_back = Output::Evented(EventedOutput::FellBack);
        let outputs: Vec<_> = core::iter::from_fn(|| engine.poll_output()).collect();
        assert_eq!(outputs.iter().filter(|output| **output == fell_back).count(), 1);
        assert_eq!(outputs.last(), Some(&fell_back));
    }

    #[test]
    fn a_stop_asks_for_a_relist_of_its_pod_until_the_stream_failed_five_times() {
        let config = Config { profile: Profile::V1_37, evented_gate: true, ..Config::default() };
        let (mut engine, mut stream) = (Engine::new(config), EventStream::default());
        stream.start(Time(0), &mut engine);
        assert_eq!(stream.timer(), None, "it does not touch the cache");
        stream.handle_opened(&mut engine);
        let metadata = SandboxMetadata { uid: "p".into(), ..SandboxMetadata::default() };
        let sandbox = SandboxStatus { metadata: Some(metadata), ..SandboxStatus::default() };
        let event =
            |kind| ContainerEvent { kind, sandbox: Some(sandbox.clone()), ..ContainerEvent::default() };
        use ContainerEventType::{Created, Deleted, Started, Stopped};
        for (kind, requested) in [(Created, false), (Started, false), (Stopped, true), (Deleted, false)] {
            engine.handle_cri_event(Time(7), Arc::new(event(kind)));
            assert_eq!(
                engine.next_request(),
                requested.then_some(RelistRequest::Fresh("p".into())),
                "{kind:?}"
            );
        }
        assert_eq!((engine.channel_len(), engine.cache().entries().count()), (0, 0));
        stream.handle_ended(&mut engine);
        for _ in 2..=STREAM_RETRIES {
            assert_eq!(stream.action(), StreamAction::Open);
            stream.handle_failed(&mut engine, "the runtime restarts");
        }
        assert_eq!(stream.action(), StreamAction::Nothing);
        assert_eq!(engine.config().relist_period, RELIST_PERIOD);
        let last = core::iter::from_fn(|| engine.poll_output()).last();
        let (retries, error) = (STREAM_RETRIES, "the runtime restarts".into());
        assert_eq!(last, Some(Output::Evented(EventedOutput::HintsDisabled { retries, error })));
    }

    #[test]
    fn the_global_time_moves_every_five_seconds() {
        let (mut engine, mut stream, _) = evented();
        stream.handle_timer(Time(4 * SECOND), &mut engine);
        assert_eq!(engine.cache().global_time(), None);
        stream.handle_timer(Time(6 * SECOND), &mut engine);
        assert_eq!(engine.cache().global_time(), Some(Time(6 * SECOND)));
        assert_eq!(stream.timer(), Some(Time(11 * SECOND)));
    }
}
