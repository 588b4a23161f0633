//! The page itself: the only part that knows the browser.

mod app;
mod canvas;
mod components;
mod effects;
mod input;
mod paint;
mod save;
mod settings;
mod source;
mod window_api;

use wasm_bindgen::JsValue;

/// Starts the page.
pub fn run() {
    std::panic::set_hook(Box::new(|info| {
        web_sys::console::error_1(&JsValue::from_str(&info.to_string()));
        show_crash();
    }));
    yew::Renderer::<app::App>::new().render();
}

/// The last thing that the page can do after a fault of its own.
fn show_crash() {
    let body = web_sys::window().and_then(|window| window.document()).and_then(|document| document.body());
    if let Some(body) = body {
        body.set_text_content(Some(
            "plegscope has stopped because of a fault of its own. Reload the page to go on.",
        ));
    }
}

/// Writes what the browser refused into its console: the page goes on without it.
fn warn<T>(result: Result<T, JsValue>) {
    if let Err(error) = result {
        web_sys::console::warn_1(&error);
    }
}

/// Milliseconds since the page was opened.
fn page_clock() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}
