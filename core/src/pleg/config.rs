//! Which kubelet the engine is, and its settings.

use crate::time::{Nanos, SECOND};

/// Capacity of the kubelet's event channel (`plegChannelCapacity`).
pub const CHANNEL_CAPACITY: usize = 1000;
/// Relist period of a kubelet without the EventedPLEG gate, in nanoseconds.
pub const RELIST_PERIOD: Nanos = SECOND;
/// Relist threshold of a kubelet without the EventedPLEG gate, in nanoseconds.
pub const RELIST_THRESHOLD: Nanos = 180 * SECOND;
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
}

/// What the time of a cache entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryTime {
    /// When the listing that showed the pod began.
    Listing,
    /// When the pod's inspection began.
    Inspection,
}

impl Profile {
    /// Kubernetes v1.36.
    pub const V1_36: Profile = Profile {
        name: "1.36",
        pod_sync: true,
        requests: true,
        watch_conditions: false,
        entry_time: EntryTime::Listing,
        sorted_listing: true,
        inspection_lists: false,
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
    };
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
