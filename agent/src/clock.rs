//! The clocks of the node. The relist worker reads them; nothing else does.

use pleg_core::time::{Nanos, SECOND, Time};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Reads wall clock and monotonic clock, and places moments on the observer's time line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Moment,
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Wall clock, nanoseconds since the epoch. It may step.
    pub(crate) wall: i64,
    /// Monotonic clock, nanoseconds since boot; like Go's, it stands still while the machine sleeps.
    pub(crate) mono: i64,
}

impl Clock {
    /// A time line that begins now.
    pub(crate) fn start() -> Self {
        Self { start: read() }
    }

    /// The moment at which the time line began.
    pub(crate) fn origin(self) -> Moment {
        self.start
    }

    /// Both clocks now.
    pub(crate) fn now(self) -> Moment {
        read()
    }

    /// Now on the observer's time line.
    pub(crate) fn time(self) -> Time {
        self.time_at(self.mono())
    }

    /// A reading of the monotonic clock, placed on the observer's time line.
    pub(crate) fn time_at(self, mono: Nanos) -> Time {
        Time(self.start.wall) + mono.saturating_sub(self.start.mono)
    }

    /// Monotonic clock now, nanoseconds since boot.
    pub(crate) fn mono(self) -> Nanos {
        nanos(clock_gettime(ClockId::Monotonic))
    }
}

fn read() -> Moment {
    Moment { wall: nanos(clock_gettime(ClockId::Realtime)), mono: nanos(clock_gettime(ClockId::Monotonic)) }
}

fn nanos(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(SECOND).saturating_add(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_line_follows_the_monotonic_clock() {
        let clock = Clock { start: Moment { wall: 1_700_000_000_000_000_000, mono: 5_000 } };
        assert_eq!(clock.time_at(7_000), Time(1_700_000_000_000_002_000));
        assert!(clock.time() > clock.time_at(5_000));
    }
}
