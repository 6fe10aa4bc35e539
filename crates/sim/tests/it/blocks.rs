//! What a block replicates of an open load: its arrivals, too.

use engine::{Arrivals, Config, Load};
use plan::ArrivalsOf;
use sim::{Outcome, Scenario, ServerPlan, run};
use units::{Duration, Instant, Rate, Seed};

/// A trial of a stack that answers in `service`, with the arrivals of its block.
fn trial(of: ArrivalsOf<'_>, service: Duration) -> Outcome {
    let closed = Scenario::closed(64, Duration::from_secs(2), ServerPlan::healthy(1, service));
    let arrivals = Arrivals::Poisson(Rate::per_sec(400.0).unwrap());
    let load = Load::Open { arrivals, backlog_max: Load::BACKLOG_MAX_DEFAULT };
    let config = Config { load, seed: of.seed(Seed(42)), ..closed.config.clone() };
    run(&Scenario { config, ..closed })
}

/// When requests were due, whenever and however they ended.
fn due(outcome: &Outcome) -> Vec<Instant> {
    let mut due: Vec<Instant> = outcome.samples.iter().map(|sample| sample.intended).collect();
    due.sort_unstable();
    due
}

const OF: ArrivalsOf<'_> =
    ArrivalsOf { phase: "latency", round: "hello, latency at 70% of the slowest", connections: 64, block: 0 };

#[test]
fn stacks_of_a_block_get_the_same_arrivals_and_blocks_get_their_own() {
    let (fast, slow) = (Duration::from_micros(200), Duration::from_millis(2));
    let same = due(&trial(OF, fast));
    assert!(same.len() > 500, "{}", same.len());
    assert_eq!(same, due(&trial(OF, slow)), "within a block");
    let others = [
        ArrivalsOf { block: 1, ..OF },
        ArrivalsOf { phase: "capacity", ..OF },
        ArrivalsOf { round: "hello, latency at 90% of the slowest", ..OF },
        ArrivalsOf { connections: 65, ..OF },
    ];
    for other in others {
        let theirs = due(&trial(other, fast));
        let shared = theirs.iter().filter(|at| same.binary_search(at).is_ok()).count();
        assert!(shared <= 1, "{other:?} shares {shared} arrivals");
    }
}

/// Behind one worker at 80 % of what it carries, the queue is what differs from block to block.
#[test]
fn blocks_differ_in_what_arrivals_do_to_a_queue() {
    let p99 = |block: u32| {
        let outcome = trial(ArrivalsOf { block, ..OF }, Duration::from_millis(2));
        let mut times: Vec<u64> = outcome.samples.iter().map(|it| it.response_time().as_nanos()).collect();
        times.sort_unstable();
        times[times.len() * 99 / 100]
    };
    let mut all: Vec<u64> = (0..6).map(p99).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6);
}
