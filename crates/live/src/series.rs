//! The loads of a trial second by second, all of their threads together.

use std::collections::{BTreeMap, VecDeque};

use record::told_quantile;
use stats::{Distribution, Interval, Quantile, Tally};
use units::Duration;

use crate::buckets::Buckets;
use crate::rate::{Rate, per_s};
use crate::view::{Bucket, Outcomes, Second};

/// Seconds kept: two minutes.
const SECONDS_MAX: usize = 120;
/// Seconds that threads may still add to: they begin a moment apart, and hand a second over when it is over.
const OPEN_MAX: usize = 2;
/// Two intervals that begin closer together than this are of the same second.
const SAME_WITHIN: Duration = Duration::from_millis(500);
/// An interval shorter than this, as at the end of a load, says nothing of a rate.
const SHOWN_MIN: Duration = Duration::from_millis(500);
/// An interval longer than this is of a thread that was held up, and of more than the second in which it began.
const HELD_UP_MIN: Duration = Duration::from_millis(1500);
/// Stretches kept in which threads were held up: one of each of as many threads as a machine may have.
const STRETCHES_MAX: usize = 1024;
/// Answers with another status or body than the expected one, among the failures.
pub(crate) const UNEXPECTED: &str = "unexpected";

/// What the loads of a trial were like so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    /// Which burst is under way; `None` of the measured load.
    burst: Option<u32>,
    closed: VecDeque<Second>,
    open: VecDeque<Part>,
    /// Where the last of the closed ones of the load under way began.
    closed_from: Option<Duration>,
    /// Where the last one of these ended that is shown.
    closed_to: Option<Duration>,
    /// What threads did that were held up beyond a second.
    stretches: VecDeque<Stretch>,
    /// Threads that told of the second before those that are open.
    threads: u32,
    /// Of the load under way.
    tally: Tally,
    /// Of all loads of the trial.
    so_far: Tally,
    histogram: Buckets,
}

/// A second that threads still add to.
#[derive(Debug, Clone, Default)]
struct Part {
    from: Duration,
    /// When the last that threads tell of it was over.
    to: Duration,
    rate: Rate,
    threads: u32,
    tally: Tally,
    response: Distribution,
}

/// What a thread did, at an even rate as far as is known, while it was held up.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: Duration,
    to: Duration,
    per_s: f64,
}

impl Stretch {
    /// Whether it goes on in the second that begins at `from`, behind the one in which it began.
    fn goes_on_in(&self, from: Duration) -> bool {
        self.from + SAME_WITHIN <= from && from + SAME_WITHIN <= self.to
    }
}

impl Series {
    /// A load begins: a burst, or the measured one.
    pub(crate) fn begin(&mut self, burst: Option<u32>) {
        while self.close() {}
        (self.closed_from, self.closed_to) = (None, None);
        self.stretches.clear();
        self.burst = burst;
        self.threads = 0;
        self.tally = Tally::default();
        self.histogram = Buckets::default();
    }

    /// Adds what a thread did from `from` after the load's start on, for `length`.
    pub(crate) fn add(&mut self, from: Duration, length: Duration, interval: &Interval) {
        self.tally.merge(&interval.tally);
        self.so_far.merge(&interval.tally);
        self.histogram.add(&interval.times.response);
        let done = interval.tally.done_as_expected;
        if length > HELD_UP_MIN {
            self.stretches.truncate(STRETCHES_MAX - 1);
            self.stretches.push_front(Stretch { from, to: from + length, per_s: per_s(done, length) });
        }
        let apart = |part: &Part| part.from.saturating_sub(from).max(from.saturating_sub(part.from));
        if self.open.iter().all(|part| apart(part) >= SAME_WITHIN) {
            // What a machine tells of seconds that are over, once it is back, is part of the result and of no picture.
            let last = self.open.back().map(|part| part.from).or(self.closed_from);
            if last.is_some_and(|last| from < last) {
                return;
            }
            self.open.push_back(Part { from, ..Part::default() });
        }
        if let Some(part) = self.open.iter_mut().find(|part| apart(part) < SAME_WITHIN) {
            part.to = part.to.max(from + length);
            part.rate.add(done, length);
            part.threads += 1;
            part.tally.merge(&interval.tally);
            part.response.merge(&interval.times.response);
        }
        if self.open.len() > OPEN_MAX {
            self.close();
        }
    }

    /// Closes the oldest of the open seconds; false where none is open.
    fn close(&mut self) -> bool {
        let Some(part) = self.open.pop_front() else { return false };
        self.threads = self.told(&part);
        self.closed_from = Some(part.from);
        if let Some(second) = self.second(&part) {
            self.closed_to = Some(part.to);
            self.closed.push_back(second);
        }
        while self.closed.len() > SECONDS_MAX {
            self.closed.pop_front();
        }
        true
    }

    /// The last seconds. One of which only some of the threads have told is not among them: its rate is theirs alone.
    pub(crate) fn seconds(&self) -> Vec<Second> {
        let open = self.whole().filter_map(|part| self.second(part));
        let all: Vec<Second> = self.closed.iter().cloned().chain(open).collect();
        all[all.len().saturating_sub(SECONDS_MAX)..].to_vec()
    }

