//! Ground, axis, relist lane and crosshair.

use super::{Align, Font, Item, Pointing, Rect, Scene};
use crate::{
    format,
    view::{
        hit::Target,
        layout::{AXIS_HEIGHT, Layout, RELISTS_HEIGHT, ROWS_TOP},
        marks::Glyph,
        relists::{self, BarState, GUIDES, RelistBar},
        theme::{Ink, Pattern},
    },
};

/// Height of the strip that shows when PLEG was unhealthy.
const HEALTH_HEIGHT: f64 = 5.0;
/// Half of the width of a tick's label.
const TICK_HALF: f64 = 30.0;
/// Width that a flag takes above a bar.
const FLAG: f64 = 9.0;
/// From this width on a bar has its number and duration above it.
const LABELLED: f64 = 44.0;
/// From this width on a hole says what it is.
const HOLE_LABELLED: f64 = 90.0;
/// Where the relist bars stand.
const BASE: f64 = AXIS_HEIGHT + RELISTS_HEIGHT - HEALTH_HEIGHT - 1.0;

pub(super) fn draw_ground(scene: &mut Scene, layout: &Layout) {
    let (width, height) = layout.size;
    let left = layout.scale.left;
    scene.fill(Rect { x: 0.0, y: 0.0, w: width, h: height }, Ink::Ground);
    scene.fill(Rect { x: 0.0, y: ROWS_TOP, w: left, h: height - ROWS_TOP }, Ink::Gutter);
    for tick in &layout.ticks {
        scene.line((tick.x, ROWS_TOP), (tick.x, height), Ink::Grid);
    }
}

pub(super) fn draw_axis(scene: &mut Scene, layout: &Layout) {
    let (width, _) = layout.size;
    let left = layout.scale.left;
    scene.fill(Rect { x: 0.0, y: 0.0, w: width, h: AXIS_HEIGHT }, Ink::Gutter);
    scene.text((12.0, AXIS_HEIGHT / 2.0), &layout.date, Ink::Dim, Font::Small, Align::Left, left - 20.0);
    for tick in &layout.ticks {
        scene.line((tick.x, AXIS_HEIGHT - 5.0), (tick.x, AXIS_HEIGHT), Ink::Rule);
        // Half a label reads as another time.
        if tick.x < left + TICK_HALF || tick.x > width - TICK_HALF {
            continue;
        }
        scene.text((tick.x, AXIS_HEIGHT / 2.0), &tick.label, Ink::Dim, Font::Small, Align::Center, 100.0);
    }
    scene.line((0.0, AXIS_HEIGHT), (width, AXIS_HEIGHT), Ink::Rule);
}

pub(super) fn draw_relists(scene: &mut Scene, layout: &Layout, pointing: &Pointing) {
    let (width, height) = layout.size;
    let left = layout.scale.left;
    let time = Rect { x: left, y: AXIS_HEIGHT + 1.0, w: width - left, h: RELISTS_HEIGHT - 1.0 };
    scene.fill(time, Ink::Ground);
    scene.items.push(Item::Clip(time));
    for tick in &layout.ticks {
        scene.line((tick.x, time.y), (tick.x, ROWS_TOP), Ink::Grid);
    }
    for guide in GUIDES {
        let y = BASE - relists::bar_height(guide);
        scene.items.push(Item::Line { from: (left, y), to: (width, y), ink: Ink::Grid, dashed: true });
    }
    for hole in &layout.holes {
        draw_hole(scene, *hole);
    }
    for (x0, x1) in &layout.unhealthy {
        let strip = Rect { x: *x0, y: BASE + 1.0, w: (x1 - x0).max(1.0), h: HEALTH_HEIGHT };
        scene.items.push(Item::Fill(strip, Ink::Unhealthy, Pattern::Striped));
    }
    let mut taken = left;
    for bar in &layout.bars {
        draw_bar(scene, bar, pointing);
        taken = draw_above_bar(scene, bar, taken.max(bar.x0));
    }
    scene.items.push(Item::Unclip);
    draw_relists_gutter(scene, left);
    scene.line((0.0, ROWS_TOP), (width, ROWS_TOP), Ink::Rule);
    scene.line((left, 0.0), (left, height), Ink::Rule);
}

