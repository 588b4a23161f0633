//! The rows of namespaces, pods and containers.

use super::{Align, Font, Item, Pointing, Rect, Scene};
use crate::view::{
    hit::Target,
    layout::{Layout, ROWS_TOP, RowBox},
    rows::RowKind,
    spans::{Look, SpanBox},
    theme::{self, Ink, Pattern},
};

/// Height of a sandbox's box.
const SANDBOX: f64 = 6.0;
/// Height of a container's box.
const CONTAINER: f64 = 12.0;
/// Height of the line of a container that has a newer attempt.
const BEHIND: f64 = 2.0;
/// A text needs this many pixels of box.
const LABEL: f64 = 22.0;
/// Width of a letter of a label, about.
const LETTER: f64 = 7.0;
/// Distance to the next mark that leaves room for a count.
const COUNT: f64 = 20.0;
/// Room that a mark takes beside a label.
const MARK: f64 = 9.0;

pub(super) fn draw_rows(scene: &mut Scene, layout: &Layout, pointing: &Pointing) {
    let (width, height) = layout.size;
    let left = layout.scale.left;
    let rows = Rect { x: 0.0, y: ROWS_TOP, w: width, h: (height - ROWS_TOP).max(0.0) };
    scene.items.push(Item::Clip(rows));
    scene.items.push(Item::Clip(Rect { x: left, w: width - left, ..rows }));
    for row in &layout.rows {
        draw_time_side(scene, row, (left, width), pointing);
    }
    scene.items.push(Item::Unclip);
    for row in &layout.rows {
        match row.kind {
            RowKind::Namespace { .. } => draw_header(scene, row, width),
            _ => draw_name(scene, row, left, pointing),
        }
    }
    if let Some(sticky) = &layout.sticky {
        draw_header(scene, sticky, width);
    }
    draw_scrollbar(scene, layout, &rows);
    scene.items.push(Item::Unclip);
}

/// How much of the rows is in sight, and which part.
fn draw_scrollbar(scene: &mut Scene, layout: &Layout, rows: &Rect) {
    if layout.content <= rows.h {
        return;
    }
    let share = rows.h / layout.content;
    let thumb = (rows.h * share).max(24.0);
    let y = rows.y + (rows.h - thumb) * layout.scroll / (layout.content - rows.h);
    scene.fill(Rect { x: rows.w - 5.0, y, w: 4.0, h: thumb }, Ink::Cursor);
}

fn draw_header(scene: &mut Scene, row: &RowBox, width: f64) {
    scene.fill(Rect { x: 0.0, y: row.y, w: width, h: row.height }, Ink::Header);
    scene.line((0.0, row.y + row.height), (width, row.y + row.height), Ink::Rule);
    let middle = row.y + row.height / 2.0;
    scene.text((12.0, middle), &row.title, Ink::Text, Font::Strong, Align::Left, 200.0);
    scene.text((width - 12.0, middle), &row.note, Ink::Dim, Font::Small, Align::Right, 120.0);
}

fn draw_name(scene: &mut Scene, row: &RowBox, left: f64, pointing: &Pointing) {
    let middle = row.y + row.height / 2.0;
    let chosen = is_pod(pointing.selected, row.pod);
    let (indent, ink) = match row.kind {
        RowKind::Pod { .. } => (12.0, Ink::Text),
        _ => (26.0, Ink::Dim),
    };
    if chosen {
        scene.fill(Rect { x: 0.0, y: row.y, w: 3.0, h: row.height }, Ink::Selection);
    }
    let note = if row.note.is_empty() { 0.0 } else { 36.0 };
    let ink = if row.note == "gone" { Ink::Dim } else { ink };
    scene.text((indent, middle), &row.title, ink, Font::Name, Align::Left, left - indent - note - 10.0);
    scene.text((left - 8.0, middle), &row.note, Ink::Dim, Font::Small, Align::Right, 44.0);
}

