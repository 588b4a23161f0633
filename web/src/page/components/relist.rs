//! What the relist is doing or has done, in one line.

use super::on;
use crate::{
    page::app::{App, Message},
    store::{Action, Millis, Store},
    view::{hit::Target, status},
};
use pleg_core::follow::Follower;
use yew::{Context, Html, classes, html};

pub(super) fn relist(store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let progress = store.known(at).newest.and_then(Follower::progress);
    let Some(line) = status::relist_line(store.model.timeline(), progress, store.now(at)) else {
        return html! { <div id="relist" class="relist">{ "No relist yet" }</div> };
    };
    let n = line.n;
    html! {
        <div id="relist" class={classes!("relist", line.hanging.then_some("hanging"))}
            onclick={on(ctx, move || Message::Act(Action::Select(Some(Target::Relist(n)))))}>
            <b>{ line.title }</b>
            { for line.parts.into_iter().map(|part| html! { <span>{ part }</span> }) }
        </div>
    }
}
