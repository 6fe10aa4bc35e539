//! One load, for a person and as JSON.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::Validity;
use record::{GateResult, LoadResult, WrongAnswer};
use serde::Serialize;
use stats::{PERCENTILES, samples_needed};

use crate::agents::agents_text;
use crate::figure::{NONE, figure, micros, per_s, percent, plain_line, time_us};
use crate::gate::gate_text;
use crate::pods::server_pods_text;
use crate::tls::tls_text;

/// What `proofload hit --json` prints: the result, and what its audit says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HitReport {
    /// The result.
    #[serde(flatten)]
    pub result: LoadResult,
    /// Its audit.
    pub validity: Validity,
    /// What came of the gate that it was held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateResult>,
}

impl HitReport {
    /// Audits a result.
    pub fn new(result: LoadResult) -> Self {
        let validity = explain::audit(&result);
        Self { result, validity, gate: None }
    }

    /// The same with what came of a gate.
    #[must_use]
    pub fn with_gate(self, gate: Option<GateResult>) -> Self {
        Self { gate, ..self }
    }

    /// As indented JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data")
    }
}

/// The code of a GOAWAY that tells of no error.
const NO_ERROR: &str = "no_error";
/// Characters of a wrong answer's body in a text.
const WRONG_BODY_CHARS_MAX: usize = 120;
const COLUMNS: [&str; 8] = ["mean", "p50", "p90", "p99", "p99_9", "p99_99", "max", "count"];

/// What a closed model cannot show (coordinated omission), said wherever its times are printed; each command adds what
/// of its own shows it.
pub(crate) const CLOSED_MODEL_NOTE: &str = "\
A closed model's users wait for each answer: while the server stands still nobody asks, and these times
leave out whoever would have.";
/// What `hit` has for it.
const OPEN_MODEL_OF_HIT: &str = "For what a steady stream of requests meets, give a --rate.";

/// The result as text.
pub fn hit_text(report: &HitReport) -> String {
    let result = &report.result;
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "{}   {} model, {}, {} s measured, {}",
        plain_line(&result.url),
        plain_line(&result.load.model),
        plain_line(&result.load.label),
        seconds(result.window.duration_s),
        io(result)
    );
    let struck = if report.validity.valid { "" } else { "   (see the verdict)" };
    let _ = writeln!(
        text,
        "\ngoodput     {}{struck}\nthroughput  {}   {}/s received",
        per_s(result.goodput_per_s),
        per_s(result.throughput_per_s),
        units::Bytes(result.received_bytes_per_s as u64)
    );
    let _ = writeln!(text, "\n{}", times(result));
    if let Some(note) = too_few_samples(result) {
        let _ = writeln!(text, "{note}");
    }
    if result.load.model == "closed" {
        let _ = writeln!(text, "{CLOSED_MODEL_NOTE} {OPEN_MODEL_OF_HIT}");
    }
    if !result.steps.is_empty() {
        let _ = writeln!(text, "\n{}", steps(result));
    }
    let _ = writeln!(text, "\noutcomes    {}", outcomes(result));
    for note in [redirects(result), no_http_2(result)].into_iter().flatten() {
        let _ = writeln!(text, "            {note}");
    }
    let notes = [("resent", resent(result)), ("goaway", go_aways(result)), ("streams", stream_waits(result))];
    for (name, note) in notes {
        if let Some(note) = note {
            let _ = writeln!(text, "{name:<12}{note}");
        }
    }
    if let Some(answer) = &result.first_wrong_answer {
        let _ = writeln!(text, "wrong       the first wrong answer: {}", wrong_answer(answer));
    }
    if let Some(via) = &result.via {
        let _ = writeln!(text, "by way of   {}", plain_line(via));
    }
    if let Some(tls) = &result.tls {
        text.push_str(&tls_text(tls));
    }
    let _ = writeln!(
        text,
        "generator   {} of CPU a request, busiest thread {} of a core",
        micros(result.cpu_us_per_request),
        percent(result.generator.busy_share)
    );
    text += &(agents_text(result) + &server_pods_text(result));
    if let Some(why) = &result.load.threads_why {
        let _ = writeln!(text, "threads     {}; {}", result.load.threads, plain_line(why));
    }
    let _ = write!(text, "verdict     {}", report.validity.verdict);
    for reason in &report.validity.reasons {
        let _ = write!(text, "\n            {}: {}", reason.kind.name(), reason.text);
    }
    if let Some(gate) = &report.gate {
        let _ = write!(text, "\n\n{}", gate_text(gate));
    }
    text
}

