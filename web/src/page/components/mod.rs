//! What the page consists of, as elements. Texts are text nodes, never markup.

mod badge;
mod bar;
mod details;
mod empty;
mod help;
mod icon;
mod log;
mod notices;
mod relist;
mod timeline;
mod tools;

use super::app::{App, Message};
use crate::store::{Millis, Store};
use std::{cell::RefCell, rc::Rc};
use web_sys::{Event, HtmlInputElement};
use yew::{Callback, Context, Html, TargetCast, html};

/// The store, for elements that read it as they are drawn. What changes must be in their other properties.
#[derive(Clone)]
pub(super) struct Shared(pub(super) Rc<RefCell<Store>>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The whole page.
pub(super) fn page(app: &App, ctx: &Context<App>, at: Millis) -> Html {
    let store = &app.store.borrow();
    html! {
        <div class="app">
            { bar::bar(store, ctx, at) }
            if store.model.hello().is_some() {
                { tools::tools(app, store, ctx, at) }
                { relist::relist(store, ctx, at) }
            }
            { notices::notices(store, ctx) }
            <main class="work">
                { timeline::timeline(app, store, ctx, at) }
                { details::panel(store, ctx, at) }
                { log::log(app, store, ctx, at) }
            </main>
            { file_input(app, ctx) }
            if app.dragging { <div class="drop">{ "Drop the capture to open it" }</div> }
            if store.help { { help::help(store, ctx) } }
        </div>
    }
}

fn file_input(app: &App, ctx: &Context<App>) -> Html {
    let chosen = ctx.link().batch_callback(|event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>()?;
        input.files()?.get(0).map(Message::Chosen)
    });
    html! { <input ref={app.file_input.clone()} type="file" hidden=true accept=".plegcap,.gz,.jsonl" onchange={chosen} /> }
}

/// A callback that sends this message, whatever the event.
fn on<E: 'static>(ctx: &Context<App>, message: impl Fn() -> Message + 'static) -> Callback<E> {
    ctx.link().callback(move |_: E| message())
}
