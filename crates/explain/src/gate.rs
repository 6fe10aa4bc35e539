//! A gate held against what was measured: *passed*, *failed* or *could not tell*.
//!
//! A condition is judged by an interval that holds the service's own figure. Only where all of it is on one side of the limit
//! is there an answer. The intervals of all conditions hold together with 95 % confidence (Bonferroni), so that many
//! conditions do not make a gate that fails by chance. What lies in the load itself, such as its longest answer or how many
//! requests failed, is no estimate, and is compared as it is.
//!
//! Where the audit speaks against a figure, a gate does not: a generator that was late makes answers look slow, and so it
//! takes the failure from a gate and leaves the pass.

mod answer;
mod load;
mod loads_before;
mod loss;
mod more;
mod run;

use plan::gate::{Condition, Limit, Metric};
use stats::CONFIDENCE;
use units::Share;

pub use self::load::gate_load;
pub use self::loads_before::LoadsBefore;
pub(crate) use self::run::figures;
pub use self::run::{RunsBefore, gate_run, gate_versions, gate_without, intervals_of_versions};
use crate::audit::FAILED_SHARE_MAX;

/// The probability that is left beyond each end of each of so many intervals.
fn tail_of(intervals: usize) -> f64 {
    (1.0 - CONFIDENCE) / 2.0 / intervals.max(1) as f64
}

/// What is asked of errors where nobody says: a service that fails fast must not pass.
fn default_condition() -> Condition {
    let share = Share::percent(FAILED_SHARE_MAX * 100.0).expect("it is a share");
    Condition { metric: Metric::Errors, limit: Limit::Share(share), spares_limit: true }
}

/// The conditions with the one that is added where none is on errors, and whether each is that one.
fn with_default(fail_if: &[Condition]) -> Vec<(Condition, bool)> {
    let says_errors = fail_if.iter().any(|it| it.metric == Metric::Errors);
    let default = (!says_errors).then(|| (default_condition(), true));
    fail_if.iter().map(|it| (*it, false)).chain(default).collect()
}
