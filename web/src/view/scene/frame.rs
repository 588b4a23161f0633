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
    scene.items.push(Item::Clip(Rect { x: left, y: 0.0, w: width - left, h: AXIS_HEIGHT }));
    for tick in &layout.ticks {
        scene.line((tick.x, AXIS_HEIGHT - 5.0), (tick.x, AXIS_HEIGHT), Ink::Rule);
        scene.text((tick.x, AXIS_HEIGHT / 2.0), &tick.label, Ink::Dim, Font::Small, Align::Center, 100.0);
    }
    scene.items.push(Item::Unclip);
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
    for (x0, x1) in &layout.unhealthy {
        let strip = Rect { x: *x0, y: BASE + 1.0, w: (x1 - x0).max(1.0), h: HEALTH_HEIGHT };
        scene.items.push(Item::Fill(strip, Ink::Unhealthy, Pattern::Striped));
    }
    for bar in &layout.bars {
        draw_bar(scene, bar, pointing);
    }
    scene.items.push(Item::Unclip);
    draw_relists_gutter(scene, left);
    scene.line((0.0, ROWS_TOP), (width, ROWS_TOP), Ink::Rule);
    scene.line((left, 0.0), (left, height), Ink::Rule);
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
    match bar.state {
        BarState::Running => {
            scene.fill(Rect { x: bar.x1 - 2.0, y: full.y - 3.0, w: 2.0, h: full.h + 3.0 }, Ink::Active)
        }
        BarState::Failed => draw_flag(scene, full, Glyph::Died),
        BarState::Held => draw_flag(scene, full, Glyph::Held),
        BarState::Done => {}
    }
    if width >= 44.0 {
        let ink = if bar.state == BarState::Running { Ink::Active } else { Ink::Dim };
        let text = format!("{} · {}", bar.n, bar.label);
        let x = bar.x0.max(0.0) + 2.0;
        scene.text((x, full.y - 8.0), &text, ink, Font::Small, Align::Left, width + 60.0);
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
    for (index, call) in bar.calls.iter().enumerate() {
        let last = index + 1 == bar.calls.len();
        let rect = Rect { x: call.x0, w: (call.x1 - call.x0 - 1.0).max(1.0), ..full };
        let (ink, pattern) = match (call.failed, call.op.is_listing()) {
            (true, _) => (Ink::Failed, Pattern::Striped),
            _ if last && bar.state == BarState::Running => (Ink::Active, Pattern::Striped),
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

fn draw_flag(scene: &mut Scene, full: Rect, glyph: Glyph) {
    scene.items.push(Item::Mark { x: full.x + full.w / 2.0, y: full.y - 7.0, glyph, hollow: false });
}

/// The crosshair with its time on the axis, and the line of now.
pub(super) fn draw_cursor(scene: &mut Scene, layout: &Layout, pointing: &Pointing) {
    let (width, height) = layout.size;
    let left = layout.scale.left;
    if let Some(x) = layout.now_x {
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
