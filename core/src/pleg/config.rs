//! Which kubelet the engine is, and its settings.

use crate::time::{Nanos, SECOND};
use alloc::{format, string::String, vec::Vec};

/// Capacity of the kubelet's event channel (`plegChannelCapacity`).
pub const CHANNEL_CAPACITY: usize = 1000;
/// Relist period of a kubelet without the EventedPLEG gate, in nanoseconds.
pub const RELIST_PERIOD: Nanos = SECOND;
/// Relist threshold of a kubelet without the EventedPLEG gate, in nanoseconds.
pub const RELIST_THRESHOLD: Nanos = 180 * SECOND;
/// Relist period of a kubelet with the EventedPLEG gate (v1.26 to v1.36), in nanoseconds.
pub const EVENTED_RELIST_PERIOD: Nanos = 300 * SECOND;
/// Relist threshold of a kubelet with the EventedPLEG gate (v1.26 to v1.36), in nanoseconds.
pub const EVENTED_RELIST_THRESHOLD: Nanos = 600 * SECOND;
/// Capacity of the queue of on-demand relist requests (v1.36).
pub const REQUEST_CAPACITY: usize = 200;

/// What differs between releases of the kubelet, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Minor release that the behaviour was taken from: `1.36`.
    pub name: &'static str,
    /// A successful inspection without a change of state sends `PodSync`. Before v1.36 it sent nothing.
    pub pod_sync: bool,
    /// `RequestReinspect` and `RequestRelist` exist, and with them pod relists.
    pub requests: bool,
    /// `SetPodWatchCondition` exists: pods with conditions are inspected in every relist.
    pub watch_conditions: bool,
    /// Time of a cache entry.
    pub entry_time: EntryTime,
    /// `GetPods` sorts sandboxes and containers by age. Before v1.36 they stay in the runtime's order.
    pub sorted_listing: bool,
    /// `GetPodStatus` lists the pod's sandboxes and containers again: two more calls (before v1.36).
    pub inspection_lists: bool,
    /// The state changes of all pods are found before the first inspection, and inspections that failed are made up for
    /// in a pass of their own (before v1.32).
    pub passes: bool,
    /// What Evented PLEG makes of the runtime's events, where its gate is on.
    pub evented: Evented,
}

/// What Evented PLEG makes of the runtime's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evented {
    /// Statuses for the cache and lifecycle events, beside a generic PLEG that relists rarely (v1.26 to v1.36).
    Statuses,
    /// A relist of the pod in which a container stopped (v1.37).
    StopHint,
}

/// What the time of a cache entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryTime {
    /// When the listing that showed the pod began.
    Listing,
    /// When the pod's inspection began.
    Inspection,
}

/// The releases of the kubelet that can be followed, newest first, and what they do.
///
/// Releases that share a profile make the same events of the same answers. Before v1.24 a kubelet could reach Docker
/// without CRI (dockershim), where nobody else can see what it sees.
pub const RELEASES: [(&str, Profile); 14] = [
    ("1.37", Profile::V1_37),
    ("1.36", Profile::V1_36),
    ("1.35", Profile::V1_35),
    ("1.34", Profile::V1_35),
    ("1.33", Profile::V1_35),
    ("1.32", Profile::V1_35),
    ("1.31", Profile::V1_31),
    ("1.30", Profile::V1_31),
    ("1.29", Profile::V1_31),
    ("1.28", Profile::V1_31),
    ("1.27", Profile::V1_31),
    ("1.26", Profile::V1_31),
    ("1.25", Profile::V1_31),
    ("1.24", Profile::V1_31),
];

/// The known releases for a person, newest first: `1.37, 1.36, 1.32 to 1.35, …`; those of one profile together.
pub fn known_releases() -> String {
    let groups = RELEASES.chunk_by(|(_, one), (_, other)| one == other);
    let names: Vec<String> = groups.filter_map(group_name).collect();
    names.join(", ")
}

fn group_name(group: &[(&str, Profile)]) -> Option<String> {
    let ((newest, _), (oldest, _)) = (group.first()?, group.last()?);
    Some(if newest == oldest { String::from(*newest) } else { format!("{oldest} to {newest}") })
}

impl Profile {
    /// The minor release, as [`RELEASES`] names it, and the profile of a release that is written as `1.35`, `v1.35.2` or
    /// `1.35+`. None when it cannot be followed.
    pub fn of_release(release: &str) -> Option<(&'static str, Profile)> {
        let minor = release.strip_prefix('v').unwrap_or(release).strip_prefix("1.")?;
        let end = minor.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(minor.len());
        let (minor, rest) = minor.split_at_checked(end)?;
        let known = |name: &str| name.strip_prefix("1.") == Some(minor);
        let written = rest.is_empty() || rest.starts_with(['.', '+', '-']);
        RELEASES.into_iter().find(|(name, _)| written && known(name))
    }

    /// Kubernetes v1.37: Evented PLEG only asks for relists of pods in which a container stopped (pull request 139262).
    pub const V1_37: Profile = Profile { name: "1.37", evented: Evented::StopHint, ..Profile::V1_36 };

    /// Kubernetes v1.36.
    pub const V1_36: Profile = Profile {
        name: "1.36",
        pod_sync: true,
        requests: true,
        watch_conditions: false,
        entry_time: EntryTime::Listing,
        sorted_listing: true,
        inspection_lists: false,
        passes: false,
        evented: Evented::Statuses,
    };

    /// Kubernetes v1.32 to v1.35.
    pub const V1_35: Profile = Profile {
        name: "1.35",
        pod_sync: false,
        requests: false,
        watch_conditions: true,
        entry_time: EntryTime::Inspection,
        sorted_listing: false,
        inspection_lists: true,
        passes: false,
        evented: Evented::Statuses,
    };

    /// Kubernetes v1.24 to v1.31.
    pub const V1_31: Profile =
        Profile { name: "1.31", watch_conditions: false, passes: true, ..Profile::V1_35 };
}

impl Default for Profile {
    fn default() -> Self {
        Profile::V1_36
    }
}

/// Settings of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which kubelet.
    pub profile: Profile,
    /// Time between the end of a relist and the start of the next, in nanoseconds.
    pub relist_period: Nanos,
    /// Age of the last good listing from which on PLEG is unhealthy, in nanoseconds.
    pub relist_threshold: Nanos,
    /// How many events the channel holds; what comes beyond is discarded.
    pub channel_capacity: usize,
    /// Feature gate EventedPLEG: the cache refuses writes that are older than what it has.
    pub evented_gate: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::V1_36,
            relist_period: RELIST_PERIOD,
            relist_threshold: RELIST_THRESHOLD,
            channel_capacity: CHANNEL_CAPACITY,
            evented_gate: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_known_by_their_minor_version() {
        for (written, known) in [
            ("1.36", Some(("1.36", "1.36"))),
            ("v1.33.4-eks-1", Some(("1.33", "1.35"))),
            ("1.31+", Some(("1.31", "1.31"))),
            ("v1.24.17", Some(("1.24", "1.31"))),
            ("1.37.0", Some(("1.37", "1.37"))),
            ("1.23", None),
            ("1.38", None),
            ("1.3", None),
            ("1.36x", None),
            ("1.", None),
            ("2.36", None),
            ("", None),
        ] {
            let found = Profile::of_release(written).map(|(release, profile)| (release, profile.name));
            assert_eq!(found, known, "{written:?}");
        }
        assert_eq!(known_releases(), "1.37, 1.36, 1.32 to 1.35, 1.24 to 1.31");
    }
}
