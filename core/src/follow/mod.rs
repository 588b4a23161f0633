//! Follows a stream of frames: derives everything that agent, command line and page show from what the
//! runtime said. All of them use this one path, so a capture gives the very events that the agent printed.

mod event_line;
mod evented;
mod filter;
mod known;
mod progress;
mod running;
mod session;

pub use event_line::EventLine;
pub use evented::EventedState;
pub use filter::Filter;
pub use known::Taken;
pub use progress::Progress;

use crate::{
    cri::Op,
    id::{CriId, Uid},
    kubelet::{Kubelet, SyncLoop},
    pleg::{Engine, EngineCheckpoint, Health, StreamAction},
    snapshot::{DeltaError, Snapshot},
    time::Time,
    timeline::Timeline,
    wire::{Frame, Hello},
};
use alloc::{borrow::ToOwned, collections::VecDeque, string::String};
use known::Verdict;
use serde::{Deserialize, Serialize};
use session::Session;

/// All that a reader needs to go on without what came before: the state between two relists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Number of the last relist that ended; 0 before the first.
    pub relist: u64,
    /// Monotonic clock, nanoseconds since boot.
    pub mono: i64,
    /// Name of the runtime as the records have it: the one that answered the first listing. A later hello may name
    /// another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// What both listings said last.
    pub snapshot: Snapshot,
    /// Records, cache and all else that the engine remembers.
    pub engine: EngineCheckpoint,
    /// The stream of CRI events, where it is read.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub evented: EventedState,
    /// Who reads its events: how far the sync loop is, and which pods wait.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kubelet: Kubelet,
}

