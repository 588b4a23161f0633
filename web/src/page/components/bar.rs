//! The top bar: which node, how PLEG is, what can be opened and saved.

use super::{badge, icon, on};
use crate::{
    format,
    page::app::{App, Message},
    store::{Action, Millis, SourceState, Store},
};
use yew::{Context, Html, classes, html};

pub(super) fn bar(store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let known = store.model.hello().is_some();
    html! {
        <header class="bar">
            <div class="brand">{ icon::brand() }<span class="label">{ "plegscope" }</span></div>
            { node(store, at) }
            <div class="space" />
            if known { { badge::badge(store, ctx, at) } }
            <div class="group">
                <button onclick={on(ctx, || Message::AskForFile)} title="Open a capture (*.plegcap)">
                    { icon::open() }<span class="label">{ "Open" }</span>
                </button>
                { save(store, ctx) }
                <button class="bare" onclick={on(ctx, || Message::ToggleTheme)} title="Dark or light (t)" aria-label="Dark or light">
                    { icon::theme() }
                </button>
                <button class="bare" onclick={on(ctx, || Message::ToggleHelp)} title="Keys and signs (?)" aria-label="Help">
                    { "?" }
                </button>
            </div>
        </header>
    }
}

fn save(store: &Store, ctx: &Context<App>) -> Html {
    if !store.source.is_socket() {
        return Html::default();
    }
    let bytes = store.recording.bytes();
    let title = match store.recording.has_dropped() {
        true => format!("Save the last {} that were received as a capture", format::bytes(bytes as u64)),
        false => format!("Save all that was received ({}) as a capture", format::bytes(bytes as u64)),
    };
    html! {
        <button disabled={bytes == 0} onclick={on(ctx, || Message::Act(Action::Save))} {title}>
            { icon::save() }<span class="label">{ "Save" }</span>
        </button>
    }
}

fn node(store: &Store, at: Millis) -> Html {
    let (class, state) = state(store, at);
    let (name, runtime) = match store.model.hello() {
        Some(hello) => {
            let runtime = &hello.runtime;
            let name = format!("{} {}", runtime.name, runtime.version);
            let api = if runtime.api.is_empty() { String::new() } else { format!(" · CRI {}", runtime.api) };
            let text = format!("{}{api} · kubelet {}", name.trim(), format::followed(&hello.kubelet));
            (hello.node.clone(), text)
        }
        None => (String::new(), String::new()),
    };
    let since = match store.forgot {
        true => format!("kept since {}", format::clock(store.start(), store.settings.zone, 0)),
        false => String::new(),
    };
    html! {
        <div class="node">
            <div>
                <b>{ name }</b>
                if !state.is_empty() { <span id="source" class={classes!("state", class)}>{ state }</span> }
            </div>
            <div class="origin" title={store.source.name.clone()}>
                { [since, runtime, store.source.name.clone()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ") }
            </div>
        </div>
    }
}

fn state(store: &Store, at: Millis) -> (&'static str, String) {
    match store.source.state {
        SourceState::None => ("", String::new()),
        SourceState::Connecting { .. } => ("busy", "connecting".into()),
        SourceState::Connected { .. } if store.model.is_live() => ("live", "live".into()),
        SourceState::Connected { .. } => ("busy", "receiving the past".into()),
        SourceState::Lost { retry_at, .. } => {
            let seconds = ((retry_at - at) / 1000.0).ceil().max(0.0);
            ("lost", format!("not connected, next try in {seconds} s"))
        }
        SourceState::Reading { done, total } => {
            let of = if total > 0 { format!(" of {}", format::bytes(total)) } else { String::new() };
            ("busy", format!("reading {}{of}", format::bytes(done)))
        }
        SourceState::Read => ("", "capture".into()),
    }
}
