//! Which rows there are, and where: a header for each namespace, a row for each pod, one for each container name.

use pleg_core::{
    time::Time,
    timeline::{LaneKind, Pod, Timeline},
};

/// Height of a namespace's header in pixels.
pub const NAMESPACE_HEIGHT: f64 = 22.0;
/// Height of a pod's row, which shows its sandboxes.
pub const POD_HEIGHT: f64 = 18.0;
/// Height of the row of one container name.
pub const LANE_HEIGHT: f64 = 17.0;
/// Room below a pod.
pub const POD_GAP: f64 = 3.0;

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// The header of the namespace of the row's pod.
    Namespace {
        /// Pods below it.
        pods: usize,
    },
    /// The name of the pod and its sandboxes.
    Pod {
        /// The sandboxes' lane, when a sandbox was ever seen.
        sandboxes: Option<usize>,
    },
    /// The containers of one name.
    Lane {
        /// Index of the lane in the pod.
        lane: usize,
    },
}

/// A row and its place from the top of all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Its top in pixels.
    pub y: f64,
    /// Its height in pixels.
    pub height: f64,
    /// Index of its pod; for a header the first pod below it.
    pub pod: usize,
    /// What it shows.
    pub kind: RowKind,
}

/// All rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// Their height in pixels.
    pub height: f64,
    /// Number of pods among them.
    pub pods: usize,
}

impl Rows {
    /// The rows of the pods in `order` that were there at some time from `from` to `to`.
    pub fn new(timeline: &Timeline, order: &[usize], from: Time, to: Time) -> Self {
        let mut rows = Rows::default();
        let mut header: Option<(usize, &str)> = None;
        for index in order {
            let Some(pod) = timeline.pods().get(*index).filter(|pod| is_there(pod, from, to)) else {
                continue;
            };
            if header.is_none_or(|(_, namespace)| namespace != pod.namespace) {
                header = Some((rows.rows.len(), &pod.namespace));
                rows.push(*index, NAMESPACE_HEIGHT, RowKind::Namespace { pods: 0 });
            }
            let row = header.and_then(|(row, _)| rows.rows.get_mut(row));
            if let Some(RowKind::Namespace { pods }) = row.map(|row| &mut row.kind) {
                *pods += 1;
            }
            rows.push_pod(*index, pod);
        }
        rows
    }

    fn push_pod(&mut self, index: usize, pod: &Pod) {
        self.pods += 1;
        let sandboxes = pod.lanes.iter().position(|lane| lane.kind == LaneKind::Sandbox);
        self.push(index, POD_HEIGHT, RowKind::Pod { sandboxes });
        for lane in (0..pod.lanes.len()).filter(|lane| Some(*lane) != sandboxes) {
            self.push(index, LANE_HEIGHT, RowKind::Lane { lane });
        }
        self.height += POD_GAP;
    }

    fn push(&mut self, pod: usize, height: f64, kind: RowKind) {
        self.rows.push(Row { y: self.height, height, pod, kind });
        self.height += height;
    }

    /// The rows that touch the pixels from `top` to `bottom`.
    pub fn between(&self, top: f64, bottom: f64) -> &[Row] {
        let first = self.rows.partition_point(|row| row.y + row.height + POD_GAP <= top);
        let after = self.rows.partition_point(|row| row.y < bottom);
        self.rows.get(first..after).unwrap_or_default()
    }

    /// The header that governs the pixel `top`.
    pub fn header_at(&self, top: f64) -> Option<&Row> {
        let until = self.rows.partition_point(|row| row.y <= top);
        let above = self.rows.get(..until)?;
        above.iter().rev().find(|row| matches!(row.kind, RowKind::Namespace { .. }))
    }

    /// The row of a pod, or of one of its lanes.
    pub fn find(&self, pod: usize, lane: Option<usize>) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.pod == pod
                && match row.kind {
                    RowKind::Namespace { .. } => false,
                    RowKind::Pod { sandboxes } => lane.is_none() || lane == sandboxes,
                    RowKind::Lane { lane: own } => lane == Some(own),
                }
        })
    }
}

fn is_there(pod: &Pod, from: Time, to: Time) -> bool {
    let starts = pod.lanes.iter().filter_map(|lane| lane.spans.first()?.start());
    let start = starts.min().map_or(pod.first_seen, |start| start.min(pod.first_seen));
    start <= to && pod.gone.is_none_or(|gone| gone >= from)
}

/// The pods for which `wanted` holds, by namespace and name: pods of one workload stand together, and a row
/// stays in place while others come and go below it.
pub fn order(timeline: &Timeline, wanted: impl Fn(&Pod) -> bool) -> Vec<usize> {
    let mut pods: Vec<(usize, &Pod)> =
        timeline.pods().iter().enumerate().filter(|(_, pod)| wanted(pod)).collect();
    pods.sort_by_key(|(_, pod)| (&pod.namespace, &pod.name, pod.first_seen, &pod.uid));
    pods.into_iter().map(|(index, _)| index).collect()
}
