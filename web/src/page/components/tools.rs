//! The tools: replay, zoom, zone and filter.

use super::{icon, on};
use crate::{
    format,
    page::app::{App, Message},
    store::{Action, Head, Millis, SPEEDS, Store, Zooming},
};
use pleg_core::time::Time;
use web_sys::{Event, HtmlInputElement, HtmlSelectElement, InputEvent};
use yew::{Context, Html, TargetCast, html};

/// Steps of the slider.
const STEPS: i64 = 2_000;

pub(super) fn tools(app: &App, store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    html! {
        <div class="tools">
            { transport(store, ctx) }
            { scrub(store, ctx, at) }
            <div class="group optional">
                <button onclick={on(ctx, || zoom(1.5))} title="Zoom out (−)" aria-label="Zoom out">{ "−" }</button>
                <span class="length" title="Length of the visible time">{ format::duration(store.span(at)) }</span>
                <button onclick={on(ctx, || zoom(1.0 / 1.5))} title="Zoom in (+)" aria-label="Zoom in">{ "+" }</button>
                <button onclick={on(ctx, || Message::Act(Action::Zoom(Zooming::Fit)))} title="Show everything (0)">{ "Fit" }</button>
                <button class="bare" onclick={on(ctx, || Message::ToggleZone)} title="Local time or UTC (u)">
                    { store.settings.zone.name() }
                </button>
            </div>
            <div class="space" />
            { filter(app, store, ctx) }
        </div>
    }
}

fn zoom(factor: f64) -> Message {
    Message::Act(Action::Zoom(Zooming::By(factor, None)))
}

fn transport(store: &Store, ctx: &Context<App>) -> Html {
    let live = store.source.is_socket();
    let runs = store.head.is_playing() || (live && store.head == Head::Edge);
    let (picture, title) =
        if runs { (icon::pause(), "Pause (space)") } else { (icon::play(), "Play (space)") };
    let at_edge = store.head == Head::Edge && store.window.follow;
    let speed = ctx.link().batch_callback(|event: Event| {
        let select = event.target_dyn_into::<HtmlSelectElement>()?;
        Some(Message::Act(Action::Play(select.value().parse().ok()?)))
    });
    html! {
        <div class="group">
            <button id="pause" onclick={on(ctx, || Message::Act(Action::TogglePause))} {title} aria-label={title}>{ picture }</button>
            if live {
                <button id="live" aria-pressed={at_edge.to_string()} title="Follow the newest (l)"
                    onclick={on(ctx, || Message::Act(Action::GoLive))}>{ "Live" }</button>
            }
            <select id="speed" title="Play at this speed" aria-label="Speed" onchange={speed}>
                { for SPEEDS.iter().map(|speed| html! {
                    <option value={speed.to_string()} selected={*speed == store.speed}>{ format!("{speed}×") }</option>
                }) }
            </select>
        </div>
    }
}

fn scrub(store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let (start, now, edge) = (store.start(), store.now(at), store.edge(at));
    let length = edge.since(start).max(1);
    let step = (i128::from(now.since(start)) * i128::from(STEPS) / i128::from(length)) as i64;
    let seek = ctx.link().batch_callback(move |event: InputEvent| {
        let value: i64 = event.target_dyn_into::<HtmlInputElement>()?.value().parse().ok()?;
        let time = if value >= STEPS { edge } else { start + (length / STEPS).max(1) * value };
        Some(Message::Act(Action::Seek(time)))
    });
    html! {
        <div class="scrub optional">
            <span class="at" id="now">{ shown(store, now, edge) }</span>
            <input type="range" min="0" max={STEPS.to_string()} value={step.to_string()} oninput={seek} aria-label="Shown moment" />
        </div>
    }
}

/// Clock of the shown moment, or how far it is behind.
fn shown(store: &Store, now: Time, edge: Time) -> String {
    if store.model.hello().is_none() {
        return String::new();
    }
    let clock = format::clock(now, store.settings.zone, 0);
    match store.head {
        Head::Edge => clock,
        _ if store.source.is_socket() => format!("{clock}, {} behind", format::duration(edge.since(now))),
        _ => clock,
    }
}

fn filter(app: &App, store: &Store, ctx: &Context<App>) -> Html {
    let typed = ctx.link().batch_callback(|event: InputEvent| {
        Some(Message::Act(Action::Filter(event.target_dyn_into::<HtmlInputElement>()?.value())))
    });
    let all = store.model.timeline().pods().len();
    let count = if store.filter.is_empty() {
        format::counted(all, "pod")
    } else {
        format!("{} of {}", format::count(store.order.len()), format::counted(all, "pod"))
    };
    html! {
        <label class="filter">
            <input id="filter" ref={app.filter.clone()} type="text" placeholder="Filter pods and events  ( / )" spellcheck="false"
                autocomplete="off" value={store.filter.text().to_owned()} oninput={typed} aria-label="Filter pods and events" />
            if all > 0 { <span class="count">{ count }</span> }
        </label>
    }
}
