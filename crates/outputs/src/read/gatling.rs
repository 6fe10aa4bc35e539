//! Gatling: the summary that ends its output, and `global_stats.json` or `stats.json` of its report.
//!
//! The text is that of `ConsoleTemplate.scala`: `> name  total (OK=… KO=…)`, and in later versions of 3.x columns between bars with
//! groups of three digits (`ConsoleStatsFormat.scala`). The JSON is that of `GlobalStatsJsonTemplate.scala`, numbers or the same as
//! strings; `stats.json` has it as `stats`, and those of each request below. Times are whole milliseconds.
//!
//! The rate is the count over whole seconds, rounded up (`ResultsHolder.scala`), and percentiles are estimates of a digest of each
//! column (`GeneralStatsBuffers.scala`).

use serde_json::Value;

use crate::number::{Figure, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::text::Foreign;
use crate::row::{Row, Tool};

/// Percentiles by their names in JSON, if `gatling.conf` names no others.
const PERCENTILES: [(&str, f64); 4] =
    [("percentiles1", 50.0), ("percentiles2", 75.0), ("percentiles3", 95.0), ("percentiles4", 99.0)];

/// Reads all summaries of Gatling in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut current: Option<(Row, Foreign)> = None;
    for line in &outline.lines {
        if line.text.starts_with("---- Global Information ") {
            rows.extend(current.take().map(close));
            let row = Row { tool: Tool::Gatling, line: line.number, ..Row::default() };
            current = Some((row, Foreign::default()));
        } else if let Some((row, foreign)) = &mut current {
            let is_taken = take(row, line.text);
            let is_cut_off = foreign.cuts_off(line.text, is_taken);
            // Below stand the distribution and the errors, in lines of the same form.
            if line.text.starts_with("----") || is_cut_off {
                rows.extend(current.take().map(close));
            }
        }
    }
    rows.extend(current.map(close));
    rows
}

/// Name, total, and what is OK and KO, of a line in either form.
fn parts(text: &str) -> Option<[&str; 4]> {
    let text = text.strip_prefix('>')?.trim();
    if text.contains('|') {
        let cells: Vec<&str> = text.split('|').map(str::trim).take(5).collect();
        return cells.try_into().ok();
    }
    let (head, inside) = text.rsplit_once("(OK=")?;
    let (ok, ko) = inside.split_once("KO=")?;
    let (name, total) = head.trim().rsplit_once(' ')?;
    Some([name.trim(), total, ok.trim(), ko.trim_end_matches(')').trim()])
}

fn take(row: &mut Row, text: &str) -> bool {
    let Some([name, total, ok, ko]) = parts(text) else { return false };
    // Where there is none a dash stands.
    let figure = |text: &str| number(text, false).filter(|it| it.value >= 0.0);
    let name = name.trim_end_matches("(ms)").trim_end_matches("(rps)").trim();
    match name {
        "request count" => {
            row.requests = figure(total).map(|it| it.value as u64);
            row.errors.bad_answers = row.requests.map(|_| figure(ko).map_or(0, |it| it.value as u64));
        }
        "min response time" => row.min_ms = figure(total),
        "max response time" => row.max_ms = figure(total),
        "mean response time" => row.mean_ms = figure(total),
        "std deviation" | "response time std deviation" => row.stdev_ms = figure(total),
        "mean requests/sec" | "mean throughput" => row.rate_per_s = figure(total),
        _ => {
            let Some(percent) = percent(name) else { return false };
            row.percentiles_ms.extend(figure(total).map(|time| (percent, time)));
            row.good_percentiles_ms.extend(figure(ok).map(|time| (percent, time)));
        }
    }
    true
}

/// `response time 99th percentile`.
fn percent(name: &str) -> Option<f64> {
    let rank = name.strip_prefix("response time ")?.strip_suffix(" percentile")?;
    let percent = number(rank.trim_end_matches(|it: char| it.is_ascii_alphabetic()), false)?.value;
    Some(percent).filter(|it| (0.0..100.0).contains(it))
}

fn close((mut row, _): (Row, Foreign)) -> Row {
    finish(&mut row);
    row
}

/// How long it ran: so many whole seconds, of which the last one may have hardly begun. `None` where the rate is that of none.
fn finish(row: &mut Row) {
    let count = row.requests.filter(|it| *it > 0).map(|it| it as f64);
    let seconds = count.zip(row.rate_per_s.filter(|it| it.value > 0.0));
    let seconds = seconds.map(|(count, rate)| (count / rate.value, count / rate.value * rate.slack()));
    row.elapsed_s = seconds.and_then(|(seconds, off)| {
        let is_whole = (seconds - seconds.round()).abs() <= off + seconds * 1e-6;
        (is_whole && seconds.round() >= 1.0).then(|| Figure { value: seconds.round(), step: 1.0 + off })
    });
    if row.requests != Some(0) {
        row.note_missing([
            ("the line `request count`", row.requests.is_none()),
            ("the line `mean response time`", row.mean_ms.is_none()),
            ("the rate", row.rate_per_s.is_none()),
        ]);
    }
}

/// The row of all requests, if it is Gatling's.
pub(super) fn read_json(value: &Value) -> Option<Row> {
    let stats = value.get("stats").unwrap_or(value);
    let figure = |name: &str, column: &str| {
        let value = stats.get(name)?.get(column)?;
        let read = value.as_f64().and_then(Figure::of_json);
        read.or_else(|| number(value.as_str()?, false)).filter(|it| it.value >= 0.0)
    };
    let time = |name: &str, column: &str| figure(name, column).map(|it| Figure { step: 1.0, ..it });
    let count = |column: &str| figure("numberOfRequests", column).map(|it| it.value as u64);
    let requests = count("total")?;
    let mut row = Row {
        tool: Tool::Gatling,
        requests: Some(requests),
        rate_per_s: Some(figure("meanNumberOfRequestsPerSecond", "total")?),
        mean_ms: time("meanResponseTime", "total"),
        stdev_ms: time("standardDeviation", "total"),
        min_ms: time("minResponseTime", "total"),
        max_ms: time("maxResponseTime", "total"),
        ..Row::default()
    };
    row.errors.bad_answers = Some(count("ko").unwrap_or(0));
    for (name, percent) in PERCENTILES {
        row.percentiles_ms.extend(time(name, "total").map(|time| (percent, time)));
        row.good_percentiles_ms.extend(time(name, "ok").map(|time| (percent, time)));
    }
    finish(&mut row);
    Some(row)
}
