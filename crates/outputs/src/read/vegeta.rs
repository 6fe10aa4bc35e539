//! vegeta: its text report, and `-type=json`, whose times are nanoseconds.

use serde_json::Value;

use crate::number::{Figure, go_time_ms, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::{Call, call_at};
use crate::read::json::{count_at, number_at};
use crate::read::text::Foreign;
use crate::row::{Row, Tool, is_good};

/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;
/// Most labels of a line that are looked at; there are seven.
const LABELS_MAX: usize = 16;
/// So many foreign lines within a report, which has seven of its own, and it was cut off.
const FOREIGN_LINES_MAX: usize = 4;
/// Percentiles by their names in JSON, in order.
const PERCENTILES: [(&str, f64); 4] = [("50th", 50.0), ("90th", 90.0), ("95th", 95.0), ("99th", 99.0)];

/// Reads all text reports of vegeta in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut call: Option<Call> = None;
    let mut current: Option<(Row, Foreign)> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        if let Some(found) = call_at(&outline.lines, at, "vegeta").filter(|it| it.begins_with("attack")) {
            rows.extend(current.take().map(close));
            call = Some(found);
        } else if is_head(line.text) {
            rows.extend(current.take().map(close));
            let mut row = Row { tool: Tool::Vegeta, line: line.number, ..Row::default() };
            if let Some(call) = call.take() {
                with_call(&mut row, &call);
            }
            take(&mut row, line.text);
            current = Some((row, Foreign::default()));
        } else if let Some((row, foreign)) = &mut current {
            let is_taken = take(row, line.text);
            let foreign_lines = foreign.count(line.text, is_taken);
            if line.text.starts_with("Error Set:") || foreign_lines > FOREIGN_LINES_MAX {
                rows.extend(current.take().map(close));
            }
        }
    }
    rows.extend(current.map(close));
    rows
}

/// Whether a report begins with a line: `Requests  [total, rate, throughput]  500, 50.10, 50.08`.
fn is_head(text: &str) -> bool {
    text.starts_with("Requests")
        && labelled(text).is_some_and(|(name, labels, _)| name == "Requests" && labels.starts_with("total"))
}

/// Takes what a command says. A rate of zero is as many as its workers can make, and no open model; then none is asked for.
pub(super) fn with_call(row: &mut Row, call: &Call) {
    row.asked_per_s = call.value(&["-rate", "--rate"]).and_then(per_second);
    row.duration_s = call.seconds(&["-duration", "--duration"]);
    row.path = row.path.take().or_else(|| call.path());
}

/// `50`, `50/s`, `3000/1m`: so many in a time, a second where none is named.
fn per_second(text: &str) -> Option<f64> {
    let (count, time) = text.split_once('/').unwrap_or((text, "s"));
    let time_s = go_time_ms(time).or_else(|| go_time_ms(&format!("1{time}")))?.value / 1e3;
    let per_s = count.parse::<f64>().ok()? / time_s;
    Some(per_s).filter(|it| *it > 0.0 && it.is_finite())
}

/// The name of a line, its labels and what stands behind them: `Duration  [total, attack, wait]  10s, 9.98s, 4.6ms`.
fn labelled(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once('[')?;
    let (labels, values) = rest.split_once(']')?;
    Some((name.trim(), labels, values.trim()))
}

fn take(row: &mut Row, text: &str) -> bool {
    let Some((name, labels, values)) = labelled(text) else { return false };
    let pairs = || labels.split(',').map(str::trim).zip(values.split(',').map(str::trim)).take(LABELS_MAX);
    let of = |label: &str| pairs().find(|it| it.0 == label).map(|it| it.1);
    match name {
        "Requests" => {
            row.requests = of("total").and_then(|it| it.parse().ok());
            row.rate_per_s = of("rate").and_then(|it| number(it, false));
        }
        // The rate is that of sending: what is waited for afterwards is in no time of it.
        "Duration" => row.elapsed_s = of("attack").and_then(go_time_ms).map(|it| it.times(1e-3)),
        "Latencies" => {
            (row.min_ms, row.mean_ms) = (of("min").and_then(go_time_ms), of("mean").and_then(go_time_ms));
            row.max_ms = of("max").and_then(go_time_ms);
            let percentiles = pairs().filter_map(|it| Some((number(it.0, false)?.value, go_time_ms(it.1)?)));
            row.percentiles_ms = percentiles.collect();
        }
        "Bytes In" => row.received_bytes = of("total").and_then(|it| number(it, false)),
        "Status Codes" => {
            for (code, count) in values.split_whitespace().filter_map(|it| it.split_once(':')) {
                if let (Ok(code), Ok(count)) = (code.parse(), count.parse()) {
                    row.statuses.insert(code, count);
                }
            }
        }
        "Bytes Out" | "Success" => {}
        _ => return false,
    }
    true
}

fn close((mut row, _): (Row, Foreign)) -> Row {
    finish(&mut row);
    row
}

/// What did not succeed, and what is missing. A request that brought no answer has the status 0.
fn finish(row: &mut Row) {
    let good = row.answers_with(is_good);
    let has_statuses = !row.statuses.is_empty();
    row.errors.bad_answers = row.requests.filter(|_| has_statuses).map(|it| it.saturating_sub(good));
    // Of one request there is no rate, and an attack of no length.
    row.elapsed_s = row.elapsed_s.filter(|it| it.value > 0.0);
    if row.requests != Some(0) {
        row.note_missing([
            ("the line `Requests`", row.requests.is_none()),
            ("the line `Latencies`", row.mean_ms.is_none()),
            ("the line `Status Codes`", !has_statuses),
        ]);
    }
}

/// The row, if it is a report of vegeta.
pub(super) fn read_json(value: &Value) -> Option<Row> {
    let latencies = value.get("latencies").filter(|it| it.is_object())?;
    let statuses = value.get("status_codes")?.as_object()?;
    let time = |name: &str| number_at(latencies, &[name]).and_then(|ns| Figure::of_json(ns / MS));
    let mut row = Row {
        tool: Tool::Vegeta,
        requests: Some(count_at(value, &["requests"])?),
        rate_per_s: number_at(value, &["rate"]).and_then(Figure::of_json),
        elapsed_s: number_at(value, &["duration"]).and_then(|ns| Figure::of_json(ns / 1e9)),
        mean_ms: time("mean"),
        max_ms: time("max"),
        min_ms: time("min"),
        received_bytes: number_at(value, &["bytes_in", "total"]).and_then(Figure::of_json),
        ..Row::default()
    };
    for (name, percent) in PERCENTILES {
        row.percentiles_ms.extend(time(name).map(|time| (percent, time)));
    }
    for (code, count) in statuses {
        if let (Ok(code), Some(count)) = (code.parse(), count.as_u64()) {
            row.statuses.insert(code, count);
        }
    }
    finish(&mut row);
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_so_many_in_a_time() {
        for (text, per_s) in [
            ("50", Some(50.0)),
            ("50/s", Some(50.0)),
            ("50/1s", Some(50.0)),
            ("3000/1m", Some(50.0)),
            ("3000/m", Some(50.0)),
            ("0", None),
            ("infinity", None),
            ("1/0s", None),
            ("x/s", None),
        ] {
            assert_eq!(per_second(text), per_s, "{text}");
        }
    }
}
