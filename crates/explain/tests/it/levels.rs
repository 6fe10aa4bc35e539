//! What half and twice the users say of a verdict: figures of what was right, and of what was not.

use explain::{Confirmation, Level, Outcome, VerdictKind, confirmed_by_levels, is_told_by_users};
use record::Measured;

use crate::reasons::{full, watched};

/// Two trials of so many users at this rate, on a server that takes 100 ms for an answer.
fn level(users: u32, rate: f64) -> Level {
    of(users, &[watched(rate, &[]), watched(rate, &[])])
}

fn of(users: u32, trials: &[Measured]) -> Level {
    Level::of(users, &trials.iter().collect::<Vec<_>>(), 2).unwrap()
}

/// The same of a server that uses the machine up.
fn busy(users: u32, rate: f64) -> Level {
    let at = |rate| {
        let mut trial = full(1.6);
        (trial.load.throughput_per_s, trial.load.goodput_per_s) = (rate, rate);
        trial
    };
    of(users, &[at(rate), at(rate * 1.02)])
}

/// What 32, 64 and 128 users with these rates say.
fn told(kind: VerdictKind, rates: [f64; 3]) -> Confirmation {
    let levels = [32, 64, 128].into_iter().zip(rates).map(|(users, rate)| level(users, rate));
    confirmed_by_levels(kind, 64, levels.collect()).unwrap()
}

fn outcome(kind: VerdictKind, rates: [f64; 3]) -> Outcome {
    told(kind, rates).outcome
}

#[test]
fn a_limit_stays_from_its_size_on_and_follows_the_users_below() {
    for kind in [VerdictKind::PoolLimit, VerdictKind::UpstreamPoolLimit] {
        // 16 at a time, and 48: of those, 32 users take two thirds.
        assert_eq!(outcome(kind, [160.0, 160.0, 160.0]), Outcome::Confirmed);
        assert_eq!(outcome(kind, [320.0, 480.0, 482.0]), Outcome::Confirmed);
        assert_eq!(outcome(kind, [315.0, 475.0, 440.0]), Outcome::Confirmed);
        // Users who wait for nobody; and 16 said, where half of the users have half of the rate.
        assert_eq!(outcome(kind, [320.0, 640.0, 1280.0]), Outcome::Refuted);
        assert_eq!(outcome(kind, [80.0, 160.0, 160.0]), Outcome::Refuted);
        // It rose by a quarter, or fell: something else plays a part.
        assert_eq!(outcome(kind, [160.0, 160.0, 200.0]), Outcome::CouldNotTell);
        assert_eq!(outcome(kind, [160.0, 160.0, 120.0]), Outcome::CouldNotTell);
        assert_eq!(outcome(kind, [135.0, 160.0, 160.0]), Outcome::CouldNotTell);
    }
    let told = told(VerdictKind::PoolLimit, [320.0, 480.0, 480.0]);
    let why = told.why.unwrap();
    assert_eq!(
        why,
        "the rate was the same with 128 users, with 32 it was 0.67 of it, as of so many that have their turn at once"
    );
    assert_eq!((told.before_per_s, told.predicted_per_s, told.measured_per_s), (480.0, Some(480.0), 480.0));
}

#[test]
fn one_at_a_time_and_so_many_a_second_stay_whatever_the_users() {
    assert_eq!(outcome(VerdictKind::BlockedEventLoop, [10.0, 10.0, 10.0]), Outcome::Confirmed);
    for kind in [VerdictKind::SerialSection, VerdictKind::BlockedEventLoop, VerdictKind::RateLimiter] {
        assert_eq!(outcome(kind, [5.0, 10.0, 20.0]), Outcome::Refuted);
        assert_eq!(outcome(kind, [5.0, 10.0, 10.0]), Outcome::Refuted);
    }
    // Whoever computes one at a time may use up the only core of the server.
    let levels = || vec![busy(32, 1000.0), busy(64, 1000.0), busy(128, 990.0)];
    let of = |kind| confirmed_by_levels(kind, 64, levels()).unwrap().outcome;
    assert_eq!(of(VerdictKind::SerialSection), Outcome::Confirmed);
    assert_eq!(of(VerdictKind::PoolLimit), Outcome::CouldNotTell, "the CPU keeps a rate as well");
}

