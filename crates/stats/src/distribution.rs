//! A distribution of times, part of which may be censored.

use hdrhistogram::Histogram;
use units::Duration;

use crate::counts::{Counts, LONGEST_NS};
use crate::deviation::Deviation;

/// Stated error of a recorded value: three significant digits.
pub const RELATIVE_ERROR: f64 = 1e-3;

/// A quantile whose lower and upper bound differ by less than this share is printed as a value. It is
/// the accuracy promised for latencies, so one lost request in a million does not turn every figure
/// into a bound, and a percentile that really falls among censored samples always does.
pub const SAME_WITHIN: f64 = 0.01;

/// A percentile by name and as a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// The name in records: `p99_9`.
    pub name: &'static str,
    /// The quantile: 0.999.
    pub quantile: f64,
}

/// The percentiles that are reported.
pub const PERCENTILES: [Percentile; 7] = [
    Percentile { name: "p50", quantile: 0.5 },
    Percentile { name: "p75", quantile: 0.75 },
    Percentile { name: "p90", quantile: 0.9 },
    Percentile { name: "p95", quantile: 0.95 },
    Percentile { name: "p99", quantile: 0.99 },
    Percentile { name: "p99_9", quantile: 0.999 },
    Percentile { name: "p99_99", quantile: 0.9999 },
];

/// How sure it is that a percentile lies below the longest of the samples before that tells it.
const KNOWN_WITH: f64 = 0.95;

/// How many samples it takes to know a quantile: as many as put the longest of them above it in 95 of 100 cases, so that
/// an interval by order statistics has an upper end (1 − qⁿ ≥ 95 %). Of fewer, what lies beyond all samples is anybody's
/// guess: the 99th percentile takes 299, the 99.99th 29,956.
pub fn samples_needed(quantile: f64) -> u64 {
    if quantile <= 0.0 {
        return 1;
    }
    if quantile >= 1.0 {
        return u64::MAX;
    }
    (libm::log(1.0 - KNOWN_WITH) / libm::log(quantile)).ceil().max(1.0) as u64
}

/// The rank, from 1, of the longest of `count` samples that a quantile exceeds in 95 of 100 cases; `None` where that can't
/// even be said of the shortest. As many samples lie above the quantile as a binomial distribution has it.
fn rank_surely_below(quantile: f64, count: u64) -> Option<u64> {
    let beyond = 1.0 - quantile;
    if beyond <= 0.0 {
        return (count > 0).then_some(count);
    }
    // How likely it is that just so many samples lie above the quantile, and that no more do.
    let mut exactly = libm::pow(quantile, count as f64);
    let mut at_most = exactly;
    let mut above = 0;
    while at_most < KNOWN_WITH {
        if above == count {
            return None;
        }
        exactly *= (count - above) as f64 / (above + 1) as f64 * beyond / quantile;
        above += 1;
        at_most += exactly;
    }
    (above < count).then(|| count - above)
}

/// A figure of a distribution: its value, or the most that can be said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// The value, or the bound that it is known to exceed.
    pub value: Duration,
    /// Whether `value` is only a lower bound, because the figure falls among censored samples.
    pub is_lower_bound: bool,
}

impl std::fmt::Display for Quantile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_lower_bound { ">" } else { "" }, self.value)
    }
}

/// Times in nanoseconds, to three significant digits, up to an hour.
///
/// A *censored* sample is known only to be longer than a bound: a timeout, a failure, the deadline. It
/// takes part in ranks. Where the rank of a figure falls so that the truth depends on how much longer
/// the censored samples were, the figure is a lower bound. So is one that falls on the hour, as long as which
/// everything longer counts; the mean is of times as they were.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    exact: Counts,
    exact_sum_ns: u128,
    /// Bounds of the censored samples; absent until there is one, as most loads have none.
    censored: Option<Counts>,
    censored_sum_ns: u128,
}

