//! An interval of one load thread on its way to the books. What is made of it there is the very same interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::{DistributionParts, Interval, RateSample, Tally};
use units::Duration;

use crate::bounds::{BYTES_MAX, COUNT_MAX};
use crate::kinds::{KINDS_MAX, Kinds, connect_failure, kinds, known, malformation, tls_failure};
use crate::times::{DistributionForm, Wide, joined, longest, split};

/// Samples of the rate that go with an interval at most.
const RATES_MAX: usize = 16;

/// What is told is not an interval that a load can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("told an interval that no load can have")]
pub struct NotAnInterval;

/// An interval of one load thread, or several that follow each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// Of which of the agent's load threads.
    pub thread: u32,
    /// Its number, from 1; of several, that of the first.
    pub first: u64,
    /// The same, or the number of the last.
    pub last: u64,
    /// When it began, from the agreed begin on, ns.
    pub from_ns: u64,
    /// When it ended, likewise.
    pub to_ns: u64,
    /// Whether the thread has ended with it.
    #[serde(default)]
    pub ends: bool,
    tally: TallyForm,
    times: Vec<DistributionForm>,
    rates: Vec<(u64, u64)>,
}

impl Told {
    /// Of `thread`, from `from` to `to` after the begin. It gets its number when it is kept.
    pub fn new(thread: u32, from: Duration, to: Duration, interval: &Interval, rates: &[RateSample]) -> Self {
        Self {
            thread,
            first: 0,
            last: 0,
            from_ns: from.as_nanos(),
            to_ns: to.as_nanos(),
            ends: false,
            tally: TallyForm::of(&interval.tally),
            times: interval.times.parts().into_iter().map(DistributionForm::from).collect(),
            rates: rates.iter().map(|it| (it.answered, it.span.as_nanos())).collect(),
        }
    }

    /// The same, and whether the thread has ended with it.
    #[must_use]
    pub fn ending(self, ends: bool) -> Self {
        Self { ends, ..self }
    }

    /// The same with its number.
    pub(crate) fn numbered(self, number: u64) -> Self {
        Self { first: number, last: number, ..self }
    }

    /// When it began, from the agreed begin on.
    pub const fn from(&self) -> Duration {
        Duration::from_nanos(self.from_ns)
    }

    /// When it ended, likewise.
    pub const fn to(&self) -> Duration {
        Duration::from_nanos(self.to_ns)
    }

    /// What happened in it.
    ///
    /// # Errors
    /// If that can't have happened.
    pub fn interval(&self) -> Result<Interval, NotAnInterval> {
        let mut interval = Interval::default();
        self.read(&mut interval)?;
        Ok(interval)
    }

    /// The same in the memory of an interval that was, of which nothing stays: distributions are large, and most of their places
    /// empty.
    ///
    /// # Errors
    /// If that can't have happened. What `interval` then holds is of no use.
    pub fn read(&self, interval: &mut Interval) -> Result<(), NotAnInterval> {
        if self.from_ns > self.to_ns || self.rates.len() > RATES_MAX || !self.times_fit() {
            return Err(NotAnInterval);
        }
        interval.tally = self.tally.tally().ok_or(NotAnInterval)?;
        let are_times = interval.times.assign(self.times.iter().map(DistributionParts::from));
        are_times.then_some(()).ok_or(NotAnInterval)
    }

    /// Whether there are as many times as requests: each that was due has a response time, and at most one of each other kind.
    fn times_fit(&self) -> bool {
        let intended = self.tally.intended;
        let answered = self.rates.iter().fold(0_u64, |sum, it| sum.saturating_add(it.0));
        answered <= self.tally.answered
            && self.times.iter().all(|it| it.count() <= intended && it.sums_fit())
            && self.times.first().is_some_and(|response| response.count() == intended)
    }

    /// About how much memory it takes, bytes.
    pub fn memory_bytes(&self) -> usize {
        let filled: usize = self.times.iter().map(DistributionForm::places).sum();
        size_of::<Self>() + filled * size_of::<(u32, u64)>()
    }

    /// The rate within it.
    pub fn rates(&self) -> Vec<RateSample> {
        let sample = |(answered, span_ns): &(u64, u64)| RateSample {
            answered: *answered,
            span: Duration::from_nanos(*span_ns),
        };
        self.rates.iter().map(sample).collect()
    }

