//! The person's choices, kept by the browser.

use super::warn;
use crate::{format::Zone, store::Settings, view::theme::Theme};
use pleg_core::time::SECOND;
use web_sys::Storage;

fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok()?
}

fn kept(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}

/// The choices of the last visit, or those of the system.
pub(crate) fn load() -> Settings {
    let light = || {
        let media = web_sys::window()?.match_media("(prefers-color-scheme: light)").ok()??;
        Some(media.matches())
    };
    let theme = match kept("theme").as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ if light() == Some(true) => Theme::Light,
        _ => Theme::Dark,
    };
    let local_offset = -(js_sys::Date::new_0().get_timezone_offset() * 60.0) as i64 * SECOND;
    let utc = kept("zone").as_deref() == Some("utc");
    let settings =
        Settings { theme, zone: Zone { offset: if utc { 0 } else { local_offset }, utc }, local_offset };
    apply(&settings);
    settings
}

/// Keeps the choices and puts them into effect.
pub(crate) fn store(settings: &Settings) {
    apply(settings);
    let Some(storage) = storage() else { return };
    let zone = if settings.zone.utc { "utc" } else { "local" };
    let kept = storage.set_item("theme", settings.theme.name()).and_then(|()| storage.set_item("zone", zone));
    // A full or forbidden storage only means that the choice is not remembered.
    warn(kept);
}

fn apply(settings: &Settings) {
    let document = web_sys::window().and_then(|window| window.document());
    if let Some(root) = document.and_then(|document| document.document_element()) {
        warn(root.set_attribute("data-theme", settings.theme.name()));
    }
}
