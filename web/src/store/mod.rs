//! Everything the page knows, changed by one reducer. No browser in here: time comes in, effects go out.
//!
//! ```text
//!  socket, file, keys, pointer ──Action──► Store::reduce ──Effect──► socket, file dialog, timer, download
//!                                              │
//!                                          Model (frames in, events and timeline out)
//! ```
//!
//! Only [`Model`] touches frames, so that it can move to a worker without the rest being written anew.

mod action;
mod head;
mod log;
mod model;
mod past;
mod recording;
mod reducer;
mod source;
mod window;

pub use action::{Action, Effect, Piece, Reading, Received, Zooming};
pub use head::{Head, SPEEDS};
pub use log::EventLog;
pub use model::Model;
pub use past::{CAPACITY, HOURS};
pub use recording::Recording;
pub use source::{Source, SourceState};
pub use window::Window;

use crate::{
    format::Zone,
    view::{details::Known, health::Past, hit::Target, layout, rows, theme::Theme},
};
use pleg_core::{
    follow::Filter,
    pleg::{Health, RELIST_THRESHOLD},
    time::{Nanos, Time},
    wire::CaptureReader,
};

/// Milliseconds of the page's own clock.
pub type Millis = f64;

/// How the page is to look, by the person's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Dark or light.
    pub theme: Theme,
    /// Zone of all clock times.
    pub zone: Zone,
    /// Offset of the local zone, in nanoseconds.
    pub local_offset: Nanos,
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Good to know.
    Warning,
    /// Something cannot be shown.
    Error,
}

/// Something to tell the person until it is dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How bad it is.
    pub weight: Weight,
    /// What.
    pub text: String,
}

/// Everything the page knows.
pub struct Store {
    /// What the frames say.
    pub model: Model,
    /// Where they come from.
    pub source: Source,
    /// Up to when things are shown.
    pub head: Head,
    /// Which stretch of time is shown.
    pub window: Window,
    /// Width and height of the timeline in pixels.
    pub size: (f64, f64),
    /// How far the rows are scrolled down, in pixels.
    pub scroll: f64,
    /// What was chosen.
    pub selected: Option<Target>,
    /// The chosen event of the log, as an index.
    pub chosen_event: Option<usize>,
    /// What pods and events are restricted to.
    pub filter: Filter,
    /// The events that pass the filter.
    pub log: EventLog,
    /// The pods that pass the filter, in the order of their rows.
    pub order: Vec<usize>,
    /// What to tell the person.
    pub notices: Vec<Notice>,
    /// The person's choices.
    pub settings: Settings,
    /// Whether the sheet of keys is open.
    pub help: bool,
    /// Whether the page has forgotten what was before its data, because it stood open for so long.
    pub forgot: bool,
    /// What was received over the socket, to be saved.
    pub recording: Recording,
    /// Speed of replay, as a factor.
    pub speed: u32,
    reader: CaptureReader,
    reading: Reading,
    edge: Time,
    order_of: u64,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            model: Model::default(),
            source: Source::default(),
            head: Head::Edge,
            window: Window::default(),
            size: (0.0, 0.0),
            scroll: 0.0,
            selected: None,
            chosen_event: None,
            filter: Filter::default(),
            log: EventLog::default(),
            order: Vec::new(),
            notices: Vec::new(),
            settings: Settings::default(),
            help: false,
            forgot: false,
            recording: Recording::default(),
            speed: 10,
            reader: CaptureReader::new(),
            reading: 0,
            edge: Time(0),
            order_of: 0,
        }
    }
}

impl Store {
    /// An empty store.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Time of the newest thing known: for a live source it goes on between frames.
    pub fn edge(&self, at: Millis) -> Time {
        let last = self.model.now();
        match self.source.silence(at) {
            Some(silence) => (last + silence).max(self.edge),
            None => last,
        }
    }

    /// Up to when things are shown.
    pub fn now(&self, at: Millis) -> Time {
        self.head.time(self.edge(at), at)
    }

    /// When the shown data begin.
    pub fn start(&self) -> Time {
        self.model.start()
    }

    /// Relist threshold in nanoseconds; the kubelet's own while no observer has told its.
    pub fn threshold(&self) -> Nanos {
        self.model.hello().map_or(RELIST_THRESHOLD, |hello| hello.threshold)
    }

    /// Length of the visible time in nanoseconds.
    pub fn span(&self, at: Millis) -> Nanos {
        self.window.place(self.now(at), self.start(), self.head.is_playing()).1
    }

    /// PLEG's health at the shown moment; none when nothing tells.
    pub fn health(&self, at: Millis) -> Option<Health> {
        self.model.hello()?;
        match self.head {
            Head::Edge => Some(self.model.health(self.edge(at))),
            _ => Past::new(self.model.timeline(), self.threshold()).health_at(self.now(at)),
        }
    }

    /// What is to be laid out.
    pub fn layout_input(&self, at: Millis) -> layout::Input<'_> {
        let now = self.now(at);
        let (from, span) = self.window.place(now, self.start(), self.head.is_playing());
        layout::Input {
            timeline: self.model.timeline(),
            order: &self.order,
            threshold: self.threshold(),
            now,
            moves: self.head != Head::Edge || self.source.silence(at).is_some(),
            from,
            span,
            size: self.size,
            scroll: self.scroll,
            zone: self.settings.zone,
        }
    }

    /// What details are made from.
    pub fn known(&self, at: Millis) -> Known<'_> {
        Known {
            timeline: self.model.timeline(),
            events: self.model.events(),
            hello: self.model.hello(),
            newest: (self.head == Head::Edge).then(|| self.model.follower()),
            now: self.now(at),
            zone: self.settings.zone,
        }
    }

    /// Brings what follows from model and filter up to date.
    fn refresh(&mut self) {
        self.log.refresh(self.model.events(), &self.filter);
        let pods = self.model.timeline().pods().len();
        if self.filter.is_empty() && self.order.len() == pods {
            return;
        }
        if self.order_of != self.model.revision() {
            self.order_of = self.model.revision();
            self.order = rows::order(self.model.timeline(), |pod| self.filter.matches_pod(pod));
        }
    }

    fn tell(&mut self, weight: Weight, text: String) {
        let notice = Notice { weight, text };
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }
}
