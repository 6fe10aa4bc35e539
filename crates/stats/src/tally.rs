//! Counts of what became of requests.

use std::collections::BTreeMap;

use engine::{Outcome, Sample};
use units::Duration;

/// How many answers had which status. Few statuses occur, and mostly one: looking through a list finds it sooner than
/// a tree does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statuses(Vec<(u16, u64)>);

impl Statuses {
    /// Each status that occurred, the lowest first, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Counts answers with a status.
    #[inline]
    pub fn add(&mut self, status: u16, count: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == status) {
            Some((_, so_far)) => *so_far += count,
            None => self.insert(status, count),
        }
    }

    #[cold]
    fn insert(&mut self, status: u16, count: u64) {
        let at = self.0.partition_point(|(known, _)| *known < status);
        self.0.insert(at, (status, count));
    }
}

/// How many requests ended how. Outcomes count requests *intended* within the measured window; rates
/// count what was *done* within it, so that neither end of the window biases a rate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Requests intended in the window: the sum of the outcomes that follow.
    pub intended: u64,
    /// Answered, with any status and body.
    pub answered: u64,
    /// Of those, answered with the expected status and body.
    pub answered_as_expected: u64,
    /// Not answered within the request timeout.
    pub timed_out: u64,
    /// No connection; by kind in `connect_failures`.
    pub connect_failed: u64,
    /// A connection whose handshake came to nothing; by kind in `tls_failures`.
    pub tls_failed: u64,
    /// Reset.
    pub reset: u64,
    /// Closed by the server before the answer was whole.
    pub closed_early: u64,
    /// Not an HTTP answer; by kind in `malformations`.
    pub malformed: u64,
    /// Refused by a server that did nothing for it (HTTP/2).
    pub refused_stream: u64,
    /// Broken off by the server, on a connection that went on (HTTP/2).
    pub stream_reset: u64,
    /// Not looked at by a server that ended the connection, twice or before they were sent (HTTP/2).
    pub gone_away: u64,
    /// Due and not sent before the load ended.
    pub unsent: u64,
    /// Due, and dropped since as many as may wait for a connection were waiting.
    pub backlog_overflow: u64,
    /// Sent, and the run ended before its answer or timeout.
    pub in_flight: u64,
    /// Due in a share of the load whose agent fell silent: whether they were sent is not known.
    pub lost: u64,
    /// Answers by status.
    pub statuses: Statuses,
    /// Failed connections by kind.
    pub connect_failures: BTreeMap<&'static str, u64>,
    /// Failed handshakes by kind.
    pub tls_failures: BTreeMap<&'static str, u64>,
    /// Malformed answers by kind.
    pub malformations: BTreeMap<&'static str, u64>,
    /// Expected answers done within the window: what goodput counts.
    pub done_as_expected: u64,
    /// Requests of any outcome done within the window.
    pub done: u64,
    /// Of those, the ones without an answer.
    pub done_unanswered: u64,
    /// The sum of their response times, for Little's law.
    pub done_response_ns: u128,
    /// Bytes received by them.
    pub done_received_bytes: u64,
}

