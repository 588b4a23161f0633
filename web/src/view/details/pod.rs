//! A pod.

use super::{Details, Known, Table, TableRow, Tone};
use crate::{
    format,
    view::{hit::Target, spans::Look},
};
use pleg_core::timeline::{Lane, Place, Pod, Span};

impl Known<'_> {
    pub(super) fn pod(self, index: usize) -> Option<Details> {
        let pod = self.timeline.pods().get(index)?;
        let mut details = Details {
            kind: "Pod",
            title: pod.name.clone(),
            subtitle: pod.namespace.clone(),
            ..Details::default()
        };
        details.fact("Addresses", pod.ips.join(", "));
        details.fact("First seen", format::rfc3339(pod.first_seen));
        if let Some(gone) = pod.gone {
            details.fact("No longer listed", format::rfc3339(gone));
        }
        details.toned("UID", pod.uid.as_str(), Tone::Id);
        details.tables.push(self.containers(pod, index));
        details.tables.push(self.events_of(pod, index, None));
        Some(details)
    }

    fn containers(self, pod: &Pod, index: usize) -> Table {
        let lanes = pod.lanes.iter().enumerate();
        let newest = lanes.filter_map(|(lane_index, lane)| {
            let span_index = lane.spans.len().checked_sub(1)?;
            Some((
                lane,
                lane.spans.get(span_index)?,
                Place { pod: index, lane: lane_index, span: span_index },
            ))
        });
        let row = |(lane, span, place): (&Lane, &Span, Place)| {
            let look = Look::of(&lane.kind, span.state(), span);
            let since = span.segments.last().map_or(String::new(), |segment| self.clock(segment.from));
            let cells = [lane.kind.name().into(), look.name().into(), since, span.attempt.to_string()];
            TableRow { target: Some(Target::Span(place)), ..TableRow::new(cells) }
        };
        Table::new("Containers".into(), &["name", "state"], &["since", "attempt"], newest, row)
    }
}
