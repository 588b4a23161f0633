//! The simulation's only source of chance: seeded, and alike on every platform.

use crate::time::{MILLISECOND, Nanos, SECOND};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// The letters of Kubernetes' generated names (apimachinery's `rand.SafeEncodeString`): no vowels, so that no
/// word comes out by accident, and no digit that looks like a letter.
const NAME_LETTERS: [char; 27] = [
    'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w', 'x', 'z', '2',
    '4', '5', '6', '7', '8', '9',
];

/// Seeded chance. Numbers are drawn as 64 bits throughout: drawing a `usize` would differ on wasm32.
#[derive(Clone, Debug)]
pub(super) struct Dice(fastrand::Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number from `low` to `high`, both included; `low` when they are in the wrong order.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.i64(low..=high.max(low))
    }

    /// A duration between two numbers of milliseconds.
    pub(super) fn millis(&mut self, (low, high): (i64, i64)) -> Nanos {
        self.between(low * MILLISECOND, high * MILLISECOND)
    }

    /// A duration between two numbers of seconds.
    pub(super) fn seconds(&mut self, (low, high): (i64, i64)) -> Nanos {
        self.between(low * SECOND, high * SECOND)
    }

    /// True in `percent` of 100 throws.
    pub(super) fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of the items; none of no items.
    pub(super) fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).cloned()
    }

    /// Any order, all equally likely (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// An id as containerd makes them: 64 hex digits.
    pub(super) fn runtime_id(&mut self) -> String {
        (0..4).map(|_| format!("{:016x}", self.0.u64(..))).collect()
    }

    /// A random UUID (version 4), as the API server makes them.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.0.u64(..), self.0.u64(..));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }

    /// Letters as Kubernetes puts them behind a generated name.
    pub(super) fn name_letters(&mut self, count: usize) -> String {
        (0..count).filter_map(|_| self.pick(&NAME_LETTERS)).collect()
    }

    /// The hash of a pod template: the kubelet's users know it as the middle of a pod's name.
    pub(super) fn template_hash(&mut self) -> String {
        let letters = if self.chance(70) { 10 } else { 9 };
        self.name_letters(letters)
    }

    /// The hash of a controller revision, as DaemonSets and StatefulSets have it: digits.
    pub(super) fn revision_hash(&mut self) -> String {
        self.0.u32(1_000_000_000..).to_string()
    }

    fn below(&mut self, count: usize) -> usize {
        let Ok(last) = i64::try_from(count.saturating_sub(1)) else { return 0 };
        usize::try_from(self.between(0, last)).unwrap_or(0)
    }
}

/// What chance can reach, in a random order, cut to `count`.
pub(super) fn sample<T>(dice: &mut Dice, mut items: Vec<T>, count: usize) -> Vec<T> {
    dice.shuffle(&mut items);
    items.truncate(count);
    items
}
