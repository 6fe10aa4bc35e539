//! The trials that are written down: the last of them, and how many there were.

use std::collections::VecDeque;

use explain::audit_trial;
use record::{Trial, TrialResult};

use crate::text::bounded;
use crate::view::{FinishedView, TrialView};

/// Trials kept.
const FINISHED_MAX: usize = 100;
/// Characters of a failure that are kept: its first words say what it was, and the record has all of it.
pub(crate) const WORDS_MAX: usize = 300;

/// Trials that are written down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Finished {
    last: VecDeque<FinishedView>,
    pub(crate) count: u64,
}

impl Finished {
    pub(crate) fn add(&mut self, finished: FinishedView) {
        self.count += 1;
        self.last.push_back(finished);
        if self.last.len() > FINISHED_MAX {
            self.last.pop_front();
        }
    }

    pub(crate) fn view(&self) -> Vec<FinishedView> {
        self.last.iter().cloned().collect()
    }
}

/// What is shown of a trial, and what speaks against it: the gravest reason, in words.
pub(crate) fn of(trial: TrialView, recorded: &Trial) -> (FinishedView, Option<String>) {
    match &recorded.result {
        TrialResult::Failed { error } => {
            let failure = bounded(error.trim(), WORDS_MAX);
            let view = FinishedView {
                trial,
                goodput_per_s: None,
                p99_us: None,
                p99_is_lower_bound: false,
                verdict: "failed".into(),
                failure: Some(failure.clone()),
            };
            (view, Some(failure))
        }
        TrialResult::Measured(measured) => {
            let load = &measured.load;
            let times = if load.driver.is_some() { &load.service_time_us } else { &load.response_time_us };
            let p99 = times.told("p99");
            // The control's rate is not known yet; what is said of it is the report's.
            let validity = audit_trial(measured, None);
            let doubt = validity
                .reasons
                .first()
                .map(|reason| bounded(&format!("{}: {}", reason.kind.name(), reason.text), WORDS_MAX));
            let view = FinishedView {
                trial,
                goodput_per_s: Some(load.goodput_per_s).filter(|it| it.is_finite()),
                p99_us: p99.map(|(us, _)| us).filter(|it| it.is_finite()),
                p99_is_lower_bound: p99.is_some_and(|(_, is_lower_bound)| is_lower_bound),
                verdict: validity.verdict.into(),
                failure: None,
            };
            (view, doubt)
        }
    }
}
