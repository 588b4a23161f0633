//! What stands in the timeline's place while there is nothing to show.

use super::{icon, on};
use crate::{
    page::app::{App, Message},
    store::{SourceState, Store},
};
use yew::{Context, Html, html};

pub(super) fn empty(app: &App, store: &Store, ctx: &Context<App>) -> Html {
    match store.source.state {
        SourceState::Reading { done, total } => return reading(store, done, total),
        _ if store.model.hello().is_some() => return nothing_matches(app, store),
        _ => {}
    }
    let (title, text) = match store.source.state {
        SourceState::Connecting { failures: 0 } => ("Connecting to the agent", store.source.name.clone()),
        SourceState::Connecting { .. } | SourceState::Lost { .. } => {
            ("No agent answers", format!("{} is tried again and again.", store.source.name))
        }
        SourceState::Connected { .. } => ("Waiting for the agent's first words", String::new()),
        _ => ("Nothing to show yet", String::new()),
    };
    html! {
        <div class="empty">
            <h1>{ title }</h1>
            <p>{ text }</p>
            <p>{ "To look at a recording, drop a " }<code>{ "*.plegcap" }</code>{ " file here. To watch a node, run " }
                <code>{ "plegscope serve" }</code>{ " on it and open the address that it prints." }</p>
            <button onclick={on(ctx, || Message::AskForFile)}>{ icon::open() }{ "Open a capture" }</button>
        </div>
    }
}

fn reading(store: &Store, done: u64, total: u64) -> Html {
    let share = if total > 0 { done as f64 / total as f64 * 100.0 } else { 50.0 };
    html! {
        <div class="empty">
            <h1>{ "Reading the capture" }</h1>
            <p>{ &store.source.name }</p>
            <div class="progress"><div style={format!("width:{share:.0}%")} /></div>
        </div>
    }
}

fn nothing_matches(app: &App, store: &Store) -> Html {
    if store.filter.is_empty() || !store.order.is_empty() || app.canvas.pods() > 0 {
        return Html::default();
    }
    html! { <div class="nothing">{ format!("No pod matches “{}”", store.filter.text()) }</div> }
}
