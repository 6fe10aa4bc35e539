//! A load second by second, all of its threads together.

use std::collections::VecDeque;

use record::{Second, told_quantile};
use stats::{Interval, Quantile};
use units::Duration;

use crate::feed::INTERVAL;

/// Seconds that threads may still add to: they hand a second over when it is over, and one on another machine may tell what it
/// kept for half a minute, while nobody listened.
const OPEN_MAX: usize = 48;
/// Seconds that begin no further apart are one.
const A_MOMENT: Duration = Duration::from_nanos(INTERVAL.as_nanos() / 2);
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

    /// Whether it is the second of what a thread did from `from` on for `length`, or has more than a moment in common with that.
    fn is_of(&self, from: Duration, length: Duration) -> bool {
        let apart = self.from.saturating_sub(from).max(from.saturating_sub(self.from));
        let common = self.end().min(from + length).saturating_sub(self.from.max(from));
        apart < A_MOMENT || common > A_MOMENT
    }

    fn end(&self) -> Duration {
        self.from + self.length
    }

    /// Makes it as long as to hold this, too. Threads that begin a moment apart make it no longer.
    fn reach(&mut self, from: Duration, length: Duration) {
        if from + A_MOMENT <= self.from {
            self.length = self.end().max(from + length).saturating_sub(from);
            self.from = from;
        } else if from < self.from + A_MOMENT {
            self.length = self.length.max(length);
        } else if from + length >= self.end() + A_MOMENT {
            self.length = (from + length).saturating_sub(self.from);
        }
    }

    fn add(&mut self, good: u64, done: u64, response: &stats::Distribution) {
        self.good += good;
        self.done += done;
        self.response.merge(response);
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
    longest: Option<Quantile>,
}

impl From<&Part> for Closed {
    fn from(part: &Part) -> Self {
        // The median is of this second's requests, by which seconds are told apart; few of them know no 99th percentile.
        let (p50, p99) = (part.response.quantile(0.5), told_quantile(&part.response, 0.99));
        let Part { from, length, good, done, .. } = *part;
        Self { from, length, good, done, p50, p99, longest: part.response.max() }
    }
}

impl Seconds {
    /// Adds what a thread did from `from` after the window's start on, for `length`. One that was held up tells of several seconds
    /// at once, which are then one for all threads: nobody knows when it did what.
    pub(crate) fn add(&mut self, from: Duration, length: Duration, interval: &Interval) {
        if let Some(at) = self.open.iter().position(|part| part.is_of(from, length)) {
            while self.open.get(at + 1).is_some_and(|next| next.is_of(from, length))
                && let Some(next) = self.open.remove(at + 1)
            {
                self.open[at].reach(next.from, next.length);
                self.open[at].add(next.good, next.done, &next.response);
            }
            let Interval { tally, times } = interval;
            self.open[at].reach(from, length);
            self.open[at].add(tally.done_as_expected, tally.done, &times.response);
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
                    max_us: us(second.longest),
                    max_is_lower_bound: is_lower_bound(second.longest),
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

    /// As long as one of them alone, a second that others were through with would have had a third of their rate.
    #[test]
    fn seconds_in_which_a_thread_was_held_up_are_one_for_all_threads() {
        let ms = Duration::from_millis;
        let usual = |second: u64| (ms(1000 * second + 40), ms(1000), 100);
        let held_up = (ms(1000), ms(3000), 60);
        for order in [
            [usual(1), usual(2), usual(3), held_up],
            [usual(1), usual(2), held_up, usual(3)],
            [held_up, usual(1), usual(2), usual(3)],
        ] {
            let mut seconds = Seconds::default();
            let both = |second: u64| [usual(second), (ms(1000 * second), ms(1000), 100)];
            for (from, length, count) in both(0).into_iter().chain(order).chain(both(4)) {
                seconds.add(from, length, &interval(count, count));
            }
            let all = seconds.within(ms(5100));
            let figures = all.iter().map(|it| [it.from_s, it.length_s, it.goodput_per_s].map(f64::round));
            let told: Vec<_> = figures.collect();
            assert_eq!(told, [[0.0, 1.0, 200.0], [1.0, 3.0, 120.0], [4.0, 1.0, 200.0]], "{all:?}");
        }
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
        let longest: Vec<_> = all.iter().map(|it| (it.max_us, it.max_is_lower_bound)).collect();
        let (answered, given_up) = ((Some(1_000.0), false), (Some(2_000_000.0), true));
        assert_eq!(longest, [given_up, given_up, answered, (None, false), answered]);
    }
}