    /// When the last of [`Series::seconds`] ended, after the start of the load under way; `None` where it is of an earlier one.
    pub(crate) fn shown_to(&self) -> Option<Duration> {
        let open = self.whole().filter(|part| part.is_shown()).last();
        open.map(|part| part.to).or(self.closed_to)
    }

    /// Those of the open seconds of which all threads have told, or for which nobody waits any more.
    fn whole(&self) -> impl Iterator<Item = &Part> {
        let before = std::iter::once(self.threads).chain(self.open.iter().map(move |part| self.told(part)));
        let open = self.open.iter().zip(before).enumerate();
        let open =
            open.filter(move |(at, (part, before))| self.told(part) >= *before || at + 1 < self.open.len());
        open.map(|(_, (part, _))| part)
    }

    /// Those who were held up, and did something in this second that they began before it.
    fn held_up(&self, part: &Part) -> impl Iterator<Item = &Stretch> {
        let from = part.from;
        self.stretches.iter().filter(move |it| it.goes_on_in(from))
    }

    /// Threads that told of a second.
    fn told(&self, part: &Part) -> u32 {
        part.threads + self.held_up(part).count() as u32
    }

    /// What is shown of a second; nothing of a moment.
    fn second(&self, part: &Part) -> Option<Second> {
        if !part.is_shown() {
            return None;
        }
        let mut rate = part.rate;
        for stretch in self.held_up(part) {
            rate.add_per_s(stretch.per_s);
        }
        let (p50, p99) = (part.response.quantile(0.5), told_quantile(&part.response, 0.99));
        let us = |time: Option<Quantile>| time.map(|it| it.value.as_micros_f64());
        Some(Second {
            burst: self.burst,
            from_s: part.from.as_secs_f64(),
            goodput_per_s: rate.per_s(),
            p50_us: us(p50),
            p50_is_lower_bound: p50.is_some_and(|it| it.is_lower_bound),
            p99_us: us(p99),
            p99_is_lower_bound: p99.is_some_and(|it| it.is_lower_bound),
            failures: failures(&part.tally),
        })
    }

    /// Of the load under way.
    pub(crate) fn outcomes(&self) -> Outcomes {
        outcomes(&self.tally)
    }

    /// Of all loads of the trial so far, bursts and earlier attempts among them.
    pub(crate) fn outcomes_so_far(&self) -> Outcomes {
        outcomes(&self.so_far)
    }

    pub(crate) fn histogram(&self) -> Vec<Bucket> {
        self.histogram.view()
    }
}

impl Part {
    /// Whether it is long enough to say something of a rate.
    fn is_shown(&self) -> bool {
        self.rate.length() >= SHOWN_MIN
    }
}

fn outcomes(tally: &Tally) -> Outcomes {
    let Tally { intended, answered_as_expected, .. } = *tally;
    Outcomes { intended, answered_as_expected, failures: failures(tally) }
}

