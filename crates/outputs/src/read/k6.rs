//! k6: its summary, the file of `--summary-export`, and what `handleSummary` gets.
//!
//! The text is that of `internal/js/summary.js` from 1.0 on, where totals stand before those of groups and scenarios, and of
//! `summary-legacy.js`, which is that of 0.x. Times are cut off to two decimals in the unit that suits each. In JSON each metric of
//! `handleSummary` has its figures in `values`; with `--new-machine-readable-summary` (1.5 on) metrics are a list
//! (`internal/lib/summary/machine_readable.go`), and a counter has no rate.

use serde_json::Value;

use crate::number::{Figure, go_time_ms, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::call_at;
use crate::read::json::{count_at, number_at};
use crate::read::text::Foreign;
use crate::row::{OfK6, Row, Tool};

/// Most figures of a metric that are looked at; one asks for some.
const FIGURES_MAX: usize = 64;
/// Begins a heading.
const HEADING: char = '█';

/// `med`, `p(99.9)`.
fn percent(name: &str) -> Option<f64> {
    if name == "med" {
        return Some(50.0);
    }
    let percent = name.strip_prefix("p(")?.strip_suffix(')')?.parse::<f64>().ok()?;
    Some(percent).filter(|it| (0.0..100.0).contains(it))
}

/// The row, if it is k6's.
pub(super) fn read(value: &Value) -> Option<Row> {
    let list = value.get("results").and_then(|it| it.get("metrics")).and_then(Value::as_array);
    let metric = |name: &str| match list {
        Some(list) => {
            let is_it = |it: &&Value| it.get("name").and_then(Value::as_str) == Some(name);
            list.iter().find(is_it)?.get("values")
        }
        None => value.get("metrics")?.get(name).map(|it| it.get("values").unwrap_or(it)),
    };
    let requests = metric("http_reqs")?;
    let null = Value::Null;
    let duration = metric("http_req_duration").unwrap_or(&null);
    let time = |name: &str| number_at(duration, &[name]).and_then(Figure::of_json);
    let run_s = match list {
        Some(_) => number_at(value, &["config", "duration"]),
        None => number_at(value, &["state", "testRunDurationMs"]).map(|ms| ms / 1e3),
    };
    let mut row = Row {
        tool: Tool::K6,
        requests: count_at(requests, &["count"]),
        rate_per_s: number_at(requests, &["rate"]).and_then(Figure::of_json),
        elapsed_s: run_s.filter(|it| *it > 0.0).and_then(Figure::of_json),
        mean_ms: time("avg"),
        max_ms: time("max"),
        min_ms: time("min"),
        received_bytes: metric("data_received")
            .and_then(|it| number_at(it, &["count"]))
            .and_then(Figure::of_json),
        ..Row::default()
    };
    row.rate_per_s = row.rate_per_s.or_else(|| row.throughput_per_s());
    for (name, time) in duration.as_object().into_iter().flatten().take(FIGURES_MAX) {
        row.percentiles_ms.extend(percent(name).zip(time.as_f64().and_then(Figure::of_json)));
    }
    row.percentiles_ms.sort_by(|a, b| a.0.total_cmp(&b.0));
    let users = metric("vus_max").and_then(|it| count_at(it, &["max"]).or_else(|| count_at(it, &["value"])));
    row.connections = users.and_then(|it| u32::try_from(it).ok());
    // Both count the samples that are 1, and here a 1 is a failure.
    row.errors.bad_answers = metric("http_req_failed")
        .and_then(|it| count_at(it, &["passes"]).or_else(|| count_at(it, &["matches"])));
    let count = |name: &str| metric(name).and_then(|it| count_at(it, &["count"]));
    row.of_k6 =
        count("dropped_iterations").map(|dropped| OfK6 { dropped, made: count("iterations").unwrap_or(0) });
    if row.requests.is_none() || row.rate_per_s.is_none() {
        row.missing.push("the count or the rate of `http_reqs`");
    }
    if row.mean_ms.is_none() {
        row.missing.push("`http_req_duration`");
    }
    Some(row)
}

/// Reads all summaries of k6 in the text.
pub(super) fn read_text(outline: &Outline<'_>) -> Rows {
    let mut reader = Reader::default();
    for (at, line) in outline.lines.iter().enumerate() {
        if line.text.starts_with(HEADING) || call_at(&outline.lines, at, "k6").is_some() {
            reader.close();
            let title = line.text.trim_start_matches([HEADING, ' ']);
            reader.has_sections = title.starts_with("TOTAL RESULTS");
            // What follows is a part of the requests that were told of before.
            reader.is_part = title.starts_with("GROUP: ") || title.starts_with("SCENARIO: ");
        } else if let Some((name, values)) = metric(line.text).filter(|_| !reader.is_part) {
            reader.take(line.number, name, values);
        } else if reader.foreign.cuts_off(line.text, line.text.contains("...: ")) {
            reader.close();
        }
    }
    reader.close();
    reader.rows
}

/// The name of a metric and its figures: `http_reqs......................: 52939   756.255434/s`. A threshold puts a mark before
/// it. Those of `{ expected_response:true }` are of some requests only, and have no such name.
fn metric(text: &str) -> Option<(&str, &str)> {
    let (name, values) = text.trim_start_matches(['✓', '✗', ' ']).split_once(": ")?;
    let bare = name.trim_end_matches('.');
    let is_name = bare.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    (bare.len() < name.len() && is_name).then(|| (bare, values.trim()))
}

/// Where the reader is.
#[derive(Default)]
struct Reader {
    rows: Rows,
    current: Option<Row>,
    /// What may stand before the requests or behind them.
    dropped: Option<u64>,
    made: Option<u64>,
    received: Option<Figure>,
    /// Whether metrics stand in sections, as they do from 1.0 on, and not in the order of their names.
    has_sections: bool,
    /// Whether a heading of a group or a scenario was the last one.
    is_part: bool,
    foreign: Foreign,
}

impl Reader {
    fn take(&mut self, line: usize, name: &str, values: &str) {
        self.foreign.count(name, true);
        let words: Vec<&str> = values.split_whitespace().take(FIGURES_MAX).collect();
        let count = || words.first()?.parse::<u64>().ok();
        match name {
            "data_received" | "checks" => {
                // In the order of names the next summary begins with these.
                if !self.has_sections {
                    self.close();
                }
                self.received = words.first().zip(words.get(1)).and_then(|(size, unit)| bytes(size, unit));
            }
            "dropped_iterations" => self.dropped = count(),
            "iterations" => self.made = count(),
            "vus_max" => {
                let users = count().and_then(|it| u32::try_from(it).ok());
                if let Some(row) = &mut self.current {
                    row.connections = users;
                }
            }
            _ if name.starts_with("http_req") => {
                if self.current.as_ref().is_some_and(|row| has(row, name)) {
                    self.close();
                }
                let row = self.current.get_or_insert_with(|| Row { tool: Tool::K6, line, ..Row::default() });
                of_requests(row, name, &words);
            }
            _ => {}
        }
    }

    /// Ends the summary at hand.
    fn close(&mut self) {
        let (dropped, made) = (self.dropped.take(), self.made.take());
        let received = self.received.take();
        self.foreign = Foreign::default();
        let Some(mut row) = self.current.take() else { return };
        row.of_k6 = dropped.map(|dropped| OfK6 { dropped, made: made.unwrap_or(0) });
        row.received_bytes = received;
        row.note_missing([
            ("the line `http_reqs`", row.requests.is_none() || row.rate_per_s.is_none()),
            ("the line `http_req_duration`", row.mean_ms.is_none()),
        ]);
        self.rows.push(row);
    }
}

/// Whether a metric of the requests was told already, so that it is one of the next summary.
fn has(row: &Row, name: &str) -> bool {
    match name {
        "http_reqs" => row.requests.is_some(),
        "http_req_duration" => row.mean_ms.is_some(),
        _ => false,
    }
}

/// Takes a metric of the requests.
fn of_requests(row: &mut Row, name: &str, words: &[&str]) {
    match (name, words) {
        ("http_reqs", [count, rate, ..]) => {
            row.requests = count.parse().ok();
            row.rate_per_s = rate.strip_suffix("/s").and_then(|it| number(it, false));
        }
        // `0.07%  3 out of 4096`, and before 1.0 `0.07%  ✓ 3  ✗ 4093`, where the first mark counts failures.
        ("http_req_failed", [_, count, "out", "of", ..] | [_, "✓", count, ..]) => {
            row.errors.bad_answers = count.parse().ok();
        }
        ("http_req_duration", _) => {
            for (name, time) in words.iter().filter_map(|it| it.split_once('=')) {
                let time = go_time_ms(time);
                match name {
                    "avg" => row.mean_ms = time,
                    "min" => row.min_ms = time,
                    "max" => row.max_ms = time,
                    _ => row.percentiles_ms.extend(percent(name).zip(time)),
                }
            }
        }
        _ => {}
    }
}

/// `264 MB`: its units are powers of a thousand.
fn bytes(size: &str, unit: &str) -> Option<Figure> {
    let scale = match unit {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return None,
    };
    number(size, false).map(|it| it.times(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_dots_behind_its_name() {
        let rate = "52939   756.255434/s";
        assert_eq!(metric(&format!("http_reqs......................: {rate}")), Some(("http_reqs", rate)));
        assert_eq!(metric("✓ http_req_failed.....: 0.00%"), Some(("http_req_failed", "0.00%")));
        let others =
            ["http_reqs: requests", "{ expected_response:true }...: avg=1ms", "http_reqs..:", "a b..: 1", ""];
        for text in others {
            assert_eq!(metric(text), None, "{text}");
        }
        assert_eq!((percent("med"), percent("p(99.9)"), percent("p(100)")), (Some(50.0), Some(99.9), None));
    }
}