fn is_pod(target: Option<Target>, index: usize) -> bool {
    match target {
        Some(Target::Pod(pod) | Target::Mark { pod, .. }) => pod == index,
        Some(Target::Span(place)) => place.pod == index,
        _ => false,
    }
}

fn draw_time_side(scene: &mut Scene, row: &RowBox, edges: (f64, f64), pointing: &Pointing) {
    let middle = row.y + row.height / 2.0;
    for span in &row.spans {
        draw_span(scene, row, span, edges, pointing);
    }
    for (index, mark) in row.marks.iter().enumerate() {
        scene.items.push(Item::Mark { x: mark.x, y: middle, glyph: mark.glyph, hollow: mark.hollow });
        let next = row.marks.get(index + 1).map_or(f64::MAX, |next| next.x);
        if mark.count > 1 && next > mark.x + COUNT {
            draw_count(scene, mark.x, middle, mark.count);
        }
        let target = Some(Target::Mark { pod: row.pod, mark: mark.mark });
        if pointing.selected == target || pointing.hover == target {
            let ink = if pointing.selected == target { Ink::Selection } else { Ink::Hover };
            let rim = Rect { x: mark.x - 7.0, y: middle - 7.0, w: 14.0, h: 14.0 };
            scene.items.push(Item::Outline(rim, ink));
        }
    }
}

/// How many marks are in one, on a ground of its own: beneath it may be a box of any colour.
fn draw_count(scene: &mut Scene, x: f64, middle: f64, count: u32) {
    let text = count.to_string();
    let w = LETTER * text.len() as f64 + 2.0;
    scene.fill(Rect { x: x + 6.0, y: middle - 6.0, w, h: 12.0 }, Ink::Ground);
    scene.text((x + 7.0, middle), &text, Ink::Text, Font::Small, Align::Left, 30.0);
}

/// Where a label that wants to begin at `x` is clear of the marks.
fn label_x(row: &RowBox, label: &str, x: f64) -> f64 {
    let width = LETTER * label.chars().count() as f64;
    row.marks.iter().fold(x, |x, mark| {
        let clear = mark.x + if mark.count > 1 { MARK + 8.0 } else { MARK };
        if mark.x < x + width + MARK / 2.0 && clear > x { clear } else { x }
    })
}

fn draw_span(
    scene: &mut Scene,
    row: &RowBox,
    span: &SpanBox,
    (left, right): (f64, f64),
    pointing: &Pointing,
) {
    let is_container = matches!(row.kind, RowKind::Lane { .. });
    let height = if is_container { CONTAINER } else { SANDBOX };
    let top = row.y + ((row.height - height) / 2.0).floor();
    // A pixel less at the right keeps neighbours apart.
    let w = (span.x1 - span.x0 - 1.0).max(1.0);
    let rect = match span.behind {
        true => Rect { x: span.x0, y: top + height + 1.0, w, h: BEHIND },
        false => Rect { x: span.x0, y: top, w, h: height },
    };
    let (ink, pattern) = theme::style(span.look);
    let pattern =
        if span.behind || (w < 5.0 && pattern != Pattern::Hollow) { Pattern::Solid } else { pattern };
    scene.items.push(Item::Fill(rect, ink, pattern));
    if is_container && !span.behind && w >= LABEL {
        let ink = if span.look == Look::Running { Ink::OnFill } else { Ink::Text };
        let x = label_x(row, &span.label, span.x0.max(left) + 5.0);
        let room = span.x1.min(right) - x - 4.0;
        scene.text((x, row.y + row.height / 2.0), &span.label, ink, Font::Small, Align::Left, room);
    }
    let target = Some(Target::Span(span.place));
    if pointing.selected == target || pointing.hover == target {
        let ink = if pointing.selected == target { Ink::Selection } else { Ink::Hover };
        let rim = Rect { x: rect.x - 1.0, y: rect.y - 1.0, w: rect.w + 2.0, h: rect.h + 2.0 };
        scene.items.push(Item::Outline(rim, ink));
    }
}
