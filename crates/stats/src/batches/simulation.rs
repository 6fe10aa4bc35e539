//! How often an interval of one load misses the truth, on made-up services of which the truth is known. An end that is missed
//! is a gate that fails, or passes, on noise.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Duration;

use super::{Batches, Estimated, mean_of};
use crate::comparison::simulation::normal;
use crate::interval::Interval;

/// Loads of each kind.
const LOADS: u32 = 400;
const TAIL: f64 = 0.025;
/// Of so many loads, chance has as many more misses than it should in one of a hundred tests (binomial, 400 of 2.5 %).
const MISSED_MAX: f64 = 0.045;

fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    -libm::log(1.0 - uniform(random))
}

/// A load whose second `n` has the requests that `second` gives: how long each took, ms, and whether it failed.
fn load(seconds: u64, mut second: impl FnMut() -> Vec<(f64, bool)>) -> Batches {
    let mut batches = Batches::default();
    for from in 0..seconds {
        let mut interval = Interval::default();
        for (ms, failed) in second() {
            interval.times.response.record(Duration::from_nanos((ms * 1e6) as u64));
            interval.tally.intended += 1;
            interval.tally.answered_as_expected += u64::from(!failed);
        }
        batches.add(Duration::from_secs(from), &interval);
    }
    batches
}

/// In which shares of the loads the truth was below the interval, and above it.
fn missed(truth: f64, mut estimate: impl FnMut(&mut Xoshiro256PlusPlus) -> Estimated) -> (f64, f64) {
    let (mut below, mut above) = (0, 0);
    for seed in 0..LOADS {
        let it = estimate(&mut Xoshiro256PlusPlus::seed_from_u64(u64::from(seed)));
        below += u32::from(it.low.is_some_and(|low| truth < low));
        above += u32::from(it.high.is_some_and(|high| truth > high));
    }
    (f64::from(below) / f64::from(LOADS), f64::from(above) / f64::from(LOADS))
}

fn assert_seldom(what: &str, (below, above): (f64, f64), most: f64) {
    assert!(below <= most && above <= most, "{what}: the truth was below in {below}, above in {above}");
}

#[test]
fn of_requests_that_come_by_themselves() {
    by_themselves(&[(0.5, 5)]);
}

#[test]
#[ignore = "slow: 400 loads of each kind"]
fn of_requests_that_come_by_themselves_in_short_and_long_loads() {
    by_themselves(&[(0.99, 10), (0.99, 60), (0.999, 10)]);
}

fn by_themselves(kinds: &[(f64, u64)]) {
    for &(quantile, seconds) in kinds {
        // µs, of a mean of 10 ms.
        let truth = -libm::log(1.0 - quantile) * 10_000.0;
        let told = missed(truth, |random| {
            let load = load(seconds, || (0..300).map(|_| (10.0 * exponential(random), false)).collect());
            load.percentile(quantile, TAIL).unwrap()
        });
        assert_seldom(&format!("{quantile} of {seconds} s"), told, MISSED_MAX);
    }
}

/// One worker, arrivals as those of independent users, 80 % busy: whoever waits makes the next one wait.
#[test]
#[ignore = "slow: 400 loads"]
fn of_requests_that_queue() {
    let (rate_per_ms, busy) = (0.2, 0.8);
    let truth = libm::log(100.0) * busy / rate_per_ms / (1.0 - busy) * 1000.0;
    let told = missed(truth, |random| {
        let mut waiting_ms = 0.0_f64;
        let mut next = |random: &mut Xoshiro256PlusPlus| {
            let response = waiting_ms + exponential(random) * busy / rate_per_ms;
            waiting_ms = (response - exponential(random) / rate_per_ms).max(0.0);
            (response, false)
        };
        for _ in 0..2000 {
            next(random);
        }
        load(30, || (0..200).map(|_| next(random)).collect()).percentile(0.99, TAIL).unwrap()
    });
    assert_seldom("queue", told, 0.06);
}

