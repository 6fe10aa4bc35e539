//! Why each cell stopped where it did, for a person.

use std::fmt::Write;

use explain::{CellExplanation, Confirmation, Verdict};

use crate::figure::{by_driver, heading, name, per_s, plain_line};

/// Every cell with its verdicts, their evidence, what they exclude and what would confirm them.
pub fn explanations_text(cells: &[CellExplanation]) -> String {
    let mut text = String::new();
    let mut table = None;
    for cell in cells {
        let of = (&cell.round, &cell.load, cell.driver);
        if table.replace(of) != Some(of) {
            // Writing into a String cannot fail.
            let _ = {
                let (round, load) = (heading(&cell.round), heading(&cell.load.to_string()));
                writeln!(text, "{}{round}, {load}{}", gap(&text), by_driver(cell.driver))
            };
        }
        text.push_str(&cell_text(cell));
    }
    text
}

const fn gap(text: &str) -> &'static str {
    if text.is_empty() { "" } else { "\n" }
}

fn cell_text(cell: &CellExplanation) -> String {
    let mut text = format!("\n  {}  {}", name(&cell.stack), per_s(cell.goodput_per_s));
    if cell.agreeing < cell.trials {
        let _ = write!(text, "  (so in {} of {} trials)", cell.agreeing, cell.trials);
    }
    text.push('\n');
    for reason in &cell.validity.reasons {
        let _ = writeln!(text, "    doubt: {}: {}", reason.kind.name(), plain_line(&reason.text));
    }
    let (first, rest) = cell.explanation.verdicts.split_first().expect("an explanation has a verdict");
    text.push_str(&verdict_text(first, ""));
    for verdict in rest {
        text.push_str(&verdict_text(verdict, "also: "));
    }
    for line in &cell.pauses {
        let _ = writeln!(text, "    by the second: {}", plain_line(line));
    }
    if !cell.explanation.not_known.is_empty() {
        let unknown: Vec<String> = cell.explanation.not_known.iter().map(|it| plain_line(it)).collect();
        let _ = writeln!(text, "    not known: {}", unknown.join("; "));
    }
    text
}

fn verdict_text(verdict: &Verdict, also: &str) -> String {
    let mut text = format!(
        "    {also}{} ({}{})\n",
        plain_line(&verdict.phrase),
        verdict.confidence.name(),
        share(verdict)
    );
    for line in &verdict.evidence {
        let _ = writeln!(text, "      because  {}", plain_line(line));
    }
    // What a further verdict excludes is what the first one does.
    if also.is_empty() {
        for line in &verdict.excluded {
            let _ = writeln!(text, "      not      {}", plain_line(line));
        }
    }
    if let Some(confirm) = &verdict.confirm {
        let _ = writeln!(text, "      confirm  {}", plain_line(&confirm.text));
    }
    text
}

/// How much of the rate, or of the requests, it can account for. What is more than nothing is not told as nothing at most.
fn share(verdict: &Verdict) -> String {
    let of = if verdict.kind.fails_requests() { "of the requests" } else { "of the rate" };
    let percent = |share: f64| if share > 0.0 { (share * 100.0).max(1.0) } else { 0.0 };
    verdict.accounts_for.map_or_else(String::new, |share| format!("; up to {:.0} % {of}", percent(share)))
}

/// What came of a test, in a line, and why.
pub fn confirmation_text(confirmation: &Confirmation) -> String {
    let Confirmation { variant, levels, predicted_per_s, measured_per_s, outcome, why, .. } = confirmation;
    let why = why.as_ref().map_or_else(String::new, |why| format!("; {}", plain_line(why)));
    let predicted = predicted_per_s.map_or_else(String::new, |rate| format!("predicted {}, ", per_s(rate)));
    let Some(variant) = variant else {
        let rates: Vec<String> =
            levels.iter().map(|it| format!("{} users {}", it.users, per_s(it.goodput_per_s))).collect();
        return format!("{}: {}{why}", rates.join(", "), outcome.name());
    };
    format!("{}: {predicted}measured {}: {}{why}", name(variant), per_s(*measured_per_s), outcome.name())
}

#[cfg(test)]
mod tests {
    use explain::{Confidence, VerdictKind};

    use super::*;

    #[test]
    fn a_little_is_not_told_as_nothing_at_most() {
        let of = |accounts_for: Option<f64>| {
            let (kind, confidence) = (VerdictKind::LogBound, Confidence::Possible);
            let (phrase, evidence, excluded) = (String::new(), Vec::new(), Vec::new());
            share(&Verdict { kind, phrase, confidence, accounts_for, evidence, excluded, confirm: None })
        };
        for (accounts_for, words) in [
            (None, ""),
            (Some(0.0), "; up to 0 % of the rate"),
            (Some(0.001), "; up to 1 % of the rate"),
            (Some(0.426), "; up to 43 % of the rate"),
        ] {
            assert_eq!(of(accounts_for), words);
        }
    }
}
