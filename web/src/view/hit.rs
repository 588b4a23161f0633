//! What is under the pointer.

use super::{
    layout::{AXIS_HEIGHT, Layout, ROWS_TOP, RowBox},
    rows::RowKind,
};
use pleg_core::timeline::Place;

/// How far beside a thin thing the pointer may be, in pixels.
const REACH: f64 = 4.0;

/// Something that can be pointed at and chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A relist, by its number.
    Relist(u64),
    /// A call of a relist.
    Call {
        /// Number of the relist.
        relist: u64,
        /// Index of the call.
        call: usize,
    },
    /// A sandbox or container.
    Span(Place),
    /// An event, or events held back.
    Mark {
        /// Index of the pod.
        pod: usize,
        /// Index of the mark in the pod.
        mark: usize,
    },
    /// A pod.
    Pod(usize),
    /// The node, with what the kubelet makes of PLEG's health.
    Node,
}

/// The topmost thing at a pixel.
pub fn hit(layout: &Layout, x: f64, y: f64) -> Option<Target> {
    if y < AXIS_HEIGHT {
        return None;
    }
    if y < ROWS_TOP {
        return hit_relist(layout, x);
    }
    if layout.sticky.as_ref().is_some_and(|sticky| y < sticky.y + sticky.height) {
        return None;
    }
    let row = layout.row_at(y)?;
    match row.kind {
        RowKind::Namespace { .. } => None,
        _ if x < layout.scale.left => Some(Target::Pod(row.pod)),
        _ => hit_mark(row, x).or_else(|| hit_span(row, x, y)),
    }
}

fn hit_relist(layout: &Layout, x: f64) -> Option<Target> {
    let near = layout.bars.iter().filter(|bar| x >= bar.x0 - REACH && x <= bar.x1 + REACH);
    let distance = |x0: f64, x1: f64| (x0 - x).max(x - x1).max(0.0);
    let bar = near.min_by(|a, b| distance(a.x0, a.x1).total_cmp(&distance(b.x0, b.x1)))?;
    let call = bar.calls.iter().find(|call| x >= call.x0 && x < call.x1);
    Some(match call {
        Some(call) => Target::Call { relist: bar.n, call: call.call },
        None => Target::Relist(bar.n),
    })
}

fn hit_mark(row: &RowBox, x: f64) -> Option<Target> {
    let near = row.marks.iter().filter(|mark| (mark.x - x).abs() <= REACH + 1.0);
    let mark = near.min_by(|a, b| (a.x - x).abs().total_cmp(&(b.x - x).abs()))?;
    Some(Target::Mark { pod: row.pod, mark: mark.mark })
}

fn hit_span(row: &RowBox, x: f64, y: f64) -> Option<Target> {
    let low = y >= row.y + row.height - 5.0;
    let here = |reach: f64| {
        let mut near = row.spans.iter().filter(move |span| x >= span.x0 - reach && x <= span.x1 + reach);
        near.clone().find(|span| span.behind == low).or_else(|| near.next_back())
    };
    here(0.0).or_else(|| here(2.0)).map(|span| Target::Span(span.place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::Zone,
        testing::{ms, timeline},
        view::layout::{Input, gutter},
    };
    use pleg_core::time::SECOND;

    const TOLD: &str = "
        1000 shop/cart: ready, app running
        6000 ~2000 shop/cart: ready, app exited 0, app#1 running
    ";

    /// What is at this second and height, on a lane of 1000 pixels for 10 seconds.
    fn at(seconds: f64, y: f64) -> Option<Target> {
        let timeline = timeline(TOLD);
        let left = gutter(1_248.0);
        let input = Input {
            timeline: &timeline,
            order: &[0],
            threshold: 5 * SECOND,
            now: ms(10_000),
            moves: false,
            from: ms(0),
            span: 10 * SECOND,
            size: (left + 1_000.0, 400.0),
            scroll: 0.0,
            zone: Zone::default(),
        };
        hit(&Layout::new(&input), left + seconds * 100.0, y)
    }

    #[test]
    fn each_thing_is_found_where_it_is_drawn() {
        let (header, pod, lane, below) = (ROWS_TOP + 5.0, ROWS_TOP + 31.0, ROWS_TOP + 48.0, ROWS_TOP + 90.0);
        let span = |lane, span| Some(Target::Span(Place { pod: 0, lane, span }));
        assert_eq!(at(3.0, header), None);
        assert_eq!(at(-0.5, pod), Some(Target::Pod(0)));
        assert_eq!(at(3.0, pod), span(0, 0));
        assert_eq!(at(3.0, lane), span(1, 0));
        assert_eq!(at(9.5, lane), span(1, 1));
        // The thin line of the attempt that is still listed.
        assert_eq!(at(9.5, lane + 8.0), span(1, 0));
        assert_eq!(at(3.0, below), None);
    }

    #[test]
    fn marks_win_over_the_spans_under_them() {
        assert!(matches!(at(1.005, ROWS_TOP + 48.0), Some(Target::Mark { pod: 0, .. })));
    }

    #[test]
    fn relists_are_found_at_any_height_and_their_calls_when_wide() {
        assert_eq!(at(1.0, AXIS_HEIGHT + 10.0), Some(Target::Relist(1)));
        assert_eq!(at(7.0, AXIS_HEIGHT + 60.0), Some(Target::Call { relist: 2, call: 3 }));
        assert_eq!(at(3.0, AXIS_HEIGHT + 60.0), None);
        assert_eq!(at(7.0, AXIS_HEIGHT - 5.0), None);
    }
}
