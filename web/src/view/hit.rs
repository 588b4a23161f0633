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
