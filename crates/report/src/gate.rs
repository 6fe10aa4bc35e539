//! What came of a gate, for a person.

use std::fmt::Write;

use record::{GateAnswer, GateCell, GateCheck, GateResult, GateUnit};
use units::Bytes;

use crate::figure::{NONE, heading, indented, per_s, percent_of_share, plain_line, time_us};

/// Why a gate has an answer and no condition that came to it: each is of what was measured, and nothing was.
pub(crate) const NOTHING_MEASURED: &str = "nothing was measured that it could be held against";

/// The gate's answer, and behind it each condition with what was measured.
pub fn gate_text(gate: &GateResult) -> String {
    let mut text = format!("gate        {}", answer_words(gate));
    if gate.checks.is_empty() {
        return text;
    }
    let mut cell: Option<&GateCell> = None;
    for check in &gate.checks {
        if check.cell.is_some() && check.cell.as_ref() != cell {
            cell = check.cell.as_ref();
            let of = cell.map_or_else(String::new, cell_words);
            // Writing into a String cannot fail.
            let _ = write!(text, "\n            {of}");
        }
        let _ = write!(
            text,
            "\n            {:<15} if {}: {}",
            check.answer.name(),
            plain_line(&check.fails_if),
            figures(check)
        );
        for more in [check.why.as_deref().map(indented), decided_by(check)].into_iter().flatten() {
            let _ = write!(text, "\n                {more}");
        }
    }
    let _ = write!(
        text,
        "\n            In parentheses: where the service's own figures lie, all of them in {:.0} of 100 cases.",
        gate.confidence * 100.0
    );
    text
}

/// The answer of the whole, and how many conditions came to which.
pub(crate) fn answer_words(gate: &GateResult) -> String {
    let all = [GateAnswer::Failed, GateAnswer::CouldNotTell, GateAnswer::Passed];
    let counted: Vec<String> = all
        .into_iter()
        .map(|answer| (gate.count(answer), answer.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if counted.is_empty() {
        return format!("{}: {NOTHING_MEASURED}", gate.answer.name());
    }
    format!("{}; of {} conditions: {}", gate.answer.name(), gate.checks.len(), counted.join(", "))
}

/// A cell as one line.
pub(crate) fn cell_words(cell: &GateCell) -> String {
    format!("{}, {}, {}", heading(&cell.round), heading(&cell.load), heading(&cell.stack))
}

/// A check in a sentence: for whoever sees only that it is not passed.
pub(crate) fn check_words(check: &GateCheck) -> String {
    let why = check.why.as_deref().map(|it| format!("; {}", plain_line(it)));
    let would = decided_by(check).map(|it| format!("; {it}"));
    format!("{}{}{}", figures(check), why.unwrap_or_default(), would.unwrap_or_default())
}

/// What would decide it, where that is open.
pub(crate) fn decided_by(check: &GateCheck) -> Option<String> {
    check.would_decide.as_deref().map(|it| format!("to decide it: {}", plain_line(it)))
}

/// The figure and its interval: `48.2ms (46.1…51.3ms)`.
pub(crate) fn figures(check: &GateCheck) -> String {
    let Some(value) = check.value else { return NONE.into() };
    let bound = if check.is_lower_bound { ">" } else { "" };
    let shown = format!("{bound}{}", amount(check.unit, value));
    if check.low == check.value && check.high == check.value {
        return shown;
    }
    let end = |end: Option<f64>| end.map_or_else(|| "?".into(), |it| amount(check.unit, it));
    format!("{shown} ({} to {})", end(check.low), end(check.high))
}

fn amount(unit: GateUnit, value: f64) -> String {
    match unit {
        GateUnit::Micros => time_us(value.max(0.0)),
        GateUnit::PerSecond => per_s(value),
        GateUnit::Share => percent(value),
        GateUnit::Loss => loss(value),
        GateUnit::Requests => {
            let shown = format!("{value:.0}");
            if shown == "1" { "1 request".into() } else { format!("{shown} requests") }
        }
        GateUnit::Trials => format!("{value:.0}"),
        GateUnit::Bytes => Bytes(value.max(0.0) as u64).to_string(),
    }
}

/// Two digits that count, as of errors every one does: `0.013 %`.
fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".into(),
        percent if percent < 0.1 => percent_of_share(share, 3),
        percent if percent < 10.0 => percent_of_share(share, 2),
        _ => percent_of_share(share, 1),
    }
}

