//! The one place where the store changes.

use super::{
    Action, Effect, Head, Millis, Model, Piece, Reading, Received, Recording, Source, SourceState, Store,
    Weight, Window, Zooming, source,
};
use crate::{
    format::{self, Zone},
    view::{
        hit::Target,
        layout::{self, Layout},
        marks,
        rows::Rows,
        scale::Scale,
    },
};
use pleg_core::{
    follow::{Filter, Taken},
    time::Time,
    wire::{CaptureReader, Frame},
};

/// Room around a row that is brought into sight, in pixels.
const REVEAL_MARGIN: f64 = 80.0;

impl Store {
    /// Takes in what happened at `at`, and says what is to be done outside.
    pub fn reduce(&mut self, action: Action, at: Millis) -> Vec<Effect> {
        match action {
            Action::Connect(url) => return self.connect(url),
            Action::Reconnect => return self.reconnect(),
            Action::Socket(received) => return self.received(received, at),
            Action::File(reading, piece) => return self.file(reading, piece),
            Action::Tick => self.tick(at),
            Action::Resize(width, height) => self.size = (width, height),
            Action::Zoom(zooming) => self.zoom(zooming, at),
            Action::Pan(pixels) => self.pan(pixels, at),
            Action::Home => self.window = self.placed(at).moved(self.start().since(self.placed(at).from)),
            Action::GoLive => self.go_live(),
            Action::Scroll(pixels) => self.scroll_by(pixels, at),
            Action::TogglePause => self.toggle_pause(at),
            Action::Play(speed) => self.play(speed, at),
            Action::Seek(time) => self.seek(time, at),
            Action::Select(target) => (self.selected, self.chosen_event) = (target, None),
            Action::Reveal(event) => self.reveal(event, at),
            Action::Filter(text) => self.set_filter(&text),
            Action::Settings(settings) => self.settings = settings,
            Action::Help(open) => self.help = open,
            Action::Dismiss(index) => {
                self.notices = std::mem::take(&mut self.notices)
                    .into_iter()
                    .enumerate()
                    .filter_map(|(place, notice)| (place != index).then_some(notice))
                    .collect();
            }
            Action::Tell(weight, text) => self.tell(weight, text),
            Action::Save => return vec![Effect::Save(self.file_name())],
        }
        Vec::new()
    }

    fn connect(&mut self, url: String) -> Vec<Effect> {
        self.source = Source { name: url.clone(), state: SourceState::Connecting { failures: 0 } };
        vec![Effect::Connect(url)]
    }

    fn reconnect(&mut self) -> Vec<Effect> {
        let SourceState::Lost { failures, .. } = self.source.state else { return Vec::new() };
        self.source.state = SourceState::Connecting { failures };
        vec![Effect::Connect(self.source.name.clone())]
    }

    fn received(&mut self, received: Received, at: Millis) -> Vec<Effect> {
        if !self.source.is_socket() {
            return Vec::new();
        }
        match received {
            Received::Opened => self.source.state = SourceState::Connected { heard: at },
            Received::Text(lines) => self.lines(&lines, at),
            Received::Closed => {
                let failures = match self.source.state {
                    SourceState::Connecting { failures } => failures + 1,
                    _ => 0,
                };
                self.edge = self.model.now();
                let wait = source::back_off(failures);
                self.source.state = SourceState::Lost { retry_at: at + wait, failures };
                return vec![Effect::ReconnectIn(wait)];
            }
        }
        Vec::new()
    }

    fn lines(&mut self, lines: &str, at: Millis) {
        let edge = self.edge(at);
        for line in lines.lines().filter(|line| !line.is_empty()) {
            match Frame::from_line(line) {
                Ok(frame) => self.received_frame(&frame, line),
                Err(error) => {
                    self.tell(Weight::Error, format!("A line of the agent cannot be read: {error}"))
                }
            }
        }
        if self.recording.is_segment_full()
            && let (Some(hello), Some(checkpoint)) = (self.model.hello(), self.model.checkpoint())
        {
            self.recording.begin_segment(&hello.clone(), checkpoint);
        }
        self.source.state = SourceState::Connected { heard: at };
        self.forget_old(at);
        // Between frames the page's clock runs ahead by what the way of a frame takes; it never goes back.
        self.edge = if self.model.now() + pleg_core::time::SECOND < edge { self.model.now() } else { edge };
        self.refresh();
    }

