//! Paints a scene on a canvas.

use super::warn;
use crate::view::{
    marks::Glyph,
    scene::{Align, Font, Item, Rect, Scene},
    theme::{Ink, Pattern, Theme},
};
use std::{collections::HashMap, f64::consts::TAU};
use wasm_bindgen::JsCast;
use web_sys::{CanvasPattern, CanvasRenderingContext2d as Context, HtmlCanvasElement};

const FAMILY: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
/// Letters kept at the end of a shortened name: the part that the API server makes up.
const TAIL: usize = 6;
/// Texts whose fitted form is remembered, before all are forgotten.
const MEMORY: usize = 4_000;

/// Paints scenes on one canvas.
pub(super) struct Painter {
    context: Context,
    theme: Theme,
    patterns: HashMap<(u8, bool), CanvasPattern>,
    fitted: HashMap<(String, u32, u8), String>,
    font: Option<Font>,
    ink: Option<Ink>,
}

impl Painter {
    /// A painter for a canvas; none when the browser has no 2D context.
    pub(super) fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self {
            context,
            theme: Theme::Dark,
            patterns: HashMap::new(),
            fitted: HashMap::new(),
            font: None,
            ink: None,
        })
    }

    /// Paints everything anew. `ratio` is the number of device pixels for one of the page.
    pub(super) fn paint(&mut self, scene: &Scene, theme: Theme, ratio: f64) {
        if self.theme != theme {
            self.theme = theme;
            self.patterns.clear();
        }
        if self.fitted.len() > MEMORY {
            self.fitted.clear();
        }
        (self.font, self.ink) = (None, None);
        warn(self.context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0));
        self.context.set_text_baseline("middle");
        scene.items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Clip(rect) => {
                self.context.save();
                self.context.begin_path();
                self.context.rect(rect.x, rect.y, rect.w, rect.h);
                self.context.clip();
            }
            Item::Unclip => {
                self.context.restore();
                (self.font, self.ink) = (None, None);
            }
            Item::Fill(rect, ink, pattern) => self.fill(rect, *ink, *pattern),
            Item::Outline(rect, ink) => {
                self.context.set_stroke_style_str(self.theme.color(*ink));
                self.context.set_line_width(1.5);
                self.context.stroke_rect(rect.x, rect.y, rect.w, rect.h);
            }
            Item::Line { from, to, ink, dashed } => self.line(*from, *to, *ink, *dashed),
            Item::Text { x, y, text, ink, font, align, room } => {
                self.text((*x, *y), text, *ink, *font, *align, *room)
            }
            Item::Mark { x, y, glyph, hollow } => self.mark(*x, *y, *glyph, *hollow),
        }
    }

    fn set_ink(&mut self, ink: Ink) {
        if self.ink != Some(ink) {
            self.ink = Some(ink);
            self.context.set_fill_style_str(self.theme.color(ink));
        }
    }

    fn fill(&mut self, rect: &Rect, ink: Ink, pattern: Pattern) {
        if pattern == Pattern::Hollow {
            self.context.set_stroke_style_str(self.theme.color(ink));
            self.context.set_line_width(1.0);
            let (w, h) = ((rect.w - 1.0).max(0.5), (rect.h - 1.0).max(0.5));
            self.context.stroke_rect(rect.x + 0.5, rect.y + 0.5, w, h);
            return;
        }
        self.set_ink(ink);
        self.context.fill_rect(rect.x, rect.y, rect.w, rect.h);
        if pattern == Pattern::Solid {
            return;
        }
        let dots = pattern == Pattern::Dotted;
        if let Some(pattern) = self.pattern(dots) {
            self.ink = None;
            self.context.set_fill_style_canvas_pattern(&pattern);
            self.context.fill_rect(rect.x, rect.y, rect.w, rect.h);
        }
    }

    /// Lines or dots in the colour of the ground, laid over a filled box.
    fn pattern(&mut self, dots: bool) -> Option<CanvasPattern> {
        let key = (self.theme as u8, dots);
        if let Some(pattern) = self.patterns.get(&key) {
            return Some(pattern.clone());
        }
        let document = web_sys::window()?.document()?;
        let tile: HtmlCanvasElement = document.create_element("canvas").ok()?.dyn_into().ok()?;
        tile.set_width(6);
        tile.set_height(6);
        let context: Context = tile.get_context("2d").ok()??.dyn_into().ok()?;
        context.set_global_alpha(0.42);
        let ground = self.theme.color(Ink::Ground);
        if dots {
            context.set_fill_style_str(ground);
            context.fill_rect(1.0, 1.0, 2.0, 2.0);
            context.fill_rect(4.0, 4.0, 2.0, 2.0);
        } else {
            context.set_stroke_style_str(ground);
            context.set_line_width(1.6);
            for start in [-6.0, 0.0, 6.0] {
                context.begin_path();
                context.move_to(start - 1.0, 7.0);
                context.line_to(start + 7.0, -1.0);
                context.stroke();
            }
        }
        let pattern = self.context.create_pattern_with_html_canvas_element(&tile, "repeat").ok()??;
        self.patterns.insert(key, pattern.clone());
        Some(pattern)
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, dashed: bool) {
        // On half pixels a line of one pixel is sharp.
        let sharp = |value: f64| value.floor() + 0.5;
        self.context.set_stroke_style_str(self.theme.color(ink));
        self.context.set_line_width(1.0);
        if dashed {
            self.set_dash(&[2.0, 3.0]);
        }
        self.context.begin_path();
        self.context.move_to(sharp(from.0), sharp(from.1));
        self.context.line_to(sharp(to.0), sharp(to.1));
        self.context.stroke();
        if dashed {
            self.set_dash(&[]);
        }
    }

    fn set_dash(&self, lengths: &[f64]) {
        let lengths: js_sys::Array = lengths.iter().copied().map(wasm_bindgen::JsValue::from_f64).collect();
        warn(self.context.set_line_dash(&lengths));
    }

    fn text(&mut self, at: (f64, f64), text: &str, ink: Ink, font: Font, align: Align, room: f64) {
        if self.font != Some(font) {
            self.font = Some(font);
            let style = match font {
                Font::Name => "12px",
                Font::Strong => "600 12px",
                Font::Small => "11px",
            };
            self.context.set_font(&format!("{style} {FAMILY}"));
        }
        let text = self.fit(text, font, room);
        if text.is_empty() {
            return;
        }
        self.set_ink(ink);
        self.context.set_text_align(match align {
            Align::Left => "left",
            Align::Center => "center",
            Align::Right => "right",
        });
        // Half a pixel lower: letters without descenders then look centred.
        warn(self.context.fill_text(&text, at.0.round(), at.1 + 0.5));
    }

    /// The text, or as much of it as fits with an ellipsis; nothing when not even two letters fit.
    fn fit(&mut self, text: &str, font: Font, room: f64) -> String {
        let key = (text.to_owned(), room as u32, font as u8);
        if let Some(fitted) = self.fitted.get(&key) {
            return fitted.clone();
        }
        let width = |text: &str| self.context.measure_text(text).map_or(0.0, |metrics| metrics.width());
        let tail = if font == Font::Name { TAIL } else { 0 };
        let fits = |text: &str| width(text) <= room;
        let fitted = if fits(text) { text.to_owned() } else { shorten(text, tail, fits) };
        self.fitted.insert(key, fitted.clone());
        fitted
    }

    fn mark(&mut self, x: f64, y: f64, glyph: Glyph, hollow: bool) {
        let ink = match glyph {
            Glyph::Started => Ink::MarkStarted,
            Glyph::Died => Ink::MarkDied,
            Glyph::Removed => Ink::MarkRemoved,
            Glyph::Sync | Glyph::Condition => Ink::MarkSync,
            Glyph::Held => Ink::Active,
        };
        let context = &self.context;
        context.begin_path();
        trace(context, glyph, x, y);
        // A rim in the colour of the ground sets the mark off from the box under it.
        context.set_line_join("round");
        context.set_stroke_style_str(self.theme.color(Ink::Ground));
        context.set_line_width(if glyph == Glyph::Died || glyph == Glyph::Held { 5.0 } else { 3.5 });
        context.stroke();
        context.set_stroke_style_str(self.theme.color(ink));
        context.set_line_width(if glyph == Glyph::Died || glyph == Glyph::Held { 2.2 } else { 1.4 });
        if !hollow && !matches!(glyph, Glyph::Died | Glyph::Held | Glyph::Removed | Glyph::Condition) {
            self.set_ink(ink);
            self.context.fill();
        } else if !matches!(glyph, Glyph::Died | Glyph::Held) {
            self.set_ink(Ink::Ground);
            self.context.fill();
        }
        self.context.stroke();
        if hollow {
            self.context.begin_path();
            self.context.set_line_width(1.0);
            warn(self.context.arc(x, y, 6.5, 0.0, TAU));
            self.context.stroke();
        }
    }
}

