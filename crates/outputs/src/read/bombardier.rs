//! bombardier: its plain text, and the JSON of `-o json`, whose latency is in microseconds. Both are templates in its
//! `templates.go`, the same in 1.2 and 2.0.
//!
//! What it calls a standard deviation is none: `internal/test_info.go` adds up each time that occurs once, however often it
//! occurs, and divides by the number of all. It is not read.

use serde_json::Value;

use crate::number::{Figure, go_time_ms, number, time_ms};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::Call;
use crate::read::json::{count_at, number_at};
use crate::read::text::{self, Foreign};
use crate::row::{Row, TimeoutFrom, Tool};

/// After how long an answer is late, s, where the command says nothing.
const TIMEOUT_S: f64 = 2.0;
/// It cuts times off to whole microseconds, here in ms.
const STEP_MS: f64 = 1e-3;
/// With this the JSON begins, in a line of its own.
const JSON_BEGIN: &str = "{\"spec\":{";
/// Counts of JSON by the first digit of the status; the first is of those without one.
const CLASSES: [&str; 6] = ["others", "req1xx", "req2xx", "req3xx", "req4xx", "req5xx"];
/// Most errors and percentiles of JSON that are read; it prints five percentiles.
const ENTRIES_MAX: usize = 1000;

/// Reads all outputs of bombardier in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    text::read::<Reading>(outline)
}

fn is_statistics(text: &str) -> bool {
    text.split_whitespace().eq(["Statistics", "Avg", "Stdev", "Max"])
}

/// URL, bound and number of connections of `Bombarding http://h/ for 10s using 125 connection(s)`.
fn intro(text: &str) -> Option<(&str, &str, u32)> {
    let (head, connections) = text.strip_prefix("Bombarding ")?.rsplit_once(" using ")?;
    let connections = connections.split(' ').next()?.parse().ok()?;
    let (url, bound) = head.rsplit_once(" for ").or_else(|| head.rsplit_once(" with "))?;
    Some((url, bound, connections))
}

/// What the last heading is of.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    /// Percentiles of some answers only.
    OfSome,
    Errors,
}

/// What was read so far.
struct Reading {
    row: Row,
    has_statistics: bool,
    /// Whether the figures stand in JSON below the head.
    is_json: bool,
    part: Part,
    /// Requests by the first digit of their status: 1 to 5, and 0 for what ended without an answer.
    classes: Option<[u64; 6]>,
    foreign: Foreign,
}

impl text::Reading for Reading {
    const TOOL: &'static str = "bombardier";

    fn begins(text: &str, current: Option<&Self>) -> bool {
        intro(text).is_some() || (is_statistics(text) && current.is_none_or(|it| it.has_statistics))
    }

    fn open(line: usize, call: Option<Call>) -> Self {
        let timeout_from = if call.is_some() { TimeoutFrom::Command } else { TimeoutFrom::Tool };
        let call = call.unwrap_or_default();
        let row = Row {
            tool: Tool::Bombardier,
            line,
            connections: call.count(&["-c", "--connections"]),
            duration_s: call.seconds(&["-d", "--duration"]),
            timeout_s: call.seconds(&["-t", "--timeout"]).or(Some(TIMEOUT_S)),
            timeout_from,
            // Of all connections.
            asked_per_s: call.rate(&["-r", "--rate"]),
            path: call.path(),
            ..Row::default()
        };
        let (has_statistics, is_json) = (false, false);
        Self { row, has_statistics, is_json, part: Part::All, classes: None, foreign: Foreign::default() }
    }

    fn close(self) -> Option<Row> {
        let Self { mut row, classes, is_json, .. } = self;
        if is_json {
            return None;
        }
        if let Some(classes) = classes {
            count(&mut row, classes);
        }
        if row.requests != Some(0) {
            row.note_missing([
                ("the line `Reqs/sec`", row.rate_per_s.is_none()),
                ("the line `Latency`", row.mean_ms.is_none()),
                ("the lines below `HTTP codes:`", row.requests.is_none()),
            ]);
        }
        Some(row)
    }

    fn ends_with(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        let is_cut_off = self.foreign.cuts_off(text, is_taken);
        self.is_json = !self.has_statistics && text.starts_with(JSON_BEGIN);
        self.is_json || text.starts_with("Throughput:") || is_cut_off
    }

    fn take(&mut self, text: &str) -> bool {
        let row = &mut self.row;
        if let Some((url, bound, connections)) = intro(text) {
            row.connections = Some(connections);
            row.duration_s = go_time_ms(bound).map(|it| it.value / 1e3).filter(|it| *it > 0.0);
            // Older versions name the host alone.
            row.path = row.path.take().or_else(|| super::path_of(url));
            return true;
        }
        if is_statistics(text) {
            self.has_statistics = true;
            return true;
        }
        let words: Vec<&str> = text.split_whitespace().take(12).collect();
        match words[..] {
            ["Reqs/sec", mean, _, _] => {
                row.rate_per_s = number(mean, false);
                row.sampled_per_s = row.rate_per_s;
            }
            ["Latency", "Distribution", ..] => {
                self.part = if text.contains("2xx") { Part::OfSome } else { Part::All };
            }
            ["Latency", mean, _, max] => (row.mean_ms, row.max_ms) = (time_ms(mean), time_ms(max)),
            [percent, time] if percent.ends_with('%') => return self.percentile(percent, time),
            ["HTTP", "codes:"] | ["Throughput:", ..] => {}
            ["Errors:"] => self.part = Part::Errors,
            ["1xx" | "others", "-", ..] => self.codes(text),
            _ if self.part == Part::Errors => self.error(text),
            _ => return false,
        }
        true
    }
}

