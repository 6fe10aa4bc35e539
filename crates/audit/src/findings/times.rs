//! Figures of the latency of which each may be true, and no times have them all.

use std::iter::once;

use crate::findings::{Finding, Kind, Level, latency};
use outputs::shown;
use outputs::{Figure, Row, Tool};

/// What a histogram's places and sums of rounded figures allow for.
const ROUNDING: f64 = 1.01;
/// Of fewer times a percentile says little of those beside it.
const TIMES_MIN: f64 = 100.0;
/// By how many times the rank of a percentile may be off: tools round it up or down, or go between two.
const RANKS_OFF: f64 = 2.0;

/// Mean, spread, percentiles and extremes that nothing has together.
pub(super) fn no_such_times(row: &Row) -> Option<Finding> {
    // What is out of order is told of as that.
    if row.is_nan || row.requests == Some(0) || latency::out_of_order(row).is_some() {
        return None;
    }
    let text = beside_percentiles(row).or_else(|| too_far_apart(row)).or_else(|| longer_than_the_run(row))?;
    Some(Finding::of(row, Level::Broken, Kind::NoSuchTimes, text))
}

/// How many times the figures are of at least, where they are enough.
fn count(row: &Row) -> Option<f64> {
    let errors = &row.errors;
    let without = [errors.timeout, errors.read, errors.aborted].into_iter().flatten();
    let kept = without.fold(row.requests?, u64::saturating_sub) as f64;
    (kept >= TIMES_MIN).then_some(kept)
}

fn shortest_ms(row: &Row) -> f64 {
    row.min_ms.map_or(0.0, |it| it.value - it.step).max(0.0)
}

/// A mean that the percentiles leave no room for: of the times between two of them none is shorter than the one or longer than
/// the other.
fn beside_percentiles(row: &Row) -> Option<String> {
    // Those of vegeta, Fortio and Gatling are estimates, and those of some answers have nothing to do with the mean of all.
    let are_estimates = matches!(row.tool, Tool::Vegeta | Tool::Fortio | Tool::Gatling);
    if are_estimates || row.kept.is_some() || row.zero_from.is_some() {
        return None;
    }
    let (mean, off) = (row.mean_ms?, RANKS_OFF / count(row)?);
    let mut ranks: Vec<(f64, Figure)> =
        row.percentiles_ms.iter().map(|(percent, time)| (percent / 100.0, *time)).collect();
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, longest) = ranks.last()?;
    let shares: Vec<f64> = once(0.0).chain(ranks.iter().map(|it| it.0)).chain(once(1.0)).collect();
    let between: Vec<f64> = shares.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let times = || ranks.iter().map(|it| it.1);
    let from = once(shortest_ms(row)).chain(times().map(|it| it.value - it.step));
    let sum = |ends: Vec<f64>| between.iter().zip(ends).map(|(share, end)| share * end).sum::<f64>();
    let at_least = sum(from.collect()) - off * longest.value;
    let at_most = row.max_ms.map(|max| {
        let to = times().chain(once(max)).map(|it| it.value + it.step);
        sum(to.collect()) + off * max.value
    });
    let at_most = at_most.filter(|it| it.is_finite());
    let (bound, side) = match at_most {
        _ if at_least.is_finite() && mean.value + mean.step < at_least / ROUNDING => (at_least, "least"),
        Some(at_most) if mean.value - mean.step > at_most * ROUNDING => (at_most, "most"),
        _ => return None,
    };
    Some(format!(
        "the mean of {} is of other times than the percentiles: with these it is {} at {side}",
        shown::time(mean.value),
        shown::time(bound)
    ))
}

/// A standard deviation that is larger than that of times at the two ends alone, whose square is (max - mean) x (mean - min)
/// (Bhatia and Davis 2000, "A Better Bound on the Variance").
fn too_far_apart(row: &Row) -> Option<String> {
    let (mean, stdev, max) = (row.mean_ms?, row.stdev_ms?, row.max_ms?);
    let times = count(row)?;
    let above = (max.value + max.step - (mean.value - mean.step)).max(0.0);
    let below = (mean.value + mean.step - shortest_ms(row)).max(0.0);
    let most = (above * below * times / (times - 1.0)).sqrt();
    (stdev.value - stdev.step > most * ROUNDING).then(|| {
        format!(
            "a standard deviation of {} is larger than that of any times of {} on average and {} at most: {}",
            shown::time(stdev.value),
            shown::time(mean.value),
            shown::time(max.value),
            shown::time(most)
        )
    })
}

/// A time that is longer than the run in which it began and ended.
fn longer_than_the_run(row: &Row) -> Option<String> {
    let (max, run) = (row.max_ms?, row.elapsed_s.filter(|it| it.value > 0.0)?);
    // Others date their runs otherwise, or go on from a warm-up.
    let is_of_wrk = matches!(row.tool, Tool::Wrk | Tool::Wrk2);
    let is_within =
        is_of_wrk || matches!(row.tool, Tool::Oha | Tool::Ab | Tool::Hey | Tool::Autocannon | Tool::Fortio);
    (is_within && max.value - max.step > (run.value + run.step) * 1e3 * ROUNDING).then(|| {
        format!(
            "the maximum of {} is longer than the run of {}",
            shown::time(max.value),
            shown::seconds(run.value)
        )
    })
}
