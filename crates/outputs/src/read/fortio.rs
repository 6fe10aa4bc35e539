//! Fortio: what `-json` writes. Its times are seconds, but for that of the run.

use serde_json::Value;

use crate::number::{Figure, go_time_ms};
use crate::read::json::{count_at, number_at};
use crate::row::{Row, Tool, is_good};

/// Most percentiles that are read; one asks for some.
const PERCENTILES_MAX: usize = 32;

/// The row, if it is Fortio's.
pub(super) fn read_json(value: &Value) -> Option<Row> {
    let times = value.get("DurationHistogram").filter(|it| it.is_object())?;
    let rate = number_at(value, &["ActualQPS"])?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let time = |name: &str| number_at(times, &[name]).and_then(|s| Figure::of_json(s * 1e3));
    let mut row = Row {
        tool: Tool::Fortio,
        connections: count_at(value, &["NumThreads"]).and_then(|it| u32::try_from(it).ok()),
        // `max`, or `exactly 1000 calls`, are none.
        asked_per_s: text("RequestedQPS").and_then(|it| it.parse::<f64>().ok()).filter(|it| *it > 0.0),
        duration_s: text("RequestedDuration").and_then(go_time_ms).map(|it| it.value / 1e3),
        path: text("URL").and_then(super::path_of),
        requests: count_at(times, &["Count"]),
        rate_per_s: Figure::of_json(rate),
        elapsed_s: number_at(value, &["ActualDuration"]).and_then(|ns| Figure::of_json(ns / 1e9)),
        mean_ms: time("Avg"),
        stdev_ms: time("StdDev"),
        min_ms: time("Min"),
        max_ms: time("Max"),
        ..Row::default()
    };
    let percentiles = times.get("Percentiles").and_then(Value::as_array).into_iter().flatten();
    row.percentiles_ms = percentiles.take(PERCENTILES_MAX).filter_map(percentile).collect();
    row.errors.bad_answers = bad_answers(value, &mut row);
    if row.requests.is_none() || row.mean_ms.is_none() {
        row.missing.push("`Count` or `Avg` of `DurationHistogram`");
    }
    Some(row)
}

fn percentile(value: &Value) -> Option<(f64, Figure)> {
    let time = number_at(value, &["Value"]).and_then(|s| Figure::of_json(s * 1e3))?;
    Some((number_at(value, &["Percentile"])?, time))
}

/// Calls that brought no good answer, where that can be told. Those without any have the code -1; those of gRPC are names.
fn bad_answers(value: &Value, row: &mut Row) -> Option<u64> {
    let codes = value.get("RetCodes")?.as_object()?;
    let mut bad = 0_u64;
    for (code, count) in codes {
        let (code, count) = (code.parse::<i32>().ok()?, count.as_u64()?);
        match u16::try_from(code).ok().filter(|it| (100..600).contains(it)) {
            Some(status) => {
                row.statuses.insert(status, count);
                bad = bad.saturating_add(if is_good(status) { 0 } else { count });
            }
            None => bad = bad.saturating_add(count),
        }
    }
    Some(bad)
}
