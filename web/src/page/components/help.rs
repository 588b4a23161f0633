//! The sheet of keys and signs.

use super::{icon, on};
use crate::{
    format,
    page::app::{App, Message},
    store::{Action, CAPACITY, HOURS, Store},
    view::{
        marks::Glyph,
        spans::Look,
        theme::{self, Pattern},
    },
};
use yew::{Context, Html, html};

const KEYS: [(&[&str], &str); 12] = [
    (&["←", "→"], "move; with shift farther"),
    (&["↑", "↓"], "scroll the rows"),
    (&["+", "−"], "zoom"),
    (&["0"], "show everything"),
    (&["Home"], "to the beginning"),
    (&["End", "l"], "to the newest, and follow it"),
    (&["space"], "pause, or play from here"),
    (&["/"], "filter"),
    (&["u"], "local time or UTC"),
    (&["t"], "dark or light"),
    (&["e"], "open or close the event log"),
    (&["Esc"], "close what is open"),
];

const MOUSE: [(&[&str], &str); 4] = [
    (&["drag"], "move and scroll"),
    (&["ctrl", "wheel"], "zoom at the pointer"),
    (&["shift", "wheel"], "move"),
    (&["click"], "details of a span, event, call or pod"),
];

const LOOKS: [(Look, &str); 7] = [
    (Look::Created, "created, not started (unknown to PLEG)"),
    (Look::Running, "running"),
    (Look::Completed, "exited with code 0"),
    (Look::Failed, "exited with another code"),
    (Look::Unknown, "state unknown"),
    (Look::Ready, "sandbox ready"),
    (Look::NotReady, "sandbox not ready, or exit not inspected"),
];

const GLYPHS: [(Glyph, &str); 5] = [
    (Glyph::Started, "ContainerStarted"),
    (Glyph::Died, "ContainerDied"),
    (Glyph::Removed, "ContainerRemoved"),
    (Glyph::Sync, "PodSync: inspected again, no change"),
    (Glyph::Held, "events held back: the inspection failed"),
];

pub(super) fn help(store: &Store, ctx: &Context<App>) -> Html {
    html! {
        <div class="sheet" role="dialog" aria-label="Keys and signs" onclick={on(ctx, || Message::Act(Action::Help(false)))}>
            <div onclick={|event: web_sys::MouseEvent| event.stop_propagation()}>
                <div class="head">
                    <h2>{ "Keys and signs" }</h2>
                    <button class="bare" onclick={on(ctx, || Message::Act(Action::Help(false)))} aria-label="Close">{ icon::close() }</button>
                </div>
                <div class="columns">
                    <div>
                        <h3>{ "Keys" }</h3>
                        { keys(&KEYS) }
                        <h3>{ "Pointer" }</h3>
                        { keys(&MOUSE) }
                    </div>
                    <div>
                        <h3>{ "Containers and sandboxes" }</h3>
                        <dl class="legend">{ for LOOKS.iter().map(|(look, text)| swatch(store, *look, text)) }</dl>
                        <h3>{ "Events" }</h3>
                        <dl class="legend">
                            { for GLYPHS.iter().map(|(glyph, text)| html! { <><dt>{ glyph.symbol() }</dt><dd>{ *text }</dd></> }) }
                            <dt>{ "◯" }</dt><dd>{ "ringed: lost to a full channel" }</dd>
                        </dl>
                        <h3>{ "How far back" }</h3>
                        <p class="dim">{ format!("A live page keeps {HOURS} hours, and of those {} relists, calls and events. What is in \
                            sight does not go for its age. A capture is shown whole.", format::count(CAPACITY)) }</p>
                        <h3>{ "Below a container" }</h3>
                        <p class="dim">{ "A thin line is an older attempt that is still listed: every inspection of the pod pays for it." }</p>
                    </div>
                </div>
            </div>
        </div>
    }
}

fn keys(keys: &'static [(&'static [&'static str], &'static str)]) -> Html {
    html! {
        <dl>
            { for keys.iter().map(|(keys, text)| html! {
                <><dt>{ for keys.iter().map(|key| html! { <><kbd>{ *key }</kbd>{ " " }</> }) }</dt><dd>{ *text }</dd></>
            }) }
        </dl>
    }
}

fn swatch(store: &Store, look: Look, text: &'static str) -> Html {
    let (ink, pattern) = theme::style(look);
    let (color, ground) = (store.settings.theme.color(ink), store.settings.theme.color(theme::Ink::Ground));
    let style = match pattern {
        Pattern::Solid => format!("background:{color}"),
        Pattern::Hollow => format!("border:1px solid {color}"),
        Pattern::Striped => {
            format!(
                "background:repeating-linear-gradient(135deg,{color} 0 3px,color-mix(in srgb,{color},{ground} 42%) 3px 5px)"
            )
        }
        Pattern::Dotted => {
            format!("background:radial-gradient({ground} 25%,transparent 30%) 0 0/5px 5px,{color}")
        }
    };
    html! { <><dt><div class="swatch" {style} /></dt><dd>{ text }</dd></> }
}