    /// Adds the one that follows.
    pub(crate) fn merge(&mut self, next: &Self) {
        // Both are our own: they were made of intervals.
        let (Ok(mut whole), Ok(more)) = (self.interval(), next.interval()) else { return };
        whole.merge(&more);
        let mut rates = self.rates();
        rates.extend(next.rates());
        let span = rates.iter().fold(Duration::ZERO, |sum, it| sum + it.span);
        let rate = RateSample { answered: rates.iter().map(|it| it.answered).sum(), span };
        let merged = Self::new(self.thread, self.from(), next.to(), &whole, &[rate]);
        *self = Self { first: self.first, last: next.last, ends: next.ends, ..merged };
    }
}

/// A tally, field by field: one that is added to it and not to this does not compile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TallyForm {
    intended: u64,
    answered: u64,
    answered_as_expected: u64,
    timed_out: u64,
    connect_failed: u64,
    tls_failed: u64,
    reset: u64,
    closed_early: u64,
    malformed: u64,
    refused_stream: u64,
    stream_reset: u64,
    gone_away: u64,
    unsent: u64,
    backlog_overflow: u64,
    in_flight: u64,
    lost: u64,
    statuses: Vec<(u16, u64)>,
    connect_failures: Kinds,
    tls_failures: Kinds,
    malformations: Kinds,
    done_as_expected: u64,
    done: u64,
    done_unanswered: u64,
    done_response_ns: Wide,
    done_received_bytes: u64,
}

impl TallyForm {
    fn of(tally: &Tally) -> Self {
        Self {
            intended: tally.intended,
            answered: tally.answered,
            answered_as_expected: tally.answered_as_expected,
            timed_out: tally.timed_out,
            connect_failed: tally.connect_failed,
            tls_failed: tally.tls_failed,
            reset: tally.reset,
            closed_early: tally.closed_early,
            malformed: tally.malformed,
            refused_stream: tally.refused_stream,
            stream_reset: tally.stream_reset,
            gone_away: tally.gone_away,
            unsent: tally.unsent,
            backlog_overflow: tally.backlog_overflow,
            in_flight: tally.in_flight,
            lost: tally.lost,
            statuses: tally.statuses.iter().collect(),
            connect_failures: kinds(&tally.connect_failures),
            tls_failures: kinds(&tally.tls_failures),
            malformations: kinds(&tally.malformations),
            done_as_expected: tally.done_as_expected,
            done: tally.done,
            done_unanswered: tally.done_unanswered,
            done_response_ns: split(tally.done_response_ns),
            done_received_bytes: tally.done_received_bytes,
        }
    }

    /// The tally, if it is one: its outcomes add up, and nothing in it is more than can be counted.
    fn tally(&self) -> Option<Tally> {
        let mut tally = Tally {
            intended: self.intended,
            answered: self.answered,
            answered_as_expected: self.answered_as_expected,
            timed_out: self.timed_out,
            connect_failed: self.connect_failed,
            tls_failed: self.tls_failed,
            reset: self.reset,
            closed_early: self.closed_early,
            malformed: self.malformed,
            refused_stream: self.refused_stream,
            stream_reset: self.stream_reset,
            gone_away: self.gone_away,
            unsent: self.unsent,
            backlog_overflow: self.backlog_overflow,
            in_flight: self.in_flight,
            lost: self.lost,
            statuses: stats::Statuses::default(),
            connect_failures: known(&self.connect_failures, connect_failure)?,
            tls_failures: known(&self.tls_failures, tls_failure)?,
            malformations: known(&self.malformations, malformation)?,
            done_as_expected: self.done_as_expected,
            done: self.done,
            done_unanswered: self.done_unanswered,
            done_response_ns: joined(self.done_response_ns),
            done_received_bytes: self.done_received_bytes,
        };
        let is_bounded = |count: &u64| *count <= COUNT_MAX;
        for (status, count) in self.statuses.iter().take(KINDS_MAX).filter(|it| is_bounded(&it.1)) {
            tally.statuses.add(*status, *count);
        }
        let outcomes = tally.outcomes();
        let sum = outcomes.iter().fold(0, |sum: u64, it| sum.saturating_add(it.1));
        let counts = [sum, tally.done, tally.done_as_expected, tally.done_unanswered];
        let answers: u64 = tally.statuses.iter().fold(0, |sum, it| sum.saturating_add(it.1));
        let adds_up = sum == tally.intended
            && answers == tally.answered
            && tally.lost == 0
            && tally.answered_as_expected <= tally.answered
            && tally.done_as_expected.saturating_add(tally.done_unanswered) <= tally.done
            && tally.done_response_ns <= longest(tally.done)
            && tally.done_received_bytes <= BYTES_MAX
            && all_of(&tally.connect_failures) <= tally.connect_failed
            && all_of(&tally.tls_failures) <= tally.tls_failed
            && all_of(&tally.malformations) <= tally.malformed;
        (adds_up && counts.iter().all(is_bounded)).then_some(tally)
    }
}