/// A lock of 2 ms, 8 at a time for 16 ms, and a limiter at 500/s give the same rates: those can refute each of the three, and
/// confirm none.
#[test]
fn what_others_would_do_as_well_is_not_confirmed() {
    for kind in [VerdictKind::SerialSection, VerdictKind::LimitInside, VerdictKind::RateLimiter] {
        let told = told(kind, [160.0, 160.0, 160.0]);
        assert_eq!(told.outcome, Outcome::CouldNotTell, "{kind:?}");
        assert!(told.why.unwrap().ends_with("would keep it as well"));
        assert_eq!(outcome(kind, [320.0, 640.0, 1280.0]), Outcome::Refuted);
    }
}

#[test]
fn the_cpu_stays_and_is_used_up() {
    let told = |rates: [f64; 3], of: fn(u32, f64) -> Level| {
        let levels = [32, 64, 128].into_iter().zip(rates).map(|(users, rate)| of(users, rate));
        confirmed_by_levels(VerdictKind::CpuBound, 64, levels.collect()).unwrap().outcome
    };
    assert_eq!(told([90_000.0, 100_000.0, 101_000.0], busy), Outcome::Confirmed);
    assert_eq!(told([100_000.0, 100_000.0, 82_000.0], busy), Outcome::Confirmed, "more threads cost some");
    assert_eq!(told([50_000.0, 100_000.0, 190_000.0], busy), Outcome::Refuted);
    assert_eq!(told([160.0, 160.0, 160.0], level), Outcome::Refuted, "and cores are left");
    assert_eq!(told([100_000.0, 100_000.0, 60_000.0], busy), Outcome::CouldNotTell);
}

#[test]
fn a_server_without_a_limit_follows_its_users() {
    let kind = VerdictKind::IdlePace;
    assert_eq!(outcome(kind, [320.0, 640.0, 1280.0]), Outcome::Confirmed);
    assert_eq!(outcome(kind, [330.0, 640.0, 1200.0]), Outcome::Confirmed);
    // None at this load, and one not far above it.
    assert_eq!(outcome(kind, [320.0, 640.0, 800.0]), Outcome::Partly);
    assert_eq!(outcome(kind, [640.0, 640.0, 640.0]), Outcome::Refuted);
    assert_eq!(outcome(kind, [400.0, 640.0, 640.0]), Outcome::CouldNotTell);
    let told = told(kind, [320.0, 640.0, 1280.0]);
    assert_eq!(told.predicted_per_s, Some(1280.0));
    assert_eq!(told.why.unwrap(), "with 32 users it was 0.50 of the rate, and with 128 2.00 times");
}

#[test]
fn rates_that_differ_from_trial_to_trial_tell_nothing() {
    let levels =
        vec![level(32, 160.0), of(64, &[watched(120.0, &[]), watched(160.0, &[])]), level(128, 160.0)];
    let told = confirmed_by_levels(VerdictKind::PoolLimit, 64, levels).unwrap();
    assert_eq!(told.outcome, Outcome::CouldNotTell);
    assert_eq!(told.why.unwrap(), "with 64 users it was 120.0/s once and 160.0/s another time");
}

#[test]
fn what_is_unexplained_is_told_its_shape() {
    let why = |rates| told(VerdictKind::Unexplained, rates).why.unwrap();
    assert!(why([100.0, 100.0, 101.0]).starts_with("the rate was the same whatever the users"));
    assert!(why([50.0, 100.0, 101.0]).contains("something holds it from about 64 users on"));
    assert!(why([50.0, 100.0, 196.0]).starts_with("the rate followed the users"));
    assert!(why([80.0, 100.0, 125.0]).ends_with("neither the same nor twice"));
    let told = told(VerdictKind::Unexplained, [100.0; 3]);
    assert_eq!((told.outcome, told.predicted_per_s), (Outcome::CouldNotTell, None));
}

#[test]
fn of_one_user_there_is_no_half_and_without_more_nothing_is_told() {
    let of = |kind, levels| confirmed_by_levels(kind, 1, levels).map(|it: Confirmation| it.outcome);
    assert_eq!(of(VerdictKind::IdlePace, vec![level(1, 10.0), level(2, 20.0)]), Some(Outcome::Confirmed));
    assert_eq!(
        of(VerdictKind::BlockedEventLoop, vec![level(1, 10.0), level(2, 10.0)]),
        Some(Outcome::Confirmed)
    );
    assert_eq!(of(VerdictKind::IdlePace, vec![level(1, 10.0)]), None);
    assert_eq!(of(VerdictKind::IdlePace, Vec::new()), None);
    for kind in [VerdictKind::GarbageCollection, VerdictKind::IncorrectService, VerdictKind::PortExhaustion] {
        assert!(!is_told_by_users(kind));
        assert_eq!(of(kind, vec![level(1, 10.0), level(2, 20.0)]), None);
    }
    assert_eq!(Level::of(4, &[], 2), None);
}