impl Reading {
    fn percentile(&mut self, percent: &str, time: &str) -> bool {
        let (Some(percent), Some(time)) = (number(percent.trim_end_matches('%'), false), time_ms(time))
        else {
            return false;
        };
        if self.part != Part::OfSome && percent.value <= 100.0 {
            self.row.percentiles_ms.push((percent.value, time));
        }
        true
    }

    /// `1xx - 0, 2xx - 1234, 3xx - 0, 4xx - 0, 5xx - 0`, and `others - 0` in a line of its own.
    fn codes(&mut self, text: &str) {
        let classes = self.classes.get_or_insert([0; 6]);
        for (name, count) in text.split(',').filter_map(|it| it.trim().split_once(" - ")) {
            let class = name.bytes().next().filter(u8::is_ascii_digit).map_or(0, |it| usize::from(it - b'0'));
            if let (Some(class), Ok(count)) = (classes.get_mut(class), count.parse()) {
                *class = count;
            }
        }
    }

    /// `timeout - 12`. Its latency has them, as it has all that failed.
    fn error(&mut self, text: &str) {
        let Some((name, count)) = text.rsplit_once(" - ") else { return };
        if let Ok(count) = count.trim().parse() {
            count_timeouts(&mut self.row, name, count);
        }
    }
}

/// Takes the requests by the first digit of their status.
fn count(row: &mut Row, classes: [u64; 6]) {
    let sum = |of: &[u64]| of.iter().fold(0, |sum: u64, it| sum.saturating_add(*it));
    row.requests = Some(sum(&classes));
    row.errors.bad_answers = Some(sum(&[classes[0], classes[1], classes[4], classes[5]]));
}

/// Takes so many errors, where their name says that they are timeouts.
fn count_timeouts(row: &mut Row, name: &str, count: u64) {
    if name.contains("timeout") || name.contains("deadline exceeded") {
        let timeouts = &mut row.errors.timeout;
        *timeouts = Some(timeouts.unwrap_or(0).saturating_add(count));
    }
}

/// The row, if it is bombardier's.
pub(super) fn read_json(value: &Value) -> Option<Row> {
    let (spec, result) = (value.get("spec")?, value.get("result")?);
    let connections = count_at(spec, &["numberOfConnections"])?;
    let time_of = |us: f64| Some(Figure { value: us / 1e3, step: STEP_MS }).filter(|it| it.value.is_finite());
    let time = |name: &str| number_at(result, &["latency", name]).and_then(time_of);
    let mut row = Row {
        tool: Tool::Bombardier,
        connections: u32::try_from(connections).ok(),
        duration_s: number_at(spec, &["testDurationSeconds"]).filter(|it| *it > 0.0),
        timeout_s: number_at(spec, &["timeoutSeconds"]).filter(|it| *it > 0.0),
        timeout_from: TimeoutFrom::Table,
        asked_per_s: number_at(spec, &["rate"]).filter(|it| *it > 0.0),
        path: spec.get("url").and_then(Value::as_str).and_then(super::path_of),
        elapsed_s: number_at(result, &["timeTakenSeconds"]).and_then(Figure::of_json),
        sampled_per_s: number_at(result, &["rps", "mean"]).and_then(Figure::of_json),
        mean_ms: time("mean"),
        max_ms: time("max"),
        received_bytes: number_at(result, &["bytesRead"]).and_then(Figure::of_json),
        ..Row::default()
    };
    let counts: Vec<u64> = CLASSES.into_iter().filter_map(|name| count_at(result, &[name])).collect();
    match <[u64; 6]>::try_from(counts) {
        Ok(classes) => count(&mut row, classes),
        Err(_) => row.missing.push("`req2xx` or another of the counts"),
    }
    let percentiles = result.get("latency").and_then(|it| it.get("percentiles")).and_then(Value::as_object);
    for (percent, time) in percentiles.into_iter().flatten().take(ENTRIES_MAX) {
        let percent = percent.trim().parse::<f64>().ok().filter(|it| (0.0..100.0).contains(it));
        row.percentiles_ms.extend(percent.zip(time.as_f64().and_then(time_of)));
    }
    let errors = result.get("errors").and_then(Value::as_array);
    for error in errors.into_iter().flatten().take(ENTRIES_MAX) {
        let name = error.get("description").and_then(Value::as_str).unwrap_or_default();
        count_timeouts(&mut row, name, count_at(error, &["count"]).unwrap_or(0));
    }
    row.rate_per_s = row.throughput_per_s();
    if row.requests != Some(0) && row.mean_ms.is_none() {
        row.missing.push("`latency`");
    }
    Some(row)
}
