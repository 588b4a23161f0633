//! Whether PLEG is healthy, counting.

use super::on;
use crate::{
    page::app::{App, Message},
    store::{Action, Millis, Store},
    view::{hit::Target, status},
};
use yew::{Context, Html, classes, html};

/// Share of the threshold from which on the badge warns.
const LATE: f64 = 0.5;

pub(super) fn badge(store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let badge = status::badge(store.health(at), store.threshold());
    let class = match badge.healthy {
        Some(true) => Some("good"),
        Some(false) => Some("bad"),
        None => None,
    };
    let late = (badge.share > LATE).then_some("late");
    // What was true when the agent was last heard.
    let old = (store.source.is_socket() && store.source.silence(at).is_none()).then_some("old");
    html! {
        <button id="health" class={classes!("badge", class, late, old)} title={format!("{}: what becomes of the node", badge.text)}
            onclick={on(ctx, || Message::Act(Action::Select(Some(Target::Node))))}>
            <span class="dot" />
            if !badge.word.is_empty() { <b>{ badge.word }</b> }
            <span class="text">{ badge.text }</span>
            <span class="fill" style={format!("width:{:.1}%", badge.share * 100.0)} />
        </button>
    }
}
