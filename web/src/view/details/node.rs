//! The node: what the kubelet makes of PLEG's health.

use super::{Details, Known, Table, TableRow, Tone};
use crate::{
    format,
    view::{
        node::{Flip, Node, NodeStatus},
        status,
    },
};
use pleg_core::{
    follow::Follower,
    id::Uid,
    kubelet::Skip,
    pleg::{Metric, MetricValue, Sample},
    time::{GoDuration, SECOND, Time},
    wire::Hello,
};

/// Stalled pods that are named at most.
const MAX_STALLED: usize = 12;

impl Known<'_> {
    pub(super) fn node(self) -> Option<Details> {
        let hello = self.hello?;
        let node = Node::new(hello, self.timeline);
        let mut details = Details { kind: "Node", title: hello.node.clone(), ..Details::default() };
        match node.status(self.now) {
            Some(status) => self.condition(&node, &status, &mut details),
            None => {
                details.subtitle =
                    "Ready is computed every 10 s: not yet, or what decides it was not received".into();
            }
        }
        let badge = status::badge(node.past.health_at(self.now), node.past.threshold);
        let tone = if badge.healthy == Some(false) { Tone::Bad } else { Tone::Plain };
        details.toned("PLEG now", [badge.word, &badge.text].join(" ").trim().to_owned(), tone);
        if let Some(newest) = self.newest {
            self.sync_loop(newest, hello, &mut details);
            details.tables.extend(self.stalled());
            details.tables.extend(newest.engine().map(|engine| metrics(engine.exported(self.now))));
        }
        Some(details)
    }

    /// As `kubectl describe node` shows it.
    fn condition(self, node: &Node<'_>, status: &NodeStatus, details: &mut Details) {
        let NodeStatus { condition, computed, since, or_longer } = status;
        details.subtitle = "as kubectl describe node shows it".into();
        let tone = if condition.ready { Tone::Plain } else { Tone::Bad };
        details.toned("Ready", if condition.ready { "True" } else { "False" }, tone);
        details.fact("Reason", condition.reason);
        details.toned("Message", condition.message.clone(), tone);
        let longer = if *or_longer { " or longer" } else { "" };
        details.fact("Since", format!("{}{longer}", self.clock(*since)));
        details
            .fact("Computed", format!("{}, every 10 s by a clock that is not seen", self.clock(*computed)));
        let (name, text) = match node.flip(self.now) {
            Some(Flip::NotReadyAt(time)) => {
                let left = time.since(self.now) / SECOND * SECOND;
                (
                    "NotReady at",
                    format!("{}, in {}, unless a listing succeeds", self.clock(time), GoDuration(left)),
                )
            }
            Some(Flip::ReadyAt(time)) => ("Ready at", format!("{}: PLEG is healthy again", self.clock(time))),
            Some(Flip::NotBeforeListing) => ("Ready again", "not before a listing succeeds".into()),
            None => return,
        };
        details.fact(name, text);
    }

    fn sync_loop(self, newest: &Follower, hello: &Hello, details: &mut Details) {
        let (Some(sync_loop), Some(engine)) = (newest.sync_loop(self.now), newest.engine()) else { return };
        let waiting = match sync_loop.skip() {
            None => {
                details.fact("Sync loop", "reads events as they are sent");
                0
            }
            Some(Skip { since, until, .. }) => {
                let (since, until) = (self.clock(since), self.clock(until));
                details.toned("Sync loop", format!("skips since {since}, looks again at {until}"), Tone::Bad);
                engine.channel_len()
            }
        };
        details.fact("Channel", format!("{} of {} events wait", format::count(waiting), hello.capacity));
        let lost = engine.metrics().discard_events;
        let tone = if lost > 0 { Tone::Bad } else { Tone::Plain };
        details.toned("Events lost", format::count(lost as usize), tone);
    }

    /// The pods whose next sync waits for the running relist.
    pub(super) fn stalled(self) -> Option<Table> {
        let stalled: Vec<_> = self.newest?.stalled_pods().collect();
        if stalled.is_empty() {
            return None;
        }
        let row = |(uid, synced): &(&Uid, Time)| {
            let name = match self.timeline.pod(uid) {
                Some(pod) => format!("{}/{}", pod.namespace, pod.name),
                None => uid.to_string(),
            };
            TableRow::new([name, self.clock(*synced)])
        };
        let title = format!("{} waiting for this relist", format::counted(stalled.len(), "pod"));
        let mut table =
            Table::new(title, &["next sync stalled"], &["last sync"], stalled.iter().take(MAX_STALLED), row);
        table.more = stalled.len().saturating_sub(MAX_STALLED);
        Some(table)
    }
}