/// A stretch that was not observed: without bars because nothing is known, not because nothing was.
fn draw_hole(scene: &mut Scene, (x0, x1): (f64, f64)) {
    let (w, middle) = (x1 - x0, AXIS_HEIGHT + RELISTS_HEIGHT / 2.0);
    let lane = Rect { x: x0, y: AXIS_HEIGHT + 1.0, w, h: RELISTS_HEIGHT - 1.0 };
    scene.items.push(Item::Fill(lane, Ink::Header, Pattern::Dotted));
    if w >= HOLE_LABELLED {
        scene.text((x0 + w / 2.0, middle), "not observed", Ink::Dim, Font::Small, Align::Center, w);
    }
}

fn draw_relists_gutter(scene: &mut Scene, left: f64) {
    let gutter = Rect { x: 0.0, y: AXIS_HEIGHT + 1.0, w: left, h: RELISTS_HEIGHT - 1.0 };
    scene.fill(gutter, Ink::Gutter);
    scene.text((12.0, AXIS_HEIGHT + 18.0), "Relists", Ink::Text, Font::Strong, Align::Left, left - 70.0);
    let legend = AXIS_HEIGHT + 38.0;
    scene.fill(Rect { x: 12.0, y: legend - 4.0, w: 8.0, h: 8.0 }, Ink::Listing);
    scene.text((25.0, legend), "listing", Ink::Dim, Font::Small, Align::Left, 60.0);
    scene.fill(Rect { x: 12.0, y: legend + 12.0, w: 8.0, h: 8.0 }, Ink::Inspecting);
    scene.text((25.0, legend + 16.0), "inspections", Ink::Dim, Font::Small, Align::Left, 90.0);
    for guide in GUIDES {
        let label = format!("{} s", guide as f64 / 1e9);
        let y = BASE - relists::bar_height(guide);
        scene.text((left - 8.0, y), &label, Ink::Dim, Font::Small, Align::Right, 60.0);
    }
}

fn draw_bar(scene: &mut Scene, bar: &RelistBar, pointing: &Pointing) {
    let width = bar.x1 - bar.x0;
    let full = Rect { x: bar.x0, y: BASE - bar.height, w: width, h: bar.height };
    if bar.calls.is_empty() {
        draw_plain_bar(scene, bar, full);
    } else {
        draw_calls(scene, bar, full);
    }
    if bar.state == BarState::Running {
        scene.fill(Rect { x: bar.x1 - 2.0, y: full.y - 3.0, w: 2.0, h: full.h + 3.0 }, Ink::Active);
    }
    let is_this = |target: Option<Target>| match target {
        Some(Target::Relist(n) | Target::Call { relist: n, .. }) => n == bar.n,
        _ => false,
    };
    if is_this(pointing.selected) || is_this(pointing.hover) {
        let ink = if is_this(pointing.selected) { Ink::Selection } else { Ink::Hover };
        let rim = Rect { x: full.x - 1.5, y: full.y - 1.5, w: width + 3.0, h: full.h + 3.0 };
        scene.items.push(Item::Outline(rim, ink));
    }
}

