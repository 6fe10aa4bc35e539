//! How often each time was seen: the array behind a distribution.

use std::borrow::Cow;
use std::ops::Range;

use hdrhistogram::Histogram;

/// The longest time that is told apart, ns; longer ones count as this long.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;
/// Times that share a power of two are told apart by so many bits, the leading one included: 2048 values in all, which
/// is what three significant digits need.
const PRECISION_BITS: u32 = 11;
const HALF: usize = 1 << (PRECISION_BITS - 1);
/// Places that times are counted at.
pub const PLACES: usize = place(LONGEST_NS) + 1;
/// More than anything counts: at a million a second it takes thirty years.
const COUNT_MAX: u64 = 1_000_000_000_000_000;

/// Times of one kind by the place that each is counted at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CountsParts<'a> {
    /// The shortest, ns; `u64::MAX` of none.
    pub min_ns: u64,
    /// The longest, ns; 0 of none.
    pub max_ns: u64,
    /// Places and counts, in order, none of them zero.
    pub filled: Cow<'a, [(u32, u64)]>,
}

/// Counts of times in nanoseconds, laid out as an HdrHistogram of three significant digits is: exact up to 2048, and
/// then 1024 of equal width for each power of two.
///
/// Our own because it lies on the path of every request, which records four times or five: some 20 instructions each,
/// against 60 of the library's general one (callgrind), whose figures and files it agrees with by test. Where nothing
/// was counted it touches no memory, and only what lies between the shortest and the longest is looked at or cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    by_place: Box<[u64; PLACES]>,
    /// The shortest and the longest, as they were: the other way round while there are none.
    min_ns: u64,
    max_ns: u64,
}

/// The power of two, beyond those of the values that are exact, that `ns` is counted in; 0 for these.
#[inline]
const fn power(ns: u64) -> u32 {
    u64::BITS - PRECISION_BITS - (ns | (2 * HALF as u64 - 1)).leading_zeros()
}

/// Where `ns` is counted.
#[inline]
const fn place(ns: u64) -> usize {
    let power = power(ns);
    power as usize * HALF + (ns >> power) as usize
}

/// The longest time that is counted at `place`.
const fn longest_at(place: usize) -> u64 {
    if place < 2 * HALF {
        return place as u64;
    }
    let power = place / HALF - 1;
    (((place % HALF + HALF + 1) as u64) << power) - 1
}

