//! What is drawn, in order: plain shapes with meaning instead of colours. Prints as a draw log for tests.

mod frame;
mod rows;

use super::{
    hit::Target,
    layout::Layout,
    marks::Glyph,
    theme::{Ink, Pattern},
};
use std::fmt;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// Size and weight of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Font {
    /// For names of pods and containers. Shortened in the middle, since the pods of a workload differ at the end.
    Name,
    /// For headings.
    Strong,
    /// For ticks, notes and labels in boxes.
    Small,
}

/// Where a text's anchor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At its left.
    Left,
    /// At its middle.
    Center,
    /// At its right.
    Right,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// What follows is cut at this rectangle, until [`Item::Unclip`].
    Clip(Rect),
    /// Ends the last [`Item::Clip`].
    Unclip,
    /// A filled box.
    Fill(Rect, Ink, Pattern),
    /// An outline.
    Outline(Rect, Ink),
    /// A line.
    Line {
        /// From here.
        from: (f64, f64),
        /// To here.
        to: (f64, f64),
        /// Its colour.
        ink: Ink,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// A line of text, centred on `y`, shortened to `room` pixels.
    Text {
        /// Anchor.
        x: f64,
        /// Middle.
        y: f64,
        /// The text.
        text: String,
        /// Its colour.
        ink: Ink,
        /// Size and weight.
        font: Font,
        /// Where the anchor is.
        align: Align,
        /// Pixels it may take.
        room: f64,
    },
    /// An event's mark, centred.
    Mark {
        /// Centre.
        x: f64,
        /// Centre.
        y: f64,
        /// Its shape.
        glyph: Glyph,
        /// Whether only its outline is drawn.
        hollow: bool,
    },
}

/// What the person points at and has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointing {
    /// The pointer, when it is over the timeline.
    pub cursor: Option<(f64, f64)>,
    /// What is under it.
    pub hover: Option<Target>,
    /// What was chosen.
    pub selected: Option<Target>,
}

/// Everything that is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// From back to front.
    pub items: Vec<Item>,
}

impl Scene {
    /// The scene of a layout.
    pub fn new(layout: &Layout, pointing: &Pointing) -> Self {
        let mut scene = Scene::default();
        frame::draw_ground(&mut scene, layout);
        rows::draw_rows(&mut scene, layout, pointing);
        frame::draw_axis(&mut scene, layout);
        frame::draw_relists(&mut scene, layout, pointing);
        frame::draw_cursor(&mut scene, layout, pointing);
        scene
    }

    fn fill(&mut self, rect: Rect, ink: Ink) {
        self.items.push(Item::Fill(rect, ink, Pattern::Solid));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        self.items.push(Item::Line { from, to, ink, dashed: false });
    }

    fn text(&mut self, at: (f64, f64), text: &str, ink: Ink, font: Font, align: Align, room: f64) {
        if !text.is_empty() && room > 0.0 {
            let text = text.to_owned();
            self.items.push(Item::Text { x: at.0, y: at.1, text, ink, font, align, room });
        }
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0},{:.0} {:.0}x{:.0}", self.x, self.y, self.w, self.h)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Clip(rect) => write!(f, "clip {rect}"),
            Item::Unclip => f.write_str("unclip"),
            Item::Fill(rect, ink, Pattern::Solid) => write!(f, "fill {rect} {ink:?}"),
            Item::Fill(rect, ink, pattern) => write!(f, "fill {rect} {ink:?} {pattern:?}"),
            Item::Outline(rect, ink) => write!(f, "outline {rect} {ink:?}"),
            Item::Line { from, to, ink, dashed } => {
                let dashed = if *dashed { " dashed" } else { "" };
                write!(f, "line {:.0},{:.0} {:.0},{:.0} {ink:?}{dashed}", from.0, from.1, to.0, to.1)
            }
            Item::Text { x, y, text, ink, room, .. } => {
                write!(f, "text {x:.0},{y:.0} {text:?} {ink:?} in {room:.0}")
            }
            Item::Mark { x, y, glyph, hollow } => {
                write!(f, "mark {x:.0},{y:.0} {glyph:?}{}", if *hollow { " hollow" } else { "" })
            }
        }
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::Zone,
        testing::{ms, timeline},
        view::layout::{Input, Layout},
    };
    use expect_test::{Expect, expect};
    use pleg_core::time::SECOND;

    /// The draw log of what lies below the relists, on 220 by 200 pixels for 10 seconds.
    #[track_caller]
    fn check(told: &str, pointing: &Pointing, expected: Expect) {
        let timeline = timeline(told);
        let order: Vec<usize> = (0..timeline.pods().len()).collect();
        let input = Input {
            timeline: &timeline,
            order: &order,
            threshold: 5 * SECOND,
            now: ms(10_000),
            moves: false,
            from: ms(0),
            span: 10 * SECOND,
            size: (220.0, 200.0),
            scroll: 0.0,
            zone: Zone::default(),
        };
        let log = Scene::new(&Layout::new(&input), pointing).to_string();
        let rows =
            log.lines().skip_while(|line| !line.starts_with("clip")).take_while(|line| *line != "unclip");
        expected.assert_eq(&rows.map(|line| format!("{line}\n")).collect::<String>());
    }

    #[test]
    fn a_pod_with_its_spans_and_marks() {
        let told = "
            1000 shop/cart: ready, app running
            6000 shop/cart: ready, app exited 137
        ";
        check(
            told,
            &Pointing::default(),
            expect![[r#"
            clip 0,104 220x96
            clip 120,104 100x96
            fill 120,132 99x6 Ready
            mark 130,135 Started
            fill 128,146 50x12 Running
            fill 179,146 40x12 Failed Striped
            text 189,152 "exit 137" Text in 27
            mark 130,152 Started
            mark 180,152 Died
        "#]],
        );
    }

    #[test]
    fn what_is_held_back_and_what_is_chosen() {
        let told = "3000 !inspect shop/cart: ready, app running";
        let selected = Some(Target::Mark { pod: 0, mark: 0 });
        check(
            told,
            &Pointing { selected, ..Pointing::default() },
            expect![[r#"
            clip 0,104 220x96
            clip 120,104 100x96
            fill 120,132 99x6 Ready
            mark 150,135 Held
            outline 143,128 14x14 Selection
            fill 150,146 69x12 Running
        "#]],
        );
    }
}