/// The flag and the label of a bar, unless they would run into those before. Returns up to where the place is taken.
fn draw_above_bar(scene: &mut Scene, bar: &RelistBar, taken: f64) -> f64 {
    let flag = match bar.state {
        BarState::Failed => Some(Glyph::Died),
        BarState::Held => Some(Glyph::Held),
        BarState::Running | BarState::Done | BarState::Cut => None,
    };
    let width = bar.x1 - bar.x0;
    let y = BASE - bar.height - 8.0;
    let mut x = taken;
    if let Some(glyph) = flag {
        let centre = if width < LABELLED { bar.x0 + width / 2.0 } else { x + FLAG / 2.0 };
        if centre < taken - FLAG / 2.0 {
            return taken;
        }
        scene.items.push(Item::Mark { x: centre, y, glyph, hollow: false });
        x = centre + FLAG;
    }
    if width < LABELLED || x > bar.x1 - LABELLED {
        return x.max(taken);
    }
    let ink = if bar.state == BarState::Running { Ink::Active } else { Ink::Dim };
    let text = if bar.merged > 1 { bar.label.clone() } else { format!("{} · {}", bar.n, bar.label) };
    scene.text((x + 1.0, y), &text, ink, Font::Small, Align::Left, width + 60.0);
    x + 7.0 * text.chars().count() as f64
}

/// The inspections stand on the listing, in the shares of their durations.
fn draw_plain_bar(scene: &mut Scene, bar: &RelistBar, full: Rect) {
    if bar.state == BarState::Failed {
        scene.items.push(Item::Fill(full, Ink::Failed, Pattern::Striped));
        return;
    }
    let listing = (full.h * bar.listing).clamp(1.0, full.h);
    let (low, high) = match bar.state {
        BarState::Running => (Ink::Active, Ink::Active),
        _ => (Ink::Listing, Ink::Inspecting),
    };
    scene.fill(Rect { y: full.y + full.h - listing, h: listing, ..full }, low);
    if listing < full.h - 0.5 {
        scene.fill(Rect { h: full.h - listing, ..full }, high);
    }
}

fn draw_calls(scene: &mut Scene, bar: &RelistBar, full: Rect) {
    scene.items.push(Item::Outline(full, Ink::Rule));
    for call in &bar.calls {
        let rect = Rect { x: call.x0, w: (call.x1 - call.x0 - 1.0).max(1.0), ..full };
        let (ink, pattern) = match (call.failed, call.op.is_listing()) {
            _ if call.running => (Ink::Active, Pattern::Striped),
            (true, _) => (Ink::Failed, Pattern::Striped),
            (_, true) => (Ink::Listing, Pattern::Solid),
            (_, false) => (Ink::Inspecting, Pattern::Solid),
        };
        scene.items.push(Item::Fill(rect, ink, pattern));
        if rect.w > 60.0 && rect.h >= 14.0 && pattern == Pattern::Solid {
            let middle = full.y + full.h / 2.0;
            scene.text(
                (rect.x.max(0.0) + 5.0, middle),
                call.op.name(),
                Ink::OnFill,
                Font::Small,
                Align::Left,
                rect.w - 8.0,
            );
        }
    }
}

/// The crosshair with its time on the axis, and the line of now.
pub(super) fn draw_cursor(scene: &mut Scene, layout: &Layout, pointing: &Pointing) {
    let (width, height) = layout.size;
    let left = layout.scale.left;
    if let Some(x) = layout.now_x.filter(|_| layout.moves) {
        scene.line((x, AXIS_HEIGHT), (x, height), Ink::Active);
    }
    let Some((x, _)) = pointing.cursor.filter(|(x, _)| *x >= left && *x <= width) else { return };
    scene.items.push(Item::Line { from: (x, AXIS_HEIGHT), to: (x, height), ink: Ink::Cursor, dashed: false });
    let decimals = if layout.scale.span < 10_000_000_000 { 6 } else { 3 };
    let text = format::clock(layout.scale.time(x), layout.zone, decimals);
    let room = if decimals == 6 { 106.0 } else { 86.0 };
    let tag = (x - room / 2.0).clamp(left, width - room);
    scene.fill(Rect { x: tag, y: 3.0, w: room, h: AXIS_HEIGHT - 6.0 }, Ink::Rule);
    scene.text(
        (tag + room / 2.0, AXIS_HEIGHT / 2.0),
        &text,
        Ink::Text,
        Font::Small,
        Align::Center,
        room - 4.0,
    );
}
