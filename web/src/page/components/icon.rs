//! Small pictures.

use yew::{Html, html};

/// A picture of one path in a square of 16.
fn icon(path: &'static str) -> Html {
    html! { <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg> }
}

pub(super) fn pause() -> Html {
    icon("M4 2.5h3v11H4zM9 2.5h3v11H9z")
}

pub(super) fn play() -> Html {
    icon("M4 2.2 13.5 8 4 13.8z")
}

pub(super) fn open() -> Html {
    icon("M1.5 3h4.6l1.5 1.8h6.9v8.2h-13zM3 6.3v5.2h10V6.3z")
}

pub(super) fn save() -> Html {
    icon("M7.2 1.5h1.6v6.3l2.4-2.3 1.1 1.1L8 10.9 3.7 6.6l1.1-1.1 2.4 2.3zM2 12.5h12V14H2z")
}

pub(super) fn theme() -> Html {
    icon("M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 1 0-9.8z")
}

pub(super) fn close() -> Html {
    icon("m3.4 2.3 4.6 4.6 4.6-4.6 1.1 1.1L9.1 8l4.6 4.6-1.1 1.1L8 9.1l-4.6 4.6-1.1-1.1L6.9 8 2.3 3.4z")
}

pub(super) fn down() -> Html {
    icon("m3 5 5 5 5-5 1.2 1.2L8 12.4 1.8 6.2z")
}

pub(super) fn up() -> Html {
    icon("m3 11.4 5-5 5 5 1.2-1.2L8 4 1.8 10.2z")
}

/// The mark of plegscope: lanes.
pub(super) fn brand() -> Html {
    html! {
        <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect x="1" y="6" width="16" height="5.5" rx="1.5" fill="var(--good)" />
            <rect x="19" y="6" width="12" height="5.5" rx="1.5" fill="#e5734d" />
            <rect x="1" y="13.5" width="30" height="5.5" rx="1.5" fill="#5377ad" />
            <rect x="1" y="21" width="8" height="5.5" rx="1.5" fill="var(--accent)" />
            <rect x="11" y="21" width="20" height="5.5" rx="1.5" fill="var(--active)" />
        </svg>
    }
}
