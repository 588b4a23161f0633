//! Whether PLEG is healthy, counting.

use crate::{
    store::{Millis, Store},
    view::status,
};
use yew::{Html, classes, html};

/// Share of the threshold from which on the badge warns.
const LATE: f64 = 0.5;

pub(super) fn badge(store: &Store, at: Millis) -> Html {
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
        <div id="health" class={classes!("badge", class, late, old)} title={badge.text.clone()}>
            <span class="dot" />
            if !badge.word.is_empty() { <b>{ badge.word }</b> }
            <span class="text">{ badge.text }</span>
            <span class="fill" style={format!("width:{:.1}%", badge.share * 100.0)} />
        </div>
    }
}
