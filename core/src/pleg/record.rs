//! The pod record: what PLEG remembers of a pod.

use crate::pod::Pod;
use alloc::sync::Arc;
use serde::{Deserialize, Serialize};

/// `podRecord`. Upstream's `current` lasts for one relist; here `listed` stays, so that a listing need only say
/// what changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    /// The pod that the next state changes are computed against. It moves on only after a good inspection, and
    /// not at all while nothing changes.
    pub(super) old: Option<Arc<Pod>>,
    /// The pod in the last good listing; none when it was not in it.
    pub(super) listed: Option<Arc<Pod>>,
}

impl Record {
    pub(super) fn is_listed(&self) -> bool {
        self.listed.is_some()
    }
}

/// How a record is written: the old pod is nearly always the listed one, and then not repeated.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listed: Option<Arc<Pod>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old: Option<Arc<Pod>>,
    /// Whether the old pod is the listed one.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    settled: bool,
}

impl Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let settled = self.old.is_some() && self.old == self.listed;
        let old = if settled { None } else { self.old.clone() };
        Written { listed: self.listed.clone(), old, settled }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { listed, old, settled } = Written::deserialize(deserializer)?;
        Ok(Record { old: if settled { listed.clone() } else { old }, listed })
    }
}
