//! Does what the store asks for.

use super::{
    app::{App, Message},
    save,
    source::{file, socket::Socket},
};
use crate::store::{Action, Effect, Received, Weight};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use yew::Context;

impl App {
    pub(super) fn run(&mut self, effect: Effect, ctx: &Context<Self>) {
        let link = ctx.link();
        match effect {
            Effect::Connect(url) => {
                let to = link.callback(|received| Message::Act(Action::Socket(received)));
                self.socket = Socket::open(&url, &to);
                if self.socket.is_none() {
                    to.emit(Received::Closed);
                }
            }
            Effect::Disconnect => {
                self.socket = None;
                self.retry = None;
            }
            Effect::ReconnectIn(wait) => {
                let again = link.callback(|()| Message::Act(Action::Reconnect));
                self.retry = Some(Timeout::new(wait as u32, move || again.emit(())));
            }
            Effect::Save(name) => {
                let parts = self.store.borrow().recording.parts().map(JsValue::from_str).collect();
                let tell = link.callback(|error: JsValue| {
                    let text = error.as_string().unwrap_or_else(|| format!("{error:?}"));
                    Message::Act(Action::Tell(Weight::Error, format!("The capture cannot be saved: {text}")))
                });
                spawn_local(async move {
                    if let Err(error) = save::save(name, parts).await {
                        tell.emit(error);
                    }
                });
            }
        }
    }

    pub(super) fn open_url(&self, url: String, ctx: &Context<Self>) {
        spawn_local(file::read_url(url, self.output(ctx)));
    }

    pub(super) fn open_file(&self, file: web_sys::File, ctx: &Context<Self>) {
        spawn_local(file::read_file(file, self.output(ctx)));
    }

    /// Takes the pieces of a new reading; those before it end.
    fn output(&self, ctx: &Context<Self>) -> file::Output {
        let reading = self.reading.get() + 1;
        self.reading.set(reading);
        let latest = self.reading.clone();
        let send = ctx.link().callback(move |piece| Message::Act(Action::File(reading, piece)));
        file::Output::new(move || latest.get() == reading, send)
    }
}
