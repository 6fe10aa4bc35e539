//! Distributions of times as metrics: quantiles out of a record, buckets out of a log.

use record::Distribution;

use crate::model::{Buckets, Families, Labels, Metric, Sample, Span, Unit, Value};

/// Bounds of the buckets, seconds: 1, 2.5, 5 from a tenth of a millisecond to a minute, which is what servers take.
pub const BOUNDS_S: [f64; 18] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
    30.0, 60.0,
];
/// Figures of a record that are quantiles, and the quantile; the longest is the last.
const QUANTILES: [(&str, &str); 8] = [
    ("p50", "0.5"),
    ("p75", "0.75"),
    ("p90", "0.9"),
    ("p95", "0.95"),
    ("p99", "0.99"),
    ("p99_9", "0.999"),
    ("p99_99", "0.9999"),
    ("max", "1"),
];

/// Times of something, as a metric.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed<'a> {
    /// What its families' names begin with.
    pub(crate) base: &'a str,
    /// From when to when.
    pub(crate) what: &'a str,
    /// What has such a time each.
    pub(crate) of: Unit,
}

/// Adds what a record says of times.
pub(crate) fn add_times(
    families: &mut Families,
    Timed { base, what, of }: Timed<'_>,
    times: &Distribution,
    labels: &Labels,
    span: Option<Span>,
) {
    for (figure, quantile) in QUANTILES {
        let labels = labels.clone().with("quantile", quantile);
        add_figure(families, &format!("{base}_quantile"), what, times.told(figure), labels, span);
    }
    add_figure(families, &format!("{base}_mean"), what, times.figure("mean"), labels.clone(), span);
    let counts = [
        ("samples", times.count, "samples, those without an end included"),
        ("censored", times.censored, "samples of which only a lower bound is known"),
    ];
    for (end, count, which) in counts {
        let metric = Metric::gauge(format!("{base}_{end}"), of, format!("{what}: {which}"));
        families.add(metric, Sample { labels: labels.clone(), value: Value::Count(count), span });
    }
}

/// Adds a figure to its family, or where it is only a lower bound to the family of those.
fn add_figure(
    families: &mut Families,
    base: &str,
    what: &str,
    figure: Option<(f64, bool)>,
    labels: Labels,
    span: Option<Span>,
) {
    let Some((us, is_lower_bound)) = figure else { return };
    let (base, help) = if is_lower_bound {
        (
            format!("{base}_lower_bound"),
            format!("{what}, where the truth is known only to be longer than this"),
        )
    } else {
        (base.to_owned(), what.to_owned())
    };
    let sample = Sample { labels, value: Value::Number(us / 1e6), span };
    families.add(Metric::gauge(base, Unit::Seconds, help), sample);
}

/// A distribution in buckets: each time in the bucket that its percentile is reported in; what was not answered in the
/// last, beyond every bound, since nobody knows when it would have been.
pub fn buckets(times: &stats::Distribution) -> Buckets {
    let mut counts = vec![0; BOUNDS_S.len() + 1];
    for (ns, count) in times.exact_times() {
        let seconds = ns.as_nanos() as f64 / 1e9;
        counts[BOUNDS_S.partition_point(|bound| *bound < seconds)] += count;
    }
    counts[BOUNDS_S.len()] += times.censored_count();
    let mean_s = times.mean().filter(|mean| !mean.is_lower_bound).map(|mean| mean.value.as_secs_f64());
    let sum_s = match (times.count(), mean_s) {
        (0, _) => Some(0.0),
        (count, Some(mean_s)) => Some(mean_s * count as f64),
        (_, None) => None,
    };
    Buckets { bounds_s: &BOUNDS_S, counts, sum_s }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Duration;

    use super::*;

    const RESPONSES: Timed<'_> = Timed { base: "response_time", what: "what", of: Unit::Requests };

    #[test]
    fn what_was_not_answered_is_in_no_bucket_but_the_last_and_takes_the_sum_away() {
        let mut times = stats::Distribution::default();
        for ms in [1, 2, 400] {
            times.record(Duration::from_millis(ms));
        }
        let told = buckets(&times);
        assert!(told.sum_s.is_some_and(|sum| (sum - 0.403).abs() < 1e-6), "{told:?}");
        times.record_censored(Duration::from_micros(3));
        let told = buckets(&times);
        let up_to = |bound: f64| told.cumulative().find(|(it, _)| *it >= bound).map(|(_, count)| count);
        assert_eq!(
            (up_to(0.0025), up_to(0.25), up_to(0.5), up_to(f64::INFINITY)),
            (Some(2), Some(2), Some(3), Some(4))
        );
        assert_eq!(told.sum_s, None);
    }

    #[test]
    fn a_bound_and_a_value_are_never_of_one_family() {
        let times = Distribution {
            count: 300,
            censored: 1,
            lower_bounds: vec!["p99".into(), "max".into(), "mean".into()],
            mean: Some(5.0),
            p50: Some(1_000.0),
            p99: Some(2_000_000.0),
            max: Some(2_000_000.0),
            ..Distribution::default()
        };
        let mut families = Families::default();
        add_times(&mut families, RESPONSES, &times, &Labels::default(), None);
        let families = families.into_vec();
        let told: Vec<(&str, usize)> =
            families.iter().map(|it| (it.metric.base.as_str(), it.samples.len())).collect();
        assert_eq!(
            told,
            [
                ("response_time_quantile", 1),
                ("response_time_quantile_lower_bound", 2),
                ("response_time_mean_lower_bound", 1),
                ("response_time_samples", 1),
                ("response_time_censored", 1),
            ]
        );
        assert_eq!(families[1].samples[0].value, Value::Number(2.0));
    }

    /// What so few samples know of a percentile is a bound, and where they know nothing it is left out.
    #[test]
    fn too_few_samples_have_a_bound_and_no_value() {
        let mut three = stats::Distribution::default();
        for ms in [1, 2, 3] {
            three.record(Duration::from_millis(ms));
        }
        let mut families = Families::default();
        add_times(&mut families, RESPONSES, &(&three).into(), &Labels::default(), None);
        let families = families.into_vec();
        let told: Vec<(&str, usize)> =
            families.iter().map(|it| (it.metric.base.as_str(), it.samples.len())).collect();
        // Of the values only the longest is one; the median is not even bounded.
        assert_eq!(told[..2], [("response_time_quantile_lower_bound", 6), ("response_time_quantile", 1)]);
    }

    proptest! {
        #[test]
        fn buckets_hold_every_sample_once(
            exact in prop::collection::vec(0_u64..200_000_000_000, 0..80),
            censored in prop::collection::vec(0_u64..4_000_000_000, 0..9),
        ) {
            let mut times = stats::Distribution::default();
            for ns in &exact {
                times.record(Duration::from_nanos(*ns));
            }
            for ns in &censored {
                times.record_censored(Duration::from_nanos(*ns));
            }
            let told = buckets(&times);
            prop_assert_eq!(told.count(), (exact.len() + censored.len()) as u64);
            for (bound, count) in told.cumulative().filter(|(bound, _)| bound.is_finite()) {
                let within = |share: f64| exact.iter().filter(|ns| **ns as f64 / 1e9 <= bound * share).count() as u64;
                prop_assert!(within(1.0 - stats::RELATIVE_ERROR) <= count && count <= within(1.0), "{}", bound);
            }
        }
    }
}
