//! `window.plegscope`: what the page has derived, for tests and for the console.

use super::warn;
use crate::store::Store;
use js_sys::{Function, Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use std::{cell::RefCell, rc::Rc};
use wasm_bindgen::{JsValue, closure::Closure};

/// Health as an object.
#[derive(Serialize)]
struct HealthReport {
    healthy: bool,
    /// Nanoseconds since the last good listing began; null when none succeeded.
    age: Option<i64>,
    /// Threshold in nanoseconds.
    threshold: i64,
    /// The kubelet's text when unhealthy.
    error: Option<String>,
}

/// Sizes of what is held.
#[derive(Serialize)]
struct Stats {
    frames: u64,
    events: usize,
    relists: usize,
    pods: usize,
    recorded_bytes: usize,
    painted: u64,
    live: bool,
}

/// Makes `window.plegscope`.
pub(super) fn install(store: &Rc<RefCell<Store>>, painted: &Rc<RefCell<u64>>) {
    let api = Object::new();
    let (of_events, of_health, of_stats, of_frames) =
        (store.clone(), store.clone(), store.clone(), store.clone());
    let painted = painted.clone();
    let made = method(&api, "events", move || JsValue::from_str(&events(&of_events.borrow())))
        .and_then(|()| method(&api, "health", move || plain(&health(&of_health.borrow()))))
        .and_then(|()| method(&api, "stats", move || plain(&stats(&of_stats.borrow(), *painted.borrow()))))
        .and_then(|()| {
            getter(&api, "frames", move || JsValue::from_f64(of_frames.borrow().model.frames() as f64))
        })
        .and_then(|()| Reflect::set(&js_sys::global(), &"plegscope".into(), &api));
    warn(made);
}

fn method(api: &Object, name: &str, answer: impl Fn() -> JsValue + 'static) -> Result<(), JsValue> {
    // Lives as long as the page.
    let function: Function = Closure::<dyn Fn() -> JsValue>::new(answer).into_js_value().into();
    Reflect::set(api, &name.into(), &function).map(|_| ())
}

fn getter(api: &Object, name: &str, answer: impl Fn() -> JsValue + 'static) -> Result<(), JsValue> {
    let function = Closure::<dyn Fn() -> JsValue>::new(answer).into_js_value();
    let descriptor = Object::new();
    Reflect::set(&descriptor, &"get".into(), &function)?;
    Reflect::define_property(api, &name.into(), &descriptor).map(|_| ())
}

fn plain(value: &impl Serialize) -> JsValue {
    let serializer = Serializer::new().serialize_missing_as_null(true);
    value.serialize(&serializer).unwrap_or_else(|error| JsValue::from_str(&error.to_string()))
}

fn events(store: &Store) -> String {
    store.model.events().iter().map(|event| event.to_json() + "\n").collect()
}

fn health(store: &Store) -> HealthReport {
    let health = store.model.health(store.edge(super::page_clock()));
    HealthReport {
        healthy: health.is_healthy(),
        age: health.age(),
        threshold: store.threshold(),
        error: health.error(),
    }
}

fn stats(store: &Store, painted: u64) -> Stats {
    Stats {
        frames: store.model.frames(),
        events: store.model.events().len(),
        relists: store.model.timeline().relists().len(),
        pods: store.model.timeline().pods().len(),
        recorded_bytes: store.recording.bytes(),
        painted,
        live: store.model.is_live(),
    }
}
