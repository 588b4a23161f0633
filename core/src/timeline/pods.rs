//! Pods, their lanes and spans.

use crate::{
    cri::ContainerStatus,
    id::{CriId, Uid},
    pleg::EventType,
    pod::{self, State},
    time::Time,
};
use alloc::{string::String, sync::Arc, vec::Vec};

/// A pod and all that was seen of it.
#[derive(Clone, Debug)]
pub struct Pod {
    /// UID.
    pub uid: Uid,
    /// Namespace.
    pub namespace: String,
    /// Name; empty when only unlabelled containers were ever seen.
    pub name: String,
    /// Addresses found by the last good inspection, primary first.
    pub ips: Vec<String>,
    /// Start of the first listing that showed it.
    pub first_seen: Time,
    /// Start of the first listing that no longer showed it.
    pub gone: Option<Time>,
    /// A lane for its sandboxes and one for each container name, in the order of first sight: as a listing is
    /// read sandboxes first, theirs is the first one unless containers were seen without a sandbox.
    pub lanes: Vec<Lane>,
    /// Events and failed inspections, oldest first.
    pub marks: Vec<Mark>,
}

/// What a lane shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// The sandboxes of the pod, one attempt after the other.
    Sandbox,
    /// The containers of this name, one attempt after the other.
    Container(Arc<str>),
}

impl LaneKind {
    /// Name of the container, or `sandbox`.
    pub fn name(&self) -> &str {
        match self {
            LaneKind::Sandbox => "sandbox",
            LaneKind::Container(name) => name,
        }
    }
}

/// The sandboxes of a pod, or its containers of one name.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What it shows.
    pub kind: LaneKind,
    /// One for each id, in the order of first sight.
    pub spans: Vec<Span>,
}

/// One sandbox or one container, from its creation to its removal.
#[derive(Clone, Debug)]
pub struct Span {
    /// The runtime's id.
    pub id: CriId,
    /// Attempt: for a container its restart count.
    pub attempt: u32,
    /// Nanoseconds since the epoch, by the runtime's clock.
    pub created_at: i64,
    /// States in order; a segment lasts until the next one begins, the last until [`Span::end`].
    pub segments: Vec<Segment>,
    /// Start of the first listing that no longer showed it.
    pub end: Option<Time>,
    /// What the last good inspection said; never for a sandbox.
    pub status: Option<Arc<ContainerStatus>>,
}

/// A time in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The state.
    pub state: State,
    /// When it began: by the runtime's clock where an inspection told, else as seen.
    pub from: Time,
    /// Start of the first listing that showed it.
    pub seen: Time,
}

/// Where a span is: indices into pods, lanes and spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the pod.
    pub pod: usize,
    /// Index of the lane in the pod.
    pub lane: usize,
    /// Index of the span in the lane.
    pub span: usize,
}

/// Something that PLEG did for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub time: Time,
    /// In which relist.
    pub relist: u64,
    /// The container or sandbox it is about, if any.
    pub id: Option<CriId>,
    /// What.
    pub kind: MarkKind,
}

/// What PLEG did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// It sent an event, or lost it to a full channel.
    Event {
        /// Type of the event.
        kind: EventType,
        /// Whether the channel was full.
        discarded: bool,
    },
    /// It held the pod's events back because the inspection failed.
    Held {
        /// Why.
        error: Arc<str>,
    },
}

