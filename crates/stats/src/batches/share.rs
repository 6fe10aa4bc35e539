//! Shares of requests, and what is known of the true ones: of requests that come one by one, and of those that share a
//! stretch of time and with it what happened to the server then.
//!
//! A share of a load has the interval of Clopper and Pearson (1934) of as many requests as would tell as much if each came
//! by itself: Korn and Graubard (1998, "Confidence intervals for proportions with small expected number of positive counts
//! estimated from survey data"). How many those are is told by how much the share differs between stretches of the load.

use super::series::Series;
use crate::probability::{beta_below, normal_above, student_above, where_it_reaches};

/// Stretches of time from which on it is known how much they differ.
pub const BATCHES_MIN: usize = 5;
/// More requests tell no more: the interval of a half is then within 0.0003, and the sums stay quick.
const COUNT_MAX: f64 = 1e7;

/// A stretch of a load: of so many requests, so many were found to be of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Part {
    /// Of the kind.
    pub found: u64,
    /// In all.
    pub all: u64,
}

impl Part {
    /// Of all parts together.
    pub fn sum(parts: &[Self]) -> Self {
        let add = |sum: Self, it: &Self| Self { found: sum.found + it.found, all: sum.all + it.all };
        parts.iter().fold(Self::default(), add)
    }

    /// As a number up to 1; 0 of none.
    pub fn share(self) -> f64 {
        self.found as f64 / self.all.max(1) as f64
    }
}

/// The shares that so many of so many are in line with: on either side chance does more with a probability of `tail` at
/// most. Both need not be whole.
pub(super) fn shares_around(found: f64, all: f64, tail: f64) -> (f64, f64) {
    let low = if found <= 0.0 {
        0.0
    } else {
        where_it_reaches(tail, 0.0, 1.0, |share| beta_below(share, found, all - found + 1.0))
    };
    let high = if found >= all {
        1.0
    } else {
        where_it_reaches(1.0 - tail, 0.0, 1.0, |share| beta_below(share, found + 1.0, all - found))
    };
    (low, high)
}

/// How many requests, each by itself, would tell as much of a share as those of `parts` do, for an interval with `tail` on
/// either side. `None` of fewer parts than [`BATCHES_MIN`].
pub(super) fn independent_count(parts: &[Part], tail: f64) -> Option<f64> {
    let parts: Vec<Part> = parts.iter().copied().filter(|it| it.all > 0).collect();
    if parts.len() < BATCHES_MIN {
        return None;
    }
    let whole = Part::sum(&parts);
    let (all, share) = (whole.all as f64, whole.share());
    let off: Vec<f64> = parts.iter().map(|it| it.found as f64 - share * it.all as f64).collect();
    let series = Series::of(&off);
    let variance = series.variance_of_sum() / (all * all);
    let count = if variance > 0.0 { share * (1.0 - share) / variance } else { all };
    // Of few parts their spread itself is hardly known, for which Student's distribution is wider than the normal one.
    let widened = normal_above(tail) / student_above(tail, series.freedom());
    Some(count.min(all).min(COUNT_MAX) * widened * widened)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_are_those_of_clopper_and_pearson() {
        // R: binom.test(3, 100)$conf.int, binom.test(0, 20)$conf.int
        for (found, all, low, high) in [(3.0, 100.0, 0.006_230, 0.085_176), (0.0, 20.0, 0.0, 0.168_433)] {
            let told = shares_around(found, all, 0.025);
            assert!((told.0 - low).abs() < 1e-5 && (told.1 - high).abs() < 1e-5, "{told:?}");
        }
    }

    #[test]
    fn what_clusters_tells_less() {
        let even = vec![Part { found: 10, all: 1000 }; 10];
        let mut at_once = vec![Part { found: 0, all: 1000 }; 10];
        at_once[4].found = 100;
        let (even, at_once) =
            (independent_count(&even, 0.025).unwrap(), independent_count(&at_once, 0.025).unwrap());
        assert!(even > 5_000.0, "{even}");
        assert!(at_once < 200.0, "{at_once}");
        assert_eq!(independent_count(&[Part { found: 1, all: 10 }; 4], 0.025), None);
    }

    proptest! {
        #[test]
        fn the_share_that_was_seen_is_within(found in 0_u32..200, more in 0_u32..2000) {
            let all = f64::from(found + more + 1);
            let (low, high) = shares_around(f64::from(found), all, 0.025);
            let share = f64::from(found) / all;
            prop_assert!(low <= share && share <= high && (0.0..=1.0).contains(&low) && high <= 1.0);
        }
    }
}
