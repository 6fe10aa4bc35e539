//! What came of a gate in GitHub's Markdown, for a pull request or a job's summary.

use std::fmt::Write;

use record::{GateAnswer, GateCheck, GateResult};

use super::markdown::words;
use crate::gate::{answer_words, cell_words, decided_by, figures};

/// The gate of what is called `name`.
pub fn gate_markdown(name: &str, gate: &GateResult) -> String {
    let has_cells = gate.checks.iter().any(|it| it.cell.is_some());
    let mut text =
        format!("## {} {}\n\n**{}**\n\n", mark(gate.answer), words(name), words(&answer_words(gate)));
    if gate.checks.is_empty() {
        return text.trim_end().to_owned() + "\n";
    }
    let (of, line) = if has_cells { ("| of ", "|---") } else { ("", "") };
    // Writing into a String cannot fail.
    let _ = writeln!(text, "| | fails if {of}| measured (interval) | |\n|---|---{line}|---|---|");
    for check in &gate.checks {
        text.push_str(&row(check, has_cells));
    }
    let _ = write!(
        text,
        "\nIn parentheses: where the service's own figures lie, all of them in {:.0} of 100 cases.\n",
        gate.confidence * 100.0
    );
    text
}

fn row(check: &GateCheck, has_cells: bool) -> String {
    let cell = check.cell.as_ref().map_or_else(String::new, |it| words(&cell_words(it)));
    let cell = if has_cells { format!("| {cell} ") } else { String::new() };
    let more = [check.why.as_deref().map(words), decided_by(check).as_deref().map(words)];
    let more: Vec<String> = more.into_iter().flatten().collect();
    format!(
        "| {} {} | {} {cell}| {} | {} |\n",
        mark(check.answer),
        check.answer.name(),
        words(&check.fails_if),
        words(&figures(check)),
        more.join("; ")
    )
}

/// What is seen before it is read.
const fn mark(answer: GateAnswer) -> &'static str {
    match answer {
        GateAnswer::Passed => "✅",
        GateAnswer::CouldNotTell => "❔",
        GateAnswer::Failed => "❌",
    }
}
