//! A runtime call.

use super::{Details, Known, Tone};
use crate::{format, view::status};

impl Known<'_> {
    pub(super) fn call(self, n: u64, index: usize) -> Option<Details> {
        let relist = self.find_relist(n)?;
        let call = relist.calls.get(index)?;
        let target = call.id.as_deref().map_or(String::new(), |id| status::target_name(self.timeline, id));
        let mut details = Details {
            kind: "Runtime call",
            title: call.op.name().into(),
            subtitle: target,
            ..Details::default()
        };
        match call.end {
            Some(end) => details.fact("Duration", format::duration(end.since(call.start))),
            None => details.toned("Running for", format::running(self.now.since(call.start)), Tone::Notice),
        }
        if let Some(error) = &call.error {
            details.toned("Error", error.to_string(), Tone::Bad);
        }
        if call.bytes > 0 {
            details.fact("Answer", format::bytes(call.bytes));
        }
        details.fact("Relist", format!("{n}, call {} of {}", index + 1, relist.calls.len()));
        details.fact("Into the relist", format::duration(call.start.since(relist.start)));
        details.fact("Began", format::rfc3339(call.start));
        if let Some(end) = call.end {
            details.fact("Ended", format::rfc3339(end));
        }
        details.toned("Id", call.id.as_deref().unwrap_or_default(), Tone::Id);
        details.tables.push(self.calls(relist));
        Some(details)
    }
}
