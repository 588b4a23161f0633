//! The event log: newest at the bottom, only the visible rows as elements.

use super::{Shared, icon, on};
use crate::{
    format,
    page::app::{App, Message},
    store::{Action, Millis, Store},
    view::marks::Glyph,
};
use pleg_core::{follow::EventLine, id::short_id, pleg::EventType, time::Time};
use web_sys::{Element, Event};
use yew::{
    Callback, Context, Html, Properties, TargetCast, classes, component, html, use_effect_with, use_node_ref,
    use_state,
};

/// Height of a row in pixels.
const ROW: f64 = 22.0;
/// Rows that fit, and some to spare.
const SHOWN: usize = 14;

#[derive(Properties, PartialEq)]
struct Props {
    shared: Shared,
    /// The matching events that are shown.
    count: usize,
    /// The last of them, to see a change of filter.
    last: Option<usize>,
    now: Time,
    filter: String,
    zone: format::Zone,
    chosen: Option<usize>,
    reveal: Callback<usize>,
}

pub(super) fn log(app: &App, store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let events = store.model.events();
    let now = store.now(at);
    let matching = store.log.until(events, now);
    let count = match store.filter.is_empty() {
        true => format::counted(matching.len(), "event"),
        false => format!("{} of {}", format::count(matching.len()), format::counted(events.len(), "event")),
    };
    let discarded =
        matching.iter().filter(|index| events.get(**index).is_some_and(|event| event.discarded)).count();
    let (picture, title) =
        if app.log_open { (icon::down(), "Close the log (e)") } else { (icon::up(), "Open the log (e)") };
    html! {
        <section class={classes!("log", (!app.log_open).then_some("closed"))} aria-label="Event log">
            <header>
                <b>{ "Events" }</b>
                <span class="dim" id="event-count">{ count }</span>
                if discarded > 0 {
                    <span class="bad-tone">{ format!("{} lost to a full channel", format::count(discarded)) }</span>
                }
                <div class="space" />
                <button class="bare" onclick={on(ctx, || Message::ToggleLog)} {title} aria-label={title}>{ picture }</button>
            </header>
            if app.log_open {
                <Rows shared={app.shared()} count={matching.len()} last={matching.last().copied()} filter={store.filter.text().to_owned()}
                    now={matching.last().and_then(|index| events.get(*index)).map_or(now, |event| event.time)}
                    zone={store.settings.zone} chosen={store.chosen_event}
                    reveal={ctx.link().callback(|index| Message::Act(Action::Reveal(index)))} />
            }
        </section>
    }
}

/// A component with its own scrolling, left alone while no event comes.
#[component]
fn Rows(props: &Props) -> Html {
    let node = use_node_ref();
    let top = use_state(|| 0.0_f64);
    let at_end = use_state(|| true);
    let scrolled = {
        let (top, at_end) = (top.clone(), at_end.clone());
        Callback::from(move |event: Event| {
            let Some(element) = event.target_dyn_into::<Element>() else { return };
            let position = f64::from(element.scroll_top());
            at_end.set(
                position + f64::from(element.client_height()) + ROW >= f64::from(element.scroll_height()),
            );
            top.set((position / ROW).floor() * ROW);
        })
    };
    {
        let (node, at_end) = (node.clone(), *at_end);
        use_effect_with((props.count, props.filter.clone()), move |_| {
            if at_end && let Some(element) = node.cast::<Element>() {
                element.set_scroll_top(element.scroll_height());
            }
        });
    }
    if props.count == 0 {
        return html! { <div class="none">{ "No event" }{ if props.filter.is_empty() { " yet" } else { " matches" } }</div> };
    }
    let store = props.shared.0.borrow();
    let events = store.model.events();
    let matching = store.log.until(events, props.now);
    let first = ((*top / ROW) as usize).saturating_sub(2).min(matching.len().saturating_sub(SHOWN));
    let visible = matching.iter().enumerate().skip(first).take(SHOWN);
    let rows = visible.filter_map(|(place, index)| Some(row(place, *index, events.get(*index)?, props)));
    html! {
        <div class="rows" id="events" ref={node} onscroll={scrolled}>
            <div class="spacer" style={format!("height:{:.0}px", props.count as f64 * ROW)}>{ for rows }</div>
        </div>
    }
}

fn row(place: usize, index: usize, event: &EventLine, props: &Props) -> Html {
    let class = match event.kind {
        EventType::ContainerStarted => Some("started"),
        EventType::ContainerDied => Some("died"),
        _ => None,
    };
    let kind = format!("{} {}", Glyph::of_event(event.kind).symbol(), event.kind.name());
    let subject = if event.attempt > 0 {
        format!("{} #{}", event.subject(), event.attempt)
    } else {
        event.subject().into()
    };
    let note = match (event.discarded, event.exit_code) {
        (true, _) => "discarded".into(),
        (false, Some(code)) => format!("exit {code}"),
        _ => String::new(),
    };
    let id = event.id.as_deref().unwrap_or_default();
    let reveal = props.reveal.clone();
    html! {
        <div key={index} class={classes!("row", (props.chosen == Some(index)).then_some("chosen"))}
            style={format!("top:{:.0}px", place as f64 * ROW)} onclick={move |_| reveal.emit(index)}>
            <span class="dim">{ format::clock(event.time, props.zone, 3) }</span>
            <span class="dim">{ event.relist }</span>
            <span class={classes!(class, event.discarded.then_some("lost"))}>{ kind }</span>
            <span><span class="dim">{ format!("{}/", event.namespace) }</span>{ &event.pod }</span>
            <span>{ subject }</span>
            <span class={classes!((event.discarded || event.exit_code.is_some_and(|code| code != 0)).then_some("bad-tone"))}>{ note }</span>
            <span class="mono" title={id.to_owned()}>{ short_id(id) }</span>
        </div>
    }
}
