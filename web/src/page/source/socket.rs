//! The socket of the agent.

use crate::{page::warn, store::Received};
use gloo_events::EventListener;
use wasm_bindgen::JsCast;
use web_sys::{MessageEvent, WebSocket};
use yew::Callback;

/// An open or opening socket; dropping it closes it silently.
pub(crate) struct Socket {
    socket: WebSocket,
    _listeners: [EventListener; 3],
}

impl Socket {
    /// Opens a socket. None when the address is refused by the browser.
    pub(crate) fn open(url: &str, to: &Callback<Received>) -> Option<Self> {
        let socket = WebSocket::new(url).ok()?;
        let (opened, text, closed) = (to.clone(), to.clone(), to.clone());
        let listeners = [
            EventListener::new(&socket, "open", move |_| opened.emit(Received::Opened)),
            EventListener::new(&socket, "message", move |event| {
                let message = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().as_string());
                if let Some(lines) = message {
                    text.emit(Received::Text(lines));
                }
            }),
            EventListener::new(&socket, "close", move |_| closed.emit(Received::Closed)),
        ];
        Some(Self { socket, _listeners: listeners })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        warn(self.socket.close());
    }
}

/// `/ws` beside the page; none when the page was not loaded over HTTP.
pub(crate) fn own_url() -> Option<String> {
    let location = web_sys::window()?.location();
    let scheme = match location.protocol().ok()?.as_str() {
        "http:" => "ws:",
        "https:" => "wss:",
        _ => return None,
    };
    let path = location.pathname().ok()?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(format!("{scheme}//{}{folder}/ws", location.host().ok()?))
}

/// The address in `?capture=…`.
pub(crate) fn capture_url() -> Option<String> {
    let search = web_sys::window()?.location().search().ok()?;
    let params = web_sys::UrlSearchParams::new_with_str(&search).ok()?;
    params.get("capture").filter(|url| !url.is_empty())
}