fn all_of(kinds: &BTreeMap<&'static str, u64>) -> u64 {
    kinds.values().fold(0, |sum, count| sum.saturating_add(*count))
}

#[cfg(test)]
mod tests {
    use engine::{ConnectFailure, Outcome, Sample, TlsFailure};
    use http::Malformed;
    use units::Instant;

    use super::*;

    fn sample(outcome: Outcome, ms: u64) -> Sample {
        let at_ms = |ms| Instant::ORIGIN + Duration::from_millis(ms);
        Sample {
            intended: at_ms(10),
            ready: at_ms(11),
            sent: Some(at_ms(12)),
            done: at_ms(12 + ms),
            first_byte: outcome.is_answered().then(|| at_ms(12 + ms / 2)),
            arrived: outcome.is_answered().then(|| at_ms(11 + ms)),
            outcome,
            received_bytes: 5,
            due_in_window: true,
            done_in_window: ms.is_multiple_of(2),
        }
    }

    fn every_kind() -> Interval {
        let mut interval = Interval::default();
        let outcomes = [
            Outcome::Answered { status: 200, expected: true },
            Outcome::Answered { status: 503, expected: false },
            Outcome::TimedOut,
            Outcome::Reset,
            Outcome::ClosedEarly,
            Outcome::RefusedStream,
            Outcome::StreamReset(8),
            Outcome::GoneAway,
            Outcome::Unsent,
            Outcome::BacklogOverflow,
            Outcome::InFlight,
        ];
        let failures = ConnectFailure::PLAIN.iter().map(|it| Outcome::ConnectFailed(*it));
        let malformed = Malformed::ALL.iter().map(|it| Outcome::Malformed(*it));
        let tls =
            [TlsFailure::Alert(40), TlsFailure::Alert(255), TlsFailure::TimedOut, TlsFailure::Certificate];
        let tls = tls.into_iter().map(Outcome::TlsFailed);
        for (ms, outcome) in (1..).zip(outcomes.into_iter().chain(failures).chain(malformed).chain(tls)) {
            interval.record(&sample(outcome, ms));
        }
        interval
    }

    #[test]
    fn an_interval_that_travelled_is_the_very_same() {
        let interval = every_kind();
        let rates = [RateSample { answered: 2, span: Duration::from_millis(100) }];
        let second = Duration::from_secs(1);
        let told = Told::new(3, second, second * 2, &interval, &rates);
        let bytes = serde_json::to_vec(&told).unwrap();
        let again: Told = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(again, told);
        assert_eq!(again.interval().unwrap(), interval);
        assert_eq!(again.rates(), rates);
    }

    #[test]
    fn what_follows_is_merged_as_the_books_would_merge_it() {
        let interval = every_kind();
        let second = Duration::from_secs(1);
        let mut told = Told { first: 4, last: 4, ..Told::new(0, second, second * 2, &interval, &[]) };
        told.merge(&Told { first: 5, last: 5, ..Told::new(0, second * 2, second * 3, &interval, &[]) });
        let mut both = interval.clone();
        both.merge(&interval);
        assert_eq!((told.first, told.last, told.from(), told.to()), (4, 5, second, second * 3));
        assert_eq!(told.interval().unwrap(), both);
    }

    #[test]
    fn what_no_load_can_have_is_refused() {
        let good = Told::new(0, Duration::ZERO, Duration::from_secs(1), &every_kind(), &[]);
        let mut wrong = vec![good.clone(); 13];
        wrong[0].from_ns = u64::MAX;
        wrong[1].times.pop();
        wrong[2].tally.timed_out += 1;
        wrong[3].tally.statuses[0].1 += 1;
        wrong[4].tally.done = u64::MAX;
        wrong[5].times[0].exact.filled[0].1 = u64::MAX;
        wrong[6].tally.lost = 1;
        // A time too many, one too few, and sums that would not add up with others.
        wrong[7].tally.intended += 1;
        wrong[7].tally.unsent += 1;
        wrong[8].times[1] = wrong[8].times[0].clone();
        wrong[8].times[1].exact.filled[0].1 += 1000;
        wrong[9].times[0].exact_sum_ns.0 = u64::MAX;
        wrong[10].tally.done_response_ns.0 = u64::MAX;
        wrong[11].tally.done_received_bytes = u64::MAX;
        wrong[12].tally.connect_failures[0].1 += 1000;
        for told in wrong {
            assert_eq!(told.interval(), Err(NotAnInterval), "{told:?}");
        }
    }
}
