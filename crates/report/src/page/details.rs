//! What a cell's trial looked like from within: its percentile curve, and its times over time.

use record::{Distribution, LoadResult, LoggedInterval, Measured};
use stats::{PERCENTILES, samples_needed};

use super::model::{Heat, Stage, StagePart};
use crate::told::TimeUs;

/// Points of a percentile curve a decade of 1 / (1 − q).
const POINTS_A_DECADE: u32 = 8;
/// Decades at most: beyond a thousandth of a millionth there are no samples.
const DECADES_MAX: u32 = 9;
/// Quantiles that people ask for and that lie between those points: a neighbour's value would be told as theirs.
const ASKED_FOR: [f64; 7] = [0.25, 0.5, 0.75, 0.95, 0.975, 0.995, 0.9995];
/// Columns of a heat map at most; intervals are put together where there are more.
const COLUMNS_MAX: usize = 90;
/// Rows of a heat map a decade of time, the most that keep it within [`ROWS_MAX`].
const ROWS_A_DECADE: [u32; 5] = [20, 16, 12, 8, 5];
const ROWS_MAX: usize = 48;
/// Significant digits of what is drawn: more can't be seen.
const DIGITS: i32 = 4;

/// A percentile curve.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// `[quantile, µs]` where the samples tell it.
    pub(super) seen: Vec<[f64; 2]>,
    /// The same of lower bounds.
    pub(super) censored: Vec<[f64; 2]>,
    pub(super) samples: u64,
    pub(super) censored_samples: u64,
}

/// The curve of a trial: fine where its interval log was kept, of the usual percentiles elsewhere.
pub(super) fn curve(trial: &Measured, intervals: &[LoggedInterval]) -> Curve {
    let told = trial.load.times();
    let whole = LoggedInterval::whole(intervals);
    let (samples, censored_samples) = (told.count, told.censored);
    // What was kept must be the whole of what the trial tells, or the curve would be of other samples.
    if whole.count() == 0 || whole.count() < samples || trial.load.driver.is_some() {
        return Curve { samples, censored_samples, ..of_percentiles(told) };
    }
    let mut curve = Curve { samples, censored_samples, ..Curve::default() };
    for quantile in quantiles(whole.count()) {
        let Some(figure) = whole.quantile(quantile) else { continue };
        let point = [quantile, rounded(figure.value.as_micros_f64())];
        if figure.is_lower_bound { curve.censored.push(point) } else { curve.seen.push(point) }
    }
    curve
}

fn of_percentiles(told: &Distribution) -> Curve {
    let mut curve = Curve::default();
    for percentile in PERCENTILES {
        let Some((us, is_lower_bound)) = told.told(percentile.name) else { continue };
        let point = [percentile.quantile, rounded(us)];
        if is_lower_bound { curve.censored.push(point) } else { curve.seen.push(point) }
    }
    curve
}

/// Quantiles that so many samples know, evenly spaced in the logarithm of 1 / (1 − q), which is HdrHistogram's axis, and those that
/// people ask for among them.
fn quantiles(samples: u64) -> impl Iterator<Item = f64> {
    let even = (0..=POINTS_A_DECADE * DECADES_MAX)
        .map(|step| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(POINTS_A_DECADE)));
    let mut all: Vec<f64> = even.chain(ASKED_FOR).collect();
    all.sort_by(f64::total_cmp);
    all.into_iter().take_while(move |quantile| samples_needed(*quantile) <= samples)
}

