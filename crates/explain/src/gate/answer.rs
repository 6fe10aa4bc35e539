//! From an interval and a limit to an answer, and which doubts of an audit take it back.

use plan::gate::{Condition, Limit, Metric};
use record::{GateAnswer, GateCheck, GateUnit};
use stats::{Estimated, LEAST_EFFECT};

use crate::audit::{Reason, ReasonKind};

/// A limit as a number, and its unit.
pub(super) fn limit_of(limit: Limit) -> (f64, GateUnit) {
    match limit {
        Limit::Time(it) => (it.as_micros_f64(), GateUnit::Micros),
        Limit::Rate(it) => (it.as_per_sec(), GateUnit::PerSecond),
        Limit::Share(it) => (it.get(), GateUnit::Share),
        Limit::Count(it) => (it as f64, GateUnit::Requests),
        Limit::Bytes(it) => (it.0 as f64, GateUnit::Bytes),
    }
}

/// What an interval says of a limit.
pub(super) fn decide(condition: &Condition, estimated: &Estimated) -> GateAnswer {
    let (limit, _) = limit_of(condition.limit);
    let sign = if condition.metric.wants_more() { -1.0 } else { 1.0 };
    // As if more were worse.
    let ends = [estimated.low, estimated.high].map(|end| end.map(|it| sign * it));
    let (low, high) = if sign > 0.0 { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let limit = sign * limit;
    let is_above = |end: f64| if condition.spares_limit { end > limit } else { end >= limit };
    if low.is_some_and(is_above) {
        GateAnswer::Failed
    } else if high.is_some_and(|it| !is_above(it)) {
        GateAnswer::Passed
    } else {
        GateAnswer::CouldNotTell
    }
}

/// A check without a figure: nothing can be told.
pub(super) fn unknown(condition: &Condition, is_default: bool) -> GateCheck {
    let (limit, unit) = limit_of(condition.limit);
    GateCheck { is_default, ..without_figure(condition.to_string(), limit, unit) }
}

/// The same of what is asked in other words.
pub(super) fn without_figure(fails_if: String, limit: f64, unit: GateUnit) -> GateCheck {
    GateCheck {
        fails_if,
        is_default: false,
        cell: None,
        answer: GateAnswer::CouldNotTell,
        unit,
        limit,
        value: None,
        is_lower_bound: false,
        low: None,
        high: None,
        why: None,
        would_decide: None,
    }
}

/// A check with what its interval says.
pub(super) fn judged(condition: &Condition, is_default: bool, estimated: &Estimated) -> GateCheck {
    let unknown = unknown(condition, is_default);
    let is_all_of_them = condition.metric == Metric::Errors && estimated.value >= 1.0;
    let answer = match decide(condition, estimated) {
        // Who brought no good answer at all need not be asked for longer.
        _ if is_all_of_them && unknown.unit == GateUnit::Share => GateAnswer::Failed,
        // Nobody asked: it is held back by what is seen, and not by what could be.
        GateAnswer::CouldNotTell if is_default && estimated.value <= unknown.limit => GateAnswer::Passed,
        answer => answer,
    };
    GateCheck {
        answer,
        value: Some(estimated.value),
        is_lower_bound: estimated.is_lower_bound,
        low: estimated.low,
        high: estimated.high,
        ..unknown
    }
}

/// Takes a failure back where the load asks for no more than the limit, and gets it: no service answers more than it is asked, so
/// that it is the load's and not the service's. Who answers less than is asked has no such excuse.
pub(super) fn hold_against_asked(check: &mut GateCheck, metric: Metric, asked_per_s: Option<f64>) {
    let Some(asked) = asked_per_s.filter(|asked| metric.wants_more() && check.limit >= *asked) else {
        return;
    };
    let keeps_rate = check.high.is_none_or(|high| high * (1.0 + LEAST_EFFECT) >= asked);
    if !keeps_rate || check.answer == GateAnswer::Passed {
        return;
    }
    check.answer = GateAnswer::CouldNotTell;
    // A rate that was asked for a minute has many digits.
    let asked = (asked * 100.0).round() / 100.0;
    check.why = Some(format!("the load asks for {asked}/s, and no service answers more than it is asked"));
    check.would_decide = Some("a load that asks for more than the limit, or a lower limit".into());
}

/// Which answers a doubt takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TakesBack {
    Nothing,
    Failures,
    All,
}

/// A generator that is late or has no CPU left makes a service look worse than it is, and never better.
fn takes_back(kind: ReasonKind, metric: Metric) -> TakesBack {
    let is_time = metric.is_response_time();
    let is_of_load = is_time || metric.wants_more();
    let (takes, which) = match kind {
        ReasonKind::Empty | ReasonKind::Interrupted | ReasonKind::LostAgent => (TakesBack::All, true),
        ReasonKind::LittlesLaw | ReasonKind::SkewedClocks => (TakesBack::All, is_time),
        ReasonKind::TooShort | ReasonKind::RampNotOver | ReasonKind::NotSteady | ReasonKind::TwoLevels => {
            (TakesBack::All, is_of_load)
        }
        // Once its compilers are done, a service is no slower. Late reading makes no answer an error.
        ReasonKind::Compiling | ReasonKind::LateReceiver => (TakesBack::Failures, is_of_load),
        ReasonKind::ClientBound | ReasonKind::Throttled | ReasonKind::LateGenerator => {
            (TakesBack::Failures, is_of_load || metric == Metric::Errors)
        }
        // What is the service's own fault is in its figures, or bears on none of them.
        ReasonKind::IncorrectService | ReasonKind::Unsent | ReasonKind::Censored => {
            (TakesBack::Nothing, true)
        }
    };
    if which { takes } else { TakesBack::Nothing }
}

