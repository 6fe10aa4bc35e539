//! Which trial stands for a cell.

use record::Measured;

use crate::samples;

/// A trial at a rate that was asked for, whose 99th percentile was `p99_us`, in µs.
fn at_a_rate(goodput_per_s: f64, p99_us: f64) -> Measured {
    let mut trial = samples::trial();
    trial.load.load.model = "open".into();
    trial.load.load.rate_per_s = Some(6400.0);
    trial.load.goodput_per_s = goodput_per_s;
    trial.load.response_time_us.p99 = Some(p99_us);
    trial
}

/// The p99 of the typical one, in µs.
fn p99_of_typical(trials: &[Measured]) -> Option<f64> {
    let typical = explain::typical(&trials.iter().collect::<Vec<_>>())?;
    typical.load.response_time_us.p99
}

#[test]
fn where_a_rate_was_asked_for_the_typical_trial_is_the_one_in_the_middle_by_its_times() {
    // By goodput the second would be in the middle, and it is the worst.
    let mut trials = [at_a_rate(6399.0, 20_000.0), at_a_rate(6400.0, 90_000.0), at_a_rate(6401.0, 10_000.0)];
    assert_eq!(p99_of_typical(&trials), Some(20_000.0));
    // Longer than could be seen is longer than any.
    let times = &mut trials[2].load.response_time_us;
    (times.lower_bounds, times.censored) = (vec!["p99".into()], 2_000);
    assert_eq!(p99_of_typical(&trials), Some(90_000.0));
}

#[test]
fn where_users_wait_the_typical_trial_is_the_one_in_the_middle_by_its_goodput() {
    let trials =
        [(5000.0, 10_000.0), (7000.0, 20_000.0), (6000.0, 90_000.0)].map(|(goodput_per_s, p99_us)| {
            let mut trial = at_a_rate(goodput_per_s, p99_us);
            trial.load.load.model = "closed".into();
            trial.load.load.rate_per_s = None;
            trial
        });
    assert_eq!(p99_of_typical(&trials), Some(90_000.0));
    assert_eq!(p99_of_typical(&[]), None);
}
