//! Points on a monotonic clock, and the spans between them.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::str::FromStr;

use crate::parse::{ParseError, number_and_suffix};

/// A point on a monotonic clock, in nanoseconds since an origin that the clock's owner chose (the boot
/// of the machine for a real run, zero for a simulated one). Two instants compare only within one clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The origin of the clock.
    pub const ORIGIN: Self = Self(0);
    /// Later than any instant that a run can reach; stands for "never".
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span from `earlier` to `self`, or zero where `earlier` is the later of the two: clocks read
    /// on different paths of one loop turn may be a few nanoseconds out of order.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// A span of time in whole nanoseconds. Arithmetic saturates: a bound that overflows is still a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span; stands for "without a limit".
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// A span of `secs` seconds, rounded to a nanosecond; negative or not a number gives zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9) as u64)
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in microseconds, with its fraction.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The span in seconds, with its fraction.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span in whole numbers of the largest unit that has one: as [`fmt::Display`] rounds it, it may read as another one.
    pub const fn in_full(self) -> InFull {
        InFull(self)
    }

    /// Whether no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The span less `other`, or zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl From<Duration> for core::time::Duration {
    fn from(span: Duration) -> Self {
        Self::from_nanos(span.0)
    }
}

impl From<core::time::Duration> for Duration {
    fn from(span: core::time::Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Three significant digits in the largest unit that leaves at least one digit before the point:
/// `0ns`, `850ns`, `12.3us`, `4.56ms`, `2.00s`, `75.0s`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0;
        let (value, unit) = match nanos {
            0..1_000 => return write!(f, "{nanos}ns"),
            1_000..1_000_000 => (nanos as f64 / 1e3, "us"),
            1_000_000..1_000_000_000 => (nanos as f64 / 1e6, "ms"),
            _ => (nanos as f64 / 1e9, "s"),
        };
        let decimals = match value {
            v if v < 9.995 => 2,
            v if v < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.decimals$}{unit}")
    }
}

/// A span that reads as what it is: `1234ms`, `90s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFull(Duration);

impl fmt::Display for InFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let whole = units.into_iter().find(|(nanos_per_unit, _)| nanos.is_multiple_of(*nanos_per_unit));
        let (nanos_per_unit, unit) = whole.unwrap_or((1, "ns"));
        write!(f, "{}{unit}", nanos / nanos_per_unit)
    }
}

/// A decimal number and one of `ns`, `us`, `ms`, `s`, `m`, `h`: `"250ms"`, `"1.5s"`. A bare `0` needs no
/// unit; every other number does, because `30` means seconds to one reader and milliseconds to another.
impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXPECTED: &str = "ns, us, ms, s, m, h (as in 250ms, 30s or 1h30m)";
        let mut rest = text;
        let mut last_unit = f64::INFINITY;
        let mut nanos = 0.0;
        loop {
            let (number, suffix) = number_and_suffix(rest, "a duration", "250ms or 30s")?;
            let next = suffix.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(suffix.len());
            let (unit, behind) = suffix.split_at(next);
            let nanos_per_unit = match unit.trim() {
                // Only a nothing needs no unit, and only by itself.
                "" if number == 0.0 && last_unit.is_infinite() => 1.0,
                "ns" => 1.0,
                "us" | "µs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "m" => 60e9,
                "h" => 3600e9,
                _ => return Err(ParseError::UnknownUnit { expected: EXPECTED }),
            };
            // From the larger to the smaller, each once, as it is said.
            if nanos_per_unit >= last_unit {
                return Err(ParseError::UnknownUnit { expected: EXPECTED });
            }
            last_unit = nanos_per_unit;
            nanos += number * nanos_per_unit;
            if behind.is_empty() {
                break;
            }
            rest = behind;
        }
        let nanos = libm::round(nanos);
        if nanos > 9e18 {
            return Err(ParseError::OutOfRange { expected: "at most 2500000h" });
        }
        Ok(Self(nanos as u64))
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn displays_three_significant_digits() {
        for (nanos, text) in [
            (0, "0ns"),
            (850, "850ns"),
            (12_345, "12.3us"),
            (4_560_000, "4.56ms"),
            (9_996_000, "10.0ms"),
            (2_000_000_000, "2.00s"),
            (75_000_000_000, "75.0s"),
            (150_000_000_000, "150s"),
        ] {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn in_full_a_span_reads_as_what_it_is() {
        for (nanos, text) in [
            (0, "0s"),
            (1_234_567, "1234567ns"),
            (49_960_000, "49960us"),
            (1_234_000_000, "1234ms"),
            (5_400_000_000_000, "5400s"),
        ] {
            let span = Duration::from_nanos(nanos);
            assert_eq!(span.in_full().to_string(), text);
            assert_eq!(text.parse(), Ok(span));
        }
    }

    #[test]
    fn parses_every_unit_and_refuses_a_bare_number() {
        for (text, nanos) in
            [("0", 0), ("7ns", 7), ("1.5us", 1_500), ("250ms", 250_000_000), ("2m", 120_000_000_000)]
        {
            assert_eq!(text.parse(), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        assert_eq!("1h30m".parse(), Ok(Duration::from_secs(5400)));
        assert_eq!("1m 1.5s".parse(), Ok(Duration::from_millis(61_500)));
        for text in [
            "30",
            "ms",
            "",
            "1.2.3s",
            "-1s",
            "1 parsec",
            "9999999999h",
            "30m1h",
            "1h1h",
            "1h30",
            "1h-3m",
            "0 1s",
        ] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn spans_between_instants_never_wrap() {
        let early = Instant::from_nanos(5);
        let late = Instant::from_nanos(9);
        assert_eq!(late.since(early), Duration::from_nanos(4));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(Instant::FAR_FUTURE + Duration::from_secs(1), Instant::FAR_FUTURE);
    }
}
