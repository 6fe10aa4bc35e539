//! The loads of a trial second by second, all of their threads together.

use std::collections::{BTreeMap, VecDeque};

use record::told_quantile;
use stats::{Distribution, Interval, Quantile, Tally};
use units::Duration;

use crate::buckets::Buckets;
use crate::view::{Bucket, Outcomes, Second};

/// Seconds kept: two minutes.
const SECONDS_MAX: usize = 120;
/// Seconds that threads may still add to: they begin a moment apart, and hand a second over when it is over.
const OPEN_MAX: usize = 2;
/// Two intervals that begin closer together than this are of the same second.
const SAME_WITHIN: Duration = Duration::from_millis(500);
/// An interval shorter than this, as at the end of a load, says nothing of a rate.
const SHOWN_MIN: Duration = Duration::from_millis(500);
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
    /// Threads that told of the second before those that are open.
    threads: u32,
    /// Of the load under way.
    tally: Tally,
    histogram: Buckets,
}

/// A second that threads still add to.
#[derive(Debug, Clone, Default)]
struct Part {
    from: Duration,
    length: Duration,
    threads: u32,
    tally: Tally,
    response: Distribution,
}

impl Series {
    /// A load begins: a burst, or the measured one.
    pub(crate) fn begin(&mut self, burst: Option<u32>) {
        while self.close() {}
        self.closed_from = None;
        self.burst = burst;
        self.threads = 0;
        self.tally = Tally::default();
        self.histogram = Buckets::default();
    }

    /// Adds what a thread did from `from` after the load's start on, for `length`.
    pub(crate) fn add(&mut self, from: Duration, length: Duration, interval: &Interval) {
        self.tally.merge(&interval.tally);
        self.histogram.add(&interval.times.response);
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
            part.length = part.length.max(length);
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
        self.threads = part.threads;
        self.closed_from = Some(part.from);
        self.closed.extend(part.second(self.burst));
        while self.closed.len() > SECONDS_MAX {
            self.closed.pop_front();
        }
        true
    }

    /// The last seconds. One of which only some of the threads have told is not among them: its rate is theirs alone.
    pub(crate) fn seconds(&self) -> Vec<Second> {
        let before = std::iter::once(self.threads).chain(self.open.iter().map(|part| part.threads));
        let is_whole = |at: usize, part: &Part, before| part.threads >= before || at + 1 < self.open.len();
        let open = self.open.iter().zip(before).enumerate();
        let open = open.filter(|(at, (part, before))| is_whole(*at, part, *before));
        let open = open.filter_map(|(_, (part, _))| part.second(self.burst));
        let all: Vec<Second> = self.closed.iter().cloned().chain(open).collect();
        all[all.len().saturating_sub(SECONDS_MAX)..].to_vec()
    }

    pub(crate) fn outcomes(&self) -> Outcomes {
        let Tally { intended, answered_as_expected, .. } = self.tally;
        Outcomes { intended, answered_as_expected, failures: failures(&self.tally) }
    }

    pub(crate) fn histogram(&self) -> Vec<Bucket> {
        self.histogram.view()
    }
}

impl Part {
    fn second(&self, burst: Option<u32>) -> Option<Second> {
        if self.length < SHOWN_MIN {
            return None;
        }
        let (p50, p99) = (self.response.quantile(0.5), told_quantile(&self.response, 0.99));
        let us = |time: Option<Quantile>| time.map(|it| it.value.as_micros_f64());
        Some(Second {
            burst,
            from_s: self.from.as_secs_f64(),
            goodput_per_s: self.tally.done_as_expected as f64 / self.length.as_secs_f64(),
            p50_us: us(p50),
            p50_is_lower_bound: p50.is_some_and(|it| it.is_lower_bound),
            p99_us: us(p99),
            p99_is_lower_bound: p99.is_some_and(|it| it.is_lower_bound),
            failures: failures(&self.tally),
        })
    }
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
        assert_eq!(series.outcomes().intended, 2);
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
