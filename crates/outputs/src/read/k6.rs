//! k6: the file of `--summary-export`, and what `handleSummary` gets, which has each metric's figures in `values`.

use serde_json::Value;

use crate::number::Figure;
use crate::read::json::{count_at, number_at};
use crate::row::{Row, Tool};

/// Percentiles by k6's names, in order.
const PERCENTILES: [(&str, f64); 7] = [
    ("med", 50.0),
    ("p(75)", 75.0),
    ("p(90)", 90.0),
    ("p(95)", 95.0),
    ("p(99)", 99.0),
    ("p(99.9)", 99.9),
    ("p(99.99)", 99.99),
];

/// The row, if it is k6's.
pub(super) fn read(value: &Value) -> Option<Row> {
    let metrics = value.get("metrics")?;
    let metric = |name: &str| metrics.get(name).map(|it| it.get("values").unwrap_or(it));
    let requests = metric("http_reqs")?;
    let null = Value::Null;
    let duration = metric("http_req_duration").unwrap_or(&null);
    let time = |name: &str| number_at(duration, &[name]).and_then(Figure::of_json);
    let mut row = Row {
        tool: Tool::K6,
        requests: count_at(requests, &["count"]),
        rate_per_s: number_at(requests, &["rate"]).and_then(Figure::of_json),
        elapsed_s: number_at(value, &["state", "testRunDurationMs"]).and_then(|ms| Figure::of_json(ms / 1e3)),
        mean_ms: time("avg"),
        max_ms: time("max"),
        min_ms: time("min"),
        received_bytes: metric("data_received")
            .and_then(|it| number_at(it, &["count"]))
            .and_then(Figure::of_json),
        ..Row::default()
    };
    for (name, percent) in PERCENTILES {
        row.percentiles_ms.extend(time(name).map(|time| (percent, time)));
    }
    let users = metric("vus_max").and_then(|it| count_at(it, &["max"]).or_else(|| count_at(it, &["value"])));
    row.connections = users.and_then(|it| u32::try_from(it).ok());
    // `passes` counts the samples that are 1, and here a 1 is a failure.
    row.errors.bad_answers = metric("http_req_failed").and_then(|it| count_at(it, &["passes"]));
    if row.requests.is_none() || row.rate_per_s.is_none() {
        row.missing.push("the count or the rate of `http_reqs`");
    }
    if row.mean_ms.is_none() {
        row.missing.push("`http_req_duration`");
    }
    Some(row)
}
