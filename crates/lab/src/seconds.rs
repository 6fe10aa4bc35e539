//! A load second by second, all of its threads together.

use std::collections::VecDeque;

use record::{Second, told_quantile};
use stats::{Interval, Quantile};
use units::Duration;

use crate::feed::INTERVAL;

/// Seconds that threads may still add to: they hand a second over when it is over, and one on another machine may tell what it
/// kept for half a minute, while nobody listened.
const OPEN_MAX: usize = 48;
/// Seconds kept one by one: an hour.
const SECONDS_MAX: usize = 3600;

/// What was done in each second so far.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    open: VecDeque<Part>,
    closed: Vec<Closed>,
}

#[derive(Debug)]
struct Part {
    from: Duration,
    length: Duration,
    good: u64,
    done: u64,
    response: stats::Distribution,
}

impl Part {
    fn of(from: Duration, length: Duration, interval: &Interval) -> Self {
        let Interval { tally, times } = interval;
        let response = times.response.clone();
        Self { from, length, good: tally.done_as_expected, done: tally.done, response }
    }
}

/// A second that is over: figures instead of distributions, of which an hour would take gigabytes.
#[derive(Debug, Clone, Copy)]
struct Closed {
    from: Duration,
    length: Duration,
    good: u64,
    done: u64,
    p50: Option<Quantile>,
    p99: Option<Quantile>,
}

impl From<&Part> for Closed {
    fn from(part: &Part) -> Self {
        // The median is of this second's requests, by which seconds are told apart; few of them know no 99th percentile.
        let (p50, p99) = (part.response.quantile(0.5), told_quantile(&part.response, 0.99));
        Self { from: part.from, length: part.length, good: part.good, done: part.done, p50, p99 }
    }
}

impl Seconds {
    /// Adds what a thread did from `from` after the window's start on, for `length`.
    pub(crate) fn add(&mut self, from: Duration, length: Duration, interval: &Interval) {
        let apart = |part: &Part| part.from.saturating_sub(from).max(from.saturating_sub(part.from));
        if let Some(part) = self.open.iter_mut().find(|part| apart(part) < INTERVAL / 2) {
            part.length = part.length.max(length);
            part.good += interval.tally.done_as_expected;
            part.done += interval.tally.done;
            part.response.merge(&interval.times.response);
            return;
        }
        self.open.push_back(Part::of(from, length, interval));
        if self.open.len() > OPEN_MAX
            && let Some(over) = self.open.pop_front()
            && self.closed.len() < SECONDS_MAX
        {
            self.closed.push(Closed::from(&over));
        }
    }

    /// Those of a window of `length`. What was done after its end is in no rate, and the last second ends with it.
    pub(crate) fn within(&self, length: Duration) -> Vec<Second> {
        let us = |time: Option<Quantile>| time.map(|it| it.value.as_micros_f64());
        let is_lower_bound = |time: Option<Quantile>| time.is_some_and(|it| it.is_lower_bound);
        let all = self.closed.iter().copied().chain(self.open.iter().map(Closed::from));
        all.filter(|second| second.from < length)
            .map(|second| {
                let length_s = second.length.min(length.saturating_sub(second.from)).as_secs_f64();
                let per_s = |count: u64| if length_s > 0.0 { count as f64 / length_s } else { 0.0 };
                Second {
                    from_s: second.from.as_secs_f64(),
                    length_s,
                    goodput_per_s: per_s(second.good),
                    failures_per_s: per_s(second.done.saturating_sub(second.good)),
                    p50_us: us(second.p50),
                    p50_is_lower_bound: is_lower_bound(second.p50),
                    p99_us: us(second.p99),
                    p99_is_lower_bound: is_lower_bound(second.p99),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(good: u64, done: u64) -> Interval {
        let mut interval = Interval::default();
        (interval.tally.done_as_expected, interval.tally.done) = (good, done);
        interval
    }

    #[test]
    fn threads_that_begin_a_moment_apart_share_a_second() {
        let mut seconds = Seconds::default();
        let ms = Duration::from_millis;
        for second in 0..10 {
            seconds.add(ms(1000 * second), ms(1000), &interval(70, 80));
            seconds.add(ms(1000 * second + 40), ms(1000), &interval(30, 30));
        }
        let all = seconds.within(ms(9500));
        assert_eq!(all.len(), 10);
        assert_eq!((all[3].goodput_per_s, all[3].failures_per_s), (100.0, 10.0));
        // The last one ends with the window, and so half of it counts twice as much a second.
        assert_eq!((all[9].length_s, all[9].goodput_per_s), (0.5, 200.0));
        assert_eq!(seconds.within(ms(5000)).len(), 5);
    }

    #[test]
    fn a_time_that_is_known_only_to_be_longer_is_told_as_one() {
        let ms = Duration::from_millis;
        let of = |answers: u32, given_up: u32| {
            let mut interval = interval(answers.into(), (answers + given_up).into());
            (0..answers).for_each(|_| interval.times.response.record(ms(1)));
            (0..given_up).for_each(|_| interval.times.response.record_censored(ms(2000)));
            interval
        };
        let mut seconds = Seconds::default();
        for (second, interval) in (0..).zip([of(9, 1), of(1, 3), of(9, 0), of(0, 0), of(400, 0)]) {
            seconds.add(ms(1000 * second), ms(1000), &interval);
        }
        let all = seconds.within(ms(5000));
        let bounds: Vec<_> = all.iter().map(|it| (it.p50_is_lower_bound, it.p99_is_lower_bound)).collect();
        // Of nine answers it is known only what their 99th percentile exceeds.
        assert_eq!(bounds, [(false, true), (true, true), (false, true), (false, false), (false, false)]);
        assert_eq!((all[1].p50_us, all[3].p50_us, all[3].p99_us), (Some(2_000_000.0), None, None));
        assert!(all[2].p99_us.is_some() && all[4].p99_us.is_some(), "{all:?}");
    }
}
