//! Where everything on the timeline is, in pixels. What the scene draws and the pointer hits.
//!
//! ```text
//!  ┌ gutter ──────┬ time ──────────────────────────────┐
//!  │ 2026-03-04   │ 14:05     14:06     14:07   axis   │
//!  │ Relists      │ ▂▂▂▂▂▂▂▂▂▇▂▂▂▂▂             relists│
//!  ├──────────────┼────────────────────────────────────┤ ← top of the rows, which scroll
//!  │ shop         │                                    │
//!  │ cart-0       │ ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁            │
//!  │   app        │   ▕███████▏▒▒▕██████████           │
//!  └──────────────┴────────────────────────────────────┘
//! ```

use super::{
    health::Past,
    marks::{self, MarkBox},
    relists::{self, RelistBar},
    rows::{Row, RowKind, Rows},
    scale::{self, Scale, Tick},
    spans::{self, SpanBox},
};
use crate::format::{self, Zone};
use pleg_core::{
    time::{Nanos, Time},
    timeline::{Place, Pod, Timeline},
};
use std::collections::BTreeMap;

/// Height of the time axis in pixels.
pub const AXIS_HEIGHT: f64 = 26.0;
/// Height of the relist lane in pixels.
pub const RELISTS_HEIGHT: f64 = 78.0;
/// Top of the rows in pixels.
pub const ROWS_TOP: f64 = AXIS_HEIGHT + RELISTS_HEIGHT;
/// Least distance between ticks in pixels.
const TICK_ROOM: f64 = 92.0;

/// What is to be laid out.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Everything known.
    pub timeline: &'a Timeline,
    /// The pods to show, in order.
    pub order: &'a [usize],
    /// Relist threshold in nanoseconds.
    pub threshold: Nanos,
    /// Up to when things are shown.
    pub now: Time,
    /// Whether that moment moves on or can be moved, and is worth a line.
    pub moves: bool,
    /// Time at the left edge.
    pub from: Time,
    /// Nanoseconds from edge to edge.
    pub span: Nanos,
    /// Width and height in pixels.
    pub size: (f64, f64),
    /// How far the rows are scrolled down, in pixels.
    pub scroll: f64,
    /// Zone of the axis.
    pub zone: Zone,
}

/// Everything in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Width and height in pixels.
    pub size: (f64, f64),
    /// Time to pixels.
    pub scale: Scale,
    /// Zone of the axis.
    pub zone: Zone,
    /// Pixel of `now`, when it is visible.
    pub now_x: Option<f64>,
    /// Whether `now` is worth a line.
    pub moves: bool,
    /// The axis.
    pub ticks: Vec<Tick>,
    /// Date of the left edge, and the zone.
    pub date: String,
    /// The relist lane.
    pub bars: Vec<RelistBar>,
    /// Left and right of the stretches in which PLEG was unhealthy.
    pub unhealthy: Vec<(f64, f64)>,
    /// Left and right of what was not observed.
    pub holes: Vec<(f64, f64)>,
    /// The visible rows.
    pub rows: Vec<RowBox>,
    /// The header of the topmost row's namespace, which stays in sight.
    pub sticky: Option<RowBox>,
    /// Height of all rows in pixels.
    pub content: f64,
    /// How far the rows are scrolled down, kept within their height.
    pub scroll: f64,
    /// Number of pods with a row.
    pub pods: usize,
}

/// A visible row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowBox {
    /// Its top in pixels.
    pub y: f64,
    /// Its height in pixels.
    pub height: f64,
    /// Index of its pod.
    pub pod: usize,
    /// What it shows.
    pub kind: RowKind,
    /// Text in the gutter.
    pub title: String,
    /// Small text at the gutter's right.
    pub note: String,
    /// Its boxes.
    pub spans: Vec<SpanBox>,
    /// Its marks.
    pub marks: Vec<MarkBox>,
}

/// Width of the gutter for a page of this width.
pub fn gutter(width: f64) -> f64 {
    (width * 0.26).clamp(120.0, 248.0).round()
}

/// Height in which rows are seen.
pub fn rows_height(height: f64) -> f64 {
    (height - ROWS_TOP).max(0.0)
}

impl Layout {
    /// Lays out what is visible.
    pub fn new(input: &Input) -> Self {
        let (width, height) = input.size;
        let left = gutter(width);
        let scale = Scale::new(input.from, input.span, left, width - left);
        let rows = Rows::new(input.timeline, input.order, scale.from, scale.to().min(input.now));
        let scroll = input.scroll.clamp(0.0, (rows.height - rows_height(height)).max(0.0));
        let relists = input.timeline.relists();
        let past = Past::new(input.timeline, input.threshold);
        let unhealthy = past.unhealthy(scale.from, scale.to(), input.now);
        let holes: Vec<_> = past.holes.iter().map(|hole| (hole.from, hole.to)).collect();
        let now_x = scale.x(input.now);
        Layout {
            size: input.size,
            scale,
            zone: input.zone,
            now_x: (now_x >= left && now_x <= scale.right()).then_some(now_x),
            moves: input.moves,
            ticks: scale::ticks(&scale, input.zone, TICK_ROOM),
            date: format!("{} {}", format::date(scale.from, input.zone), input.zone.name()),
            bars: relists::bars(relists, &scale, input.now),
            unhealthy: visible(&unhealthy, &scale),
            holes: visible(&holes, &scale),
            rows: visible_rows(input, &scale, &rows, scroll),
            sticky: rows.header_at(scroll).filter(|row| row.y < scroll).and_then(|row| header(input, row)),
            content: rows.height,
            scroll,
            pods: rows.pods,
        }
    }

