//! Times, durations and sizes as a person reads them.

use pleg_core::{
    pleg::Profile,
    time::{MILLISECOND, Nanos, Rfc3339, SECOND, Time, civil_date},
};

const MICROSECOND: Nanos = 1_000;
const MINUTE: Nanos = 60 * SECOND;
const HOUR: Nanos = 60 * MINUTE;
/// One day in nanoseconds.
pub const DAY: Nanos = 24 * HOUR;

/// The zone in which clock times are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Nanoseconds to add to UTC.
    pub offset: Nanos,
    /// Whether it was chosen to be UTC, rather than being local and equal to it.
    pub utc: bool,
}

impl Zone {
    /// `UTC`, or the offset as `UTC+2` or `UTC+5:30`.
    pub fn name(self) -> String {
        if self.offset == 0 {
            return "UTC".into();
        }
        let minutes = (self.offset / MINUTE).abs();
        let sign = if self.offset < 0 { '−' } else { '+' };
        match minutes % 60 {
            0 => format!("UTC{sign}{}", minutes / 60),
            rest => format!("UTC{sign}{}:{rest:02}", minutes / 60),
        }
    }
}

/// `2026-03-04`.
pub fn date(time: Time, zone: Zone) -> String {
    let (year, month, day) = civil_date(time.0.saturating_add(zone.offset).div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `14:05:09` followed by `decimals` (0 to 9) digits of the second's fraction.
pub fn clock(time: Time, zone: Zone, decimals: usize) -> String {
    let of_day = time.0.saturating_add(zone.offset).rem_euclid(DAY);
    let (hours, minutes, seconds) = (of_day / HOUR, of_day / MINUTE % 60, of_day / SECOND % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{seconds:02}");
    if decimals > 0 {
        let fraction = format!("{:09}", of_day % SECOND);
        text.push('.');
        text.extend(fraction.chars().take(decimals));
    }
    text
}

/// RFC 3339 with nanoseconds, in UTC.
pub fn rfc3339(time: Time) -> String {
    Rfc3339(time).to_string()
}

/// Three significant digits with the unit that fits: `43 ms`, `1.24 s`, `2 m 41 s`, `1 h 02 m`.
pub fn duration(nanos: Nanos) -> String {
    let n = nanos.max(0);
    match n {
        0..MICROSECOND => format!("{n} ns"),
        MICROSECOND..MILLISECOND => three(n, MICROSECOND, "µs"),
        MILLISECOND..SECOND => three(n, MILLISECOND, "ms"),
        SECOND..MINUTE => three(n, SECOND, "s"),
        MINUTE..HOUR => format!("{} m {:02} s", n / MINUTE, n / SECOND % 60),
        HOUR..DAY => format!("{} h {:02} m", n / HOUR, n / MINUTE % 60),
        _ => format!("{} d {:02} h", n / DAY, n / HOUR % 24),
    }
}

/// As [`duration`], with a fixed number of decimals below a minute so that it can count live without jumping.
pub fn running(nanos: Nanos) -> String {
    let n = nanos.max(0);
    if n >= MINUTE { duration(n) } else { format!("{}.{} s", n / SECOND, n % SECOND / (100 * MILLISECOND)) }
}

fn three(n: Nanos, unit: Nanos, name: &str) -> String {
    let whole = n / unit;
    match whole {
        0..10 => format!("{whole}.{:02} {name}", n % unit * 100 / unit),
        10..100 => format!("{whole}.{} {name}", n % unit * 10 / unit),
        _ => format!("{whole} {name}"),
    }
}

/// `512 B`, `2.4 KiB`, `1.3 MiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let (mut value, mut unit) = (n as f64 / 1024.0, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(value < 100.0);
    format!("{value:.decimals$} {}", UNITS.get(unit).unwrap_or(&"B"))
}

/// `12,345`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 pod`, `2,345 pods`.
pub fn counted(n: usize, word: &str) -> String {
    format!("{} {word}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A release of the kubelet, with the one whose behaviour is derived where that is another: `1.33 (as 1.35)`.
pub fn followed(release: &str) -> String {
    let known = Profile::of_release(release);
    let name = known.map_or(Profile::default().name, |(_, profile)| profile.name);
    match known {
        Some((release, _)) if release == name => name.to_owned(),
        _ => format!("{release} (as {name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (nanos, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400 * SECOND, "2000-02-29T00:00:00.000000000Z"),
            (1_772_633_109 * SECOND + 42, "2026-03-04T14:05:09.000000042Z"),
            (4_107_542_400 * SECOND, "2100-03-01T00:00:00.000000000Z"),
        ] {
            assert_eq!(rfc3339(Time(nanos)), text);
        }
        let india = Zone { offset: 5 * HOUR + 30 * MINUTE, utc: false };
        assert_eq!(clock(Time(0), india, 3), "05:30:00.000");
        assert_eq!(india.name(), "UTC+5:30");
    }

    #[test]
    fn durations_have_three_digits() {
        for (nanos, text) in [
            (-5, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 µs"),
            (43_210_000, "43.2 ms"),
            (999_999_999, "999 ms"),
            (1_239_999_999, "1.23 s"),
            (161 * SECOND, "2 m 41 s"),
            (3_725 * SECOND, "1 h 02 m"),
            (49 * HOUR, "2 d 01 h"),
        ] {
            assert_eq!(duration(nanos), text);
        }
        assert_eq!(running(59_960 * MILLISECOND), "59.9 s");
    }

    #[test]
    fn a_release_says_which_one_it_is_like() {
        for (release, text) in [("1.36", "1.36"), ("1.33", "1.33 (as 1.35)"), ("1.99", "1.99 (as 1.36)")] {
            assert_eq!(followed(release), text);
        }
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!(
            (bytes(1023), bytes(2_500), bytes(1_400_000)),
            ("1023 B".into(), "2.4 KiB".into(), "1.3 MiB".into())
        );
        assert_eq!((count(12), count(1_234_567)), ("12".into(), "1,234,567".into()));
        assert_eq!((counted(1, "pod"), counted(2, "pod")), ("1 pod".into(), "2 pods".into()));
    }
}