impl Distribution {
    /// Adds a time that was seen to its end.
    #[inline]
    pub fn record(&mut self, time: Duration) {
        self.exact.record(time.as_nanos());
        self.exact_sum_ns += u128::from(time.as_nanos());
    }

    /// Adds a time known only to exceed `bound`.
    pub fn record_censored(&mut self, bound: Duration) {
        self.censored.get_or_insert_default().record(bound.as_nanos());
        self.censored_sum_ns += u128::from(bound.as_nanos());
    }

    /// Adds so many times known only to exceed `bound`.
    pub fn record_censored_many(&mut self, bound: Duration, count: u64) {
        // None of them is no sample whose end nobody saw.
        if count > 0 {
            self.censored.get_or_insert_default().record_many(bound.as_nanos(), count);
            self.censored_sum_ns += u128::from(bound.as_nanos()) * u128::from(count);
        }
    }

    /// Adds what a histogram of nanoseconds holds, such as one read from a file: times that were seen to their end, to the
    /// digits that it tells apart.
    pub fn add_exact(&mut self, histogram: &Histogram<u64>) {
        self.exact_sum_ns += add(&mut self.exact, histogram);
    }

    /// The same for times that are known only to exceed what it holds.
    pub fn add_censored(&mut self, histogram: &Histogram<u64>) {
        if !histogram.is_empty() {
            self.censored_sum_ns += add(self.censored.get_or_insert_default(), histogram);
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.exact.add(&other.exact);
        self.exact_sum_ns += other.exact_sum_ns;
        self.censored_sum_ns += other.censored_sum_ns;
        if let Some(theirs) = &other.censored {
            self.censored.get_or_insert_default().add(theirs);
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.exact.clear();
        self.exact_sum_ns = 0;
        self.censored = None;
        self.censored_sum_ns = 0;
    }

    /// All that it is.
    pub(crate) fn fields(&self) -> (&Counts, u128, Option<&Counts>, u128) {
        (&self.exact, self.exact_sum_ns, self.censored.as_ref(), self.censored_sum_ns)
    }

    /// Says what its times add up to, for whoever fills its counts anew.
    pub(crate) fn set_sums(&mut self, exact_ns: u128, censored_ns: u128) {
        (self.exact_sum_ns, self.censored_sum_ns) = (exact_ns, censored_ns);
    }

    /// Its counts, exact and censored.
    pub(crate) fn counts_mut(&mut self) -> (&mut Counts, &mut Option<Counts>) {
        (&mut self.exact, &mut self.censored)
    }

    /// Samples, censored ones included.
    pub fn count(&self) -> u64 {
        self.exact.len() + self.censored_count()
    }

    /// Censored samples.
    pub fn censored_count(&self) -> u64 {
        self.censored.as_ref().map_or(0, Counts::len)
    }

    /// The mean; a lower bound as soon as one sample is censored. `None` without samples.
    pub fn mean(&self) -> Option<Quantile> {
        let count = u128::from(self.count());
        let sum = self.exact_sum_ns + self.censored_sum_ns;
        (count > 0).then(|| Quantile {
            value: Duration::from_nanos((sum / count) as u64),
            is_lower_bound: self.censored.is_some(),
        })
    }

    /// The longest sample; a lower bound if any is censored. `None` without samples.
    pub fn max(&self) -> Option<Quantile> {
        let ns = self.exact.max_ns().max(self.censored.as_ref().map_or(0, Counts::max_ns));
        (self.count() > 0).then(|| Quantile {
            value: Duration::from_nanos(ns),
            is_lower_bound: self.censored.is_some() || ns >= LONGEST_NS,
        })
    }

    /// The shortest sample, censored ones at their bounds. `None` without samples.
    pub fn min(&self) -> Option<Duration> {
        let censored = self.censored.as_ref().and_then(Counts::min_ns);
        let shortest = self.exact.min_ns().into_iter().chain(censored).min();
        shortest.map(Duration::from_nanos)
    }

    /// The smallest value that at least `quantile` of the samples do not exceed (nearest rank). `None`
    /// without samples.
    pub fn quantile(&self, quantile: f64) -> Option<Quantile> {
        self.quantiles([quantile]).map(|[it]| it)
    }

    /// Several quantiles in one go; as [`Distribution::quantile`].
    pub fn quantiles<const N: usize>(&self, quantiles: [f64; N]) -> Option<[Quantile; N]> {
        if self.count() == 0 {
            return None;
        }
        let Some(censored) = &self.censored else {
            return Some(quantiles.map(|quantile| {
                let ns = self.exact.at_rank(rank(quantile, self.count()));
                Quantile { value: Duration::from_nanos(ns), is_lower_bound: ns >= LONGEST_NS }
            }));
        };
        // As if every censored sample had ended right at its bound: the least that can be true.
        let mut at_bounds = self.exact.clone();
        at_bounds.add(censored);
        Some(quantiles.map(|quantile| {
            let rank = rank(quantile, self.count());
            let least = at_bounds.at_rank(rank);
            // As if none had ever ended: the most that can be true, without end beyond the exact ones.
            let most = (rank <= self.exact.len()).then(|| self.exact.at_rank(rank));
            let same = most.is_some_and(|most| most as f64 <= least as f64 * (1.0 + SAME_WITHIN));
            Quantile { value: Duration::from_nanos(least), is_lower_bound: !same || least >= LONGEST_NS }
        }))
    }

    /// Whether there are so few samples that they don't know a quantile: see [`samples_needed`].
    pub fn is_too_few_for(&self, quantile: f64) -> bool {
        self.count() < samples_needed(quantile)
    }

    /// What the quantile of whatever the samples are drawn from exceeds in 95 of 100 cases: by order statistics, censored
    /// samples at their bounds. All that can be said of it where there are too few samples; `None` where not even that can.
    pub fn surely_above(&self, quantile: f64) -> Option<Duration> {
        let rank = rank_surely_below(quantile, self.count())?;
        let ns = match &self.censored {
            None => self.exact.at_rank(rank),
            Some(censored) => {
                let mut at_bounds = self.exact.clone();
                at_bounds.add(censored);
                at_bounds.at_rank(rank)
            }
        };
        Some(Duration::from_nanos(ns))
    }

    /// The same without the censored samples whose bound is below `bound`: what failed at once says nothing of how long
    /// an answer takes. Bounds are told apart to three significant digits.
    #[must_use]
    pub fn without_censored_below(&self, bound: Duration) -> Self {
        let mut kept = self.clone();
        let Some(all) = &self.censored else { return kept };
        let long = all.from(bound.as_nanos());
        if long.len() == all.len() {
            return kept;
        }
        kept.censored_sum_ns = long.times().map(|(ns, count)| u128::from(ns) * u128::from(count)).sum();
        kept.censored = (long.len() > 0).then_some(long);
        kept
    }

    /// Samples that were seen to their end and took longer than `bound`, to three significant digits.
    pub fn longer_than(&self, bound: Duration) -> u64 {
        self.exact.above(bound.as_nanos())
    }

    /// The same of all samples, censored ones at their bounds.
    pub(crate) fn at_bounds_longer_than(&self, bound: Duration) -> u64 {
        self.longer_than(bound) + self.censored.as_ref().map_or(0, |it| it.above(bound.as_nanos()))
    }

    /// Between what the sample of a rank, from 1 on, lies if it is known how long each was: from all censored samples at their
    /// bounds to all of them without end, which is `None`, as it is of what is too long to be told apart.
    pub(crate) fn between(&self, rank: u64) -> (Duration, Option<Duration>) {
        let most_ns = (rank <= self.exact.len()).then(|| self.exact.at_rank(rank));
        let most = most_ns.filter(|ns| *ns < LONGEST_NS).map(Duration::from_nanos);
        let least_ns = match &self.censored {
            None => self.exact.at_rank(rank),
            Some(censored) => {
                let mut at_bounds = self.exact.clone();
                at_bounds.add(censored);
                at_bounds.at_rank(rank)
            }
        };
        (Duration::from_nanos(least_ns), most)
    }

    /// How far the samples are from their mean, censored ones at their bounds; zero of fewer than two.
    pub fn deviation(&self) -> Deviation {
        let censored = self.censored.iter().flat_map(Counts::times);
        let samples: Vec<(f64, u64)> =
            self.exact.times().chain(censored).map(|(ns, count)| (ns as f64, count)).collect();
        Deviation::of(&samples)
    }

    /// Each time that was seen to its end and how often it occurred, the shortest first.
    pub fn exact_times(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.exact.times().map(|(ns, count)| (Duration::from_nanos(ns), count))
    }

    /// Each time and how often it occurred, the shortest first, censored samples at their bounds.
    pub fn times(&self) -> Vec<(Duration, u64)> {
        let mut all = self.exact.clone();
        if let Some(censored) = &self.censored {
            all.add(censored);
        }
        all.times().map(|(ns, count)| (Duration::from_nanos(ns), count)).collect()
    }

    /// The samples that were seen to their end, in the form that HdrHistogram tools read.
    pub fn exact(&self) -> Histogram<u64> {
        self.exact.to_histogram()
    }

    /// The bounds of the censored samples, if there are any.
    pub fn censored(&self) -> Option<Histogram<u64>> {
        self.censored.as_ref().map(Counts::to_histogram)
    }
}

/// Adds all of `histogram`, and says what that comes to, ns: each time is taken as the middle of what it may have been.
fn add(counts: &mut Counts, histogram: &Histogram<u64>) -> u128 {
    histogram.iter_recorded().fold(0, |sum, step| {
        let (ns, count) = (step.value_iterated_to(), step.count_at_value());
        counts.record_many(ns, count);
        sum + u128::from(histogram.median_equivalent(ns)) * u128::from(count)
    })
}

/// The nearest rank, from 1 to `count`.
fn rank(quantile: f64, count: u64) -> u64 {
    ((quantile * count as f64).ceil() as u64).clamp(1, count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn of(exact_ns: &[u64], censored_ns: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        for ns in exact_ns {
            distribution.record(Duration::from_nanos(*ns));
        }
        for ns in censored_ns {
            distribution.record_censored(Duration::from_nanos(*ns));
        }
        distribution
    }

    #[test]
    fn a_percentile_among_censored_samples_is_a_lower_bound() {
        let two_s = 2_000_000_000;
        let all_lost = of(&[], &[two_s; 10]);
        assert_eq!(all_lost.quantile(0.5).unwrap().to_string(), ">2.00s");
        let a_third_lost = of(&[1_000_000; 20], &[two_s; 10]);
        assert_eq!(a_third_lost.quantile(0.5).unwrap().to_string(), "1.00ms");
        assert_eq!(a_third_lost.quantile(0.9).unwrap().to_string(), ">2.00s");
    }

    #[test]
    fn none_that_was_censored_makes_no_bound() {
        let mut told = of(&[1_000_000], &[]);
        told.record_censored_many(Duration::from_secs(2), 0);
        let figures = [told.mean(), told.max(), told.quantile(0.99)].map(|it| it.unwrap().to_string());
        assert_eq!(figures, ["1.00ms", "1.00ms", "1.00ms"]);
    }

    #[test]
    fn an_early_failure_makes_later_ranks_uncertain_only_as_far_as_it_matters() {
        // Failures after 1 us: had they gone on, every rank above would move by as many.
        let many = of(&[1_000_000, 2_000_000, 3_000_000, 4_000_000], &[1_000, 1_000]);
        assert!(many.quantile(0.5).unwrap().is_lower_bound);
        let values: Vec<u64> = (1..=100_000).map(|i| i * 1_000).collect();
        assert!(!of(&values, &[1_000]).quantile(0.5).unwrap().is_lower_bound);
        assert!(of(&values, &[1_000]).mean().unwrap().is_lower_bound);
    }

    /// All that is longer counts as an hour: told as a value, it would be the least that can be true.
    #[test]
    fn beyond_an_hour_figures_are_lower_bounds() {
        let (ms, hour) = (1_000_000, Duration::from_nanos(LONGEST_NS));
        let long = of(&[ms, ms, ms, 2 * LONGEST_NS], &[]);
        for longest in [long.quantile(1.0), long.max()] {
            assert_eq!(longest, Some(Quantile { value: hour, is_lower_bound: true }));
        }
        assert_eq!(long.quantile(0.75).unwrap().to_string(), "1.00ms");
        assert!(!long.mean().unwrap().is_lower_bound, "it is of the times as they were");
        assert_eq!(long.between(4), (hour, None));
        let with_a_failure = of(&[2 * LONGEST_NS; 100], &[ms]);
        assert!(with_a_failure.quantile(0.5).unwrap().is_lower_bound);
        let just_below = of(&[LONGEST_NS / 1000 * 998], &[]);
        assert!(!just_below.quantile(0.5).unwrap().is_lower_bound && just_below.between(1).1.is_some());
    }

    #[test]
    fn what_failed_at_once_can_be_left_out_and_what_was_waited_for_stays() {
        let (ms, two_s) = (1_000_000, 2_000_000_000);
        let mixed = of(&[ms, 3 * ms, 2 * two_s], &[1_000, 2_000, two_s]);
        let kept = mixed.without_censored_below(Duration::from_secs(2));
        assert_eq!((kept.count(), kept.censored_count(), mixed.censored_count()), (4, 1, 3));
        assert!(kept.max().unwrap().is_lower_bound);
        assert_eq!(mixed.longer_than(Duration::from_secs(2)), 1);
        let none = of(&[ms], &[1_000]).without_censored_below(Duration::from_secs(2));
        assert_eq!(none, of(&[ms], &[]));
        assert_eq!(none.max().unwrap().to_string(), "1.00ms");
    }

    /// 59 for the 95th percentile is in every textbook (Wilks 1941), 299 and 2,995 likewise.
    #[test]
    fn so_many_samples_it_takes_to_know_a_percentile() {
        let needed = PERCENTILES.map(|it| samples_needed(it.quantile));
        assert_eq!(needed, [5, 11, 29, 59, 299, 2_995, 29_956]);
        assert_eq!((samples_needed(0.0), samples_needed(1.0)), (1, u64::MAX));
        let few = of(&[1_000_000, 2_000_000, 3_000_000], &[]);
        assert!(PERCENTILES.iter().all(|it| few.is_too_few_for(it.quantile)));
        let surely = |quantile: f64| few.surely_above(quantile).map(|it| it.as_nanos() / 999_000);
        // The median of three may be below all of them in one of eight cases; the 99th percentile is above all of
        // them in 97 of 100.
        assert_eq!([0.5, 0.75, 0.9, 0.99, 0.9999].map(surely), [None, Some(1), Some(2), Some(3), Some(3)]);
        assert_eq!(Distribution::default().surely_above(0.99), None);
    }

    /// Both bounds of 95 % hold in at least 95 of 100 samples of a distribution whose percentiles are known.
    #[test]
    fn what_is_said_of_few_samples_holds() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for (quantile, count) in [(0.9, 12), (0.99, 100), (0.99, 298), (0.999, 1_000), (0.9999, 3)] {
            let truth = 1e9 * quantile;
            let held = (0..2_000).filter(|_| {
                let samples: Vec<u64> = (0..count)
                    .map(|_| 1 + (random.next_u64() as f64 / u64::MAX as f64 * 1e9) as u64)
                    .collect();
                let told = of(&samples, &[]).surely_above(quantile).unwrap().as_nanos() as f64;
                told <= truth * (1.0 + RELATIVE_ERROR)
            });
            // Of 2,000 at 95 %, fewer than 1,870 happen once in a thousand times.
            let held = held.count();
            assert!(held >= 1_870, "{quantile} of {count}: {held}");
        }
    }

    #[test]
    fn nothing_recorded_has_no_figures() {
        let empty = Distribution::default();
        assert_eq!((empty.mean(), empty.max(), empty.quantile(0.5)), (None, None, None));
    }

    proptest! {
        #[test]
        fn what_was_written_and_read_again_is_the_same_to_three_digits(
            exact in prop::collection::vec(1u64..2_000_000_000_000, 0..100),
            censored in prop::collection::vec(1u64..10_000_000_000, 0..9),
        ) {
            let told = of(&exact, &censored);
            let mut again = Distribution::default();
            again.add_exact(&told.exact());
            if let Some(bounds) = told.censored() {
                again.add_censored(&bounds);
            }
            prop_assert_eq!((again.exact(), again.censored()), (told.exact(), told.censored()));
            prop_assert_eq!((again.count(), again.censored_count()), (told.count(), told.censored_count()));
            if let (Some(again), Some(told)) = (again.mean(), told.mean()) {
                let (again, told) = (again.value.as_nanos() as f64, told.value.as_nanos() as f64);
                prop_assert!((again - told).abs() <= told * RELATIVE_ERROR + 1.0, "{} {}", again, told);
            }
        }

        #[test]
        fn a_quantile_is_within_the_stated_error_of_the_sorted_truth(
            mut values in prop::collection::vec(1u64..2_000_000_000_000, 1..300),
            quantile in 0.0..=1.0f64,
        ) {
            let distribution = of(&values, &[]);
            values.sort_unstable();
            let truth = values[rank(quantile, values.len() as u64) as usize - 1];
            let told = distribution.quantile(quantile).unwrap().value.as_nanos();
            let error = (told as f64 - truth as f64).abs() / truth as f64;
            prop_assert!(error <= RELATIVE_ERROR, "told {told}, truth {truth}");
        }

        #[test]
        fn merging_is_associative_and_commutative(
            parts in prop::array::uniform3((
                prop::collection::vec(1u64..10_000_000_000, 0..40),
                prop::collection::vec(1u64..10_000_000_000, 0..5),
            )),
        ) {
            let [a, b, c] = parts.map(|(exact, censored)| of(&exact, &censored));
            let merge = |x: &Distribution, y: &Distribution| { let mut z = x.clone(); z.merge(y); z };
            let left = merge(&merge(&a, &b), &c);
            let right = merge(&a, &merge(&b, &c));
            let swapped = merge(&c, &merge(&b, &a));
            for other in [&right, &swapped] {
                prop_assert_eq!(left.exact(), other.exact());
                prop_assert_eq!(left.censored(), other.censored());
                prop_assert_eq!(left.mean(), other.mean());
            }
        }

        #[test]
        fn whatever_the_censored_samples_truly_were_the_figure_holds(
            exact in prop::collection::vec(1u64..1_000_000, 1..60),
            censored in prop::collection::vec((1u64..1_000_000, 0u64..3_000_000), 1..20),
            quantile in 0.01..=1.0f64,
        ) {
            let bounds: Vec<u64> = censored.iter().map(|(bound, _)| *bound).collect();
            let told = of(&exact, &bounds).quantile(quantile).unwrap();
            let mut truth = exact.clone();
            truth.extend(censored.iter().map(|(bound, more)| bound + more));
            truth.sort_unstable();
            let truth = truth[rank(quantile, truth.len() as u64) as usize - 1] as f64;
            let value = told.value.as_nanos() as f64;
            prop_assert!(value <= truth * (1.0 + RELATIVE_ERROR), "told {told}, truth {truth}");
            if !told.is_lower_bound {
                prop_assert!(truth <= value * (1.0 + SAME_WITHIN + 2.0 * RELATIVE_ERROR), "told {told}, truth {truth}");
            }
        }
    }
}