    fn received_frame(&mut self, frame: &Frame, line: &str) {
        self.begin_anew_if_other(frame);
        if self.frame(frame) == Taken::News {
            self.recording.push(line);
        }
    }

    /// What does not fit is news too.
    fn frame(&mut self, frame: &Frame) -> Taken {
        self.model.handle_frame(frame).unwrap_or_else(|error| {
            self.tell(Weight::Error, format!("Part of the data cannot be shown: {error}"));
            Taken::News
        })
    }

    /// Forgets everything when another observer says hello.
    fn begin_anew_if_other(&mut self, frame: &Frame) {
        if let (Frame::Hello(new), Some(old)) = (frame, self.model.hello())
            && !new.is_of_same_observer(old)
        {
            let text = match self.source.is_socket() {
                true => "The agent was restarted: what it saw before is gone from this page.",
                false => "The capture holds more than one run of an agent: only the last is shown.",
            };
            self.forget();
            self.tell(Weight::Warning, text.into());
        }
    }

    /// Begins anew with another observer or file.
    fn forget(&mut self) {
        self.model = Model::default();
        self.forgot = false;
        self.recording = Recording::default();
        self.head = Head::Edge;
        (self.selected, self.chosen_event) = (None, None);
        self.order.clear();
        self.order_of = 0;
        self.scroll = 0.0;
        self.edge = Time(0);
        self.log.refresh(&[], &self.filter);
    }

    fn file(&mut self, reading: Reading, piece: Piece) -> Vec<Effect> {
        let begins = matches!(piece, Piece::Begin { .. });
        // A file opened while another was read takes its place: what still comes of the other fits nothing here.
        if reading < self.reading || (reading != self.reading && !begins) {
            return Vec::new();
        }
        match piece {
            Piece::Begin { name, total } => {
                self.reading = reading;
                let close = self.source.is_socket();
                self.forget();
                self.notices.clear();
                self.reader = CaptureReader::new();
                self.source = Source { name, state: SourceState::Reading { done: 0, total } };
                if close { vec![Effect::Disconnect] } else { Vec::new() }
            }
            Piece::Bytes(bytes) => {
                self.file_bytes(&bytes);
                Vec::new()
            }
            Piece::End => {
                self.file_end();
                Vec::new()
            }
            Piece::Failed(error) => {
                self.source.state = SourceState::Read;
                self.tell(Weight::Error, format!("{} cannot be opened: {error}", self.source.name));
                Vec::new()
            }
        }
    }

    fn file_bytes(&mut self, bytes: &[u8]) {
        let SourceState::Reading { done, .. } = &mut self.source.state else { return };
        *done += bytes.len() as u64;
        let mut frames = Vec::new();
        let result = self.reader.push(bytes, &mut frames);
        for frame in &frames {
            self.begin_anew_if_other(frame);
            self.frame(frame);
        }
        if let Err(error) = result {
            self.finish_file();
            self.tell(Weight::Error, format!("{}: {error}", self.source.name));
        }
    }

    fn file_end(&mut self) {
        if !matches!(self.source.state, SourceState::Reading { .. }) {
            return;
        }
        self.finish_file();
        match self.reader.finish() {
            Ok(None) => {}
            Ok(Some(cut)) => self.tell(Weight::Warning, format!("{}: {cut}", self.source.name)),
            Err(error) => self.tell(Weight::Error, format!("{}: {error}", self.source.name)),
        }
    }

    fn finish_file(&mut self) {
        self.source.state = SourceState::Read;
        self.refresh();
        self.window = Window::fit(self.start(), self.model.now());
    }

    fn tick(&mut self, at: Millis) {
        let edge = self.edge(at);
        if self.source.silence(at).is_some() {
            self.edge = edge;
        }
        if self.head.is_playing() {
            let now = self.now(at);
            self.window.from = self.window.place(now, self.start(), true).0;
            if now >= edge {
                self.head = Head::Edge;
            }
        }
    }

    /// The window as it is on the screen.
    pub(super) fn placed(&self, at: Millis) -> Window {
        let (from, span) = self.window.place(self.now(at), self.start(), self.head.is_playing());
        Window { from, span, ..self.window }
    }

