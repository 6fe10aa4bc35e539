//! Where a series of figures changes: E-divisive (Matteson and James, 2014, "A Nonparametric Approach for Multiple Change
//! Point Analysis of Multivariate Data"), as Daly et al. use it on benchmark results (2020, "The Use of Change Point
//! Detection to Identify Software Performance Regressions in a Continuous Integration System").
//!
//! A series is split where the two sides are most unlike, by the distances between their values; the split is kept if
//! fewer than one in twenty random orders of the same values has one as unlike; and so on within the parts. Nothing is
//! assumed of how values are distributed but that without a change any order is as likely.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Seed;

use crate::comparison::paired::hodges_lehmann;
use crate::comparison::{ALPHA, LEAST_EFFECT};

/// The shortest stretch between two changes. Fewer values can't tell a change from an accident.
pub const STRETCH_MIN: usize = 3;
/// The shortest series in which a change can be found: of fewer values, one in twenty orders is as uneven as can be
/// (2 of the 35 ways to part 7 values into 3 and 4, and 2 of 70 for 8).
pub const SERIES_MIN: usize = 8;
/// The longest series that is looked at, of which the end counts: the work grows with its square.
pub const SERIES_MAX: usize = 300;
/// Random orders that a split is held against.
const ORDERS: u32 = 999;

/// A change in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after it.
    pub at: usize,
    /// What follows, until the next change, over what was before, since the last one.
    pub ratio: f64,
    /// How often chance alone would bring a split as uneven.
    pub p: f64,
}

