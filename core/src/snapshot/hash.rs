//! The hash that proves a list.

use alloc::borrow::Cow;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Hash of a snapshot: the wrapping sum of the hashes of its items, sandboxes and containers alike. As a sum it
/// follows a delta at the cost of the change. Written as 16 hex digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hash(pub u64);

/// How an item is hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rule {
    /// Format 1: the 64-bit XXH3 of its JSON.
    Whole,
    /// Since format 2: the 64-bit XXH3 of CRI's number of its state, four bytes little-endian, with the XXH3 of its
    /// JSON in the default state as the seed. So a change of state, by far the most frequent one, costs a
    /// hash of four bytes.
    #[default]
    Parts,
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Hash).map_err(D::Error::custom)
    }
}
