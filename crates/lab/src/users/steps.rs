//! What each step of a scenario came to.

use std::collections::BTreeMap;

use engine::Outcome;
use plan::experiment::bounds::NAME_BYTES_MAX;
use record::StepResult;
use scenario::{Crowd, Report, StepSample, Transaction, Unsent};
use stats::Distribution;
use units::Instant;

/// Labels that are kept apart at most: one with a variable in it may be another each time, or longer than a record has room for.
const LABELS_MAX: usize = 200;
/// What the others are kept under.
const OTHERS: &str = "(others)";

/// Counts and times by label: of requests, and of transactions, one of which may be called as a request is.
#[derive(Debug, Default)]
pub struct Steps {
    requests: BTreeMap<String, Step>,
    transactions: BTreeMap<String, Step>,
}

#[derive(Debug, Default)]
struct Step {
    /// The order in which labels came first.
    order: usize,
    failed: u64,
    cut_off: u64,
    first_failure: Option<String>,
    times: Distribution,
}

/// What a label is of.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Request,
    Transaction,
}

impl Steps {
    fn step(&mut self, kind: Kind, label: &str) -> &mut Step {
        let order = self.requests.len() + self.transactions.len();
        let steps = match kind {
            Kind::Request => &mut self.requests,
            Kind::Transaction => &mut self.transactions,
        };
        let has_room = order < LABELS_MAX && label.len() as u64 <= NAME_BYTES_MAX;
        let known = has_room || steps.contains_key(label);
        let label = if known { label } else { OTHERS };
        // Looked up twice, so that the usual case makes no text.
        if !steps.contains_key(label) {
            steps.insert(label.to_owned(), Step { order, ..Step::default() });
        }
        steps.get_mut(label).expect("inserted above")
    }

    /// As they are written down, in the order in which they came first.
    pub fn into_results(self) -> Vec<StepResult> {
        let requests =
            self.requests.into_iter().map(|(label, step)| (step.order, step.into_result(label, false)));
        let transactions =
            self.transactions.into_iter().map(|(label, step)| (step.order, step.into_result(label, true)));
        let mut all: Vec<(usize, StepResult)> = requests.chain(transactions).collect();
        all.sort_by_key(|(order, _)| *order);
        all.into_iter().map(|(_, result)| result).collect()
    }
}

impl Step {
    fn into_result(self, label: String, transaction: bool) -> StepResult {
        StepResult {
            label,
            transaction,
            failed: self.failed,
            cut_off: self.cut_off,
            first_failure: self.first_failure,
            response_time_us: (&self.times).into(),
        }
    }
}

impl Report for Steps {
    fn sample(&mut self, _: &Crowd, _: u32, sample: &StepSample) {
        // Its transaction stands for it alone.
        if sample.within_parent {
            return;
        }
        let step = self.step(Kind::Request, &sample.label);
        if sample.outcome.is_answered() {
            step.times.record(sample.elapsed);
        } else {
            step.times.record_censored(sample.elapsed);
        }
        if sample.outcome == Outcome::InFlight {
            step.cut_off += 1;
        } else if !sample.ok {
            step.failed += 1;
            let why = || sample.message.clone().unwrap_or_else(|| sample.outcome.name().replace('_', " "));
            step.first_failure.get_or_insert_with(why);
        }
    }

    fn unsent(&mut self, _: &Crowd, _: u32, unsent: &Unsent, _: Instant) {
        if unsent.within_parent {
            return;
        }
        let step = self.step(Kind::Request, &unsent.label);
        step.failed += 1;
        step.first_failure.get_or_insert_with(|| unsent.message.clone());
    }

