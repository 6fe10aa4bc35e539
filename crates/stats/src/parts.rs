//! Distributions and intervals taken apart, for who carries them elsewhere: put together again they are the very same, so
//! that what is merged there equals what one place would have counted.

use crate::counts::{Counts, CountsParts};
use crate::distribution::Distribution;
use crate::interval::{TIMES_PARTS, Times};

/// A [`Distribution`] in its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DistributionParts<'a> {
    /// Times that were seen to their end.
    pub exact: CountsParts<'a>,
    /// Their sum, ns.
    pub exact_sum_ns: u128,
    /// The bounds of censored ones, where there is one.
    pub censored: Option<CountsParts<'a>>,
    /// Their sum, ns.
    pub censored_sum_ns: u128,
}

impl Distribution {
    /// Takes it apart.
    pub fn parts(&self) -> DistributionParts<'static> {
        let (exact, exact_sum_ns, censored, censored_sum_ns) = self.fields();
        DistributionParts {
            exact: exact.parts(),
            exact_sum_ns,
            censored: censored.map(Counts::parts),
            censored_sum_ns,
        }
    }

    /// Puts it together again; `None` of parts that are of none.
    pub fn from_parts(parts: &DistributionParts<'_>) -> Option<Self> {
        let mut whole = Self::default();
        whole.assign(parts).then_some(whole)
    }

    /// Holds from now on what was taken apart, in the memory that it has. Whether these are the parts of one; if not, what it
    /// holds is of no use until it is cleared or assigned to.
    fn assign(&mut self, parts: &DistributionParts<'_>) -> bool {
        let is_sum = |counts: &Counts, sum_ns: u128| {
            // What took longer than is told apart counts as the longest, and in the sum as it was.
            sum_ns >= u128::from(counts.len()) * u128::from(counts.min_ns().unwrap_or(0))
                && (counts.len() > 0 || sum_ns == 0)
        };
        self.set_sums(parts.exact_sum_ns, parts.censored_sum_ns);
        let (exact, censored) = self.counts_mut();
        let is_exact = exact.assign(&parts.exact) && is_sum(exact, parts.exact_sum_ns);
        let is_censored = if let Some(parts_of) = &parts.censored {
            let counts = censored.get_or_insert_default();
            counts.assign(parts_of) && is_sum(counts, parts.censored_sum_ns)
        } else {
            *censored = None;
            parts.censored_sum_ns == 0
        };
        is_exact && is_censored
    }
}

impl Times {
    /// Takes them apart.
    pub fn parts(&self) -> [DistributionParts<'static>; TIMES_PARTS] {
        self.all().map(Distribution::parts)
    }

    /// Holds from now on what was taken apart, in the memory that they have. Whether these are parts of such; if not, what they
    /// hold is of no use until they are assigned to.
    pub fn assign<'a>(&mut self, parts: impl ExactSizeIterator<Item = DistributionParts<'a>>) -> bool {
        parts.len() == TIMES_PARTS
            && self.all_mut().into_iter().zip(parts).all(|(times, parts)| times.assign(&parts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Duration;

    use super::*;

    proptest! {
        #[test]
        fn what_was_taken_apart_and_put_together_is_the_same(
            exact in prop::collection::vec(0u64..8_000_000_000_000, 0..100),
            censored in prop::collection::vec(0u64..10_000_000_000, 0..9),
            before in 3u64..10_000_000,
        ) {
            let mut told = Distribution::default();
            for ns in exact {
                told.record(Duration::from_nanos(ns));
            }
            for ns in censored {
                told.record_censored(Duration::from_nanos(ns));
            }
            let parts = told.parts();
            let again = Distribution::from_parts(&parts).unwrap();
            prop_assert_eq!(&again, &told);
            prop_assert_eq!(again.parts(), parts.clone());
            // Of what was there before, and of parts that were refused, nothing stays.
            let mut used = Distribution::default();
            used.record(Duration::from_micros(before));
            used.record_censored(Duration::from_micros(before));
            let mut wrong = used.parts();
            wrong.exact.min_ns = 0;
            prop_assert!(used.assign(&parts));
            prop_assert_eq!(&used, &told);
            prop_assert!(!used.assign(&wrong));
            prop_assert!(used.assign(&parts));
            prop_assert_eq!(&used, &told);
        }
    }

    #[test]
    fn parts_of_no_distribution_are_refused() {
        let mut told = Distribution::default();
        told.record(Duration::from_micros(3));
        told.record(Duration::from_micros(7));
        let good = told.parts();
        let mut wrong = Vec::new();
        let mut with = |change: &dyn Fn(&mut DistributionParts<'_>)| {
            let mut parts = good.clone();
            change(&mut parts);
            wrong.push(parts);
        };
        with(&|it| it.exact.filled.to_mut()[0].1 = 0);
        with(&|it| it.exact.filled.to_mut()[1].0 = u32::MAX);
        with(&|it| it.exact.filled.to_mut().reverse());
        with(&|it| it.exact.filled.to_mut().clear());
        with(&|it| it.exact.min_ns = 0);
        with(&|it| it.exact.max_ns = u64::MAX);
        with(&|it| it.exact.filled.to_mut()[0].1 = u64::MAX);
        with(&|it| it.exact_sum_ns = 0);
        with(&|it| it.censored_sum_ns = 1);
        for parts in wrong {
            assert_eq!(Distribution::from_parts(&parts), None, "{parts:?}");
        }
    }
}