    /// The visible row at this height.
    pub fn row_at(&self, y: f64) -> Option<&RowBox> {
        self.rows.iter().find(|row| y >= row.y && y < row.y + row.height)
    }
}

/// The stretches as pixels. What is too short to be seen would only be noise.
fn visible(stretches: &[(Time, Time)], scale: &Scale) -> Vec<(f64, f64)> {
    let pixels = stretches.iter().map(|(from, to)| (scale.clamped_x(*from), scale.clamped_x(*to)));
    pixels.filter(|(from, to)| to - from >= 0.5).collect()
}

fn visible_rows(input: &Input, scale: &Scale, rows: &Rows, scroll: f64) -> Vec<RowBox> {
    let mut marks: (Option<usize>, BTreeMap<Option<usize>, Vec<MarkBox>>) = (None, BTreeMap::new());
    let mut boxes = Vec::new();
    for row in rows.between(scroll, scroll + rows_height(input.size.1)) {
        let Some(pod) = input.timeline.pods().get(row.pod) else { continue };
        if marks.0 != Some(row.pod) {
            marks = (Some(row.pod), marks::pod_marks(input.timeline, pod, scale, input.now));
        }
        let mut placed = match row.kind {
            RowKind::Namespace { .. } => match header(input, row) {
                Some(header) => header,
                None => continue,
            },
            RowKind::Pod { sandboxes } => pod_row(input, scale, pod, row, sandboxes, &mut marks.1),
            RowKind::Lane { lane } => lane_row(input, scale, pod, row, lane, &mut marks.1),
        };
        placed.y = ROWS_TOP + row.y - scroll;
        boxes.push(placed);
    }
    boxes
}

/// A namespace's header at the top of the rows.
fn header(input: &Input, row: &Row) -> Option<RowBox> {
    let RowKind::Namespace { pods } = row.kind else { return None };
    let pod = input.timeline.pods().get(row.pod)?;
    let title = if pod.namespace.is_empty() { "(no namespace)".into() } else { pod.namespace.clone() };
    Some(RowBox { title, note: format::counted(pods, "pod"), ..empty(row) })
}

type Marks = BTreeMap<Option<usize>, Vec<MarkBox>>;

fn pod_row(
    input: &Input,
    scale: &Scale,
    pod: &Pod,
    row: &Row,
    sandboxes: Option<usize>,
    marks: &mut Marks,
) -> RowBox {
    let mut own = marks.remove(&None).unwrap_or_default();
    if let Some(more) = sandboxes.and_then(|lane| marks.remove(&Some(lane))) {
        own.extend(more);
        own.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let title = if pod.name.is_empty() { format!("uid {}", pod.uid) } else { pod.name.clone() };
    let gone = pod.gone.is_some_and(|gone| gone <= input.now);
    RowBox {
        title,
        note: if gone { "gone".into() } else { String::new() },
        spans: sandboxes.map_or_else(Vec::new, |lane| boxes(pod, row.pod, lane, scale, input.now)),
        marks: own,
        ..empty(row)
    }
}

fn lane_row(input: &Input, scale: &Scale, pod: &Pod, row: &Row, lane: usize, marks: &mut Marks) -> RowBox {
    let (title, restarts) = match pod.lanes.get(lane) {
        Some(lane) => (lane.kind.name(), lane.spans.iter().map(|span| span.attempt).max().unwrap_or(0)),
        None => ("", 0),
    };
    RowBox {
        title: if title.is_empty() { "(no name)".into() } else { title.into() },
        note: if restarts > 0 { format!("↻ {restarts}") } else { String::new() },
        spans: boxes(pod, row.pod, lane, scale, input.now),
        marks: marks.remove(&Some(lane)).unwrap_or_default(),
        ..empty(row)
    }
}

fn boxes(pod: &Pod, index: usize, lane: usize, scale: &Scale, now: Time) -> Vec<SpanBox> {
    let place = Place { pod: index, lane, span: 0 };
    pod.lanes.get(lane).map_or_else(Vec::new, |lane| spans::lane_boxes(lane, place, scale, now))
}

fn empty(row: &Row) -> RowBox {
    RowBox {
        y: ROWS_TOP,
        height: row.height,
        pod: row.pod,
        kind: row.kind,
        title: String::new(),
        note: String::new(),
        spans: Vec::new(),
        marks: Vec::new(),
    }
}
