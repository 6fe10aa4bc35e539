//! `oha --output-format json`. Its times are seconds.

use serde_json::Value;

use crate::number::Figure;
use crate::read::json::number_at;
use crate::row::{Row, Tool};

/// What oha counts as an error though the run's end did it. `requestsPerSec` has it, as it has all other errors; `successRate`
/// has not.
const ABORTED: &str = "aborted due to deadline";
/// Percentiles that it prints, in order.
const PERCENTILES: [(&str, f64); 9] = [
    ("p10", 10.0),
    ("p25", 25.0),
    ("p50", 50.0),
    ("p75", 75.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("p99.99", 99.99),
];

/// The row, if it is oha's.
pub(super) fn read(value: &Value) -> Option<Row> {
    let summary = value.get("summary")?;
    let rate = number_at(summary, &["requestsPerSec"])?;
    let time = |name: &str| number_at(summary, &[name]).and_then(|s| Figure::of_json(s * 1e3));
    let mut row = Row {
        tool: Tool::Oha,
        rate_per_s: Figure::of_json(rate),
        elapsed_s: number_at(summary, &["total"]).and_then(Figure::of_json),
        mean_ms: time("average"),
        max_ms: time("slowest"),
        min_ms: time("fastest"),
        ..Row::default()
    };
    for (name, percent) in PERCENTILES {
        let time = number_at(value, &["latencyPercentiles", name]).and_then(|s| Figure::of_json(s * 1e3));
        row.percentiles_ms.extend(time.map(|time| (percent, time)));
    }
    let entries = |name: &str| value.get(name).and_then(Value::as_object).into_iter().flatten();
    for (status, count) in entries("statusCodeDistribution") {
        if let (Ok(status), Some(count)) = (status.parse(), count.as_u64()) {
            row.statuses.insert(status, count);
        }
    }
    let sum = |sum: u64, count: u64| sum.saturating_add(count);
    let answered = row.statuses.values().copied().fold(0, sum);
    let good = row.statuses.iter().filter(|(it, _)| (200..400).contains(*it)).map(|(_, it)| *it).fold(0, sum);
    let errors = || entries("errorDistribution").filter_map(|(name, count)| Some((name, count.as_u64()?)));
    let failed = errors().filter(|(name, _)| *name != ABORTED).map(|(_, it)| it).fold(0, sum);
    let timed_out = errors().filter(|(name, _)| name.contains("timeout")).map(|(_, it)| it).fold(0, sum);
    let made = errors().map(|(_, it)| it).fold(answered, sum);
    if value.get("statusCodeDistribution").is_some() {
        row.requests = Some(made);
        row.errors.bad_answers = Some((answered - good.min(answered)).saturating_add(failed));
        row.errors.aborted = Some(made.saturating_sub(answered.saturating_add(failed)));
        row.errors.timeout = Some(timed_out);
        // What ended without an answer otherwise, connects that were refused among it.
        row.errors.read = Some(failed.saturating_sub(timed_out));
    } else {
        row.missing.push("`statusCodeDistribution`");
    }
    Some(row)
}
