//! The panel with everything known about the chosen thing.

use super::{icon, on};
use crate::{
    page::app::{App, Message},
    store::{Action, Millis, Store},
    view::{
        details::{Details, Fact, Table, Tone},
        hit::Target,
    },
};
use yew::{Callback, Context, Html, Properties, classes, component, html};

#[derive(Properties, PartialEq)]
struct Props {
    details: Details,
    choose: Callback<Option<Target>>,
    copy: Callback<String>,
}

/// The panel, when something is chosen.
pub(super) fn panel(store: &Store, ctx: &Context<App>, at: Millis) -> Html {
    let Some(target) = store.selected else { return Html::default() };
    let known = store.known(at);
    let Some(details) = known.details(target) else { return Html::default() };
    let title = details.title.clone();
    html! {
        <aside id="details" class="details" aria-label="Details">
            <header>
                <div>
                    <span class="kind">{ details.kind }</span>
                    <h2>{ title }</h2>
                    <span class="sub">{ details.subtitle.clone() }</span>
                </div>
                <button class="bare" onclick={on(ctx, || Message::Act(Action::Select(None)))} title="Close (Esc)"
                    aria-label="Close">{ icon::close() }</button>
            </header>
            <Body {details} choose={ctx.link().callback(|target| Message::Act(Action::Select(target)))}
                copy={ctx.link().callback(Message::Copy)} />
        </aside>
    }
}

/// Class of a tone.
pub(super) fn tone(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain | Tone::Id => None,
        Tone::Bad => Some("bad-tone"),
        Tone::Notice => Some("notice-tone"),
    }
}

/// A component, so that it is left alone while nothing in it changes.
#[component]
fn Body(props: &Props) -> Html {
    html! {
        <div class="body">
            <dl class="facts">{ for props.details.facts.iter().map(|one| fact(one, &props.copy)) }</dl>
            { for props.details.tables.iter().filter(|table| !table.rows.is_empty()).map(|one| table(one, &props.choose)) }
        </div>
    }
}

fn fact(fact: &Fact, copy: &Callback<String>) -> Html {
    let value = fact.value.clone();
    if fact.tone == Tone::Id {
        let (copy, text) = (copy.clone(), value.clone());
        return html! {
            <>
                <dt>{ fact.name }</dt>
                <dd class="id">
                    <code title={value.clone()}>{ value }</code>
                    <button onclick={move |_| copy.emit(text.clone())}>{ "copy" }</button>
                </dd>
            </>
        };
    }
    html! { <><dt>{ fact.name }</dt><dd class={tone(fact.tone)}>{ value }</dd></> }
}

fn table(table: &Table, choose: &Callback<Option<Target>>) -> Html {
    let number = |column: usize| (column >= table.texts).then_some("number");
    let rows = table.rows.iter().map(|row| {
        let (choose, target) = (choose.clone(), row.target);
        let cells = row.cells.iter().enumerate().map(|(column, cell)| {
            let sub = if column == 0 { row.sub.as_str() } else { "" };
            html! {
                <td class={number(column)} title={format!("{cell} {sub}")}>
                    { cell }
                    if !sub.is_empty() { <span class="sub">{ sub }</span> }
                </td>
            }
        });
        let class = classes!(tone(row.tone), target.is_some().then_some("link"));
        let chosen = move |_| {
            if target.is_some() {
                choose.emit(target);
            }
        };
        html! { <tr {class} onclick={chosen}>{ for cells }</tr> }
    });
    html! {
        <>
            <h3>{ &table.title }</h3>
            <table>
                <thead><tr>{ for table.columns.iter().enumerate().map(|(column, name)| html! { <th class={number(column)}>{ *name }</th> }) }</tr></thead>
                <tbody>{ for rows }</tbody>
            </table>
            if table.more > 0 { <p class="dim">{ format!("and {} more", table.more) }</p> }
        </>
    }
}
