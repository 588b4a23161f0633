//! A sandbox or container.

use super::{Details, Known, Table, TableRow, Tone};
use crate::{
    format,
    view::{hit::Target, marks, spans::Look},
};
use pleg_core::{
    cri::ContainerStatus,
    pleg::EventType,
    pod::State,
    time::Time,
    timeline::{Lane, LaneKind, Mark, MarkKind, Place, Pod, Span},
};

impl Known<'_> {
    pub(super) fn span(self, place: Place) -> Option<Details> {
        let (pod, lane, span) = self.timeline.at(place)?;
        let (kind, title) = match &lane.kind {
            LaneKind::Sandbox => ("Sandbox", pod.name.clone()),
            LaneKind::Container(name) => ("Container", name.to_string()),
        };
        let subtitle = format!("{}/{}", pod.namespace, pod.name);
        let mut details = Details { kind, title, subtitle, ..Details::default() };
        self.state_facts(&mut details, lane, span);
        if let Some(status) = span.status.as_deref() {
            status_facts(&mut details, status);
        }
        details.fact("Created", format::rfc3339(Time(span.created_at)));
        if let Some(end) = span.end {
            details.fact("No longer listed", format::rfc3339(end));
        }
        details.toned("Id", span.id.as_str(), Tone::Id);
        details.toned("Pod UID", pod.uid.as_str(), Tone::Id);
        details.tables.push(self.states(lane, span));
        details.tables.push(self.events_of(pod, place.pod, Some(span)));
        Some(details)
    }

    fn state_facts(self, details: &mut Details, lane: &Lane, span: &Span) {
        let look = Look::of(&lane.kind, span.state(), span);
        let tone = if matches!(look, Look::Failed | Look::Unknown) { Tone::Bad } else { Tone::Plain };
        let state =
            if span.end.is_some() { format!("{}, then removed", look.name()) } else { look.name().into() };
        details.toned("State", state, tone);
        details.fact("Attempt", span.attempt.to_string());
    }

    fn states(self, lane: &Lane, span: &Span) -> Table {
        let row = |(state, from, end): (State, Time, Option<Time>)| {
            let look = Look::of(&lane.kind, state, span);
            let lasted = format::duration(end.unwrap_or(self.now).since(from));
            let lasted = if end.is_none() { format!("{lasted} …") } else { lasted };
            TableRow::new([look.name().into(), self.clock(from), lasted])
        };
        Table::new("States".into(), &["state"], &["from", "for"], span.stretches(), row)
    }

    /// The events of one container or sandbox, or of the whole pod: the last first, since a pod that crashes again
    /// and again has more than are shown.
    pub(super) fn events_of(self, pod: &Pod, index: usize, span: Option<&Span>) -> Table {
        let is_of = |mark: &Mark| span.is_none_or(|span| mark.id.as_ref() == Some(&span.id));
        let until = pod.marks.partition_point(|mark| mark.time <= self.now);
        let known = pod.marks.iter().enumerate().take(until).rev().filter(|(_, mark)| is_of(mark));
        let row = |(mark_index, mark): (usize, &Mark)| {
            let late = span.and_then(|span| lateness(span, mark)).map(format::duration).unwrap_or_default();
            let title = marks::title(&mark.kind);
            let tone = match mark.kind {
                MarkKind::Event { discarded: false, .. } => Tone::Plain,
                _ => Tone::Bad,
            };
            let target = Some(Target::Mark { pod: index, mark: mark_index });
            TableRow {
                tone,
                target,
                ..TableRow::new([title, self.clock(mark.time), mark.relist.to_string(), late])
            }
        };
        Table::new("Events, latest first".into(), &["event"], &["at", "relist", "late by"], known, row)
    }

    pub(super) fn mark(self, pod_index: usize, mark_index: usize) -> Option<Details> {
        let pod = self.timeline.pods().get(pod_index)?;
        let mark = pod.marks.get(mark_index)?;
        let found = mark.id.as_deref().and_then(|id| self.timeline.find(id));
        let subject = match found {
            Some((_, lane, _)) => format!("{}/{}/{}", pod.namespace, pod.name, lane.kind.name()),
            None => format!("{}/{}", pod.namespace, pod.name),
        };
        let mut details = Details {
            kind: "Event",
            title: marks::title(&mark.kind),
            subtitle: subject,
            ..Details::default()
        };
        match &mark.kind {
            MarkKind::Held { error } => details.toned("Because", error.to_string(), Tone::Bad),
            MarkKind::Event { discarded: true, .. } => {
                details.toned("Discarded", "the channel was full: the event is lost for good", Tone::Bad);
            }
            MarkKind::Event { .. } => {}
        }
        details.fact("Relist", mark.relist.to_string());
        if let Some(late) = found.and_then(|(_, _, span)| lateness(span, mark)) {
            details.fact("Late by", format!("{} after the runtime's time", format::duration(late)));
        }
        if let Some(status) = found.and_then(|(_, _, span)| span.status.as_deref())
            && matches!(mark.kind, MarkKind::Event { kind: EventType::ContainerDied, .. })
        {
            status_facts(&mut details, status);
        }
        details.fact("At", format::rfc3339(mark.time));
        if let Some((_, _, span)) = found {
            details.fact("Attempt", span.attempt.to_string());
        }
        details.toned("Id", mark.id.as_deref().unwrap_or_default(), Tone::Id);
        details.toned("Pod UID", pod.uid.as_str(), Tone::Id);
        details.tables.push(self.events_of(pod, pod_index, found.map(|(_, _, span)| span)));
        Some(details)
    }
}

fn status_facts(details: &mut Details, status: &ContainerStatus) {
    if status.finished_at > 0 {
        let tone = if status.exit_code == 0 { Tone::Plain } else { Tone::Bad };
        details.toned("Exit code", exit_code(status.exit_code), tone);
        details.toned("Reason", status.reason.as_str(), tone);
    }
    details.fact("Message", status.message.as_str());
    if status.started_at > 0 {
        details.fact("Started", format::rfc3339(Time(status.started_at)));
    }
    if status.finished_at > 0 {
        details.fact("Finished", format::rfc3339(Time(status.finished_at)));
    }
    if status.started_at > 0 && status.finished_at > status.started_at {
        details.fact("Ran for", format::duration(Time(status.finished_at).since(Time(status.started_at))));
    }
    details.fact("Image", status.image.as_str());
}

/// The code, with the signal's number where the shell's convention says that one ended the process.
fn exit_code(code: i32) -> String {
    match code {
        129..=192 => format!("{code} (signal {})", code - 128),
        _ => code.to_string(),
    }
}

/// How long after the runtime's own time for it an event was sent.
fn lateness(span: &Span, mark: &Mark) -> Option<i64> {
    let status = span.status.as_deref()?;
    let MarkKind::Event { kind, .. } = mark.kind else { return None };
    let happened = match kind {
        EventType::ContainerStarted => status.started_at,
        EventType::ContainerDied => status.finished_at,
        _ => 0,
    };
    (happened > 0).then(|| mark.time.since(Time(happened))).filter(|late| *late >= 0)
}
