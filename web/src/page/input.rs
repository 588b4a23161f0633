//! Keys, wheel and pointer as actions.

use super::{
    app::{App, Message},
    canvas::Canvas,
    warn,
};
use crate::store::{Action, Zooming};
use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{
    DragEvent, Element, Event, HtmlElement, HtmlInputElement, KeyboardEvent, PointerEvent, WheelEvent,
};
use yew::{Context, html::Scope};

/// Pixels of a line, for mice that scroll by lines.
const LINE: f64 = 18.0;
/// Pixels that the pointer may move in a click.
const CLICK: f64 = 3.0;
/// Zoom for one key press.
const KEY_ZOOM: f64 = 1.5;

/// The pointer while it is pressed.
#[derive(Clone, Copy)]
pub(super) struct Drag {
    last: (f64, f64),
    start: (f64, f64),
    pub(super) moved: bool,
}

/// Listens to what is not an element's own business.
pub(super) fn listeners(link: &Scope<App>) -> Vec<EventListener> {
    let Some(window) = web_sys::window() else { return Vec::new() };
    let active = EventListenerOptions::enable_prevent_default();
    let on = |name: &'static str, make: fn(Event) -> Option<Message>| {
        let link = link.clone();
        EventListener::new_with_options(&window, name, active, move |event| {
            if let Some(message) = make(event.clone()) {
                link.send_message(message);
            }
        })
    };
    vec![
        on("resize", |_| Some(Message::Repaint)),
        on("keydown", |event| key(event.dyn_ref()?)),
        on("dragover", |event| {
            event.prevent_default();
            Some(Message::Dragging(true))
        }),
        on("dragleave", |event| {
            let event: &DragEvent = event.dyn_ref()?;
            event.related_target().is_none().then_some(Message::Dragging(false))
        }),
        on("drop", |event| {
            event.prevent_default();
            let event: &DragEvent = event.dyn_ref()?;
            let file = event.data_transfer().and_then(|data| data.files()).and_then(|files| files.get(0));
            Some(file.map_or(Message::Dragging(false), Message::Chosen))
        }),
    ]
}

fn key(event: &KeyboardEvent) -> Option<Message> {
    let typing = event.target().is_some_and(|target| {
        let input = target.dyn_ref::<HtmlInputElement>();
        input.is_some_and(|input| input.type_() == "text")
    });
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return None;
    }
    let name = event.key();
    if typing {
        return (name == "Escape").then_some(Message::LeaveFilter);
    }
    if is_own_business(event, &name) {
        return None;
    }
    let message = key_message(&name, if event.shift_key() { 5.0 } else { 1.0 })?;
    event.prevent_default();
    Some(message)
}

/// Whether a key belongs to the control that has the focus. A button that was only clicked keeps the focus without
/// showing it: the keys are then still the page's.
fn is_own_business(event: &KeyboardEvent, name: &str) -> bool {
    let controls = match name {
        " " | "Enter" => "button:focus-visible, select, input, a",
        "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" | "Home" | "End" | "PageUp" | "PageDown" => {
            "select, input"
        }
        _ => return false,
    };
    let element = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    element.is_some_and(|element| element.matches(controls).unwrap_or(false))
}

fn key_message(name: &str, far: f64) -> Option<Message> {
    let action = match name {
        "ArrowLeft" => Action::Pan(-80.0 * far),
        "ArrowRight" => Action::Pan(80.0 * far),
        "ArrowUp" => Action::Scroll(-40.0 * far),
        "ArrowDown" => Action::Scroll(40.0 * far),
        "PageUp" => Action::Scroll(-400.0),
        "PageDown" => Action::Scroll(400.0),
        "+" | "=" => Action::Zoom(Zooming::By(1.0 / KEY_ZOOM, None)),
        "-" | "_" => Action::Zoom(Zooming::By(KEY_ZOOM, None)),
        "0" => Action::Zoom(Zooming::Fit),
        "Home" => Action::Home,
        "End" | "l" => Action::GoLive,
        " " => Action::TogglePause,
        "?" => return Some(Message::ToggleHelp),
        "/" => return Some(Message::FocusFilter),
        "t" => return Some(Message::ToggleTheme),
        "u" => return Some(Message::ToggleZone),
        "e" => return Some(Message::ToggleLog),
        "Escape" => return Some(Message::Escape),
        _ => return None,
    };
    Some(Message::Act(action))
}

/// The wheel over the timeline: rows scroll; with control it zooms, with shift it moves; above the rows it zooms.
pub(super) fn wheel(event: &WheelEvent) -> Action {
    let unit = if event.delta_mode() == WheelEvent::DOM_DELTA_PIXEL { 1.0 } else { LINE };
    let (dx, dy) = (event.delta_x() * unit, event.delta_y() * unit);
    let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return Action::Zoom(Zooming::By((dy * 0.004).exp(), Some(x)));
    }
    if event.shift_key() || dx.abs() > dy.abs() {
        return Action::Pan(if dx == 0.0 { dy } else { dx });
    }
    if Canvas::is_above_rows(y) {
        return Action::Zoom(Zooming::By((dy * 0.002).exp(), Some(x)));
    }
    Action::Scroll(dy)
}

/// Listens to the wheel where the browser lets the page keep it for itself.
pub(super) fn wheel_listener(canvas: &Element, link: &Scope<App>) -> EventListener {
    let link = link.clone();
    EventListener::new_with_options(
        canvas,
        "wheel",
        EventListenerOptions::enable_prevent_default(),
        move |event| {
            event.prevent_default();
            if let Some(event) = event.dyn_ref::<WheelEvent>() {
                link.send_message(Message::Act(wheel(event)));
            }
        },
    )
}

impl App {
    pub(super) fn pressed(&mut self, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let at = position(event);
        self.drag = Some(Drag { last: at, start: at, moved: false });
        if let Some(canvas) = self.canvas.node.cast::<HtmlElement>() {
            // Without capture a drag only ends at the canvas's edge.
            warn(canvas.set_pointer_capture(event.pointer_id()));
        }
    }

    pub(super) fn moved(&mut self, event: &PointerEvent, ctx: &Context<Self>) -> bool {
        let at = position(event);
        let Some(drag) = &mut self.drag else {
            let before = self.canvas.pointing.hover;
            self.canvas.pointing.cursor = Some(at);
            self.canvas.pointing.hover = self.canvas.target(at.0, at.1);
            self.repaint(ctx);
            return before.is_some() || self.canvas.pointing.hover.is_some();
        };
        let (dx, dy) = (at.0 - drag.last.0, at.1 - drag.last.1);
        drag.moved |= (at.0 - drag.start.0).abs() > CLICK || (at.1 - drag.start.1).abs() > CLICK;
        if !drag.moved {
            return false;
        }
        drag.last = at;
        self.canvas.pointing = Default::default();
        self.act(Action::Pan(-dx), ctx);
        self.act(Action::Scroll(-dy), ctx);
        true
    }

    pub(super) fn released(&mut self, event: &PointerEvent, ctx: &Context<Self>) {
        let Some(drag) = self.drag.take() else { return };
        if !drag.moved {
            let (x, y) = position(event);
            self.act(Action::Select(self.canvas.target(x, y)), ctx);
        }
    }
}

fn position(event: &PointerEvent) -> (f64, f64) {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}