/// The longest beginning that fits with an ellipsis and the last `tail` letters.
fn shorten(text: &str, tail: usize, fits: impl Fn(&str) -> bool) -> String {
    let letters: Vec<char> = text.chars().collect();
    let end: String = letters.iter().skip(letters.len().saturating_sub(tail)).collect();
    let with = |count: usize| letters.iter().take(count).chain(&['…']).collect::<String>() + &end;
    let counts: Vec<usize> = (2..letters.len().saturating_sub(tail)).collect();
    match counts.partition_point(|count| fits(&with(*count))) {
        0 => String::new(),
        longest => with(longest + 1),
    }
}

fn trace(context: &Context, glyph: Glyph, x: f64, y: f64) {
    let lines: &[&[(f64, f64)]] = match glyph {
        Glyph::Started => &[&[(-4.0, 3.5), (4.0, 3.5), (0.0, -4.0), (-4.0, 3.5)]],
        Glyph::Removed => &[&[(-4.0, -3.5), (4.0, -3.5), (0.0, 4.0), (-4.0, -3.5)]],
        Glyph::Died => &[&[(-3.4, -3.4), (3.4, 3.4)], &[(3.4, -3.4), (-3.4, 3.4)]],
        Glyph::Held => &[&[(-2.4, -4.0), (-2.4, 4.0)], &[(2.4, -4.0), (2.4, 4.0)]],
        Glyph::Sync | Glyph::Condition => &[&[(0.0, -4.6), (4.0, 0.0), (0.0, 4.6), (-4.0, 0.0), (0.0, -4.6)]],
    };
    for line in lines {
        for (index, (dx, dy)) in line.iter().enumerate() {
            if index == 0 {
                context.move_to(x + dx, y + dy);
            } else {
                context.line_to(x + dx, y + dy);
            }
        }
    }
}