fn metrics<'a>(metrics: impl Iterator<Item = Metric<'a>>) -> Table {
    let rows = metrics.flat_map(|Metric { name, samples, .. }| {
        samples
            .into_iter()
            .filter(|sample| sample.label.is_none_or(|_| sample.value != MetricValue::Number(0)))
            .map(move |Sample { label, value }| {
                let label = label.map(|(key, value)| format!("{key}=\"{value}\"")).unwrap_or_default();
                TableRow { sub: label, ..TableRow::new([name.to_owned(), number(value)]) }
            })
    });
    Table::new("Metrics".into(), &["name"], &["value"], rows, |row| row)
}

fn number(value: MetricValue<'_>) -> String {
    match value {
        MetricValue::Number(number) => number.to_string(),
        MetricValue::Duration(nanos) => format::duration(nanos),
        MetricValue::Durations(durations) => match i64::try_from(durations.count) {
            Ok(count) if count > 0 => {
                format!(
                    "{} · mean {}",
                    format::count(count as usize),
                    format::duration(durations.sum / count)
                )
            }
            _ => "0".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::Zone,
        testing::{follow, frames, ms},
        view::hit::Target,
    };
    use pleg_core::{time::Time, wire::Frame};

    fn details(follower: &Follower, target: Target, now: Time) -> Details {
        let (timeline, hello) = (follower.timeline(), follower.hello());
        let known =
            Known { timeline, events: &[], newest: Some(follower), hello, now, zone: Zone::default() };
        known.details(target).unwrap()
    }

    fn fact<'a>(details: &'a Details, name: &str) -> &'a str {
        details.facts.iter().find(|fact| fact.name == name).map_or("", |fact| &fact.value)
    }

    const TOLD: &str = "
        1000 shop/cart: ready, app running; shop/web: ready, app running
        4000 ~9000 shop/cart: ready, app exited 1; shop/web: ready, app running
    ";

    #[test]
    fn the_panel_says_what_describe_node_says() {
        let follower = follow(TOLD);
        let details = details(&follower, Target::Node, ms(14_000));
        assert_eq!((fact(&details, "Ready"), fact(&details, "Reason")), ("False", "KubeletNotReady"));
        assert_eq!(
            fact(&details, "Message"),
            "PLEG is not healthy: pleg was last seen active 6s ago; threshold is 5s"
        );
        assert_eq!(fact(&details, "Ready again"), "not before a listing succeeds");
        assert_eq!(fact(&details, "Sync loop"), "skips since 00:00:09.000, looks again at 00:00:15.300");
        assert_eq!(fact(&details, "Channel"), "1 of 1000 events wait");
        let metrics = details.tables.last().unwrap();
        let lost =
            metrics.rows.iter().find(|row| row.cells.first().unwrap() == "plegscope_events_lost_total");
        assert_eq!(lost.unwrap().cells, ["plegscope_events_lost_total", "0"]);
    }

    #[test]
    fn a_running_relist_names_the_pods_that_wait_for_it() {
        let mut follower = Follower::new();
        let frames = frames(TOLD);
        let hangs = frames.iter().position(|frame| matches!(frame, Frame::Calling(_))).unwrap();
        frames.iter().take(hangs + 1).for_each(|frame| follower.handle_frame(frame).map(drop).unwrap());
        let details = details(&follower, Target::Relist(2), ms(8_000));
        let table = details.tables.first().unwrap();
        assert_eq!(table.title, "2 pods waiting for this relist");
        let names: Vec<&str> =
            table.rows.iter().filter_map(|row| row.cells.first()).map(String::as_str).collect();
        assert_eq!(names, ["shop/cart", "shop/web"]);
    }
}
