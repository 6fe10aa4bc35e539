//! Load threads that begin together.

use std::num::NonZeroU64;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use driver::{Backend, Control, Finished, Gate, monotonic_now, run_engine};
use engine::Sample;
use units::{Duration, Instant};

use crate::{common, opening};

/// A load of ten requests, and when the first of them was due.
fn run(gate: &Gate, connections: u32) -> (Finished<()>, Instant) {
    let mut config = common::config(connections);
    config.stop.requests = NonZeroU64::new(10);
    let mut first = Instant::FAR_FUTURE;
    let sink = |sample: &Sample| first = first.min(sample.intended);
    let control = Control::default();
    let route = opening::server();
    let finished =
        run_engine::<_, http::Http1>(config, (), route, sink, &control, Some(gate), Backend::Epoll);
    (finished.expect("the IO works").map_sink(|_| ()), first)
}

fn wait_until_complete(gate: &Gate) {
    let begun = StdInstant::now();
    while !gate.is_complete() {
        assert!(begun.elapsed() < StdDuration::from_secs(20), "the threads do not come");
        std::thread::sleep(StdDuration::from_millis(1));
    }
}

#[test]
fn threads_that_have_their_connections_sooner_wait_for_the_others() {
    let gate = Gate::new(3);
    let ends = std::thread::scope(|scope| {
        let threads = [1, 50, 7].map(|count| {
            let gate = &gate;
            scope.spawn(move || run(gate, count))
        });
        threads.map(|thread| thread.join().unwrap())
    });
    let begin = ends[0].0.window.start;
    for (finished, first) in ends {
        assert_eq!((finished.window.start, first), (begin, begin));
    }
}

#[test]
fn a_gate_that_is_held_opens_when_it_is_told_to() {
    let gate = Gate::held(2);
    let mut begin = Instant::ORIGIN;
    let ends = std::thread::scope(|scope| {
        let threads = [2, 3].map(|count| {
            let gate = &gate;
            scope.spawn(move || run(gate, count))
        });
        wait_until_complete(&gate);
        begin = monotonic_now() + Duration::from_millis(60);
        gate.open(begin);
        gate.open(begin + Duration::from_secs(60));
        threads.map(|thread| thread.join().unwrap())
    });
    for (finished, first) in ends {
        assert_eq!((finished.window.start, first), (begin, begin));
    }
}

#[test]
fn a_thread_that_does_not_come_is_not_waited_for() {
    let gate = Gate::new(2);
    gate.excuse();
    let (finished, first) = run(&gate, 2);
    assert_eq!(finished.window.start, first);
}
