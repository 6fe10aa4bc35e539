//! A gate held against one load.

use plan::gate::{Condition, Gate, Limit, Metric};
use record::{GateAnswer, GateCheck, GateResult, LoadResult};
use stats::{BATCHES_MIN, Batches, CONFIDENCE, Estimated, mean_of};

use super::answer::{decide, hold_against, hold_against_asked, hold_against_count, judged, unknown};
use super::loads_before::LoadsBefore;
use super::more::{more, of_load};
use super::{tail_of, with_default};
use crate::audit::{Reason, audit};

/// A second of a load that is shorter than this says little of its rate.
const SECOND_LENGTH_MIN_S: f64 = 0.5;

/// Holds `gate` against a load; `batches` is what happened in the course of it, `before` the loads that it is held against. Conditions on
/// what only who started the server knows can't be told.
pub fn gate_load(
    gate: &Gate,
    result: &LoadResult,
    batches: &Batches,
    before: Option<&LoadsBefore>,
) -> GateResult {
    let conditions = with_default(&gate.fail_if);
    let tail = tail_of(conditions.len() + usize::from(before.is_some()));
    let of = Evidence { result, batches, tail, reasons: audit(result).reasons };
    let checks = conditions.iter().map(|(condition, is_default)| of.check(condition, *is_default));
    let loss = before.map(|it| it.check(result, tail, &of.reasons));
    GateResult::of(checks.chain(loss).collect(), CONFIDENCE)
}

struct Evidence<'a> {
    result: &'a LoadResult,
    batches: &'a Batches,
    tail: f64,
    reasons: Vec<Reason>,
}

impl Evidence<'_> {
    fn check(&self, condition: &Condition, is_default: bool) -> GateCheck {
        let Some(estimated) = self.estimate(condition) else {
            let (why, would_decide) = if condition.metric.is_of_server() {
                ("a load alone does not know it", "`proofload run`, which starts the server itself")
            } else {
                ("nothing was measured", "a load that reaches the server")
            };
            return GateCheck {
                why: Some(why.into()),
                would_decide: Some(would_decide.into()),
                ..unknown(condition, is_default)
            };
        };
        let mut check = judged(condition, is_default, &estimated);
        hold_against_asked(&mut check, condition.metric, self.result.load.rate_per_s);
        hold_against(&mut check, condition.metric, &self.reasons, || {
            decide(condition, &self.without_ours(condition.metric, estimated))
        });
        hold_against_count(&mut check, condition, self.result.intended);
        if check.answer == GateAnswer::CouldNotTell && check.would_decide.is_none() {
            check.would_decide = Some(self.would_decide(condition, &estimated));
        }
        check
    }

    fn estimate(&self, condition: &Condition) -> Option<Estimated> {
        let result = self.result;
        match condition.metric {
            Metric::Percentile(it) => self.batches.percentile(it.quantile, self.tail),
            Metric::Mean => self.batches.mean(self.tail),
            Metric::Max => result.response_time_us.figure("max").map(|(us, is_lower_bound)| Estimated {
                is_lower_bound,
                high: (!is_lower_bound).then_some(us),
                ..Estimated::exactly(us)
            }),
            Metric::Errors if matches!(condition.limit, Limit::Count(_)) => {
                (result.intended > 0).then(|| Estimated::exactly(result.failed() as f64))
            }
            Metric::Errors => self.batches.failed_share(self.tail),
            Metric::Goodput => self.rate(result.goodput_per_s, |it| it.0),
            Metric::Throughput => self.rate(result.throughput_per_s, |it| it.0 + it.1),
            Metric::Cpu | Metric::Memory | Metric::Boot => None,
        }
    }

    /// A rate as the load had it, within the interval of its seconds. `of` is told good answers and failures a second.
    fn rate(&self, whole_per_s: f64, of: impl Fn((f64, f64)) -> f64) -> Option<Estimated> {
        let seconds = self.result.seconds.iter().filter(|it| it.length_s >= SECOND_LENGTH_MIN_S);
        let rates: Vec<f64> = seconds.map(|it| of((it.goodput_per_s, it.failures_per_s))).collect();
        if self.result.intended == 0 {
            return None;
        }
        let Some(within) = mean_of(&rates, self.tail) else {
            return Some(Estimated { low: None, high: None, ..Estimated::exactly(whole_per_s) });
        };
        // Around the figure that is shown: the seconds leave out the rest of the window.
        let off = whole_per_s - within.value;
        let moved = |end: Option<f64>| end.map(|it| (it + off).max(0.0));
        Some(Estimated { value: whole_per_s, low: moved(within.low), high: moved(within.high), ..within })
    }

    /// As if nothing of the times were the generator's own: less the longest that it was ever late, in sending and in reading.
    fn without_ours(&self, metric: Metric, estimated: Estimated) -> Estimated {
        if !metric.is_response_time() {
            return Estimated { low: None, high: None, ..estimated };
        }
        let longest = |times: &record::Distribution| times.max.unwrap_or(0.0);
        let ours = longest(&self.result.generator_lag_us) + longest(&self.result.receive_lag_us);
        Estimated { low: estimated.low.map(|it| it - ours), ..estimated }
    }

    fn would_decide(&self, condition: &Condition, estimated: &Estimated) -> String {
        if self.batches.count() < BATCHES_MIN {
            return format!(
                "{BATCHES_MIN} seconds of load at least: how much a service differs from second to second is not known before"
            );
        }
        of_load(more(condition, estimated), self.result.window.duration_s)
    }
}
