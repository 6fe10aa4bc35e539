//! Figures of a distribution: which of them are lower bounds, and which there are.

use record::Distribution;
use units::Duration;

const NAMES: [&str; 9] = ["mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"];

fn of(exact_ms: &[u64], censored_ms: &[u64]) -> Distribution {
    let mut times = stats::Distribution::default();
    for ms in exact_ms {
        times.record(Duration::from_millis(*ms));
    }
    for ms in censored_ms {
        times.record_censored(Duration::from_millis(*ms));
    }
    Distribution::from(&times)
}

#[test]
fn without_samples_there_is_no_figure_and_no_bound() {
    let empty = of(&[], &[]);
    assert_eq!(empty, Distribution::default());
    assert!(NAMES.iter().all(|name| empty.figure(name).is_none()));
}

#[test]
fn without_censored_samples_nothing_is_a_bound() {
    let times = of(&[1, 2, 3, 4], &[]);
    assert_eq!((times.count, times.censored, times.lower_bounds.len()), (4, 0, 0));
    assert!(NAMES.iter().all(|name| times.figure(name).is_some_and(|(_, bound)| !bound)));
}

#[test]
fn exactly_the_figures_that_fall_among_censored_samples_are_named() {
    // 1000 samples of 1 ms, of which so many ended at their timeout of 2 s instead.
    for (censored, first_bound) in
        [(1, "p99_99"), (2, "p99_9"), (11, "p99"), (51, "p95"), (101, "p90"), (251, "p75"), (501, "p50")]
    {
        let times = of(&vec![1; 1000 - censored], &vec![2000; censored]);
        let first = NAMES.iter().position(|name| *name == first_bound).unwrap();
        // The mean and the longest are bounds as soon as one sample is; percentiles from the first on.
        let expected: Vec<&str> =
            NAMES.into_iter().enumerate().filter(|(at, _)| *at == 0 || *at >= first).map(|it| it.1).collect();
        assert_eq!(times.lower_bounds, expected, "{censored} censored");
        for name in NAMES {
            let (value_us, bound) = times.figure(name).unwrap();
            assert_eq!(bound, expected.contains(&name), "{name} with {censored} censored");
            if name != "mean" {
                let truth_us = if bound { 2e6 } else { 1e3 };
                assert!((value_us / truth_us - 1.0).abs() <= stats::RELATIVE_ERROR, "{name}: {value_us} us");
            }
        }
    }
}

#[test]
fn one_sample_less_and_the_percentile_is_no_bound() {
    for (censored, name) in [(10, "p99"), (50, "p95"), (100, "p90"), (250, "p75"), (500, "p50")] {
        let times = of(&vec![1; 1000 - censored], &vec![2000; censored]);
        assert_eq!(times.figure(name).map(|it| it.1), Some(false), "{name} with {censored} censored");
    }
}

#[test]
fn all_lost_is_all_bounds() {
    let times = of(&[], &[2000; 10]);
    assert_eq!((times.count, times.censored), (10, 10));
    assert_eq!(times.lower_bounds, NAMES);
}

#[test]
fn a_name_that_is_no_figure_has_none() {
    let times = of(&[1], &[1]);
    assert!(["", "p42", "count", "p99.9"].iter().all(|name| times.figure(name).is_none()));
}

#[test]
fn a_quantile_of_too_few_samples_is_told_as_what_it_exceeds() {
    let told = |samples: u32, quantile: f64| {
        let mut times = stats::Distribution::default();
        (0..samples).for_each(|_| times.record(Duration::from_millis(2)));
        record::told_quantile(&times, quantile).map(|it| it.is_lower_bound)
    };
    assert_eq!(
        [0, 5, 298, 299].map(|samples| told(samples, 0.99)),
        [None, Some(true), Some(true), Some(false)]
    );
    assert_eq!([4, 5].map(|samples| told(samples, 0.5)), [None, Some(false)]);
}