/// Times over time; `None` without samples.
pub(super) fn heat(intervals: &[LoggedInterval]) -> Option<Heat> {
    let (first, last) = (intervals.first()?, intervals.last()?);
    // Of each its ends alone: all of its times may take as much memory as it does itself.
    let ends_of = |it: &LoggedInterval| {
        let times = us(&it.times);
        Some((times.first()?.0, times.last()?.0))
    };
    let ends: Vec<(f64, f64)> = intervals.iter().filter_map(ends_of).collect();
    let low = ends.iter().map(|it| it.0).reduce(f64::min)?.max(1.0);
    let high = ends.iter().map(|it| it.1).reduce(f64::max)?.max(1.0);
    let steps = steps(low, high);
    let edges_us = edges(low, high, steps);
    let row =
        |us: f64| edges_us.partition_point(|edge| *edge <= us).saturating_sub(1).min(edges_us.len() - 2);
    let each = first.length.as_secs_f64().max(f64::MIN_POSITIVE);
    let whole = (last.start + last.length).as_secs_f64();
    let joined = ((whole / each).ceil() as usize).div_ceil(COLUMNS_MAX).max(1);
    let column_s = each * joined as f64;
    let mut cells = std::collections::BTreeMap::<[u64; 2], [u64; 2]>::new();
    for interval in intervals {
        // Threads begin their seconds at almost the same instants.
        let column = (interval.start.as_secs_f64() / each).round() as u64 / joined as u64;
        for (which, histogram) in [Some(interval.times.exact()), interval.times.censored()].iter().enumerate()
        {
            for bar in histogram.iter().flat_map(|it| it.iter_recorded()) {
                let at = row(bar.value_iterated_to() as f64 / 1e3) as u64;
                cells.entry([column, at]).or_default()[which] += bar.count_at_value();
            }
        }
    }
    let of = |which: usize| {
        let filled = cells.iter().filter(|(_, counts)| counts[which] > 0);
        filled.map(|([column, row], counts)| [*column, *row, counts[which]]).collect()
    };
    let columns = cells.keys().map(|[column, _]| *column as usize + 1).max().unwrap_or(0);
    Some(Heat { column_s, columns, counts: of(0), censored: of(1), edges_us })
}

fn us(times: &stats::Distribution) -> Vec<(f64, u64)> {
    times.times().into_iter().map(|(time, count)| (time.as_micros_f64(), count)).collect()
}

/// Rows a decade.
fn steps(low: f64, high: f64) -> f64 {
    let decades = (high / low).log10().max(0.0);
    let fits = |steps: &&u32| decades * f64::from(**steps) + 2.0 <= ROWS_MAX as f64;
    f64::from(*ROWS_A_DECADE.iter().find(fits).unwrap_or(&ROWS_A_DECADE[ROWS_A_DECADE.len() - 1]))
}

/// Edges of rows from at most `low` to more than `high`, at least two.
fn edges(low: f64, high: f64, steps: f64) -> Vec<f64> {
    let from = (low.log10() * steps).floor() as i32;
    let to = (high.log10() * steps).floor() as i32 + 1;
    (from..=to).map(|step| rounded(10_f64.powf(f64::from(step) / steps))).collect()
}

/// What parts of requests and connections took.
pub(super) fn stages(load: &LoadResult) -> Vec<Stage> {
    let of = |part: StagePart, times: &Distribution| {
        let figure = |name: &str| {
            let (us, is_lower_bound) = times.told(name)?;
            us.is_finite().then(|| TimeUs { us: rounded(us), is_lower_bound })
        };
        let (mean, p50, p99) = (figure("mean"), figure("p50"), figure("p99"));
        Stage { part, count: times.count, resumed: None, mean, p50, p99 }
    };
    let waited = |part: StagePart, count: u64, sum_us: u64| {
        let us = rounded(sum_us as f64 / count.max(1) as f64);
        let mean = (sum_us > 0).then_some(TimeUs { us, is_lower_bound: false });
        Stage { part, count, resumed: None, mean, p50: None, p99: None }
    };
    let mut stages = Vec::new();
    if let Some(tls) = &load.tls {
        let handshake = of(StagePart::TlsHandshake, &tls.handshake_us);
        stages.push(of(StagePart::Connect, &tls.connect_us));
        stages.push(Stage { resumed: Some(tls.resumed_handshakes), ..handshake });
    }
    stages.extend(load.first_byte_apart().map(|it| of(StagePart::FirstByte, it)));
    let waits = &load.connections;
    stages.push(waited(StagePart::StreamWait, waits.stream_waits, waits.stream_wait_us));
    stages.push(waited(StagePart::WindowWait, waits.window_waits, waits.window_wait_us));
    stages.retain(|it| it.count > 0);
    stages
}