/// The changes in a series of positive figures, in order. None in fewer than [`SERIES_MIN`]; of more than
/// [`SERIES_MAX`] only the last ones are looked at. A shift of [`LEAST_EFFECT`] or less is no change.
///
/// # Panics
/// Never: indices are those of `values`.
pub fn change_points(values: &[f64], seed: Seed) -> Vec<ChangePoint> {
    let skipped = values.len().saturating_sub(SERIES_MAX);
    let logarithms: Vec<f64> =
        values[skipped..].iter().map(|it| libm::log(it.max(f64::MIN_POSITIVE))).collect();
    if logarithms.len() < SERIES_MIN {
        return Vec::new();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
    let mut edges = vec![0, logarithms.len()];
    let mut found: Vec<(usize, f64)> = Vec::new();
    while let Some(split) = best_split(&logarithms, &edges) {
        let p = chance_of(split.unlikeness, &logarithms, &edges, &mut random);
        if p > ALPHA {
            break;
        }
        found.push((split.at, p));
        edges.push(split.at);
        edges.sort_unstable();
    }
    found.sort_unstable_by_key(|it| it.0);
    with_shifts(&logarithms, found).into_iter().map(|it| ChangePoint { at: it.at + skipped, ..it }).collect()
}

/// The changes with what they amount to, without those that are too small; what is left out joins its neighbours.
fn with_shifts(logarithms: &[f64], mut found: Vec<(usize, f64)>) -> Vec<ChangePoint> {
    loop {
        let edges: Vec<usize> =
            [0].into_iter().chain(found.iter().map(|it| it.0)).chain([logarithms.len()]).collect();
        let level = |from: usize, to: usize| hodges_lehmann(&logarithms[from..to]).unwrap_or(0.0);
        let levels: Vec<f64> = edges.windows(2).map(|edge| level(edge[0], edge[1])).collect();
        let shift = |index: usize| libm::fabs(levels[index + 1] - levels[index]);
        let smallest = (0..found.len()).min_by(|a, b| shift(*a).total_cmp(&shift(*b)));
        match smallest {
            Some(index) if shift(index) <= libm::log(1.0 + LEAST_EFFECT) => drop(found.remove(index)),
            _ => {
                let of = |(index, (at, p)): (usize, &(usize, f64))| ChangePoint {
                    at: *at,
                    ratio: libm::exp(levels[index + 1] - levels[index]),
                    p: *p,
                };
                return found.iter().enumerate().map(of).collect();
            }
        }
    }
}

/// A place to split at.
#[derive(Clone, Copy)]
struct Split {
    at: usize,
    unlikeness: f64,
}

/// The most uneven split of all stretches between `edges`.
fn best_split(values: &[f64], edges: &[usize]) -> Option<Split> {
    let stretches = edges.windows(2).map(|edge| (edge[0], &values[edge[0]..edge[1]]));
    stretches
        .filter_map(|(start, stretch)| best_of(stretch).map(|it| Split { at: start + it.at, ..it }))
        .max_by(|a, b| a.unlikeness.total_cmp(&b.unlikeness))
}

/// The split at which the two sides are most unlike: q̂ of Matteson and James, equation 5, with α = 1,
/// mn / (m + n) · (twice the mean distance across − the mean distances within). All splits take one pass over the
/// distances, since moving the split by one moves one value's distances from one sum to another.
fn best_of(values: &[f64]) -> Option<Split> {
    let n = values.len();
    let to = |at: usize, others: &[f64]| others.iter().map(|it| libm::fabs(values[at] - it)).sum::<f64>();
    let (mut left, mut across) = (0.0, 0.0);
    let mut right: f64 = (0..n).map(|at| to(at, &values[at + 1..])).sum();
    let mut best: Option<Split> = None;
    for at in 1..n {
        let (before, after) = (to(at - 1, &values[..at - 1]), to(at - 1, &values[at..]));
        left += before;
        right -= after;
        across += after - before;
        if at < STRETCH_MIN || n - at < STRETCH_MIN {
            continue;
        }
        let (a, b) = (at as f64, (n - at) as f64);
        let within = 2.0 * left / (a * (a - 1.0)) + 2.0 * right / (b * (b - 1.0));
        let unlikeness = a * b / (a + b) * (2.0 * across / (a * b) - within);
        if best.is_none_or(|it| unlikeness > it.unlikeness) {
            best = Some(Split { at, unlikeness });
        }
    }
    best
}

/// In what share of random orders within the stretches some split is as uneven; what was found counts as one of them.
fn chance_of(unlikeness: f64, values: &[f64], edges: &[usize], random: &mut Xoshiro256PlusPlus) -> f64 {
    let mut order = values.to_vec();
    let mut reached = 1_u32;
    for _ in 0..ORDERS {
        for edge in edges.windows(2) {
            shuffle(&mut order[edge[0]..edge[1]], random);
        }
        // What is equal but for rounding is as uneven.
        let as_uneven =
            best_split(&order, edges).is_some_and(|it| it.unlikeness >= unlikeness * (1.0 - 1e-9) - 1e-12);
        reached += u32::from(as_uneven);
    }
    f64::from(reached) / f64::from(ORDERS + 1)
}

/// Fisher and Yates. The bias of a remainder, below 2⁻⁵⁵ here, moves nothing.
fn shuffle(values: &mut [f64], random: &mut Xoshiro256PlusPlus) {
    for last in (1..values.len()).rev() {
        values.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison::simulation::normal;

    const SEED: Seed = Seed(9);

    /// The flow of the Nile at Aswan, 1871 to 1970, 10⁸ m³ a year (R's `Nile`): it changed once, after 1898, when the
    /// old dam was begun (Cobb, 1978, "The Problem of the Nile: Conditional Solution to a Changepoint Problem").
    const NILE: [u16; 100] = [
        1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799,
        958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916,
        692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698,
        845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801,
        1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170,
        912, 746, 919, 718, 714, 740,
    ];

    #[test]
    fn the_nile_changed_after_1898() {
        assert_eq!(NILE.iter().map(|it| u32::from(*it)).sum::<u32>(), 91_935);
        let found = change_points(&NILE.map(f64::from), SEED);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(1871 + found[0].at, 1899);
        assert!((0.75..0.8).contains(&found[0].ratio) && found[0].p <= 0.002, "{found:?}");
    }

    fn noisy(levels: &[f64], seed: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        levels.iter().map(|level| level * libm::exp(0.02 * normal(&mut random))).collect()
    }

    #[test]
    fn shifts_are_found_where_they_are() {
        let levels = [[100.0; 10], [110.0; 10], [80.0; 10]].concat();
        let found = change_points(&noisy(&levels, 1), SEED);
        assert_eq!(found.iter().map(|it| it.at).collect::<Vec<_>>(), [10, 20]);
        assert!(
            (found[0].ratio - 1.1).abs() < 0.02 && (found[1].ratio - 80.0 / 110.0).abs() < 0.02,
            "{found:?}"
        );
        let short = change_points(&noisy(&[[100.0; 4], [150.0; 4]].concat(), 2), SEED);
        assert_eq!(short.iter().map(|it| it.at).collect::<Vec<_>>(), [4]);
    }

    /// Of 200 at a true rate of 5 %, more than 20 happen once in a thousand times.
    #[test]
    fn a_series_that_does_not_change_is_seldom_said_to() {
        let falsely = (0..200)
            .filter(|seed| {
                let levels = vec![100.0; 8 + (*seed as usize % 3) * 8];
                !change_points(&noisy(&levels, 1000 + seed), Seed(*seed)).is_empty()
            })
            .count();
        assert!(falsely <= 20, "{falsely}");
    }

    #[test]
    fn few_values_equal_values_and_one_accident_are_no_change() {
        assert!(change_points(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0], SEED).is_empty());
        assert!(change_points(&[], SEED).is_empty());
        assert!(change_points(&[5.0; 40], SEED).is_empty());
        let mut once = noisy(&[100.0; 20], 4);
        once[9] = 30.0;
        assert!(change_points(&once, SEED).is_empty());
    }

    #[test]
    fn a_shift_too_small_to_matter_is_no_change() {
        let steps: Vec<f64> =
            (0..20).map(|it| if it < 10 { 100.0 } else { 101.0 } + 0.01 * f64::from(it % 3)).collect();
        assert!(change_points(&steps, SEED).is_empty());
        assert!(change_points(&steps.iter().map(|it| it * it).collect::<Vec<_>>(), SEED).len() == 1);
    }

    #[test]
    fn of_a_long_series_the_end_counts() {
        let mut levels = vec![10.0; 50];
        levels.extend(vec![100.0; SERIES_MAX]);
        assert!(change_points(&noisy(&levels, 5), SEED).is_empty());
        let last = levels.len() - 20;
        levels[last..].fill(130.0);
        let found = change_points(&noisy(&levels, 5), SEED);
        assert_eq!(found.iter().map(|it| it.at).collect::<Vec<_>>(), [last]);
    }

    proptest! {
        #[test]
        fn the_sums_that_move_with_the_split_are_those_of_the_definition(
            values in prop::collection::vec(-5.0..5.0_f64, 6..14),
        ) {
            let told = best_of(&values).unwrap();
            let mean = |x: &[f64], y: &[f64], pairs: f64| {
                x.iter().flat_map(|a| y.iter().map(move |b| (a - b).abs())).sum::<f64>() / pairs
            };
            let of = |at: usize| {
                let (x, y) = values.split_at(at);
                let (m, n) = (x.len() as f64, y.len() as f64);
                m * n / (m + n)
                    * (2.0 * mean(x, y, m * n) - mean(x, x, m * (m - 1.0)) - mean(y, y, n * (n - 1.0)))
            };
            let best = (STRETCH_MIN..=values.len() - STRETCH_MIN).map(of).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((told.unlikeness - best).abs() < 1e-9 && (of(told.at) - best).abs() < 1e-9);
        }
    }
}
