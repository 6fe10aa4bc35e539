//! Distributions and intervals taken apart, for who carries them elsewhere: put together again they are the very same, so
//! that what is merged there equals what one place would have counted.

use crate::counts::{Counts, CountsParts};
use crate::distribution::Distribution;
use crate::interval::{TIMES_PARTS, Times};

/// A [`Distribution`] in its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DistributionParts {
    /// Times that were seen to their end.
    pub exact: CountsParts,
    /// Their sum, ns.
    pub exact_sum_ns: u128,
    /// The bounds of censored ones, where there is one.
    pub censored: Option<CountsParts>,
    /// Their sum, ns.
    pub censored_sum_ns: u128,
}

impl Distribution {
    /// Takes it apart.
    pub fn parts(&self) -> DistributionParts {
        let (exact, exact_sum_ns, censored, censored_sum_ns) = self.fields();
        DistributionParts {
            exact: exact.parts(),
            exact_sum_ns,
            censored: censored.map(Counts::parts),
            censored_sum_ns,
        }
    }

    /// Puts it together again; `None` of parts that are of none.
    pub fn from_parts(parts: &DistributionParts) -> Option<Self> {
        let exact = Counts::from_parts(&parts.exact)?;
        let censored = match &parts.censored {
            Some(parts) => Some(Counts::from_parts(parts)?),
            None => None,
        };
        let is_sum = |counts: &Counts, sum_ns: u128| {
            // What took longer than is told apart counts as the longest, and in the sum as it was.
            sum_ns >= u128::from(counts.len()) * u128::from(counts.min_ns().unwrap_or(0))
                && (counts.len() > 0 || sum_ns == 0)
        };
        let is_one = is_sum(&exact, parts.exact_sum_ns)
            && censored.as_ref().map_or(parts.censored_sum_ns == 0, |it| is_sum(it, parts.censored_sum_ns));
        is_one.then(|| Self::of_fields(exact, parts.exact_sum_ns, censored, parts.censored_sum_ns))
    }
}

impl Times {
    /// Takes them apart.
    pub fn parts(&self) -> [DistributionParts; TIMES_PARTS] {
        self.all().map(Distribution::parts)
    }

    /// Puts them together again; `None` of parts that are of none.
    pub fn from_parts(parts: &[DistributionParts; TIMES_PARTS]) -> Option<Self> {
        let all: Option<Vec<Distribution>> = parts.iter().map(Distribution::from_parts).collect();
        all?.try_into().ok().map(Self::of_all)
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
            prop_assert_eq!(again.parts(), parts);
        }
    }

    #[test]
    fn parts_of_no_distribution_are_refused() {
        let mut told = Distribution::default();
        told.record(Duration::from_micros(3));
        told.record(Duration::from_micros(7));
        let good = told.parts();
        let mut wrong = Vec::new();
        let mut with = |change: &dyn Fn(&mut DistributionParts)| {
            let mut parts = good.clone();
            change(&mut parts);
            wrong.push(parts);
        };
        with(&|it| it.exact.filled[0].1 = 0);
        with(&|it| it.exact.filled[1].0 = u32::MAX);
        with(&|it| it.exact.filled.reverse());
        with(&|it| it.exact.filled.clear());
        with(&|it| it.exact.min_ns = 0);
        with(&|it| it.exact.max_ns = u64::MAX);
        with(&|it| it.exact.filled[0].1 = u64::MAX);
        with(&|it| it.exact_sum_ns = 0);
        with(&|it| it.censored_sum_ns = 1);
        for parts in wrong {
            assert_eq!(Distribution::from_parts(&parts), None, "{parts:?}");
        }
    }
}