fn io(result: &LoadResult) -> String {
    let refused = result.load.backend_refused.as_deref();
    let why =
        refused.map_or_else(String::new, |why| format!(", since io_uring is refused: {}", plain_line(why)));
    format!("{}{why}", plain_line(&result.load.io))
}

fn seconds(seconds: f64) -> String {
    if seconds.is_finite() { format!("{seconds:.2}") } else { crate::figure::NONE.into() }
}

fn times(result: &LoadResult) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut header = vec![String::new()];
    header.extend(COLUMNS.map(|name| name.replace('_', ".")));
    table.set_header(header);
    // Records of older versions have no receive lag, and kernels that do not stamp give none.
    let receive_lag = Some(&result.receive_lag_us).filter(|it| it.count > 0);
    let rows = [
        ("response", Some(&result.response_time_us)),
        ("service", Some(&result.service_time_us)),
        ("first byte", result.first_byte_apart()),
        ("lag", Some(&result.lag_us)),
        ("receive lag", receive_lag),
    ];
    for (name, times) in rows.into_iter().filter_map(|(name, times)| Some((name, times?))) {
        let mut row = vec![name.to_owned()];
        row.extend(COLUMNS.map(|column| match column {
            "count" => times.count.to_string(),
            column => figure(times, column),
        }));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// What went out again.
fn resent(result: &LoadResult) -> Option<String> {
    let how = "on the next connection: the server had ended the last without a look at them";
    let count = result.connections.resent;
    (count > 0).then(|| format!("{count} {how}"))
}

/// Why the server ended connections of HTTP/2, where it was not that it had carried enough.
fn go_aways(result: &LoadResult) -> Option<String> {
    let errors = result.go_aways.iter().filter(|(code, _)| *code != NO_ERROR);
    let parts: Vec<String> = errors.map(|(code, count)| format!("{}: {count}", plain_line(code))).collect();
    let all = parts.join(", ");
    (!parts.is_empty()).then(|| format!("connections that the server ended with an error ({all})"))
}

/// What servers that allow few streams, or small windows, made requests of HTTP/2 wait for.
fn stream_waits(result: &LoadResult) -> Option<String> {
    let waits = &result.connections;
    let mut parts = Vec::new();
    if waits.stream_waits > 0 {
        let mean_us = waits.stream_wait_us as f64 / waits.stream_waits as f64;
        parts.push(format!(
            "{} requests waited until their connection had room for one more, {} on average and {} at most",
            waits.stream_waits,
            time_us(mean_us),
            time_us(waits.stream_wait_max_us as f64)
        ));
    }
    if waits.window_waits > 0 {
        let mean_us = waits.window_wait_us as f64 / waits.window_waits as f64;
        let how_long = if waits.window_wait_us > 0 {
            format!(", {} on average", time_us(mean_us))
        } else {
            String::new()
        };
        parts.push(format!("the bodies of {} waited for the server's windows{how_long}", waits.window_waits));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Of the percentiles shown, those that so few samples don't know, and how many it would take. `None` where all are known.
fn too_few_samples(result: &LoadResult) -> Option<String> {
    // The generator's own lag while receiving is looked at on some connections only, and nobody's answer to anything.
    let mut shown = vec![&result.response_time_us, &result.service_time_us];
    shown.extend(result.steps.iter().map(|step| &step.response_time_us));
    let unknown = PERCENTILES
        .into_iter()
        .filter(|it| COLUMNS.contains(&it.name) && shown.iter().any(|times| times.is_too_few_for(it.name)));
    let needed: Vec<String> = unknown
        .map(|it| format!("{} takes {}", it.name.replace('_', "."), samples_needed(it.quantile)))
        .collect();
    (!needed.is_empty()).then(|| {
        format!(
            "Too few samples for some percentiles: {}.\n\
             Of fewer, > is what a percentile exceeds in 95 of 100 cases, and {NONE} stands where not even that is known.",
            needed.join(", ")
        )
    })
}

/// What became of answers that lead elsewhere.
fn redirects(result: &LoadResult) -> Option<String> {
    let all: Vec<(&String, &u64)> =
        result.statuses.iter().filter(|(code, _)| explain::leads_elsewhere(code)).collect();
    let count = all.iter().map(|it| *it.1).fold(0, u64::saturating_add);
    let unexpected = result.outcomes.answered.saturating_sub(result.answered_as_expected);
    // A scenario follows redirects itself, or was told to take them as answers.
    if count == 0 || unexpected < count || !result.steps.is_empty() {
        return None;
    }
    let code = all.first()?.0;
    Some(format!(
        "{count} lead elsewhere ({code}), where nobody went: redirects are not followed and are no goodput. Load the place \
         they\n            lead to, follow them with --follow, or say --expect-status {code} if that is the answer you want"
    ))
}

/// What it means that nobody there spoke HTTP/2: without TLS nothing is agreed on beforehand, so that it shows only in the load.
fn no_http_2(result: &LoadResult) -> Option<String> {
    let count = result.connect_failures.get("other_protocol")?;
    Some(format!(
        "{count} found a server that speaks no HTTP/2: leave --http2-prior-knowledge out, or check the port"
    ))
}

/// Its status and the beginning of its body, on one line and harmless to a terminal.
fn wrong_answer(answer: &WrongAnswer) -> String {
    let body = match answer.body_start.as_deref().map(plain_line) {
        None => "its body was not kept".to_owned(),
        Some(body) if body.is_empty() => "no body".to_owned(),
        Some(body) => {
            let mut chars = body.chars();
            let shown: String = chars.by_ref().take(WRONG_BODY_CHARS_MAX).collect();
            let more = if chars.next().is_some() { "…" } else { "" };
            format!("body \u{201c}{shown}{more}\u{201d}")
        }
    };
    format!("status {}, {body}", answer.status)
}

/// Response times of a scenario's steps, in their order.
fn steps(result: &LoadResult) -> String {
    let columns = ["count", "mean", "p50", "p90", "p99", "max"];
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut header = vec!["step".to_owned()];
    header.extend(columns.map(str::to_owned));
    header.push("failed".to_owned());
    // A column of zeros would tell nothing.
    let has_cut_off = result.steps.iter().any(|step| step.cut_off > 0);
    header.extend(has_cut_off.then(|| "cut off".to_owned()));
    header.push("the first because".to_owned());
    table.set_header(header);
    for step in &result.steps {
        let times = &step.response_time_us;
        let what = if step.transaction { " (all of it)" } else { "" };
        let mut row = vec![format!("{}{what}", plain_line(&step.label))];
        row.extend(columns.map(|column| match column {
            "count" => times.count.to_string(),
            column => figure(times, column),
        }));
        row.push(step.failed.to_string());
        row.extend(has_cut_off.then(|| step.cut_off.to_string()));
        row.push(step.first_failure.as_deref().map_or_else(String::new, plain_line));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1).take(columns.len() + 1 + usize::from(has_cut_off)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

fn outcomes(result: &LoadResult) -> String {
    let kinds = |counts: &std::collections::BTreeMap<String, u64>| {
        let list: Vec<String> =
            counts.iter().map(|(kind, count)| format!("{}: {count}", plain_line(kind))).collect();
        if list.is_empty() { String::new() } else { format!(" ({})", list.join(", ")) }
    };
    let mut parts = vec![format!("{} answered{}", result.outcomes.answered, kinds(&result.statuses))];
    for (name, count) in result.outcomes.failures() {
        if count > 0 {
            let detail = match name {
                "connect_failed" => kinds(&result.connect_failures),
                "tls_failed" => kinds(&result.tls_failures),
                "malformed" => kinds(&result.malformations),
                _ => String::new(),
            };
            parts.push(format!("{count} {}{detail}", name.replace('_', " ")));
        }
    }
    let unexpected = result.outcomes.answered.saturating_sub(result.answered_as_expected);
    if unexpected > 0 {
        parts.push(format!("{unexpected} of the answers not as expected"));
    }
    parts.join(", ")
}