impl Default for Counts {
    fn default() -> Self {
        // From the heap as it is, since an array of this size does not belong on the stack.
        let by_place = vec![0; PLACES].try_into().expect("a vector of this length");
        Self { by_place, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Counts {
    /// Counts a time.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        let unusual = ns < self.min_ns || ns > self.max_ns;
        let ns = if unusual { self.widen(ns) } else { ns };
        self.by_place[place(ns)] += 1;
    }

    /// Counts a time so often.
    pub(crate) fn record_many(&mut self, ns: u64, count: u64) {
        if count > 0 {
            let ns = self.widen(ns);
            self.by_place[place(ns)] += count;
        }
    }

    /// Makes `ns`, or the longest time there is, lie between the shortest and the longest, and gives it back.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, ns: u64) -> u64 {
        let ns = ns.min(LONGEST_NS);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        ns
    }

    /// Adds all of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        for (place, count) in other.filled() {
            self.by_place[place] += count;
        }
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let places = self.places();
        for count in &mut self.by_place[places] {
            // What was never written to is not in memory yet.
            if *count > 0 {
                *count = 0;
            }
        }
        (self.min_ns, self.max_ns) = (u64::MAX, 0);
    }

    /// How many were counted.
    pub(crate) fn len(&self) -> u64 {
        self.filled().map(|(_, count)| count).sum()
    }

    /// The shortest, ns.
    pub(crate) fn min_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.min_ns)
    }

    /// The longest, ns; 0 of none.
    pub(crate) fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The `rank`-th shortest, ns, from 1 on; within three significant digits, never above the longest.
    pub(crate) fn at_rank(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let reached = self.filled().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        reached.map_or(self.max_ns, |(place, _)| longest_at(place).min(self.max_ns))
    }

    /// The same as an HdrHistogram, for its readers and its files.
    pub(crate) fn to_histogram(&self) -> Histogram<u64> {
        let mut histogram =
            Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are valid constants");
        for (place, count) in self.filled() {
            histogram.saturating_record_n(longest_at(place), count);
        }
        histogram
    }

    /// How many were longer than `ns`, as far as times are told apart.
    pub(crate) fn above(&self, ns: u64) -> u64 {
        self.filled().filter(|(at, _)| *at > place(ns)).map(|(_, count)| count).sum()
    }

    /// Those that were as long as `ns` or longer, as far as times are told apart.
    pub(crate) fn from(&self, ns: u64) -> Self {
        let mut kept = Self::default();
        for (at, count) in self.filled().filter(|(at, _)| *at >= place(ns)) {
            kept.by_place[at] = count;
            kept.min_ns = kept.min_ns.min(longest_at(at).min(self.max_ns));
            kept.max_ns = self.max_ns;
        }
        kept
    }

    /// Each time that was counted, ns, the shortest first, and how often; within three significant digits.
    pub(crate) fn times(&self) -> impl Iterator<Item = (u64, u64)> {
        self.filled().map(|(at, count)| (longest_at(at).min(self.max_ns), count))
    }

    /// Takes it apart.
    pub(crate) fn parts(&self) -> CountsParts<'static> {
        let filled = self.filled().map(|(place, count)| (place as u32, count)).collect();
        CountsParts { min_ns: self.min_ns, max_ns: self.max_ns, filled }
    }

    /// Holds from now on what was taken apart. Whether these are parts that [`Counts::parts`] makes; of others something is held.
    pub(crate) fn assign(&mut self, parts: &CountsParts<'_>) -> bool {
        self.clear();
        let CountsParts { min_ns, max_ns, filled } = parts;
        let (Some((first, _)), Some((last, _))) = (filled.first(), filled.last()) else {
            return self.min_ns == *min_ns && self.max_ns == *max_ns;
        };
        let ends = min_ns <= max_ns
            && *max_ns <= LONGEST_NS
            && (*first as usize, *last as usize) == (place(*min_ns), place(*max_ns));
        if !ends || !filled.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            return false;
        }
        // Also of what is refused further on: so that it can be forgotten.
        (self.min_ns, self.max_ns) = (*min_ns, *max_ns);
        let mut sum = 0_u64;
        for (place, count) in filled.iter() {
            sum = sum.saturating_add(*count);
            if *count == 0 || sum > COUNT_MAX {
                return false;
            }
            self.by_place[*place as usize] = *count;
        }
        true
    }

    fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        let counted = self.places().map(|place| (place, self.by_place[place]));
        counted.filter(|(_, count)| *count > 0)
    }

    /// The places from the shortest to the longest.
    fn places(&self) -> Range<usize> {
        if self.min_ns > self.max_ns { 0..0 } else { place(self.min_ns)..place(self.max_ns) + 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(all_ns: &[u64]) -> Counts {
        let mut counts = Counts::default();
        for ns in all_ns {
            counts.record(*ns);
        }
        counts
    }

    #[test]
    fn every_place_holds_what_lies_between_it_and_the_one_before() {
        for place_of in 1..PLACES {
            let (shortest, longest) = (longest_at(place_of - 1) + 1, longest_at(place_of));
            assert_eq!((place(shortest), place(longest)), (place_of, place_of));
            assert!((longest - shortest) as f64 <= shortest as f64 / HALF as f64);
        }
        assert_eq!(place(0), 0);
    }

    #[test]
    fn what_is_too_long_counts_as_the_longest() {
        assert_eq!(of(&[u64::MAX]).at_rank(1), LONGEST_NS);
    }

    proptest! {
        /// The library, asked for the same, is the oracle.
        #[test]
        fn agrees_with_hdrhistogram(
            times in prop::collection::vec((0_u32..43, any::<u64>()), 1..200),
            others in prop::collection::vec(0_u64..10_000_000_000, 0..50),
            quantile in 0.0..=1.0_f64,
        ) {
            // Of every magnitude alike.
            let times: Vec<u64> =
                times.into_iter().map(|(bits, ns)| (ns >> (63 - bits)).clamp(1, LONGEST_NS)).collect();
            let mut oracle = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).unwrap();
            for ns in times.iter().chain(&others) {
                oracle.saturating_record(*ns);
            }
            let mut counts = of(&times);
            counts.add(&of(&others));
            prop_assert_eq!(counts.len(), oracle.len());
            let rank = ((quantile * oracle.len() as f64).ceil() as u64).max(1);
            let told = oracle.value_at_quantile((rank as f64 - 0.5) / oracle.len() as f64);
            let max = times.iter().chain(&others).copied().max().unwrap_or(0);
            prop_assert_eq!(counts.at_rank(rank), told.min(max));
            prop_assert_eq!(counts.max_ns(), max);
            let same = counts.to_histogram();
            prop_assert!(same.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value()))
                .eq(oracle.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value()))));
            counts.clear();
            prop_assert_eq!(&counts, &Counts::default());
        }
    }
}
