//! What each step of a scenario came to.

use std::collections::BTreeMap;

use plan::experiment::bounds::NAME_BYTES_MAX;
use record::StepResult;
use scenario::{Crowd, Report, StepSample, Transaction, Unsent};
use stats::Distribution;
use units::Instant;

/// Labels that are kept apart at most: one with a variable in it may be another each time, or longer than a record has room for.
const LABELS_MAX: usize = 200;
/// What the others are kept under.
const OTHERS: &str = "(others)";

/// Counts and times by label.
#[derive(Debug, Default)]
pub struct Steps(BTreeMap<String, Step>);

#[derive(Debug, Default)]
struct Step {
    /// The order in which labels came first.
    order: usize,
    failed: u64,
    is_transaction: bool,
    first_failure: Option<String>,
    times: Distribution,
}

impl Steps {
    fn step(&mut self, label: &str) -> &mut Step {
        let has_room = self.0.len() < LABELS_MAX && label.len() as u64 <= NAME_BYTES_MAX;
        let known = has_room || self.0.contains_key(label);
        let order = self.0.len();
        let label = if known { label } else { OTHERS };
        // Looked up twice, so that the usual case makes no text.
        if !self.0.contains_key(label) {
            self.0.insert(label.to_owned(), Step { order, ..Step::default() });
        }
        self.0.get_mut(label).expect("inserted above")
    }

    /// As they are written down, in the order in which they came first.
    pub fn into_results(self) -> Vec<StepResult> {
        let mut all: Vec<(String, Step)> = self.0.into_iter().collect();
        all.sort_by_key(|(_, step)| step.order);
        all.into_iter()
            .map(|(label, step)| StepResult {
                label,
                transaction: step.is_transaction,
                failed: step.failed,
                first_failure: step.first_failure,
                response_time_us: (&step.times).into(),
            })
            .collect()
    }
}

impl Report for Steps {
    fn sample(&mut self, _: &Crowd, _: u32, sample: &StepSample) {
        // Its transaction stands for it alone.
        if sample.within_parent {
            return;
        }
        let step = self.step(&sample.label);
        if sample.outcome.is_answered() {
            step.times.record(sample.elapsed);
        } else {
            step.times.record_censored(sample.elapsed);
        }
        if !sample.ok {
            step.failed += 1;
            let why = || sample.message.clone().unwrap_or_else(|| sample.outcome.name().replace('_', " "));
            step.first_failure.get_or_insert_with(why);
        }
    }

    fn unsent(&mut self, _: &Crowd, _: u32, unsent: &Unsent, _: Instant) {
        if unsent.within_parent {
            return;
        }
        let step = self.step(&unsent.label);
        step.failed += 1;
        step.first_failure.get_or_insert_with(|| unsent.message.clone());
    }

    fn transaction(&mut self, _: &Crowd, _: u32, transaction: &Transaction) {
        if transaction.within_parent {
            return;
        }
        let step = self.step(&transaction.label);
        step.is_transaction = true;
        if transaction.is_whole {
            step.times.record(transaction.elapsed);
        } else {
            step.times.record_censored(transaction.elapsed);
        }
        step.failed += u64::from(!transaction.ok);
    }
}

#[cfg(test)]
mod tests {
    use scenario::Sums;
    use units::Duration;

    use super::*;

    /// Whatever is filled in, the record can be read back.
    #[test]
    fn what_has_too_long_a_label_is_among_the_others() {
        let crowd = Crowd { group: 0, in_group: 1, in_all: 1, started: 1, finished: 0 };
        let mut steps = Steps::default();
        for bytes in [4096, 4097, 4098] {
            let unsent = Unsent {
                label: "a".repeat(bytes),
                method: "GET".into(),
                url: "no url".into(),
                message: "the URL is none".into(),
                within_parent: false,
            };
            steps.unsent(&crowd, 0, &unsent, Instant::ORIGIN);
        }
        let told = steps.into_results();
        let told: Vec<(usize, u64)> = told.iter().map(|it| (it.label.len(), it.failed)).collect();
        assert_eq!(told, [(4096, 1), (OTHERS.len(), 2)]);
    }

    /// As long as its requests were waited for is not how long all of it would have taken.
    #[test]
    fn a_transaction_that_is_not_whole_is_known_to_take_longer() {
        let crowd = Crowd { group: 0, in_group: 1, in_all: 1, started: 1, finished: 0 };
        let mut steps = Steps::default();
        let all = Transaction {
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
            parent_only: false,
            within_parent: false,
        };
        for is_whole in [true, true, false] {
            steps.transaction(&crowd, 0, &Transaction { is_whole, ..all.clone() });
        }
        let told = &steps.into_results()[0];
        let times = &told.response_time_us;
        assert_eq!((told.failed, times.count, times.censored), (3, 3, 1));
    }
}
