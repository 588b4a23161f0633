//! Time as integer nanoseconds, and durations printed as Go prints them.

use core::{fmt, ops::Add, ops::Sub};
use serde::{Deserialize, Serialize};

/// Nanoseconds of a duration.
pub type Nanos = i64;

/// One second in nanoseconds.
pub const SECOND: Nanos = 1_000_000_000;
/// One millisecond in nanoseconds.
pub const MILLISECOND: Nanos = 1_000_000;

/// A point on the observer's time line: nanoseconds since the Unix epoch by the wall clock at the start of the
/// observation, carried on by the monotonic clock. A stepped wall clock therefore never moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// Nanoseconds from `earlier` to here; negative when `earlier` is later.
    pub fn since(self, earlier: Time) -> Nanos {
        self.0.saturating_sub(earlier.0)
    }

    /// Whole seconds since the epoch, rounded down as Go's `Time.Unix` does.
    pub fn unix_seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }
}

impl Add<Nanos> for Time {
    type Output = Time;
    fn add(self, nanos: Nanos) -> Time {
        Time(self.0.saturating_add(nanos))
    }
}

impl Sub<Nanos> for Time {
    type Output = Time;
    fn sub(self, nanos: Nanos) -> Time {
        Time(self.0.saturating_sub(nanos))
    }
}

/// A duration that prints as Go's `time.Duration.String` does: `3m5.3s`, `1.5ms`, `2562047h47m16.854775807s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoDuration(pub Nanos);

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        match ns {
            0 => f.write_str("0s"),
            1..=999 => write!(f, "{ns}ns"),
            1_000..=999_999 => fraction(f, ns, 1_000, 3).and_then(|()| f.write_str("µs")),
            1_000_000..=999_999_999 => fraction(f, ns, 1_000_000, 6).and_then(|()| f.write_str("ms")),
            _ => clock(f, ns),
        }
    }
}

fn clock(f: &mut fmt::Formatter<'_>, ns: u64) -> fmt::Result {
    let second = SECOND.unsigned_abs();
    let seconds = ns / second;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        write!(f, "{hours}h")?;
    }
    if seconds >= 60 {
        write!(f, "{minutes}m")?;
    }
    fraction(f, ns % (60 * second), second, 9)?;
    f.write_str("s")
}

/// `value / unit` with as many of the `digits` decimals as are needed.
fn fraction(f: &mut fmt::Formatter<'_>, value: u64, unit: u64, digits: usize) -> fmt::Result {
    write!(f, "{}", value / unit)?;
    let mut rest = value % unit;
    if rest == 0 {
        return Ok(());
    }
    let mut width = digits;
    while rest.is_multiple_of(10) {
        rest /= 10;
        width -= 1;
    }
    write!(f, ".{rest:0width$}")
}

/// A time as RFC 3339 in UTC with nine decimals, as the kubelet writes `kubernetes.io/config.seen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rfc3339(pub Time);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.unix_seconds(), self.0.0.rem_euclid(SECOND));
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil_date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
    }
}

/// Year, month and day of a number of days since 1970-01-01, by counting eras of 400 years from a March on,
/// so that the leap day comes last (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
pub fn civil_date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn durations_print_as_go_prints_them() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (4 * 60 * SECOND + 5 * SECOND, "4m5s"),
            (4 * 60 * SECOND + 5_001_000_000, "4m5.001s"),
            (5 * 3600 * SECOND + 6 * 60 * SECOND + 7_001_000_000, "5h6m7.001s"),
            (8 * 60 * SECOND + 1, "8m0.000000001s"),
            (180 * SECOND, "3m0s"),
            (3600 * SECOND, "1h0m0s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (-SECOND, "-1s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(GoDuration(nanos).to_string(), text);
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000007Z"),
            (951_782_400, "2000-02-29T00:00:00.000000007Z"),
            (1_796_173_740, "2026-12-02T01:09:00.000000007Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000000007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000007Z"),
        ] {
            assert_eq!(Rfc3339(Time(seconds * SECOND + 7)).to_string(), text);
        }
    }

    #[test]
    fn seconds_round_down_before_the_epoch() {
        assert_eq!(Time(-1).unix_seconds(), -1);
        assert_eq!(Time(SECOND - 1).unix_seconds(), 0);
    }
}