/// In every other second some requests meet a stall, and fail.
#[test]
#[ignore = "slow: 400 loads"]
fn of_requests_that_share_a_stall() {
    let second = |random: &mut Xoshiro256PlusPlus| {
        let stalls = uniform(random) < 0.5;
        let of_request = |random: &mut Xoshiro256PlusPlus| {
            let met = stalls && uniform(random) < 0.04;
            (if met { 200.0 * uniform(random) } else { 0.1 }, met)
        };
        (0..300).map(|_| of_request(random)).collect::<Vec<(f64, bool)>>()
    };
    // 2 % of the requests meet one, and half of these take longer than 100 ms.
    let p99 = missed(100_000.0, |random| load(30, || second(random)).percentile(0.99, TAIL).unwrap());
    assert_seldom("p99", p99, 0.06);
    let failed = missed(0.02, |random| load(30, || second(random)).failed_share(TAIL).unwrap());
    assert_seldom("failures", failed, 0.06);
    let mean = missed(2_098.0, |random| load(30, || second(random)).mean(TAIL).unwrap());
    assert_seldom("mean", mean, 0.06);
}

/// Seconds that differ by microseconds, so that requests seem to be much alike, and a limit far above all of them.
#[test]
fn a_drift_of_microseconds_hides_nothing_far_away() {
    let mut second = 0.0;
    let load = load(6, || {
        second += 1.0;
        (0..100).map(|_| (200.0 + 0.3 * second, false)).collect()
    });
    let told = load.percentile(0.9, TAIL).unwrap();
    assert!(told.high.is_some_and(|it| (201_000.0..500_000.0).contains(&it)), "{told:?}");
    assert!(told.low.is_some_and(|it| (100_000.0..202_000.0).contains(&it)), "{told:?}");
    let median = load.percentile(0.5, TAIL).unwrap();
    assert!(median.low.is_some_and(|it| it >= 100_000.0), "{median:?}");
    assert_eq!(load.percentile(0.9999, TAIL).unwrap().high, None, "600 tell nothing of it");
}

/// A server that stood still once: whether it does so again, one load can't tell.
#[test]
fn what_was_seen_once_is_no_evidence() {
    let mut second = 0;
    let load = load(10, || {
        second += 1;
        let still = second == 4;
        (0..200).map(|request| (if still { 5.0 * f64::from(request) } else { 0.1 }, false)).collect()
    });
    let p99 = load.percentile(0.99, TAIL).unwrap();
    assert!(p99.value > 800_000.0 && p99.low.is_some_and(|it| it < 50_000.0), "{p99:?}");
}

/// The failures of a load of 30 s to which 1,000 requests a second are due. Of those of each second so many are answered, and the
/// others wait until the load ends. Eight that were sent time out after it.
fn waiting_in_the_end(answered: impl Fn(u64) -> u64) -> Estimated {
    let mut batches = Batches::default();
    let mut waiting = 0;
    for second in 0..30 {
        let count = answered(second);
        waiting += 1000 - count;
        let mut interval = Interval::default();
        (interval.tally.intended, interval.tally.answered_as_expected) = (count, count);
        (0..count).for_each(|_| interval.times.response.record(Duration::from_millis(1)));
        batches.add(Duration::from_secs(second), &interval);
    }
    let mut interval = Interval::default();
    (interval.tally.intended, interval.tally.unsent) = (waiting, waiting);
    interval.times.response.record_censored_many(Duration::from_secs(1), waiting);
    batches.add(Duration::from_secs(30), &interval);
    for second in 31..39 {
        let mut interval = Interval::default();
        (interval.tally.intended, interval.tally.timed_out) = (1, 1);
        interval.times.response.record_censored(Duration::from_secs(5));
        batches.add(Duration::from_secs(second), &interval);
    }
    batches.failed_share(TAIL).unwrap()
}