/// A figure to four significant digits.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powi(DIGITS - 1 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    fn interval(start_s: u64, times: &[(u64, u64)], censored: &[(u64, u64)]) -> LoggedInterval {
        let mut distribution = stats::Distribution::default();
        for (ms, count) in times {
            (0..*count).for_each(|_| distribution.record(Duration::from_millis(*ms)));
        }
        for (ms, count) in censored {
            (0..*count).for_each(|_| distribution.record_censored(Duration::from_millis(*ms)));
        }
        let (start, length) = (Duration::from_secs(start_s), Duration::from_secs(1));
        LoggedInterval { start, length, times: distribution }
    }

    #[test]
    fn a_heat_map_holds_every_sample_once() {
        let intervals = [interval(0, &[(1, 5), (1000, 2)], &[]), interval(2, &[(3, 4)], &[(2000, 1)])];
        let heat = heat(&intervals).unwrap();
        assert_eq!((heat.column_s, heat.columns), (1.0, 3));
        assert_eq!(heat.counts.iter().map(|it| it[2]).sum::<u64>(), 11);
        assert_eq!(heat.censored.iter().map(|it| it[2]).sum::<u64>(), 1);
        for [column, row, _] in heat.counts.iter().chain(&heat.censored) {
            assert!((*column as usize) < heat.columns && (*row as usize) < heat.edges_us.len() - 1);
        }
        assert!(heat.edges_us.is_sorted() && heat.edges_us.len() <= ROWS_MAX);
        assert!(heat.edges_us[0] <= 1e3 && *heat.edges_us.last().unwrap() > 2e6);
    }

    #[test]
    fn a_long_run_is_put_together_and_one_instant_is_a_map_too() {
        let intervals: Vec<LoggedInterval> =
            (0..200).map(|second| interval(second, &[(5, 1)], &[])).collect();
        let long = heat(&intervals).unwrap();
        assert!(long.columns <= COLUMNS_MAX, "{}", long.columns);
        assert_eq!(long.counts.iter().map(|it| it[2]).sum::<u64>(), 200);
        let one = heat(&[interval(0, &[(5, 1)], &[])]).unwrap();
        assert_eq!((one.columns, one.counts.len()), (1, 1));
        assert_eq!(heat(&[]), None);
        assert_eq!(heat(&[interval(0, &[], &[])]), None);
    }

    #[test]
    fn quantiles_end_where_samples_do() {
        let all: Vec<f64> = quantiles(1000).collect();
        assert!(all[0].abs() < f64::EPSILON);
        assert!(all.is_sorted());
        // Of 1000 samples the longest is above the 99.7th percentile in 95 of 100 cases, and not above the 99.8th.
        assert!(*all.last().unwrap() >= 0.995 && *all.last().unwrap() < 0.9975);
        assert_eq!(quantiles(0).count(), 0);
    }

    /// The page tells these by name: `QUANTILES` in web/src/charts/percentiles.ts.
    #[test]
    fn quantiles_that_have_a_name_are_among_them() {
        let all: Vec<f64> = quantiles(u64::MAX).collect();
        let named =
            [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.999_99, 0.999_999];
        for quantile in named {
            assert!(all.iter().any(|it| (it - quantile).abs() < 1e-9), "{quantile}");
        }
        assert!(all.is_sorted());
    }

    #[test]
    fn figures_keep_four_digits() {
        for (value, expected) in
            [(123_456.0, 123_500.0), (0.001_234_56, 0.001_235), (0.0, 0.0), (-98.765, -98.77)]
        {
            assert!((rounded(value) - expected).abs() <= 1e-9 * f64::abs(expected), "{value}");
        }
    }
}