/// A frame that does not fit what came before. The frames up to the next checkpoint are passed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The stream does not begin with a hello.
    #[error("the stream begins with {0}, not with a hello")]
    BeforeHello(&'static str),
    /// A frame belongs into a relist, and none is running.
    #[error("{0} outside of a relist")]
    OutsideRelist(&'static str),
    /// What was recorded is not what the engine asks for.
    #[error("relist {relist}: {found} was recorded where the engine asks for {wanted}")]
    Unexpected {
        /// Number of the relist.
        relist: u64,
        /// What was recorded.
        found: String,
        /// What the engine asks for.
        wanted: String,
    },
    /// A delta does not belong to the list before it.
    #[error("relist {relist}: {error}")]
    Delta {
        /// Number of the relist.
        relist: u64,
        /// What is wrong.
        error: DeltaError,
    },
}

/// Derives events, health and timeline of one observer from its frames.
#[derive(Default)]
pub struct Follower {
    session: Option<Session>,
    timeline: Timeline,
    events: VecDeque<EventLine>,
}

impl Follower {
    /// A follower that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The hello of the observer.
    pub fn hello(&self) -> Option<&Hello> {
        self.session.as_ref().map(|session| &session.hello)
    }

    /// Everything seen so far.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Time of the last frame.
    pub fn now(&self) -> Time {
        self.session.as_ref().map_or(Time(0), |session| session.now)
    }

    /// What the kubelet's health check would say.
    pub fn health(&self, now: Time) -> Health {
        self.session.as_ref().map_or(Health::NeverSucceeded, |session| session.engine.health(now))
    }

    /// The engine, once a hello was read.
    pub fn engine(&self) -> Option<&Engine> {
        self.session.as_ref().map(|session| &session.engine)
    }

    /// The sync loop at this time, not before that of the last frame: whether it reads events, or skips.
    pub fn sync_loop(&self, now: Time) -> Option<SyncLoop> {
        let session = self.session.as_ref()?;
        Some(session.kubelet.sync_loop().at(now, &session.engine))
    }

    /// The pods whose next sync waits for the running relist, in the order of UIDs, each with the end of its last sync.
    /// Empty while none runs: see [`PodWorkers`](crate::kubelet::PodWorkers) for who is stalled, and what is assumed.
    pub fn stalled_pods(&self) -> impl Iterator<Item = (&Uid, Time)> {
        let session = self.session.as_ref().filter(|session| session.relist.is_some());
        session.into_iter().flat_map(|session| session.kubelet.stalled(&session.engine))
    }

    /// What both listings said last.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.session.as_ref().map(|session| &session.snapshot)
    }

    /// How far the running relist is.
    pub fn progress(&self) -> Option<Progress> {
        self.session.as_ref()?.progress()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<EventLine> {
        self.events.pop_front()
    }

    /// The call that the running relist needs next; none when it has all it needs and may end, while it waits for
    /// what both listings said, and while frames are missing.
    pub fn next_call(&self) -> Option<(Op, Option<CriId>)> {
        let session = self.session.as_ref().filter(|session| session.known.is_whole())?;
        session.relist.as_ref()?.stage.next_call()
    }

    /// The state between two relists; none before the hello, while a relist runs, and while frames are missing.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let session = self.session.as_ref()?;
        if session.relist.is_some() || !session.known.is_whole() {
            return None;
        }
        Some(Checkpoint {
            relist: session.ended,
            mono: session.mono(),
            runtime: Some((*session.runtime).to_owned()),
            snapshot: session.snapshot.clone(),
            engine: session.engine.checkpoint(),
            evented: session.evented.clone(),
            kubelet: session.kubelet.clone(),
        })
    }

    /// What is to be done about the runtime's stream of events.
    pub fn stream_action(&self) -> StreamAction {
        self.session.as_ref().map_or(StreamAction::Nothing, |session| session.evented.action())
    }

    /// Forgets what the timeline shows before `time`, so that an observer that runs for months stays small.
    /// To be called between two relists; engine and events are not touched.
    pub fn forget_before(&mut self, time: Time) {
        self.timeline.forget_before(time);
    }

    /// Reads one frame, and says whether it was news. A past that comes again is passed over to the very frame:
    /// no event is told twice. Whoever keeps or hands on frames should do so with the news, and with what is
    /// refused.
    ///
    /// # Errors
    /// When the frame does not fit what came before. What was derived stays, and nothing more is derived up to
    /// the next checkpoint.
    pub fn handle_frame(&mut self, frame: &Frame) -> Result<Taken, FollowError> {
        if let Frame::Hello(hello) = frame {
            return Ok(self.hello_came(hello));
        }
        let Some(session) = &mut self.session else { return Err(FollowError::BeforeHello(kind(frame))) };
        match session.known.judge(frame, session.mono()) {
            Verdict::Repeated => return Ok(Taken::Repeated),
            Verdict::Lost => return Ok(Taken::News),
            Verdict::Take => {}
        }
        let result = session.handle_frame(frame, &mut self.timeline, &mut self.events);
        if result.is_err() {
            session.known.broken();
            self.timeline.cut_running(session.now);
        }
        result.map(|()| Taken::News)
    }

    fn hello_came(&mut self, hello: &Hello) -> Taken {
        match &mut self.session {
            Some(session) if session.hello == *hello && session.known.is_whole() => return Taken::Repeated,
            // The runtime's name is not known while it does not answer; its observer says it later.
            Some(session) if session.hello.is_of_same_observer(hello) => session.introduce(hello),
            _ => {
                self.timeline = Timeline::default();
                self.session = Some(Session::new(hello));
            }
        }
        Taken::News
    }
}

fn kind(frame: &Frame) -> &'static str {
    match frame {
        Frame::Hello(_) => "hello",
        Frame::Checkpoint(_) => "checkpoint",
        Frame::Relist(_) => "relist",
        Frame::Calling(_) => "calling",
        Frame::Call(_) => "call",
        Frame::Key(_) => "key",
        Frame::Delta(_) => "delta",
        Frame::Done(_) => "done",
        Frame::Stream(_) => "stream",
        Frame::Tick(_) => "tick",
        Frame::Live {} => "live",
        Frame::Gap(_) => "gap",
        Frame::Unknown(_) => "a frame of an unknown kind",
    }
}
