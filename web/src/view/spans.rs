//! The boxes of one lane.
//!
//! ```text
//!  app  ▕running #0─────▏exit 1▕running #1────────   main: the newest attempt
//!                              ▁▁▁▁▁▁▁▁▁             behind: a dead one, still listed, still inspected
//! ```

use super::scale::Scale;
use pleg_core::{
    pod::State,
    time::Time,
    timeline::{Lane, LaneKind, Place, Span},
};

/// A box is never narrower than this, in pixels; narrower neighbours become one.
pub const MIN_WIDTH: f64 = 2.0;

/// How a stretch looks. The order is that of importance: of merged stretches the most important one shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// A sandbox that is ready.
    Ready,
    /// Created and not started.
    Created,
    /// Runs.
    Running,
    /// A sandbox that is not ready.
    NotReady,
    /// Ended; no inspection has told how.
    Exited,
    /// Ended with exit code 0.
    Completed,
    /// The runtime does not know.
    Unknown,
    /// Ended with another exit code.
    Failed,
}

impl Look {
    /// How this state of this span looks.
    pub fn of(kind: &LaneKind, state: State, span: &Span) -> Self {
        let sandbox = *kind == LaneKind::Sandbox;
        match (state, &span.status) {
            (State::Running, _) if sandbox => Look::Ready,
            (State::Exited, _) if sandbox => Look::NotReady,
            (State::Created, _) => Look::Created,
            (State::Running, _) => Look::Running,
            (State::Unknown, _) => Look::Unknown,
            (State::Exited, Some(status)) if status.finished_at > 0 => {
                if status.exit_code == 0 {
                    Look::Completed
                } else {
                    Look::Failed
                }
            }
            (State::Exited, _) => Look::Exited,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Look::Ready => "ready",
            Look::Created => "created",
            Look::Running => "running",
            Look::NotReady => "not ready",
            Look::Exited => "exited",
            Look::Completed => "completed",
            Look::Unknown => "unknown",
            Look::Failed => "failed",
        }
    }
}

/// One stretch, or several too narrow to be drawn apart.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanBox {
    /// Left edge in pixels.
    pub x0: f64,
    /// Right edge in pixels.
    pub x1: f64,
    /// How it looks.
    pub look: Look,
    /// Whether a newer attempt has begun: it is then drawn as a thin line below that one.
    pub behind: bool,
    /// What to write into it if there is room.
    pub label: String,
    /// The span; of merged ones that of the most important stretch.
    pub place: Place,
    /// Number of stretches in it.
    pub merged: u32,
}

/// The boxes of a lane in the visible time, up to `now`. `at` is the place of the lane's first span.
pub fn lane_boxes(lane: &Lane, at: Place, scale: &Scale, now: Time) -> Vec<SpanBox> {
    let (mut main, mut behind) = (Vec::new(), Vec::new());
    for (index, span) in lane.spans.iter().enumerate() {
        let next = lane.spans.get(index + 1).and_then(Span::start).filter(|start| *start <= now);
        let covered = next.unwrap_or(Time(i64::MAX));
        let place = Place { span: index, ..at };
        for (state, from, end) in span.stretches() {
            let to = end.unwrap_or(now).min(now);
            if from > now || to < scale.from || from > scale.to() {
                continue;
            }
            let look = Look::of(&lane.kind, state, span);
            let piece = |from: Time, to: Time, behind| SpanBox {
                x0: scale.clamped_x(from),
                x1: scale.clamped_x(to),
                look,
                behind,
                label: if behind { String::new() } else { label(look, span) },
                place,
                merged: 1,
            };
            if from < covered {
                push(&mut main, piece(from, to.min(covered), false));
            }
            if to > covered {
                push(&mut behind, piece(from.max(covered), to, true));
            }
        }
    }
    behind.append(&mut main);
    for one in &mut behind {
        one.x1 = one.x1.max(one.x0 + MIN_WIDTH);
    }
    behind
}

fn push(boxes: &mut Vec<SpanBox>, new: SpanBox) {
    let narrow = |a: &SpanBox| a.x1 - a.x0 < MIN_WIDTH;
    match boxes.last_mut() {
        // A run of narrow ones stays one box however long it gets.
        Some(last) if narrow(&new) && new.x0 < last.x1 + 1.0 && (narrow(last) || last.merged > 1) => {
            last.x1 = last.x1.max(new.x1);
            last.merged += new.merged;
            if new.look >= last.look {
                (last.look, last.place) = (new.look, new.place);
            }
            last.label = format!("×{}", last.merged);
        }
        _ => boxes.push(new),
    }
}

fn label(look: Look, span: &Span) -> String {
    let code = span.status.as_ref().map(|status| (status.exit_code, status.reason.as_str()));
    match (look, code) {
        (Look::Running | Look::Ready, _) if span.attempt == 0 => String::new(),
        (Look::Running | Look::Ready, _) => format!("#{}", span.attempt),
        (Look::Completed, Some((code, _))) => format!("exit {code}"),
        (Look::Failed, Some((code, "" | "Error"))) => format!("exit {code}"),
        (Look::Failed, Some((code, reason))) => format!("exit {code} {reason}"),
        _ => look.name().into(),
    }
}
