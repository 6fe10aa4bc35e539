//! How often something is due.

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

use crate::parse::{ParseError, number_and_suffix};

/// Events a second: finite and above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(f64);

// Above zero and finite: nothing in it is unequal to itself or can't be put in order.
impl Eq for Rate {}

impl Ord for Rate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Rate {
    /// The highest rate that leaves at least a nanosecond between two events.
    pub const MAX_PER_SEC: f64 = 1e9;

    /// `per_sec` events a second; `None` unless 0 < `per_sec` ≤ [`Rate::MAX_PER_SEC`].
    pub fn per_sec(per_sec: f64) -> Option<Self> {
        (per_sec > 0.0 && per_sec <= Self::MAX_PER_SEC).then_some(Self(per_sec))
    }

    /// Events a second.
    pub const fn as_per_sec(self) -> f64 {
        self.0
    }

    /// The mean gap between two events, in nanoseconds with their fraction.
    pub fn mean_gap_ns(self) -> f64 {
        1e9 / self.0
    }

    /// This rate shared out evenly among `parts`.
    ///
    /// # Panics
    /// If `parts` is zero.
    #[must_use]
    pub fn divided_by(self, parts: u32) -> Self {
        assert!(parts > 0, "a rate is shared among at least one");
        Self(self.0 / f64::from(parts))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

/// A number with or without `/s`, `/m` or `/h`; `k` and `M` multiply: `"2000"`, `"20k/s"`, `"90/m"`.
impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const RANGE: ParseError = ParseError::OutOfRange { expected: "above 0 and at most 1e9 a second" };
        let (number, suffix) = number_and_suffix(text, "a rate", "2000, 20k/s or 90/m")?;
        let (multiplier, period) = match suffix.split_at_checked(1) {
            Some(("k", rest)) => (1e3, rest),
            Some(("M", rest)) => (1e6, rest),
            _ => (1.0, suffix),
        };
        let period_s = match period {
            "" | "/s" => 1.0,
            "/m" => 60.0,
            "/h" => 3600.0,
            _ => return Err(ParseError::UnknownUnit { expected: "/s, /m, /h (as in 2000/s)" }),
        };
        Self::per_sec(number * multiplier / period_s).ok_or(RANGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_multipliers_and_periods() {
        for (text, per_sec) in [("2000", 2000.0), ("20k/s", 20_000.0), ("90/m", 1.5), ("1M", 1e6)] {
            assert_eq!(text.parse(), Ok(Rate(per_sec)), "{text}");
        }
    }

    #[test]
    fn refuses_what_no_schedule_can_keep() {
        for text in ["0", "-3", "2000/day", "2e12", "2000M", "many"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        assert_eq!(Rate::per_sec(f64::NAN), None);
    }
}
