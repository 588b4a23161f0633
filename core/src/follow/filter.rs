//! The text filter of pods and events, for the command line and the page alike: every word must be found.

use super::EventLine;
use crate::timeline::{MarkKind, Pod};
use alloc::{string::String, vec::Vec};

/// Words, each of which must be part of something's names. Case does not count.
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

    /// Whether each word is part of the event's namespace, pod, container (`sandbox` or `pod`
    /// where it is about those), type, pod's UID or id, or of `discarded` when it is lost.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pleg::{Event, EventType, Listing},
        pod::{self, Container, ContainerId, State},
        time::Time,
        timeline::Timeline,
    };
    use alloc::{format, sync::Arc, vec};

    fn pod(namespace: &str, name: &str, container: &str) -> Arc<pod::Pod> {
        let container = Container {
            id: ContainerId { runtime: "r".into(), id: format!("{name}-{container}").as_str().into() },
            name: container.into(),
            state: State::Running,
            ..Container::default()
        };
        let uid = format!("uid-{name}").as_str().into();
        Arc::new(pod::Pod {
            uid,
            namespace: namespace.into(),
            name: name.into(),
            containers: vec![container],
            ..pod::Pod::default()
        })
    }

    #[test]
    fn every_word_must_be_found() {
        let mut timeline = Timeline::default();
        timeline
            .listed(Time(1), &Listing::Full(vec![pod("shop", "cart", "app"), pod("Batch", "export", "job")]));
        let sent =
            [("cart", "app", EventType::ContainerStarted), ("export", "job", EventType::ContainerDied)];
        let mut lines = Vec::new();
        for (pod, container, kind) in sent {
            let id = Some(format!("{pod}-{container}").as_str().into());
            let event = Event { uid: format!("uid-{pod}").as_str().into(), kind, data: id };
            let discarded = kind == EventType::ContainerDied;
            timeline.event(Time(2), &event, discarded);
            lines.push(EventLine::new(Time(2), 1, &event, discarded, &timeline));
        }
        for (text, pods, matching) in [
            ("", 2, 2),
            ("SHOP", 1, 1),
            ("batch", 1, 1),
            ("shop  app", 1, 1),
            ("shop job", 0, 0),
            ("died", 1, 1),
            ("discarded", 0, 1),
            ("uid-export", 1, 1),
            ("cart-app", 1, 1),
            ("containerstarted CART", 1, 1),
            ("é", 0, 0),
        ] {
            let filter = Filter::new(text);
            let found = timeline.pods().iter().filter(|pod| filter.matches_pod(pod)).count();
            assert_eq!(found, pods, "pods for {text:?}");
            let found = lines.iter().filter(|event| filter.matches_event(event)).count();
            assert_eq!(found, matching, "events for {text:?}");
        }
    }
}