/// Takes an answer back that a doubt speaks against. `without_ours` is the answer without what the generator itself added to
/// times: where it is a failure all the same, it stands.
pub(super) fn hold_against(
    check: &mut GateCheck,
    metric: Metric,
    reasons: &[Reason],
    without_ours: impl FnOnce() -> GateAnswer,
) {
    let doubt_that = |takes: TakesBack| reasons.iter().find(|it| takes_back(it.kind, metric) == takes);
    let doubt = match check.answer {
        GateAnswer::CouldNotTell => None,
        GateAnswer::Passed => doubt_that(TakesBack::All),
        GateAnswer::Failed => doubt_that(TakesBack::All)
            .or_else(|| doubt_that(TakesBack::Failures).filter(|_| without_ours() != GateAnswer::Failed)),
    };
    let Some(doubt) = doubt else { return };
    check.answer = GateAnswer::CouldNotTell;
    check.why = Some(format!("{}: {}", doubt.kind.name(), doubt.text));
    check.would_decide = Some("a load that the audit calls valid".into());
}

/// Takes a pass back where it would have passed though all of the `requests` that were made had failed.
pub(super) fn hold_against_count(check: &mut GateCheck, condition: &Condition, requests: u64) {
    if check.answer != GateAnswer::Passed || condition.is_within(requests) {
        return;
    }
    check.answer = GateAnswer::CouldNotTell;
    let plural = if requests == 1 { "request was" } else { "requests were" };
    check.why = Some(format!("{requests} {plural} made, which are too few for so many to fail"));
    check.would_decide = Some("a load of more requests, or a lower number".into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(condition: &str, low: Option<f64>, high: Option<f64>) -> GateAnswer {
        let condition = condition.parse().unwrap_or_else(|error| panic!("{condition}: {error}"));
        decide(&condition, &Estimated { value: 0.0, is_lower_bound: false, low, high })
    }

    #[test]
    fn only_an_interval_on_one_side_decides() {
        use GateAnswer::{CouldNotTell, Failed, Passed};
        for (condition, low, high, due) in [
            ("p99>50ms", Some(50_001.0), Some(60_000.0), Failed),
            ("p99>50ms", Some(40_000.0), Some(50_000.0), Passed),
            ("p99>=50ms", Some(40_000.0), Some(50_000.0), CouldNotTell),
            ("p99>=50ms", Some(50_000.0), Some(60_000.0), Failed),
            ("p99>50ms", Some(40_000.0), Some(60_000.0), CouldNotTell),
            ("p99>50ms", Some(60_000.0), None, Failed),
            ("p99>50ms", Some(40_000.0), None, CouldNotTell),
            ("p99>50ms", None, None, CouldNotTell),
            ("goodput<1000", Some(1000.0), Some(1100.0), Passed),
            ("goodput<1000", Some(900.0), Some(999.0), Failed),
            ("goodput<=1000", Some(1000.0), Some(1100.0), CouldNotTell),
            ("goodput<1000", Some(900.0), Some(1100.0), CouldNotTell),
            ("errors>0", Some(0.0), Some(0.0), Passed),
            ("errors>0", Some(1.0), Some(1.0), Failed),
            ("errors>=1", Some(0.0), Some(0.0), Passed),
        ] {
            assert_eq!(answer(condition, low, high), due, "{condition} of {low:?} to {high:?}");
        }
    }

    #[test]
    fn a_late_generator_takes_failures_back_and_leaves_passes() {
        let reasons = [Reason { kind: ReasonKind::LateGenerator, text: "it was late".into() }];
        let condition: Condition = "p99>50ms".parse().expect("it is one");
        let with = |low: f64, high: f64, without_ours: GateAnswer| {
            let estimated = Estimated { value: low, is_lower_bound: false, low: Some(low), high: Some(high) };
            let mut check = judged(&condition, false, &estimated);
            hold_against(&mut check, condition.metric, &reasons, || without_ours);
            check.answer
        };
        assert_eq!(with(10_000.0, 20_000.0, GateAnswer::Passed), GateAnswer::Passed);
        assert_eq!(with(60_000.0, 70_000.0, GateAnswer::CouldNotTell), GateAnswer::CouldNotTell);
        assert_eq!(with(60_000.0, 70_000.0, GateAnswer::Failed), GateAnswer::Failed);
    }

    #[test]
    fn what_could_not_have_failed_has_not_passed() {
        use GateAnswer::{CouldNotTell, Failed, Passed};
        for (condition, failed, requests, due) in [
            ("errors>5", 0.0, 6, Passed),
            ("errors>5", 0.0, 5, CouldNotTell),
            ("errors>=5", 0.0, 5, Passed),
            ("errors>=5", 5.0, 5, Failed),
            ("errors>0", 0.0, 1, Passed),
        ] {
            let condition: Condition = condition.parse().expect("it is one");
            let mut check = judged(&condition, false, &Estimated::exactly(failed));
            hold_against_count(&mut check, &condition, requests);
            assert_eq!(check.answer, due, "{condition} of {requests}: {check:?}");
            assert_eq!(check.why.is_some(), due == CouldNotTell, "{check:?}");
        }
    }

    #[test]
    fn no_doubt_makes_an_answer_of_none() {
        let reasons = [Reason { kind: ReasonKind::TooShort, text: "it was short".into() }];
        let condition: Condition = "goodput<10".parse().expect("it is one");
        let mut check = judged(&condition, false, &Estimated::exactly(20.0));
        hold_against(&mut check, condition.metric, &reasons, || GateAnswer::Failed);
        assert_eq!(check.answer, GateAnswer::CouldNotTell);
        assert_eq!(check.why.as_deref(), Some("too short: it was short"));
    }
}
