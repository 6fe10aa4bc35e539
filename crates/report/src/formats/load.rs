//! One load as a row of CSV and as GitHub's Markdown.

use std::fmt::Write;

use super::gate::gate_markdown;
use super::markdown::words;
use crate::figure::{figure, micros, per_s};
use crate::load::HitReport;

/// Figures of response time in a row, by their names in records.
const TIMES: [&str; 9] = ["mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"];

/// A heading and one row. A figure that is only a lower bound, or that so few requests don't know, is left empty, and named
/// in the last column.
///
/// # Panics
/// Never: it is written to memory.
pub fn hit_csv(report: &HitReport) -> String {
    let result = &report.result;
    let times = &result.response_time_us;
    let mut heading: Vec<String> = [
        "url",
        "model",
        "load",
        "duration_s",
        "requests",
        "answered_as_expected",
        "goodput_per_s",
        "throughput_per_s",
    ]
    .map(str::to_owned)
    .into();
    heading.extend(TIMES.map(|name| format!("response_{name}_us")));
    heading.extend(["verdict", "not_known"].map(str::to_owned));
    let mut row = vec![
        result.url.clone(),
        result.load.model.clone(),
        result.load.label.clone(),
        result.window.duration_s.to_string(),
        result.intended.to_string(),
        result.answered_as_expected.to_string(),
        result.goodput_per_s.to_string(),
        result.throughput_per_s.to_string(),
    ];
    let mut not_known = Vec::new();
    for name in TIMES {
        if let Some((us, false)) = times.told(name) {
            row.push(us.to_string());
        } else {
            not_known.push(name);
            row.push(String::new());
        }
    }
    row.extend([report.validity.verdict.to_owned(), not_known.join(" ")]);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&heading).and_then(|()| writer.write_record(&row)).expect("memory takes it");
    String::from_utf8(writer.into_inner().expect("memory takes it")).expect("it was text")
}

/// A summary for a pull request.
pub fn hit_markdown(report: &HitReport) -> String {
    let result = &report.result;
    let times = &result.response_time_us;
    let shown = ["p50", "p90", "p99", "p99_9", "max"];
    let names = shown.map(|name| name.replace('_', "."));
    let figures = shown.map(|name| words(&figure(times, name)));
    let (cut_off, failed) = (result.cut_off(), result.failed());
    let mut text = format!(
        "## {}\n\n{} model, {}, {:.2} s measured, {} requests\n\n| goodput | failed | {} | CPU a request (client) |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|\n| {} | {failed} | {} | {} |\n\n**verdict: {}**\n",
        words(&result.url),
        words(&result.load.model),
        words(&result.load.label),
        result.window.duration_s,
        result.intended,
        names.join(" | "),
        per_s(result.goodput_per_s),
        figures.join(" | "),
        micros(result.cpu_us_per_request),
        report.validity.verdict,
    );
    if cut_off > 0 {
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "- {cut_off} requests were under way when it ended, and count neither as answered nor as failed"
        );
    }
    for reason in &report.validity.reasons {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "- {}: {}", reason.kind.name(), words(&reason.text));
    }
    if let Some(gate) = &report.gate {
        let _ = write!(text, "\n{}", gate_markdown("gate", gate));
    }
    text
}