impl Pod {
    pub(super) fn new(seen: Time, listed: &pod::Pod) -> Self {
        Self {
            uid: listed.uid.clone(),
            namespace: String::from(&*listed.namespace),
            name: String::from(&*listed.name),
            ips: Vec::new(),
            first_seen: seen,
            gone: None,
            lanes: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// A listing shows one of the pod's containers or sandboxes. Returns where its span is; the index of
    /// the pod is for the caller to fill in.
    pub(super) fn see(&mut self, kind: LaneKind, container: &pod::Container, seen: Time) -> Place {
        let lane_index = self.lane_index(kind);
        let mut place = Place { pod: 0, lane: lane_index, span: 0 };
        let Some(lane) = self.lanes.get_mut(lane_index) else { return place };
        place.span = match lane.spans.iter().rposition(|span| span.id == container.id.id) {
            Some(index) => index,
            None => {
                lane.spans.push(Span::new(container));
                lane.spans.len() - 1
            }
        };
        if let Some(span) = lane.spans.get_mut(place.span) {
            span.see(container.state, seen);
        }
        place
    }

    /// A listing no longer shows the pod.
    pub(super) fn end(&mut self, seen: Time) {
        self.gone = self.gone.or(Some(seen));
        self.end_all_but(seen, |_| false);
    }

    /// Ends every span whose id is not listed.
    pub(super) fn end_all_but(&mut self, seen: Time, is_listed: impl Fn(&CriId) -> bool) {
        for span in self.lanes.iter_mut().flat_map(|lane| &mut lane.spans) {
            if span.end.is_none() && !is_listed(&span.id) {
                span.end = Some(seen);
            }
        }
    }

    /// An inspection said this of one of the pod's containers.
    pub(super) fn learn(&mut self, status: &ContainerStatus) {
        let spans = self.lanes.iter_mut().flat_map(|lane| &mut lane.spans);
        if let Some(span) = spans.into_iter().find(|span| span.id == status.id) {
            span.learn(status);
        }
    }

    fn lane_index(&mut self, kind: LaneKind) -> usize {
        match self.lanes.iter().position(|lane| lane.kind == kind) {
            Some(index) => index,
            None => {
                self.lanes.push(Lane { kind, spans: Vec::new() });
                self.lanes.len() - 1
            }
        }
    }
}

impl Span {
    fn new(container: &pod::Container) -> Self {
        Self {
            id: container.id.id.clone(),
            attempt: container.attempt,
            created_at: container.created_at,
            segments: Vec::new(),
            end: None,
            status: None,
        }
    }

    /// The state in the last listing that showed it.
    pub fn state(&self) -> State {
        self.segments.last().map_or(State::Unknown, |segment| segment.state)
    }

    /// When it was created, as far as is known.
    pub fn start(&self) -> Option<Time> {
        self.segments.first().map(|segment| segment.from)
    }

    /// Its states with their begin and end; the last has no end while it is listed.
    pub fn stretches(&self) -> impl Iterator<Item = (State, Time, Option<Time>)> {
        let ends = self.segments.iter().skip(1).map(|next| Some(next.from)).chain([self.end]);
        self.segments.iter().zip(ends).map(|(segment, end)| (segment.state, segment.from, end))
    }

    fn see(&mut self, state: State, seen: Time) {
        self.end = None;
        match self.segments.last() {
            Some(last) if last.state == state => {}
            Some(_) => self.segments.push(Segment { state, from: seen, seen }),
            None => {
                // What is new was made before the listing began, however its clock may stand to ours.
                let from = if self.created_at > 0 { seen.min(Time(self.created_at)) } else { seen };
                self.segments.push(Segment { state, from, seen });
            }
        }
    }

    /// Moves the begin of running and exited to where the runtime says, within what the listings allow.
    fn learn(&mut self, status: &ContainerStatus) {
        self.status = Some(Arc::new(status.clone()));
        if status.started_at > 0 {
            self.insert_running_before_first_exited(Time(status.started_at));
            self.begin_at(State::Running, Time(status.started_at));
        }
        if status.finished_at > 0 {
            self.begin_at(State::Exited, Time(status.finished_at));
        }
    }

    /// A container that started and ended between two listings was never seen running; it did run.
    fn insert_running_before_first_exited(&mut self, started: Time) {
        if let Some(first) = self.segments.first().copied()
            && first.state == State::Exited
        {
            let from = started.min(first.seen);
            self.segments.insert(0, Segment { state: State::Running, from, seen: first.seen });
        }
    }

    fn begin_at(&mut self, state: State, time: Time) {
        let Some(index) = self.segments.iter().rposition(|segment| segment.state == state) else { return };
        let (before, rest) = self.segments.split_at_mut(index);
        let Some(segment) = rest.first_mut() else { return };
        let earliest = before.last().map_or(Time(i64::MIN), |previous| previous.from);
        segment.from = time.min(segment.seen).max(earliest);
    }
}
