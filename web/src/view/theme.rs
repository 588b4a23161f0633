//! The colours of the timeline, by what they stand for.
//!
//! States differ in lightness and pattern too, so that they can be told apart without colour.

use super::spans::Look;

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Behind everything.
    Ground,
    /// Behind the names at the left.
    Gutter,
    /// Behind a namespace's header.
    Header,
    /// Lines between areas.
    Rule,
    /// Lines of the time grid.
    Grid,
    /// Text.
    Text,
    /// Text of less weight.
    Dim,
    /// Text on a filled box.
    OnFill,
    /// A container that runs.
    Running,
    /// A sandbox that is ready.
    Ready,
    /// Created, not started.
    Created,
    /// Ended well, or a sandbox that is not ready.
    Ended,
    /// Ended with an error.
    Failed,
    /// State unknown.
    Unknown,
    /// A relist's listing.
    Listing,
    /// A relist's inspections.
    Inspecting,
    /// What runs right now, or waits.
    Active,
    /// The stretch in which PLEG was unhealthy.
    Unhealthy,
    /// What is chosen.
    Selection,
    /// What is pointed at.
    Hover,
    /// The crosshair.
    Cursor,
    /// A `ContainerStarted` mark.
    MarkStarted,
    /// A `ContainerDied` mark.
    MarkDied,
    /// A `ContainerRemoved` mark.
    MarkRemoved,
    /// A `PodSync` or `ConditionMet` mark.
    MarkSync,
}

/// How a box is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// With its colour.
    Solid,
    /// With its colour and diagonal lines.
    Striped,
    /// With its colour and dots.
    Dotted,
    /// Not at all; only its outline.
    Hollow,
}

/// Colour and pattern of a state.
pub fn style(look: Look) -> (Ink, Pattern) {
    match look {
        Look::Ready => (Ink::Ready, Pattern::Solid),
        Look::Created => (Ink::Created, Pattern::Hollow),
        Look::Running => (Ink::Running, Pattern::Solid),
        Look::NotReady => (Ink::Ended, Pattern::Hollow),
        Look::Exited => (Ink::Ended, Pattern::Hollow),
        Look::Completed => (Ink::Ended, Pattern::Solid),
        Look::Unknown => (Ink::Unknown, Pattern::Dotted),
        Look::Failed => (Ink::Failed, Pattern::Striped),
    }
}

/// Dark or light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light text on dark ground.
    #[default]
    Dark,
    /// Dark text on light ground.
    Light,
}

impl Theme {
    /// Its name in the style sheet.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Dark => "dark",
            Theme::Light => "light",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Theme::Dark => Theme::Light,
            Theme::Light => Theme::Dark,
        }
    }

    /// The CSS colour.
    pub fn color(self, ink: Ink) -> &'static str {
        let (dark, light) = both(ink);
        match self {
            Theme::Dark => dark,
            Theme::Light => light,
        }
    }
}

fn both(ink: Ink) -> (&'static str, &'static str) {
    match ink {
        Ink::Ground => ("#12151a", "#ffffff"),
        Ink::Gutter => ("#171b21", "#f7f8fa"),
        Ink::Header => ("#1d222a", "#eef1f5"),
        Ink::Rule => ("#2b323d", "#d5dbe3"),
        Ink::Grid => ("#1e242c", "#edf0f4"),
        Ink::Text => ("#dce2ea", "#1b2430"),
        Ink::Dim => ("#8c97a7", "#5d6878"),
        Ink::OnFill => ("#07211e", "#ffffff"),
        Ink::Running => ("#3dae9f", "#16877a"),
        Ink::Ready => ("#5377ad", "#7d9ccb"),
        Ink::Created => ("#9fb2cc", "#5f7896"),
        Ink::Ended => ("#5c6675", "#9aa5b3"),
        Ink::Failed => ("#c85a35", "#d9643b"),
        Ink::Unknown => ("#b28be0", "#8450bd"),
        Ink::Listing => ("#4c8be0", "#2766c0"),
        Ink::Inspecting => ("#a9cbf7", "#86b4ee"),
        Ink::Active => ("#f2b632", "#b87400"),
        Ink::Unhealthy => ("#e5484d", "#cf2b30"),
        Ink::Selection => ("#ffffff", "#0f1722"),
        Ink::Hover => ("#c4ccd7", "#4a5563"),
        Ink::Cursor => ("#6b7686", "#9aa4b1"),
        Ink::MarkStarted => ("#7ee3d3", "#0a5b52"),
        Ink::MarkDied => ("#ff8f66", "#b3360c"),
        Ink::MarkRemoved => ("#b9c2cf", "#4f5a69"),
        Ink::MarkSync => ("#c9a6f2", "#6f35b0"),
    }
}
