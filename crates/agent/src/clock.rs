//! How far an agent's clock is from the conductor's: bounds between which the truth lies.
//!
//! No wall clocks: each machine has a monotonic clock of its own. What an agent's clock showed when it answered lies between
//! the sending of the question and the coming of the answer, so the offset is between their differences. Every answer bounds
//! it, and the truth is within all of them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// By how much two clocks may go apart, parts in a million: the kernel sets a clock right by 500 at most, each of the two.
pub const DRIFT_MAX_PPM: u64 = 1000;
/// Answers that are kept: of earlier ones the drift has taken what they bound.
const ANSWERS_MAX: usize = 64;

/// Between what an offset lies: agent − conductor, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Not less.
    pub low_ns: i128,
    /// Not more.
    pub high_ns: i128,
}

impl Bounds {
    /// In the middle, so that the truth is at most [`Bounds::half`] from it.
    pub const fn middle_ns(self) -> i128 {
        (self.low_ns + self.high_ns).div_euclid(2)
    }

    /// Half the width.
    pub fn half(self) -> Duration {
        let half_ns = (self.high_ns - self.low_ns + 1) / 2;
        Duration::from_nanos(u64::try_from(half_ns).unwrap_or(u64::MAX))
    }

    /// The agent's instant that is the conductor's `at`, as near as is known.
    pub fn theirs(self, at: Instant) -> Instant {
        let ns = i128::from(at.as_nanos()) + self.middle_ns();
        Instant::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
    }
}

#[derive(Debug, Clone, Copy)]
struct Answer {
    bounds: Bounds,
    received: Instant,
}

impl Answer {
    /// What it says of another instant, however the clocks went meanwhile.
    fn at(&self, at: Instant) -> Bounds {
        let apart = at.since(self.received).max(self.received.since(at));
        let drift_ns = i128::from(apart.as_nanos()) * i128::from(DRIFT_MAX_PPM) / 1_000_000;
        Bounds { low_ns: self.bounds.low_ns - drift_ns, high_ns: self.bounds.high_ns + drift_ns }
    }
}

/// What is known of one agent's clock.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    answers: VecDeque<Answer>,
    jumped: bool,
}

impl Clock {
    /// It showed `shown`, between `sent` and `received` on the conductor's.
    pub fn add(&mut self, sent: Instant, shown: Instant, received: Instant) {
        let shown_ns = i128::from(shown.as_nanos());
        let bounds = Bounds {
            low_ns: shown_ns - i128::from(received.as_nanos()),
            high_ns: shown_ns - i128::from(sent.as_nanos()),
        };
        if self.at(received).is_some_and(|it| it.high_ns < bounds.low_ns || bounds.high_ns < it.low_ns) {
            // No clock goes so: the machine slept, or was moved. What was known before says nothing of now.
            self.jumped = true;
            self.answers.clear();
        }
        if self.answers.len() == ANSWERS_MAX {
            self.answers.pop_front();
        }
        self.answers.push_back(Answer { bounds, received });
    }

    /// Between what the offset lies at an instant of the conductor's; `None` before the first answer.
    pub fn at(&self, at: Instant) -> Option<Bounds> {
        let all = self.answers.iter().map(|answer| answer.at(at));
        all.reduce(|a, b| Bounds { low_ns: a.low_ns.max(b.low_ns), high_ns: a.high_ns.min(b.high_ns) })
    }

    /// Whether it went otherwise than a clock may, since the load began.
    pub const fn jumped(&self) -> bool {
        self.jumped
    }

    /// The load begins: what its clock did before that is no matter, since what was known is not relied on.
    pub(crate) fn begin(&mut self) {
        self.jumped = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    #[test]
    fn answers_bound_the_offset_and_old_ones_less() {
        let mut clock = Clock::default();
        assert_eq!(clock.at(us(0)), None);
        // An hour ahead: 100 us there and 300 us back.
        let hour_us = 3_600_000_000_u64;
        clock.add(us(1000), us(hour_us + 1100), us(1400));
        let bounds = clock.at(us(1400)).unwrap();
        let hour_ns = i128::from(hour_us) * 1000;
        assert_eq!(bounds, Bounds { low_ns: hour_ns - 300_000, high_ns: hour_ns + 100_000 });
        assert_eq!(bounds.half(), Duration::from_micros(200));
        assert_eq!(bounds.theirs(us(5000)), us(hour_us + 5000 - 100));
        // A second later, as far as clocks may go apart.
        assert_eq!(clock.at(us(1_001_400)).unwrap().half(), Duration::from_micros(1200));
        clock.add(us(1_001_400), us(hour_us + 1_001_450), us(1_001_500));
        assert_eq!(clock.at(us(1_001_500)).unwrap().half(), Duration::from_micros(50));
        assert!(!clock.jumped());
        clock.add(us(2_000_000), us(9), us(2_000_100));
        assert!(clock.jumped());
        clock.begin();
        assert!(!clock.jumped(), "that was before the load");
        assert_eq!(clock.at(us(2_000_100)).unwrap().half(), Duration::from_micros(50));
    }
}