impl Tally {
    /// Adds one finished request.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub fn record(&mut self, sample: &Sample) {
        if sample.due_in_window {
            self.count_outcome(sample.outcome);
        }
        if sample.done_in_window {
            self.done += 1;
            self.done_response_ns += u128::from(sample.response_time().as_nanos());
            self.done_received_bytes += sample.received_bytes;
            match sample.outcome {
                Outcome::Answered { expected, .. } => self.done_as_expected += u64::from(expected),
                _ => self.count_done_unanswered(),
            }
        }
    }

    /// Adds requests that were never sent, all of which ended so and none of which is in a rate.
    pub(crate) fn record_never_sent(&mut self, outcome: Outcome, count: u64) {
        self.intended += count;
        match outcome {
            Outcome::BacklogOverflow => self.backlog_overflow += count,
            _ => self.unsent += count,
        }
    }

    /// Adds requests of which nothing is known but that they were due.
    pub(crate) fn record_lost(&mut self, count: u64) {
        self.intended += count;
        self.lost += count;
    }

    #[inline]
    fn count_outcome(&mut self, outcome: Outcome) {
        self.intended += 1;
        if let Outcome::Answered { status, expected } = outcome {
            self.answered += 1;
            self.answered_as_expected += u64::from(expected);
            self.statuses.add(status, 1);
        } else {
            self.count_failure(outcome);
        }
    }

    #[cold]
    fn count_done_unanswered(&mut self) {
        self.done_unanswered += 1;
    }

    #[cold]
    fn count_failure(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Answered { .. } => {}
            Outcome::TimedOut => self.timed_out += 1,
            Outcome::ConnectFailed(failure) => {
                self.connect_failed += 1;
                *self.connect_failures.entry(failure.name()).or_default() += 1;
            }
            Outcome::TlsFailed(failure) => {
                self.tls_failed += 1;
                *self.tls_failures.entry(failure.name()).or_default() += 1;
            }
            Outcome::Reset => self.reset += 1,
            Outcome::ClosedEarly => self.closed_early += 1,
            Outcome::Malformed(kind) => {
                self.malformed += 1;
                *self.malformations.entry(kind.name()).or_default() += 1;
            }
            Outcome::RefusedStream => self.refused_stream += 1,
            Outcome::StreamReset(_) => self.stream_reset += 1,
            Outcome::GoneAway => self.gone_away += 1,
            Outcome::Unsent => self.unsent += 1,
            Outcome::BacklogOverflow => self.backlog_overflow += 1,
            Outcome::InFlight => self.in_flight += 1,
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in other.outcomes() {
            *self.outcome_mut(name) += count;
        }
        self.intended += other.intended;
        self.answered_as_expected += other.answered_as_expected;
        self.done_as_expected += other.done_as_expected;
        self.done += other.done;
        self.done_unanswered += other.done_unanswered;
        self.done_response_ns += other.done_response_ns;
        self.done_received_bytes += other.done_received_bytes;
        other.statuses.iter().for_each(|(status, count)| self.statuses.add(status, count));
        merge_counts(&mut self.connect_failures, &other.connect_failures);
        merge_counts(&mut self.tls_failures, &other.tls_failures);
        merge_counts(&mut self.malformations, &other.malformations);
    }

    /// Each outcome's name and count. The counts add up to `intended`.
    pub fn outcomes(&self) -> [(&'static str, u64); 14] {
        [
            ("answered", self.answered),
            ("timed_out", self.timed_out),
            ("connect_failed", self.connect_failed),
            ("tls_failed", self.tls_failed),
            ("reset", self.reset),
            ("closed_early", self.closed_early),
            ("malformed", self.malformed),
            ("refused_stream", self.refused_stream),
            ("stream_reset", self.stream_reset),
            ("gone_away", self.gone_away),
            ("unsent", self.unsent),
            ("backlog_overflow", self.backlog_overflow),
            ("in_flight", self.in_flight),
            ("lost", self.lost),
        ]
    }

    fn outcome_mut(&mut self, name: &str) -> &mut u64 {
        match name {
            "answered" => &mut self.answered,
            "timed_out" => &mut self.timed_out,
            "connect_failed" => &mut self.connect_failed,
            "tls_failed" => &mut self.tls_failed,
            "reset" => &mut self.reset,
            "closed_early" => &mut self.closed_early,
            "malformed" => &mut self.malformed,
            "refused_stream" => &mut self.refused_stream,
            "stream_reset" => &mut self.stream_reset,
            "gone_away" => &mut self.gone_away,
            "unsent" => &mut self.unsent,
            "backlog_overflow" => &mut self.backlog_overflow,
            "lost" => &mut self.lost,
            _ => &mut self.in_flight,
        }
    }

    /// Answers, of any status and body, that came within the window.
    pub fn done_answered(&self) -> u64 {
        self.done.saturating_sub(self.done_unanswered)
    }

    /// Mean response time of what was done within the window, censored times at their bounds.
    pub fn mean_done_response(&self) -> Option<Duration> {
        let count = u128::from(self.done);
        (count > 0).then(|| Duration::from_nanos((self.done_response_ns / count) as u64))
    }
}

fn merge_counts<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(*key).or_default() += count;
    }
}
