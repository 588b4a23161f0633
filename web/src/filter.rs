//! The text filter of pods and events: every word must be found.

use crate::view::marks::Glyph;
use pleg_core::{
    follow::EventLine,
    timeline::{MarkKind, Pod},
};

/// Words, each of which must be part of something's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
    words: Vec<String>,
}

impl Filter {
    /// A filter from what was typed.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), words: text.split_whitespace().map(str::to_lowercase).collect() }
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether each word is part of the event's namespace, pod, container, type or ids.
    pub fn matches_event(&self, event: &EventLine) -> bool {
        self.words.is_empty() || {
            let id = event.id.as_deref().unwrap_or_default();
            let names =
                [&event.namespace, event.pod.as_str(), event.subject(), event.kind.name(), &event.uid, id];
            let lost = if event.discarded { "discarded" } else { "" };
            self.all_in(names.into_iter().chain([lost]))
        }
    }

    /// Whether each word is part of the pod's names, or of those of its containers or events.
    pub fn matches_pod(&self, pod: &Pod) -> bool {
        self.words.is_empty() || {
            let own = [pod.namespace.as_str(), &pod.name, &pod.uid];
            let lanes = pod.lanes.iter().map(|lane| lane.kind.name());
            let ids = pod.lanes.iter().flat_map(|lane| &lane.spans).map(|span| span.id.as_str());
            let marks = pod.marks.iter().map(|mark| match mark.kind {
                MarkKind::Event { kind, .. } => kind.name(),
                MarkKind::Held { .. } => "held",
            });
            self.all_in(own.into_iter().chain(lanes).chain(ids).chain(marks))
        }
    }

    fn all_in<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone) -> bool {
        self.words.iter().all(|word| texts.clone().any(|text| contains(text, word)))
    }
}

/// Whether `text`, in lower case, holds `word`. Names are nearly always ASCII: then nothing is allocated.
fn contains(text: &str, word: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(word);
    }
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// The name of a mark, as the event log and the details show it.
pub fn mark_name(kind: &MarkKind) -> &'static str {
    match kind {
        MarkKind::Event { kind, .. } => kind.name(),
        MarkKind::Held { .. } => "Events held back",
    }
}

/// Symbol and name of a mark.
pub fn mark_title(kind: &MarkKind) -> String {
    format!("{} {}", Glyph::of(kind).symbol(), mark_name(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::follow;

    const TOLD: &str = "
        1000 shop/cart: ready, app running; batch/export: ready, job running
        2000 shop/cart: ready, app running; batch/export: ready, job exited 1
    ";

    #[test]
    fn every_word_must_be_found() {
        let mut follower = follow(TOLD);
        let events: Vec<EventLine> = std::iter::from_fn(|| follower.poll_event()).collect();
        for (text, pods, matching) in [
            ("", 2, 5),
            ("SHOP", 1, 2),
            ("shop  app", 1, 1),
            ("shop job", 0, 0),
            ("died", 1, 1),
            ("uid-export started", 1, 2),
            ("cart-app", 1, 1),
            ("é", 0, 0),
        ] {
            let filter = Filter::new(text);
            let found = follower.timeline().pods().iter().filter(|pod| filter.matches_pod(pod)).count();
            assert_eq!(found, pods, "pods for {text:?}");
            assert_eq!(
                events.iter().filter(|event| filter.matches_event(event)).count(),
                matching,
                "events for {text:?}"
            );
        }
    }
}
