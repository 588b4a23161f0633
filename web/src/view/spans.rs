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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{START, ms, timeline};
    use expect_test::{Expect, expect};
    use pleg_core::time::SECOND;

    /// The boxes of the only pod's lane `lane` on 100 pixels for `seconds` seconds.
    #[track_caller]
    fn check(told: &str, lane: usize, seconds: i64, expected: Expect) {
        let timeline = timeline(told);
        let scale = Scale::new(Time(START), seconds * SECOND, 0.0, 100.0);
        let place = Place { pod: 0, lane, span: 0 };
        let boxes = lane_boxes(&timeline.pods()[0].lanes[lane], place, &scale, ms(seconds * 1000));
        let line = |one: &SpanBox| {
            let behind = if one.behind { " behind" } else { "" };
            format!("{:.0}..{:.0} {:?}{behind} {:?} x{}\n", one.x0, one.x1, one.look, one.label, one.merged)
        };
        expected.assert_eq(&boxes.iter().map(line).collect::<String>());
    }

    #[test]
    fn states_follow_each_other() {
        let told = "
            10000 shop/cart: ready, app created
            20000 shop/cart: ready, app running
            50000 shop/cart: ready, app exited 137
            80000 shop/cart: notready, app exited 137
        ";
        check(
            told,
            1,
            100,
            expect![[r#"
                10..20 Created "created" x1
                20..50 Running "" x1
                50..100 Failed "exit 137" x1
            "#]],
        );
        check(
            told,
            0,
            100,
            expect![[r#"
            0..80 Ready "" x1
            80..100 NotReady "not ready" x1
        "#]],
        );
    }

    #[test]
    fn an_old_attempt_goes_behind_the_new_one() {
        let told = "
            10000 shop/cart: ready, app running
            50000 shop/cart: ready, app exited 0
            70000 shop/cart: ready, app exited 0, app#1 running
            90000 shop/cart: ready, app#1 running
        ";
        check(
            told,
            1,
            100,
            expect![[r##"
                70..90 Completed behind "" x1
                10..50 Running "" x1
                50..70 Completed "exit 0" x1
                70..100 Running "#1" x1
            "##]],
        );
    }

    #[test]
    fn narrow_neighbours_become_one_box() {
        let told: String = (0..20)
            .map(|n| {
                let (attempt, at) = (n / 2, 50_000 + n * 200);
                let state = if n % 2 == 0 { "running" } else { "exited 1" };
                format!("{at} shop/cart: ready, app#{attempt} {state}\n")
            })
            .collect();
        check(
            &told,
            1,
            100,
            expect![[r#"
                50..54 Failed behind "×9" x9
                50..54 Failed "×19" x19
                54..100 Failed "exit 1" x1
            "#]],
        );
    }
}
