//! The event marks of a pod.

use super::{hit::Target, scale::Scale};
use pleg_core::{
    follow::EventLine,
    pleg::EventType,
    time::Time,
    timeline::{Mark, MarkKind, Pod, Timeline},
};
use std::collections::BTreeMap;

/// Marks closer than this, in pixels, become one with a count.
pub const MIN_DISTANCE: f64 = 9.0;

/// The shape of a mark. The order is that of importance: of merged marks the most important one shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Glyph {
    /// ◆ `PodSync`
    Sync,
    /// ◇ `ConditionMet`
    Condition,
    /// ▽ `ContainerRemoved`
    Removed,
    /// ▲ `ContainerStarted`
    Started,
    /// ✕ `ContainerDied`
    Died,
    /// ‖ events held back
    Held,
}

impl Glyph {
    /// The shape of a mark.
    pub fn of(kind: &MarkKind) -> Self {
        match kind {
            MarkKind::Event { kind, .. } => Self::of_event(*kind),
            MarkKind::Held { .. } => Glyph::Held,
        }
    }

    /// The shape of an event.
    pub fn of_event(kind: EventType) -> Self {
        match kind {
            EventType::ContainerStarted => Glyph::Started,
            EventType::ContainerDied => Glyph::Died,
            EventType::ContainerRemoved => Glyph::Removed,
            EventType::PodSync => Glyph::Sync,
            EventType::ConditionMet => Glyph::Condition,
        }
    }

    /// As a character, where text is shown instead of shapes.
    pub fn symbol(self) -> &'static str {
        match self {
            Glyph::Sync => "◆",
            Glyph::Condition => "◇",
            Glyph::Removed => "▽",
            Glyph::Started => "▲",
            Glyph::Died => "✕",
            Glyph::Held => "‖",
        }
    }
}

/// Symbol and name of a mark, as the event log and the details show it.
pub fn title(kind: &MarkKind) -> String {
    let name = match kind {
        MarkKind::Event { kind, .. } => kind.name(),
        MarkKind::Held { .. } => "Events held back",
    };
    format!("{} {name}", Glyph::of(kind).symbol())
}

/// One mark, or several too close to be drawn apart.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkBox {
    /// Centre in pixels.
    pub x: f64,
    /// Its shape.
    pub glyph: Glyph,
    /// Whether it is drawn hollow: the event was lost to a full channel.
    pub hollow: bool,
    /// Index in the pod's marks; of merged ones that of the most important.
    pub mark: usize,
    /// Number of marks in it.
    pub count: u32,
}

/// The marks of a pod in the visible time, by lane; those without a container are under `None`.
pub fn pod_marks(
    timeline: &Timeline,
    pod: &Pod,
    scale: &Scale,
    now: Time,
) -> BTreeMap<Option<usize>, Vec<MarkBox>> {
    let first = pod.marks.partition_point(|mark| mark.time < scale.time(scale.left - MIN_DISTANCE));
    let after = pod.marks.partition_point(|mark| mark.time <= scale.to().min(now));
    let mut lanes: BTreeMap<Option<usize>, Vec<MarkBox>> = BTreeMap::new();
    for (index, mark) in pod.marks.iter().enumerate().take(after).skip(first) {
        let lane = mark.id.as_ref().and_then(|id| timeline.place(id)).map(|place| place.lane);
        push(lanes.entry(lane).or_default(), mark_box(mark, index, scale), &pod.marks);
    }
    lanes
}

/// The mark of an event; its pod, should the mark not be there.
pub fn find(timeline: &Timeline, event: &EventLine) -> Option<Target> {
    let index = timeline.index_of(&event.uid)?;
    let marks = &timeline.pods().get(index)?.marks;
    let first = marks.partition_point(|mark| mark.time < event.time);
    let is_it = |mark: &Mark| {
        let kind = matches!(mark.kind, MarkKind::Event { kind, .. } if kind == event.kind);
        kind && mark.time == event.time && mark.id == event.id
    };
    let mark = marks.iter().enumerate().skip(first).find(|(_, mark)| is_it(mark));
    Some(mark.map_or(Target::Pod(index), |(mark, _)| Target::Mark { pod: index, mark }))
}

fn mark_box(mark: &Mark, index: usize, scale: &Scale) -> MarkBox {
    let hollow = matches!(mark.kind, MarkKind::Event { discarded: true, .. });
    MarkBox { x: scale.x(mark.time), glyph: Glyph::of(&mark.kind), hollow, mark: index, count: 1 }
}

fn push(boxes: &mut Vec<MarkBox>, mut new: MarkBox, marks: &[Mark]) {
    let Some(last) = boxes.last_mut().filter(|last| new.x < last.x + MIN_DISTANCE) else {
        boxes.push(new);
        return;
    };
    let time = |index: usize| marks.get(index).map(|mark| mark.time);
    let at_once = time(last.mark) == time(new.mark) && last.count == 1 && last.glyph != new.glyph;
    if at_once {
        // Died and Removed of one relist: side by side, since both are news.
        new.x = last.x + MIN_DISTANCE;
        boxes.push(new);
        return;
    }
    last.count += 1;
    if new.glyph >= last.glyph {
        (last.glyph, last.mark, last.hollow) = (new.glyph, new.mark, new.hollow || last.hollow);
    }
}
