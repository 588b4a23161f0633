//! The timeline's canvas, what floats over it, and what stands there while it is empty.

use super::empty;
use crate::{
    page::app::{App, Message, sends},
    store::{Millis, Store},
    view::details::Tone,
};
use yew::{Context, Html, classes, html};

/// Facts in the box at the pointer.
const FACTS: usize = 5;

pub(super) fn timeline(app: &App, store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let dragging = app.drag.is_some_and(|drag| drag.moved);
    let class = classes!(
        "timeline",
        app.canvas.pointing.hover.is_some().then_some("pointing"),
        dragging.then_some("dragging")
    );
    html! {
        <section {class} aria-label="Timeline">
            <canvas id="timeline" ref={app.canvas.node.clone()}
                onpointerdown={sends(ctx, Message::Pressed)}
                onpointermove={sends(ctx, Message::Moved)}
                onpointerup={sends(ctx, Message::Released)}
                onpointerleave={sends(ctx, |_| Message::Left)} />
            { tip(app, store, at) }
            { empty::empty(app, store, ctx) }
        </section>
    }
}

fn tip(app: &App, store: &Store, at: Millis) -> Html {
    let pointing = &app.canvas.pointing;
    let (Some((x, y)), Some(target)) = (pointing.cursor, pointing.hover) else { return Html::default() };
    let known = store.known(at);
    let Some(details) = known.details(target) else { return Html::default() };
    // Away from the pointer, towards the middle of the timeline.
    let (width, height) = store.size;
    let across = if x > width / 2.0 {
        format!("right:{:.0}px", width - x + 14.0)
    } else {
        format!("left:{:.0}px", x + 14.0)
    };
    let down = if y > height / 2.0 {
        format!("bottom:{:.0}px", height - y + 14.0)
    } else {
        format!("top:{:.0}px", y + 18.0)
    };
    html! {
        <div class="tip" style={format!("{across};{down}")}>
            <b>{ details.title }</b>
            <span class="sub">{ format!("{} · {}", details.kind, details.subtitle) }</span>
            <dl>
                { for details.facts.into_iter().filter(|fact| fact.tone != Tone::Id).take(FACTS).map(|fact| html! {
                    <><dt>{ fact.name }</dt><dd class={super::details::tone(fact.tone)}>{ fact.value }</dd></>
                }) }
            </dl>
        </div>
    }
}
