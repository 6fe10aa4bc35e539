//! A histogram of response times in a few buckets, each about twice the last: 1, 2, 5, 10, …

use stats::{Distribution, RELATIVE_ERROR};

use crate::view::Bucket;

/// Ends of the buckets, µs, from the shortest answer on loopback to the longest timeout anybody waits for.
const ENDS_US: [u64; 22] = [
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
];

/// Counts by bucket, the last one without an end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Buckets([u64; ENDS_US.len() + 1]);

impl Buckets {
    /// Adds the times of a distribution.
    pub(crate) fn add(&mut self, times: &Distribution) {
        for (time, count) in times.times() {
            // Times are told apart to three digits, so that one of 10 us is told as a little more.
            let us = time.as_micros_f64() / (1.0 + RELATIVE_ERROR);
            self.0[ENDS_US.partition_point(|end| (*end as f64) < us)] += count;
        }
    }

    /// The buckets from the first with a count to the last with one; none without any.
    pub(crate) fn view(&self) -> Vec<Bucket> {
        let ends = ENDS_US.iter().map(|us| Some(*us as f64)).chain([None]);
        let all: Vec<Bucket> = ends.zip(self.0).map(|(up_to_us, count)| Bucket { up_to_us, count }).collect();
        let first = all.iter().position(|it| it.count > 0).unwrap_or(all.len());
        let end = all.iter().rposition(|it| it.count > 0).map_or(first, |last| last + 1);
        all[first..end].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    #[test]
    fn a_time_is_in_the_bucket_that_ends_with_it_or_behind_it() {
        let mut times = Distribution::default();
        for us in [5, 10, 11, 400, 400_000_000] {
            times.record(Duration::from_micros(us));
        }
        times.record_censored(Duration::from_secs(2));
        let mut buckets = Buckets::default();
        buckets.add(&times);
        let view = buckets.view();
        let counts: Vec<u64> = view.iter().map(|it| it.count).collect();
        assert_eq!((counts[..3].to_vec(), counts.iter().sum::<u64>()), (vec![2, 1, 0], 6));
        assert_eq!((view[0].up_to_us, view.last().unwrap().up_to_us), (Some(10.0), None));
        assert_eq!(view.iter().find(|it| it.up_to_us == Some(500.0)).unwrap().count, 1);
        assert_eq!(Buckets::default().view(), []);
    }
}
