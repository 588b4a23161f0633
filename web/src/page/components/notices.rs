//! What the person should know, until it is put away.

use super::{icon, on};
use crate::{
    page::app::{App, Message},
    store::{Action, Store, Weight},
};
use yew::{Context, Html, classes, html};

/// Notices shown at once.
const SHOWN: usize = 3;

pub(super) fn notices(store: &Store, ctx: &Context<App>) -> Html {
    store.notices.iter().enumerate().take(SHOWN).map(|(index, notice)| {
        let (class, word) = match notice.weight {
            Weight::Warning => (None, "Note"),
            Weight::Error => (Some("error"), "Error"),
        };
        html! {
            <div key={index} class={classes!("notice", class)} role="alert">
                <b>{ word }</b>
                <p>{ &notice.text }</p>
                <button class="bare" onclick={on(ctx, move || Message::Act(Action::Dismiss(index)))} title="Put away"
                    aria-label="Put away">{ icon::close() }</button>
            </div>
        }
    }).collect()
}
