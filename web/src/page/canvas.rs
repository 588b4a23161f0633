//! The timeline's canvas: when to paint, and what is under the pointer.

use super::{paint::Painter, warn};
use crate::{
    store::{Action, Head, Millis, Store},
    view::{
        hit::{self, Target},
        layout::Layout,
        scene::{Pointing, Scene},
    },
};
use gloo_render::{AnimationFrame, request_animation_frame};
use pleg_core::time::{MILLISECOND, Nanos};
use web_sys::HtmlCanvasElement;
use yew::{Callback, NodeRef};

/// Pixels of movement between two ticks of the page from which on every frame is painted.
const SMOOTH: f64 = 0.8;
/// Name of the mark in the browser's performance timeline when the first pods were painted.
const FIRST_PODS: &str = "plegscope:first-pods";
/// Milliseconds between two ticks of the page.
pub(super) const TICK: u32 = 100;

/// The canvas and what is on it.
#[derive(Default)]
pub(super) struct Canvas {
    pub(super) node: NodeRef,
    pub(super) pointing: Pointing,
    painter: Option<Painter>,
    layout: Option<Layout>,
    frame: Option<AnimationFrame>,
    /// Number of frames painted.
    pub(super) painted: u64,
    /// Whether one of them had pods.
    showed_pods: bool,
}

impl Canvas {
    /// Paints at the browser's next frame; once, however often it is asked for.
    pub(super) fn schedule(&mut self, paint: &Callback<()>) {
        if self.frame.is_none() {
            let paint = paint.clone();
            self.frame = Some(request_animation_frame(move |_| paint.emit(())));
        }
    }

    /// Paints now. Returns whether things move so fast that the next frame is to be painted too.
    pub(super) fn paint(&mut self, store: &mut Store, at: Millis) -> bool {
        self.frame = None;
        let Some(canvas) = self.node.cast::<HtmlCanvasElement>() else { return false };
        let ratio = fit(&canvas, store, at);
        if self.painter.is_none() {
            self.painter = Painter::new(&canvas);
        }
        let Some(painter) = &mut self.painter else { return false };
        let layout = Layout::new(&store.layout_input(at));
        self.pointing.selected = store.selected;
        self.pointing.hover = self.pointing.cursor.and_then(|(x, y)| hit::hit(&layout, x, y));
        painter.paint(&Scene::new(&layout, &self.pointing), store.settings.theme, ratio);
        self.painted += 1;
        self.mark_first_pods(layout.pods);
        let smooth =
            moves(store) && layout.scale.width * tick_nanos(store) as f64 > SMOOTH * layout.scale.span as f64;
        self.layout = Some(layout);
        smooth
    }

    /// Tells the browser's performance timeline once when there was something to see.
    fn mark_first_pods(&mut self, pods: usize) {
        if pods == 0 || std::mem::replace(&mut self.showed_pods, true) {
            return;
        }
        if let Some(performance) = web_sys::window().and_then(|window| window.performance()) {
            warn(performance.mark(FIRST_PODS));
        }
    }

    /// What is at a pixel of the last painted frame.
    pub(super) fn target(&self, x: f64, y: f64) -> Option<Target> {
        hit::hit(self.layout.as_ref()?, x, y)
    }

    /// Number of pods with a row in the last painted frame.
    pub(super) fn pods(&self) -> usize {
        self.layout.as_ref().map_or(0, |layout| layout.pods)
    }

    /// Whether a pixel is above the rows.
    pub(super) fn is_above_rows(y: f64) -> bool {
        y < crate::view::layout::ROWS_TOP
    }
}

/// Whether the shown moment moves by itself.
pub(super) fn moves(store: &Store) -> bool {
    match store.head {
        Head::Edge => store.source.silence(0.0).is_some(),
        Head::Paused(_) => false,
        Head::Playing { .. } => true,
    }
}

/// Nanoseconds that the shown moment moves between two ticks.
fn tick_nanos(store: &Store) -> Nanos {
    let speed = match store.head {
        Head::Playing { speed, .. } => i64::from(speed),
        _ => 1,
    };
    i64::from(TICK) * MILLISECOND * speed
}

/// Gives the canvas a pixel for each of the device's, and returns how many those are for one of the page.
fn fit(canvas: &HtmlCanvasElement, store: &mut Store, at: Millis) -> f64 {
    let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
    let (width, height) = (f64::from(canvas.client_width()), f64::from(canvas.client_height()));
    if store.size != (width, height) {
        store.reduce(Action::Resize(width, height), at);
    }
    let device = ((width * ratio).round() as u32, (height * ratio).round() as u32);
    if (canvas.width(), canvas.height()) != device {
        canvas.set_width(device.0);
        canvas.set_height(device.1);
    }
    ratio
}
