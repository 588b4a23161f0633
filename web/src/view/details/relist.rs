//! A relist.

use super::{Details, Known, Table, TableRow, Tone};
use crate::{
    format,
    view::{
        hit::Target,
        marks::{self, Glyph},
        relists::{self, BarState},
        status,
    },
};
use pleg_core::timeline::{CallBar, Relist};

impl Known<'_> {
    pub(super) fn find_relist(&self, n: u64) -> Option<&Relist> {
        let relists = self.timeline.relists();
        relists.get(relists.binary_search_by_key(&n, |relist| relist.n).ok()?)
    }

    pub(super) fn relist(self, n: u64) -> Option<Details> {
        let relist = self.find_relist(n)?;
        let state = relists::state_at(relist, self.now);
        let subtitle = match state {
            BarState::Done => "ended",
            BarState::Held => "ended; an inspection failed, events are held back",
            BarState::Failed => "its listing failed: it changed nothing",
            BarState::Running => "running",
        };
        let title = format!("Relist {n}");
        let mut details = Details { kind: "Relist", title, subtitle: subtitle.into(), ..Details::default() };
        let tone = if state == BarState::Running { Tone::Notice } else { Tone::Plain };
        details.toned("Duration", format::duration(relists::took_at(relist, self.now)), tone);
        if let Some(listed) = relist.listed {
            details.fact("Listing", format::duration(listed.since(relist.start)));
        }
        details.fact("Events", format::count(relist.events as usize));
        if relist.discarded > 0 {
            details.toned("Discarded", format!("{} lost to a full channel", relist.discarded), Tone::Bad);
        }
        if relist.held > 0 {
            details.toned("Held back", format::counted(relist.held as usize, "pod"), Tone::Bad);
        }
        details.fact("Received", format::bytes(relist.calls.iter().map(|call| call.bytes).sum()));
        details.fact("Began", format::rfc3339(relist.start));
        if let Some(end) = relist.end {
            details.fact("Ended", format::rfc3339(end));
        }
        details.tables.push(self.calls(relist));
        details.tables.push(self.events_in(n));
        Some(details)
    }

    fn events_in(self, n: u64) -> Table {
        let first = self.events.partition_point(|event| event.relist < n);
        let events = self.events.iter().skip(first).take_while(|event| event.relist == n);
        let rows = events.filter(|event| event.time <= self.now).map(|event| {
            let title = format!("{} {}", Glyph::of_event(event.kind).symbol(), event.kind.name());
            let pod = format!("{}/{}", event.namespace, event.pod);
            let tone = if event.discarded { Tone::Bad } else { Tone::Plain };
            let target = marks::find(self.timeline, event);
            TableRow { sub: pod, tone, target, ..TableRow::new([title, event.subject().into()]) }
        });
        Table::new("Events".into(), &["event", "of"], &[], rows)
    }

    pub(super) fn calls(self, relist: &Relist) -> Table {
        let begun = relist.calls.partition_point(|call| call.start <= self.now);
        let calls = relist.calls.iter().enumerate().take(begun);
        let rows = calls.map(|(index, call)| self.call_row(relist, index, call));
        let title = format::counted(begun, "call");
        Table::new(title, &["call"], &["at", "took", "answer"], rows)
    }

    fn call_row(self, relist: &Relist, index: usize, call: &CallBar) -> TableRow {
        let target = call.id.as_deref().map_or(String::new(), |id| status::target_name(self.timeline, id));
        let end = call.end.filter(|end| *end <= self.now);
        let took = match end {
            Some(end) => format::duration(end.since(call.start)),
            None => format!("{} …", format::running(self.now.since(call.start))),
        };
        let tone = match (end, &call.error) {
            (None, _) => Tone::Notice,
            (_, Some(_)) => Tone::Bad,
            _ => Tone::Plain,
        };
        let size = match (end, &call.error) {
            (Some(_), Some(error)) => error.code.clone(),
            (Some(_), None) if call.bytes > 0 => format::bytes(call.bytes),
            _ => String::new(),
        };
        let at = format::duration(call.start.since(relist.start));
        let place = Some(Target::Call { relist: relist.n, call: index });
        TableRow {
            sub: target,
            tone,
            target: place,
            ..TableRow::new([call.op.name().into(), at, took, size])
        }
    }
}
