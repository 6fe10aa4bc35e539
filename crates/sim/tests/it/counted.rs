//! Loads at a rate that a number of requests ends: how long they last, and so which rate is seen.

use std::num::{NonZeroU32, NonZeroU64};

use engine::{Arrivals, Config, Load, Share};
use sim::{Outcome, Scenario, ServerPlan, run};
use units::{Duration, Rate, Seed};

fn per_s(rate: f64) -> Rate {
    Rate::per_sec(rate).expect("above zero")
}

/// What each of `of` shares of a load of `all` requests comes to, at a server of its own that answers in `service`.
fn shares(arrivals: Arrivals, all: u64, of: u32, service: Duration, seed: Seed) -> Vec<Outcome> {
    let of = NonZeroU32::new(of).expect("above zero");
    let of_share = |index| {
        let scenario = Scenario::open(8, arrivals.rate(), Duration::MAX, ServerPlan::healthy(8, service));
        let share = Share { index, of };
        let mut config = Config { share, seed, ..scenario.config.clone() };
        config.load = Load::Open { arrivals, backlog_max: Load::BACKLOG_MAX_DEFAULT };
        config.stop.requests = Some(NonZeroU64::new(share.part_of(all)).expect("one for each share"));
        config.requests_of_all = NonZeroU64::new(all);
        run(&Scenario { config, ..scenario })
    };
    (0..of.get()).map(of_share).collect()
}

fn length(outcome: &Outcome) -> Duration {
    outcome.window.end.since(outcome.window.start)
}

/// Each request has its gap, the last as well: three at 10/s take 0.3 s, whoever makes them.
#[test]
fn as_many_requests_as_end_a_load_take_as_long_as_their_rate_says() {
    let bursts = |rate: f64, size: u32| Arrivals::Bursts {
        rate: per_s(rate),
        size: NonZeroU32::new(size).expect("above zero"),
    };
    for (arrivals, all, of) in [
        (Arrivals::Constant(per_s(10.0)), 3, 1),
        (Arrivals::Constant(per_s(10.0)), 3, 2),
        (Arrivals::Constant(per_s(10.0)), 1, 1),
        (Arrivals::Constant(per_s(333.3)), 100, 7),
        (bursts(100.0, 5), 15, 2),
        // Of the last burst there are only two.
        (bursts(100.0, 5), 12, 1),
    ] {
        let due = Duration::from_nanos((all as f64 * arrivals.rate().mean_gap_ns()) as u64);
        for outcome in shares(arrivals, all, of, Duration::from_micros(100), Seed(1)) {
            assert_eq!(length(&outcome), due, "{all} of {arrivals:?} in {of} shares");
            assert!(outcome.samples.iter().all(|it| it.due_in_window && it.done_in_window));
        }
    }
}

/// A server that is slower than a gap is waited for, and nothing that was due goes unsent.
#[test]
fn the_last_answer_ends_a_load_where_it_comes_later() {
    for outcome in shares(Arrivals::Constant(per_s(1_000.0)), 100, 2, Duration::from_millis(300), Seed(1)) {
        assert_eq!(outcome.samples.iter().map(|it| it.done).max(), Some(outcome.window.end));
        assert!(outcome.samples.iter().all(|it| it.outcome.is_answered() && it.done_in_window));
    }
}

/// What bounds a load by time does so in the gap behind the last request, too.
#[test]
fn a_deadline_within_the_last_gap_ends_the_load() {
    let server = ServerPlan::healthy(1, Duration::ZERO);
    let mut scenario = Scenario::open(1, per_s(10.0), Duration::from_millis(250), server);
    scenario.config.stop.requests = NonZeroU64::new(3);
    let outcome = run(&scenario);
    assert_eq!((outcome.samples.len(), length(&outcome)), (3, Duration::from_millis(250)));
}

/// Three requests are done in the warm-up: there is no window, and nobody waits for one.
#[test]
fn a_load_that_is_made_in_its_warm_up_has_no_window() {
    let server = ServerPlan::healthy(1, Duration::ZERO);
    let mut scenario = Scenario::open(1, per_s(1_000.0), Duration::MAX, server);
    scenario.config.stop.requests = NonZeroU64::new(3);
    scenario.config.warm_up = Duration::from_secs(1);
    let outcome = run(&scenario);
    assert_eq!((outcome.samples.len(), length(&outcome)), (3, Duration::ZERO));
}

/// By chance the last gap is longer or shorter; on average the rate is the one that was asked for, and not half as high again.
#[test]
fn few_poisson_arrivals_have_their_rate_on_average() {
    let (rate, all, seeds) = (100.0, 3, 1_000);
    let seen = |seed| {
        let outcomes = shares(Arrivals::Poisson(per_s(rate)), all, 1, Duration::ZERO, Seed(seed));
        all as f64 / length(&outcomes[0]).as_secs_f64()
    };
    let mean = (0..seeds).map(seen).sum::<f64>() / seeds as f64;
    // It varies by 0.7 of itself, so that four standard errors are 9 %.
    assert!((mean / rate - 1.0).abs() < 0.09, "{mean}/s instead of {rate}/s");
}
