//! A relist.

use super::{Details, Known, Table, TableRow, Tone};
use crate::{
    format,
    view::{hit::Target, relists::BarState, relists::state_at, status},
};
use pleg_core::timeline::{CallBar, Relist};

impl Known<'_> {
    pub(super) fn find_relist(&self, n: u64) -> Option<&Relist> {
        let relists = self.timeline.relists();
        relists.get(relists.binary_search_by_key(&n, |relist| relist.n).ok()?)
    }

    pub(super) fn relist(self, n: u64) -> Option<Details> {
        let relist = self.find_relist(n)?;
        let state = state_at(relist, self.now);
        let subtitle = match state {
            BarState::Done => "ended",
            BarState::Held => "ended; an inspection failed, events are held back",
            BarState::Failed => "its listing failed: it changed nothing",
            BarState::Running => "running",
        };
        let title = format!("Relist {n}");
        let mut details = Details { kind: "Relist", title, subtitle: subtitle.into(), ..Details::default() };
        let tone = if state == BarState::Running { Tone::Notice } else { Tone::Plain };
        details.toned("Duration", format::duration(relist.took(self.now)), tone);
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
        Some(details)
    }

    fn calls(self, relist: &Relist) -> Table {
        let rows = relist.calls.iter().enumerate().map(|(index, call)| self.call_row(relist, index, call));
        let title = format::counted(relist.calls.len(), "call");
        Table::new(title, &["call", "target", "at", "took", "bytes"], rows)
    }

    fn call_row(self, relist: &Relist, index: usize, call: &CallBar) -> TableRow {
        let target = call.id.as_deref().map_or(String::new(), |id| status::target_name(self.timeline, id));
        let took = match call.end {
            Some(end) => format::duration(end.since(call.start)),
            None => format!("{} …", format::running(self.now.since(call.start))),
        };
        let tone = match (&call.error, call.end) {
            (Some(_), _) => Tone::Bad,
            (None, None) => Tone::Notice,
            _ => Tone::Plain,
        };
        let size = match &call.error {
            Some(error) => error.code.clone(),
            None if call.bytes == 0 => String::new(),
            None => format::bytes(call.bytes),
        };
        let at = format::duration(call.start.since(relist.start));
        let cells = [call.op.name().into(), target, at, took, size];
        TableRow {
            tone,
            target: Some(Target::Call { relist: relist.n, call: index }),
            ..TableRow::new(cells)
        }
    }
}