    fn scale(&self, at: Millis) -> Scale {
        let window = self.placed(at);
        let left = layout::gutter(self.size.0);
        Scale::new(window.from, window.span, left, self.size.0 - left)
    }

    fn zoom(&mut self, zooming: Zooming, at: Millis) {
        let window = self.placed(at);
        self.window = match zooming {
            Zooming::Fit => Window::fit(self.start(), self.edge(at)),
            Zooming::To(from, span) => Window { from, span, follow: false, grows: false },
            // What follows keeps its right edge, wherever the pointer is.
            Zooming::By(factor, _) if window.follow => window.zoomed(self.now(at), factor),
            Zooming::By(factor, pixel) => {
                let scale = self.scale(at);
                window.zoomed(scale.time(pixel.unwrap_or(scale.left + scale.width / 2.0)), factor)
            }
        };
    }

    fn pan(&mut self, pixels: f64, at: Millis) {
        let by = self.scale(at).nanos(pixels);
        self.window = self.placed(at).moved(by);
    }

    fn go_live(&mut self) {
        self.head = Head::Edge;
        self.window.follow = true;
    }

    fn scroll_by(&mut self, pixels: f64, at: Millis) {
        self.scroll += pixels;
        self.scroll = Layout::new(&self.layout_input(at)).scroll;
    }

    fn toggle_pause(&mut self, at: Millis) {
        self.head = match self.head {
            Head::Edge if self.source.is_socket() => {
                self.window = Window { follow: false, ..self.placed(at) };
                Head::Paused(self.edge(at))
            }
            Head::Edge => Head::Playing { from: self.start(), since: at, speed: self.speed },
            Head::Paused(from) if from < self.edge(at) => {
                Head::Playing { from, since: at, speed: self.speed }
            }
            Head::Paused(_) => Head::Edge,
            Head::Playing { .. } => Head::Paused(self.now(at)),
        };
    }

    fn play(&mut self, speed: u32, at: Millis) {
        self.speed = speed;
        let from = if self.head == Head::Edge { self.start() } else { self.now(at) };
        self.head = Head::Playing { from, since: at, speed };
    }

    fn seek(&mut self, time: Time, at: Millis) {
        self.head = match self.head {
            Head::Playing { speed, .. } => Head::Playing { from: time, since: at, speed },
            _ if time >= self.edge(at) => Head::Edge,
            _ => Head::Paused(time),
        };
    }

    fn set_filter(&mut self, text: &str) {
        self.filter = Filter::new(text);
        self.order_of = u64::MAX;
        self.order.clear();
        self.scroll = 0.0;
        self.refresh();
    }

    /// Chooses an event and brings its time and its row into sight.
    fn reveal(&mut self, index: usize, at: Millis) {
        let Some(event) = self.model.events().get(index).cloned() else { return };
        self.chosen_event = Some(index);
        let timeline = self.model.timeline();
        let Some(target) = marks::find(timeline, &event) else { return };
        self.selected = Some(target);
        self.window = self.placed(at).showing(event.time);
        let lane = event.id.as_ref().and_then(|id| timeline.place(id)).map(|place| place.lane);
        let rows = Rows::new(timeline, &self.order, self.window.from, self.window.from + self.window.span);
        let (Target::Mark { pod, .. } | Target::Pod(pod)) = target else { return };
        let Some(y) = rows.find(pod, lane).map(|row| row.y) else { return };
        let height = layout::rows_height(self.size.1);
        if y < self.scroll + REVEAL_MARGIN / 2.0 || y > self.scroll + height - REVEAL_MARGIN {
            self.scroll = (y - height / 2.0).clamp(0.0, (rows.height - height).max(0.0));
        }
    }

    fn file_name(&self) -> String {
        let node = self.model.hello().map_or("node", |hello| &hello.node);
        let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let (date, clock) = (
            format::date(self.model.now(), Zone::default()),
            format::clock(self.model.now(), Zone::default(), 0).replace(':', ""),
        );
        format!("{}-{date}T{clock}Z.plegcap", node.chars().map(safe).collect::<String>())
    }
}

#[cfg(test)]
mod tests;