/// All that was never sent is given up in one instant. Of a service that falls behind by three tenths throughout, it is no accident.
#[test]
fn a_service_that_falls_behind_does_so_all_the_time() {
    let behind = waiting_in_the_end(|_| 700);
    assert!((behind.value - 0.3).abs() < 1e-3, "{behind:?}");
    assert!(behind.low.is_some_and(|it| it > 0.2) && behind.high.is_some_and(|it| it < 0.4), "{behind:?}");
    // What waits since the server stood still in the last second need not be so the next time.
    let once = waiting_in_the_end(|second| if second < 29 { 1000 } else { 0 });
    assert!((once.value - 1.0 / 30.0).abs() < 1e-3, "{once:?}");
    assert!(once.low.is_some_and(|it| it < 0.005), "{once:?}");
}

/// Rates of seconds that are like those before them, as a server's are that warms up, collects, or has a neighbour.
#[test]
fn of_rates_that_drift() {
    for (correlation, seconds, most) in
        [(0.0, 10, MISSED_MAX), (0.5, 10, 0.09), (0.5, 30, 0.07), (0.5, 120, 0.05)]
    {
        let told = missed(1000.0, |random| {
            let mut off = normal(random);
            let rates: Vec<f64> = (0..seconds)
                .map(|_| {
                    let new = libm::sqrt(1.0 - correlation * correlation) * normal(random);
                    off = correlation * off + new;
                    1000.0 + 20.0 * off
                })
                .collect();
            mean_of(&rates, TAIL).unwrap()
        });
        assert_seldom(&format!("correlation {correlation}, {seconds} s"), told, most);
    }
}

/// A server that dies at the end of its load, in seconds beyond the last whole stretch of two, or of sixteen.
#[test]
fn the_last_seconds_are_in_the_mean_as_all_others() {
    for (seconds, dead) in [(79, 1), (601, 9)] {
        let rates: Vec<f64> = (0..seconds).map(|it| if it < seconds - dead { 1000.0 } else { 0.0 }).collect();
        let told = mean_of(&rates, TAIL).unwrap();
        let mean = 1000.0 * f64::from(seconds - dead) / f64::from(seconds);
        assert!((told.value - mean).abs() < 1e-9, "{told:?}");
        assert!(told.low.is_some_and(|it| it < mean) && told.high.is_some_and(|it| it > mean), "{told:?}");
    }
}

#[test]
fn a_load_too_short_to_tell_has_no_interval() {
    let short = load(4, || vec![(1.0, false); 1000]);
    let told = short.percentile(0.5, TAIL).unwrap();
    assert_eq!((told.low, told.high), (None, None));
    assert_eq!(short.failed_share(TAIL).unwrap().high, None);
    assert_eq!(Batches::default().percentile(0.5, TAIL), None);
}

#[test]
fn a_long_load_is_in_fewer_batches_and_loses_nothing() {
    let long = load(500, || vec![(1.0, true); 3]);
    assert!(long.count() <= super::BATCHES_MAX && long.count() >= super::BATCHES_MAX / 2);
    assert!((long.failed_share(TAIL).unwrap().value - 1.0).abs() < f64::EPSILON);
    assert_eq!(super::merged(&long.whole_ones()).count(), 1500);
}

#[test]
fn what_nobody_saw_the_end_of_has_no_upper_end() {
    let mut batches = Batches::default();
    for second in 0..10 {
        let mut interval = Interval::default();
        (0..100).for_each(|_| interval.times.response.record(Duration::from_millis(1)));
        interval.times.response.record_censored_many(Duration::from_secs(2), 5);
        batches.add(Duration::from_secs(second), &interval);
    }
    let p99 = batches.percentile(0.99, TAIL).unwrap();
    assert!(
        p99.is_lower_bound && p99.high.is_none() && p99.low.is_some_and(|it| it > 1_900_000.0),
        "{p99:?}"
    );
    let p50 = batches.percentile(0.5, TAIL).unwrap();
    assert!(!p50.is_lower_bound && p50.high.is_some(), "{p50:?}");
    assert_eq!(batches.mean(TAIL).unwrap().high, None);
}
