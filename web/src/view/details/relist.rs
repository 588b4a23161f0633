//! A relist.

use super::{Details, Known, MAX_ROWS, Table, TableRow, Tone};
use crate::{
    format,
    view::{
        hit::Target,
        marks::{self, Glyph},
        relists::{self, BarState},
        status,
    },
};
use pleg_core::{
    follow::{EventLine, Follower, Progress},
    timeline::{CallBar, Relist},
};
use std::cmp::Reverse;

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
            BarState::Cut => "its end was not observed",
        };
        let title = format!("Relist {n}");
        let mut details = Details { kind: "Relist", title, subtitle: subtitle.into(), ..Details::default() };
        let tone = if state == BarState::Running { Tone::Notice } else { Tone::Plain };
        details.toned("Duration", format::duration(relists::took_at(relist, self.now)), tone);
        if let Some(listed) = relist.listed {
            details.fact("Listing", format::duration(listed.since(relist.start)));
        }
        self.cost(relist, state, &mut details);
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
        if state == BarState::Running {
            details.tables.extend(self.stalled());
        }
        details.tables.push(self.calls(relist));
        details.tables.push(self.events_in(n));
        Some(details)
    }

    /// The calls made, against those that were to be expected and those that the kubelet makes.
    fn cost(self, relist: &Relist, state: BarState, details: &mut Details) {
        let (made, predicted) = (relist.calls.len() as u64, relist.predicted.total());
        let progress = self.newest.and_then(Follower::progress).filter(|_| state == BarState::Running);
        match progress {
            // An announced call is counted among those to go.
            Some(Progress { calls: to_go, .. }) => {
                let ended = relist.calls.iter().filter(|call| call.end.is_some()).count();
                details.fact("Calls", format!("{} made, {} to go", format::count(ended), to_go.total()));
            }
            None if made < predicted && state < BarState::Cut => {
                let text =
                    format!("{made} of {predicted}: a call that fails ends its inspection, or the relist");
                details.toned("Calls", text, Tone::Notice);
            }
            None => {
                let begun = relist.calls.partition_point(|call| call.start <= self.now);
                details.fact("Calls", format::count(begun));
            }
        }
        if relist.kubelet != relist.predicted {
            let total = format::counted(relist.kubelet.total() as usize, "call");
            let text = format!("makes {total} for the same: it lists each inspected pod again");
            details.fact("The kubelet", text);
        }
    }

    /// Those lost to a full channel first: they are what nobody else can tell.
    fn events_in(self, n: u64) -> Table {
        let first = self.events.partition_point(|event| event.relist < n);
        let after = self.events.partition_point(|event| event.relist <= n);
        let events = self.events.get(first..after).unwrap_or_default();
        let events = events.iter().filter(|event| event.time <= self.now);
        let lost = events.clone().filter(|event| event.discarded);
        let title = if lost.clone().next().is_some() { "Events, lost ones first" } else { "Events" };
        let sent = events.filter(|event| !event.discarded);
        Table::new(title.into(), &["event", "of"], &[], lost.chain(sent), |event| self.event_row(event))
    }

    fn event_row(self, event: &EventLine) -> TableRow {
        let title = format!("{} {}", Glyph::of_event(event.kind).symbol(), event.kind.name());
        let pod = format!("{}/{}", event.namespace, event.pod);
        let tone = if event.discarded { Tone::Bad } else { Tone::Plain };
        let target = marks::find(self.timeline, event);
        TableRow { sub: pod, tone, target, ..TableRow::new([title, event.subject().into()]) }
    }

    /// The running call, then the slowest: what holds the relist up is never among those left out.
    pub(super) fn calls(self, relist: &Relist) -> Table {
        let begun = relist.calls.partition_point(|call| call.start <= self.now);
        let mut calls: Vec<(usize, &CallBar)> = relist.calls.iter().enumerate().take(begun).collect();
        let rank = |(index, call): &(usize, &CallBar)| {
            let end = relist.call_end(call).filter(|end| *end <= self.now);
            (end.is_some(), Reverse(end.unwrap_or(self.now).since(call.start)), *index)
        };
        let shown = match calls.len() {
            // Only what is shown is sorted.
            all if all > MAX_ROWS => calls.select_nth_unstable_by_key(MAX_ROWS, rank).0,
            _ => calls.as_mut_slice(),
        };
        shown.sort_unstable_by_key(rank);
        let order = if begun > 1 { ", slowest first" } else { "" };
        let title = format!("{}{order}", format::counted(begun, "call"));
        let row = |(index, call)| self.call_row(relist, index, call);
        Table::new(title, &["call"], &["at", "took", "answer"], calls.into_iter(), row)
    }

    fn call_row(self, relist: &Relist, index: usize, call: &CallBar) -> TableRow {
        let target = call.id.as_deref().map_or(String::new(), |id| status::target_name(self.timeline, id));
        let end = relist.call_end(call).filter(|end| *end <= self.now);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::Zone,
        testing::{follow, frames, hello, ms},
    };
    use pleg_core::wire::Frame;

    fn known<'a>(follower: &'a Follower, events: &'a [EventLine]) -> Known<'a> {
        Known {
            timeline: follower.timeline(),
            events,
            newest: Some(follower),
            hello: follower.hello(),
            now: ms(60_000),
            zone: Zone::default(),
        }
    }

    /// The value of a fact about a relist.
    fn fact(follower: &Follower, n: u64, name: &str) -> Option<String> {
        let details = known(follower, &[]).details(Target::Relist(n))?;
        details.facts.into_iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }

    const TOLD: &str = "
        1000 shop/cart: ready, app running
        2000 !inspect shop/cart: ready, app exited 1
        3000 !list
        4000 ~9000 shop/cart: ready, app exited 1; shop/web: ready, app running
    ";

    #[test]
    fn calls_are_judged_by_what_was_predicted() {
        let follower = follow(TOLD);
        assert_eq!(fact(&follower, 1, "Calls").unwrap(), "4");
        assert_eq!(
            fact(&follower, 2, "Calls").unwrap(),
            "3 of 4: a call that fails ends its inspection, or the relist"
        );
        assert!(fact(&follower, 3, "Calls").unwrap().starts_with("1 of 2: "));
        assert_eq!(fact(&follower, 1, "The kubelet"), None, "it makes the same");
    }

    #[test]
    fn calls_to_go_are_counted_while_a_relist_runs() {
        let mut follower = Follower::new();
        let frames = frames(TOLD);
        let hangs = frames.iter().position(|frame| matches!(frame, Frame::Calling(_))).unwrap();
        for frame in frames.iter().take(hangs + 1) {
            follower.handle_frame(frame).unwrap();
        }
        // Both listings and one call are made; the running one and the two of the other pod are not.
        assert_eq!(fact(&follower, 4, "Calls").unwrap(), "3 made, 3 to go");
    }

    #[test]
    fn a_kubelet_before_1_36_makes_more_calls() {
        let mut follower = Follower::new();
        let Frame::Hello(mut old) = hello(0) else { panic!("a hello") };
        old.kubelet = "1.35".into();
        follower.handle_frame(&Frame::Hello(old)).unwrap();
        for frame in frames(TOLD).iter().skip(1) {
            follower.handle_frame(frame).unwrap();
        }
        let more = fact(&follower, 4, "The kubelet").unwrap();
        assert_eq!(more, "makes 10 calls for the same: it lists each inspected pod again");
    }

    /// A first relist that inspects this many pods, each of them slowly.
    fn large(pods: usize) -> Vec<Frame> {
        let pods: Vec<String> = (0..pods).map(|pod| format!("shop/p{pod}: ready, app running")).collect();
        frames(&format!("1000 ~50 {}", pods.join("; ")))
    }

    #[test]
    fn the_running_call_is_shown_first_and_then_the_slowest() {
        let mut follower = Follower::new();
        let frames = large(MAX_ROWS + 50);
        let hangs = frames.iter().rposition(|frame| matches!(frame, Frame::Calling(_))).unwrap();
        for frame in frames.iter().take(hangs + 1) {
            follower.handle_frame(frame).unwrap();
        }
        let tables = known(&follower, &[]).details(Target::Relist(1)).unwrap().tables;
        let calls = tables.iter().find(|table| table.columns.starts_with(&["call"])).unwrap();
        // Both listings, and two calls for each pod.
        let made = 2 + 2 * (MAX_ROWS + 50);
        assert_eq!(calls.title, format!("{made} calls, slowest first"));
        assert_eq!((calls.rows.len(), calls.more), (MAX_ROWS, made - MAX_ROWS));
        let (hanging, others) = calls.rows.split_first().unwrap();
        assert_eq!(hanging.tone, Tone::Notice);
        assert_eq!(hanging.target, Some(Target::Call { relist: 1, call: made - 1 }));
        assert!(others.iter().all(|row| row.cells.first().unwrap() == "ContainerStatus"));
    }

    #[test]
    fn lost_events_are_shown_before_those_left_out() {
        let mut follower = Follower::new();
        for frame in &large(MAX_ROWS) {
            follower.handle_frame(frame).unwrap();
        }
        let mut events: Vec<EventLine> = std::iter::from_fn(|| follower.poll_event()).collect();
        events.last_mut().unwrap().discarded = true;
        assert_eq!(events.len(), 2 * MAX_ROWS);
        let tables = known(&follower, &events).details(Target::Relist(1)).unwrap().tables;
        let table = tables.get(1).unwrap();
        assert_eq!(
            (table.title.as_str(), table.rows.len(), table.more),
            ("Events, lost ones first", MAX_ROWS, MAX_ROWS)
        );
        let tones: Vec<Tone> = table.rows.iter().take(2).map(|row| row.tone).collect();
        assert_eq!(tones, [Tone::Bad, Tone::Plain]);
        assert!(table.rows.iter().all(|row| matches!(row.target, Some(Target::Mark { .. }))));
    }
}