/// What is lost, to a tenth; what is gained is below 0.
fn loss(share: f64) -> String {
    match format!("{:.1} %", share * 100.0).as_str() {
        // A gain so small is less than the least loss that is shown.
        "-0.0 %" if share < 0.0 => "<0.1 %".into(),
        shown if share <= 0.0 => shown.into(),
        _ => percent_of_share(share, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check() -> GateCheck {
        GateCheck {
            fails_if: "p99 > 50.0ms".into(),
            is_default: false,
            cell: None,
            answer: GateAnswer::CouldNotTell,
            unit: GateUnit::Micros,
            limit: 50_000.0,
            value: Some(48_200.0),
            is_lower_bound: false,
            low: Some(46_100.0),
            high: None,
            why: None,
            would_decide: Some("some 40 s of this load".into()),
        }
    }

    #[test]
    fn each_condition_says_what_was_measured_and_what_would_decide_it() {
        let gate = GateResult::of(vec![check()], 0.95);
        assert_eq!(
            gate_text(&gate),
            "gate        could not tell; of 1 conditions: 1 could not tell\n            \
             could not tell  if p99 > 50.0ms: 48.2ms (46.1ms to ?)\n                \
             to decide it: some 40 s of this load\n            \
             In parentheses: where the service's own figures lie, all of them in 95 of 100 cases."
        );
        assert_eq!(check_words(&check()), "48.2ms (46.1ms to ?); to decide it: some 40 s of this load");
    }

    #[test]
    fn a_gate_of_nothing_that_was_measured_says_so() {
        let gate = GateResult::of(Vec::new(), 0.95);
        assert_eq!(
            gate_text(&gate),
            "gate        could not tell: nothing was measured that it could be held against"
        );
        let xml = crate::gate_junit("shop", &gate);
        assert!(!crate::gate_markdown("shop", &gate).contains("| fails if"));
        assert!(xml.contains("tests=\"1\"") && xml.contains("<error type=\"could not tell\""), "{xml}");
    }

    #[test]
    fn amounts_that_are_not_all_and_not_nothing_are_not_rounded_to_that() {
        for (unit, value, shown) in [
            (GateUnit::Share, 0.0, "0 %"),
            (GateUnit::Share, 1e-7, "<0.001 %"),
            (GateUnit::Share, 0.000_13, "0.013 %"),
            (GateUnit::Share, 0.012_34, "1.23 %"),
            (GateUnit::Share, 0.999_9, ">99.9 %"),
            (GateUnit::Share, 1.0, "100.0 %"),
            (GateUnit::Requests, 0.0, "0 requests"),
            (GateUnit::Requests, 1.0, "1 request"),
            (GateUnit::Loss, 0.25, "25.0 %"),
            (GateUnit::Loss, 0.999_9, ">99.9 %"),
            (GateUnit::Loss, 0.000_1, "<0.1 %"),
            (GateUnit::Loss, 0.0, "0.0 %"),
            (GateUnit::Loss, -0.000_1, "<0.1 %"),
            (GateUnit::Loss, -0.05, "-5.0 %"),
        ] {
            assert_eq!(amount(unit, value), shown, "{unit:?} {value}");
        }
    }

    #[test]
    fn text_from_outside_stays_on_its_line() {
        let why = Some("no\u{1b}[31m\nsecond".to_owned());
        let shown = gate_text(&GateResult::of(vec![GateCheck { why, ..check() }], 0.95));
        assert!(!shown.contains('\u{1b}') && shown.contains("\n    second"), "{shown}");
    }
}