/// What did not end as expected, by kind; kinds of which there are none are left out.
fn failures(tally: &Tally) -> BTreeMap<&'static str, u64> {
    let unexpected = tally.answered.saturating_sub(tally.answered_as_expected);
    let others = tally.outcomes().into_iter().filter(|(name, _)| *name != "answered");
    others.chain([(UNEXPECTED, unexpected)]).filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use engine::{Outcome, Sample};
    use units::Instant;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Requests that took a millisecond and ended like that.
    fn interval(outcomes: &[Outcome]) -> Interval {
        let mut interval = Interval::default();
        for outcome in outcomes {
            interval.record(&Sample {
                intended: Instant::ORIGIN,
                ready: Instant::ORIGIN,
                sent: Some(Instant::ORIGIN),
                done: Instant::ORIGIN + Duration::from_millis(1),
                first_byte: None,
                arrived: None,
                outcome: *outcome,
                received_bytes: 1,
                due_in_window: true,
                done_in_window: true,
            });
        }
        interval
    }

    const GOOD: Outcome = Outcome::Answered { status: 200, expected: true };
    const WRONG: Outcome = Outcome::Answered { status: 500, expected: false };

    #[test]
    fn threads_that_begin_a_moment_apart_share_a_second_and_half_of_one_is_not_shown() {
        let mut series = Series::default();
        for second in 0..5 {
            let from = SECOND * second;
            series.add(from, SECOND, &interval(&[GOOD; 30]));
            if second > 0 {
                assert_eq!(series.seconds().len() as u64, second, "the other thread has not told yet");
            }
            series.add(from + Duration::from_millis(40), SECOND, &interval(&[GOOD; 10]));
        }
        let seconds = series.seconds();
        assert_eq!(seconds.len(), 5);
        assert!(seconds.iter().all(|it| (it.goodput_per_s - 40.0).abs() < 1e-9), "{seconds:?}");
        assert!((seconds[2].p50_us.unwrap() - 1_000.0).abs() < 2.0);
    }

    /// What it did is of all of that time, and not of the second in which it began.
    #[test]
    fn a_thread_that_was_held_up_is_taken_over_its_own_time() {
        let mut series = Series::default();
        let good = |count: usize| interval(&vec![GOOD; count]);
        for (from, length, count) in [(0, 1, 100), (0, 1, 100), (1, 1, 100), (2, 1, 100), (1, 2, 60)] {
            series.add(SECOND * from, SECOND * length, &good(count));
        }
        let rates = |series: &Series| series.seconds().iter().map(|it| it.goodput_per_s).collect::<Vec<_>>();
        assert_eq!(rates(&series), [200.0, 130.0, 130.0]);
        assert_eq!(series.shown_to(), Some(SECOND * 3));
        series.add(SECOND * 3, SECOND, &good(100));
        assert_eq!(rates(&series), [200.0, 130.0, 130.0], "the other one has not told yet");
        series.add(SECOND * 3, SECOND, &good(100));
        assert_eq!(rates(&series), [200.0, 130.0, 130.0, 200.0]);
        assert_eq!(series.shown_to(), Some(SECOND * 4));
        series.begin(None);
        assert_eq!((series.seconds().len(), series.shown_to()), (4, None), "they are of an earlier load");
    }

    /// One of three machines is away from the tenth second on, and tells of it later.
    #[test]
    fn what_is_told_late_counts_and_is_in_no_picture() {
        let mut series = Series::default();
        let mut add = |second: u64, threads: u32| {
            (0..threads).for_each(|_| series.add(SECOND * second, SECOND, &interval(&[GOOD])));
        };
        (0..10).for_each(|second| add(second, 3));
        (10..26).for_each(|second| add(second, 2));
        (10..24).for_each(|second| add(second, 1));
        let from_s: Vec<f64> = series.seconds().iter().map(|it| it.from_s).collect();
        assert!(from_s.is_sorted_by(|a, b| a < b) && from_s.last() == Some(&25.0), "{from_s:?}");
        assert_eq!(series.outcomes().intended, 30 + 32 + 14);
    }

    #[test]
    fn failures_are_told_by_kind_and_wrong_answers_are_among_them() {
        let mut series = Series::default();
        series.begin(None);
        series.add(
            Duration::ZERO,
            SECOND,
            &interval(&[GOOD, WRONG, WRONG, Outcome::TimedOut, Outcome::Reset]),
        );
        let expected = [("reset", 1), ("timed_out", 1), ("unexpected", 2)].into();
        assert_eq!(series.outcomes(), Outcomes { intended: 5, answered_as_expected: 1, failures: expected });
        assert_eq!(series.seconds()[0].failures, series.outcomes().failures);
        assert!(series.seconds()[0].p99_is_lower_bound && !series.seconds()[0].p50_is_lower_bound);
        let mut failing = Series::default();
        failing.begin(None);
        failing.add(Duration::ZERO, SECOND, &interval(&[GOOD, Outcome::TimedOut, Outcome::Reset]));
        assert!(failing.seconds()[0].p50_is_lower_bound, "of most answers nobody saw the end");
        assert_eq!(series.histogram().iter().map(|it| it.count).sum::<u64>(), 5);
    }

    #[test]
    fn a_99th_percentile_of_a_few_answers_is_told_as_a_bound() {
        let p99_of = |answers: usize| {
            let mut series = Series::default();
            series.begin(None);
            series.add(Duration::ZERO, SECOND, &interval(&vec![GOOD; answers]));
            let second = series.seconds().remove(0);
            (second.p99_us.is_some(), second.p99_is_lower_bound)
        };
        assert_eq!([0, 5, 400].map(p99_of), [(false, false), (true, true), (true, false)]);
    }

    #[test]
    fn a_new_load_counts_anew_and_keeps_what_was_seen_of_the_last() {
        let mut series = Series::default();
        series.begin(Some(1));
        series.add(Duration::ZERO, SECOND, &interval(&[GOOD; 3]));
        // A stub says nothing of a rate.
        series.add(SECOND, Duration::from_millis(20), &interval(&[GOOD]));
        series.begin(None);
        series.add(Duration::ZERO, SECOND, &interval(&[GOOD; 2]));
        let bursts: Vec<_> = series.seconds().iter().map(|it| it.burst).collect();
        assert_eq!(bursts, [Some(1), None]);
        assert_eq!((series.outcomes().intended, series.outcomes_so_far().intended), (2, 6));
    }

    #[test]
    fn an_hour_takes_no_more_than_two_minutes() {
        let mut series = Series::default();
        for second in 0..3600 {
            series.add(SECOND * second, SECOND, &interval(&[GOOD]));
        }
        assert_eq!(series.seconds().len(), SECONDS_MAX);
        assert!(series.closed.len() + series.open.len() <= SECONDS_MAX + OPEN_MAX);
        assert!((series.seconds().last().unwrap().from_s - 3599.0).abs() < 1e-9);
    }
}