    fn transaction(&mut self, _: &Crowd, _: u32, transaction: &Transaction) {
        if transaction.within_parent {
            return;
        }
        let step = self.step(Kind::Transaction, &transaction.label);
        if transaction.is_whole {
            step.times.record(transaction.elapsed);
        } else {
            step.times.record_censored(transaction.elapsed);
        }
        // One in which a request has failed would not have succeeded any more.
        if transaction.cut_off && transaction.failed == 0 {
            step.cut_off += 1;
        } else if !transaction.ok {
            step.failed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use scenario::Sums;
    use units::Duration;

    use super::*;

    const CROWD: Crowd = Crowd { group: 0, in_group: 1, in_all: 1, started: 1, finished: 0 };

    /// Whatever is filled in, the record can be read back.
    #[test]
    fn what_has_too_long_a_label_is_among_the_others() {
        let mut steps = Steps::default();
        for bytes in [4096, 4097, 4098] {
            let unsent = Unsent {
                label: "a".repeat(bytes),
                method: "GET".into(),
                url: "no url".into(),
                message: "the URL is none".into(),
                within_parent: false,
            };
            steps.unsent(&CROWD, 0, &unsent, Instant::ORIGIN);
        }
        let told = steps.into_results();
        let told: Vec<(usize, u64)> = told.iter().map(|it| (it.label.len(), it.failed)).collect();
        assert_eq!(told, [(4096, 1), (OTHERS.len(), 2)]);
    }

    /// Two seconds of two requests, of which one failed.
    fn whole() -> Transaction {
        Transaction {
            label: "all".into(),
            from: Instant::ORIGIN,
            to: Instant::ORIGIN,
            elapsed: Duration::from_secs(2),
            samples: 2,
            failed: 1,
            sums: Sums::default(),
            ok: false,
            is_whole: true,
            broken_off: false,
            cut_off: false,
            parent_only: false,
            within_parent: false,
        }
    }

    /// As long as its requests were waited for is not how long all of it would have taken.
    #[test]
    fn a_transaction_that_is_not_whole_is_known_to_take_longer() {
        let mut steps = Steps::default();
        for is_whole in [true, true, false] {
            steps.transaction(&CROWD, 0, &Transaction { is_whole, ..whole() });
        }
        let told = &steps.into_results()[0];
        let times = &told.response_time_us;
        assert_eq!((told.failed, told.cut_off, times.count, times.censored), (3, 0, 3, 1));
    }

    /// A transaction takes as long as all that is in it: among the times of one request its own would be outliers.
    #[test]
    fn a_transaction_and_a_request_of_one_label_are_told_apart() {
        let mut steps = Steps::default();
        let unsent = Unsent {
            label: "all".into(),
            method: "GET".into(),
            url: "no url".into(),
            message: "the URL is none".into(),
            within_parent: false,
        };
        for _ in 0..2 {
            steps.transaction(&CROWD, 0, &whole());
            steps.unsent(&CROWD, 0, &unsent, Instant::ORIGIN);
        }
        steps.unsent(&CROWD, 0, &unsent, Instant::ORIGIN);
        let told = steps.into_results();
        let told = told.iter().map(|it| {
            let times = &it.response_time_us;
            (it.label.as_str(), it.transaction, it.failed, times.count, it.first_failure.is_some())
        });
        assert_eq!(told.collect::<Vec<_>>(), [("all", true, 2, 2, false), ("all", false, 3, 0, true)]);
    }

    /// Each has one outcome: it succeeded, failed or was cut off.
    #[test]
    fn what_the_end_of_the_load_cuts_off_has_not_failed() {
        let mut steps = Steps::default();
        let good = Outcome::Answered { status: 200, expected: true };
        for (outcome, ok) in [(good, true), (Outcome::TimedOut, false), (Outcome::InFlight, false)] {
            let sample = StepSample {
                label: "one".into(),
                method: "GET".into(),
                url: "http://h/".parse().unwrap(),
                intended: Instant::ORIGIN,
                done: Instant::ORIGIN,
                elapsed: Duration::from_secs(1),
                latency: Duration::ZERO,
                connect: Duration::ZERO,
                outcome,
                status: None,
                reason: String::new(),
                ok,
                message: None,
                received_bytes: 0,
                sent_bytes: 0,
                within_parent: false,
            };
            steps.sample(&CROWD, 0, &sample);
        }
        let cut_off = |failed| Transaction { cut_off: true, is_whole: false, failed, ..whole() };
        for transaction in [cut_off(0), cut_off(1)] {
            steps.transaction(&CROWD, 0, &transaction);
        }
        let told = steps.into_results();
        let told = told.iter().map(|it| {
            let times = &it.response_time_us;
            (it.label.as_str(), it.failed, it.cut_off, times.count, times.censored)
        });
        // That of which a request failed would not have succeeded any more.
        assert_eq!(told.collect::<Vec<_>>(), [("one", 1, 1, 3, 2), ("all", 1, 1, 2, 2)]);
    }
}
