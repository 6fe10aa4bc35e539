//! autocannon: its tables, and the JSON of `-j`.

use serde_json::Value;

use crate::number::{Figure, number, time_ms};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::{Call, call_at};
use crate::read::json::{count_at, number_at};
use crate::read::text::Foreign;
use crate::row::{Row, TimeoutFrom, Tool};

/// It cuts times off to whole milliseconds before it adds them up.
const STEP_MS: f64 = 1.0;
/// How long it runs, and after how long an answer is late, s, where the command says nothing.
const DURATION_S: f64 = 10.0;
const TIMEOUT_S: f64 = 10.0;
/// Most columns that are looked at.
const COLUMNS_MAX: usize = 12;
/// Percentiles by their names in JSON, in order.
const PERCENTILES: [(&str, f64); 8] = [
    ("p2_5", 2.5),
    ("p50", 50.0),
    ("p75", 75.0),
    ("p90", 90.0),
    ("p97_5", 97.5),
    ("p99", 99.0),
    ("p99_9", 99.9),
    ("p99_99", 99.99),
];

/// Reads all outputs with tables in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut call: Option<Call> = None;
    let mut current: Option<Reading> = None;
    let mut head: Option<(usize, &str)> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        let is_table = current.is_none() && is_head_of_latency(line.text);
        if let Some(found) = call_at(&outline.lines, at, "autocannon") {
            rows.extend(current.take().map(Reading::close));
            call = Some(found);
        } else if line.text.starts_with("Running ") && line.text.contains(" test @") {
            rows.extend(current.take().map(Reading::close));
            head = Some((line.number, line.text));
        } else if let Some((begin, text)) = head.take_if(|_| connections(line.text).is_some()) {
            let mut reading = Reading::open(begin, call.take());
            reading.running(text);
            reading.connections(line.text);
            current = Some(reading);
        } else if is_table {
            let mut reading = Reading::open(line.number, call.take());
            reading.take(line.text);
            current = Some(reading);
        } else if let Some(reading) = &mut current
            && reading.is_over(line.text)
        {
            rows.extend(current.take().map(Reading::close));
        }
        // Behind it stands the number of connections, or it is the head of an output of wrk.
        head = head.filter(|(begin, _)| *begin == line.number);
    }
    rows.extend(current.map(Reading::close));
    rows
}

/// Takes what a command says.
pub(super) fn with_call(row: &mut Row, call: &Call) {
    // So many requests, and not for so long.
    let is_counted = call.value(&["-a", "--amount"]).is_some();
    let duration_s = call.seconds(&["-d", "--duration"]).unwrap_or(DURATION_S);
    row.duration_s = row.duration_s.or(Some(duration_s).filter(|_| !is_counted));
    row.timeout_s = call.seconds(&["-t", "--timeout"]).or(row.timeout_s);
    row.timeout_from = TimeoutFrom::Command;
    row.connections = row.connections.or_else(|| call.count(&["-c", "--connections"]));
    let of_each = call.rate(&["-r", "--connectionRate"]).zip(row.connections);
    let of_all = call.rate(&["-R", "--overallRate"]);
    row.asked_per_s = of_all.or_else(|| of_each.map(|(rate, connections)| rate * f64::from(connections)));
    row.path = row.path.take().or_else(|| call.path());
}

/// Number of connections, and of requests at a time on each: `10 connections with 4 pipelining factor`.
fn connections(text: &str) -> Option<(u32, u32)> {
    let words: Vec<&str> = text.split_whitespace().take(7).collect();
    match words[..] {
        [connections, "connections"] => Some((connections.parse().ok()?, 1)),
        [connections, "connections", "with", factor, "pipelining", "factor"] => {
            Some((connections.parse().ok()?, factor.parse().ok()?))
        }
        _ => None,
    }
}

/// The cells of a line of a table.
fn cells(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix(['│', '|'])?;
    let cells = inner.trim_end_matches(['│', '|']).split(['│', '|']).map(str::trim);
    Some(cells.take(COLUMNS_MAX).collect())
}

/// Whether it is the head of the table of latencies. That of rates has the same columns but for the last one.
fn is_head_of_latency(text: &str) -> bool {
    cells(text)
        .is_some_and(|it| it.first() == Some(&"Stat") && it.contains(&"97.5%") && it.last() == Some(&"Max"))
}

/// What was read so far.
struct Reading {
    row: Row,
    /// The columns of the table.
    columns: Vec<String>,
    /// Requests and how exactly they are told: from a thousand on in thousands.
    about: Option<Figure>,
    foreign: Foreign,
}

impl Reading {
    fn open(line: usize, call: Option<Call>) -> Self {
        let mut row = Row { tool: Tool::Autocannon, line, timeout_s: Some(TIMEOUT_S), ..Row::default() };
        if let Some(call) = call {
            with_call(&mut row, &call);
        }
        Self { row, columns: Vec::new(), about: None, foreign: Foreign::default() }
    }

    /// `Running 10s test @ http://h/x`, or `Running 1000 requests test @ http://h/x`.
    fn running(&mut self, text: &str) {
        let Some((bound, url)) = text.trim_start_matches("Running ").split_once(" test @") else { return };
        self.row.duration_s = time_ms(bound).map(|it| it.value / 1e3);
        self.row.path = super::path_of(url.trim()).or(self.row.path.take());
    }

    fn connections(&mut self, text: &str) {
        if let Some((connections, streams)) = connections(text) {
            (self.row.connections, self.row.streams) = (Some(connections), Some(streams));
        }
    }

    fn close(self) -> Row {
        let Self { mut row, about, .. } = self;
        row.requests = row.requests.or(about.filter(|it| it.step == 0.0).map(|it| it.value as u64));
        // Of thousands the rate is told by so much less.
        let count = row.requests.map(|it| Figure::exact(it as f64)).or(about);
        row.rate_per_s = count.zip(row.elapsed_s).and_then(per_second);
        row.note_missing([
            ("the line `requests in`", row.elapsed_s.is_none()),
            ("the line `Latency`", row.mean_ms.is_none()),
            ("the line `Req/Sec`", row.sampled_per_s.is_none()),
        ]);
        row
    }

    /// Takes a line, and says whether the output is over.
    fn is_over(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        let is_cut_off = self.foreign.cuts_off(text, is_taken);
        // Behind the count stands what failed, and then nothing.
        is_cut_off || (text.is_empty() && self.about.is_some())
    }

    fn take(&mut self, text: &str) -> bool {
        if let Some(cells) = cells(text) {
            self.table(&cells);
            return true;
        }
        let words: Vec<&str> = text.split_whitespace().take(9).collect();
        let row = &mut self.row;
        match words[..] {
            [good, "2xx", "responses,", other, "non", "2xx", "responses"] => {
                let (good, other) = (good.parse::<u64>().ok(), other.parse::<u64>().ok());
                row.errors.bad_answers = other;
                row.requests = good.zip(other).map(|(good, other)| good.saturating_add(other));
            }
            [count, "requests", "in", elapsed, ..] => {
                self.about = in_thousands(count);
                row.elapsed_s = time_ms(elapsed.trim_end_matches(',')).map(|it| it.times(1e-3));
            }
            [errors, "errors", timeouts, "timeouts)"] => {
                let count = |text: &str| in_thousands(text).map(|it| it.value as u64);
                let timeouts = count(timeouts.trim_start_matches('('));
                row.errors.timeout = timeouts;
                row.errors.read = count(errors).map(|it| it.saturating_sub(timeouts.unwrap_or(0)));
            }
            // The lines of a table, and what its samples are.
            [first, ..] if first.starts_with(['┌', '├', '└', '+']) => {}
            ["Req/Bytes", ..] | ["#", "of", "samples:", ..] => {}
            _ => return false,
        }
        true
    }

    fn table(&mut self, cells: &[&str]) {
        let row = &mut self.row;
        let of = |name: &str| cells.get(self.columns.iter().position(|it| it == name)?).copied();
        match cells.first() {
            Some(&("Stat" | "Percentile")) => {
                self.columns = cells.iter().map(|it| (*it).to_owned()).collect();
                // The longer table has those of the shorter one.
                if cells.first() == Some(&"Percentile") {
                    row.percentiles_ms.clear();
                }
            }
            Some(&"Latency") => {
                let time = |name: &str| of(name).and_then(time_ms).map(cut_off);
                (row.mean_ms, row.stdev_ms, row.max_ms) = (time("Avg"), time("Stdev"), time("Max"));
                let percents = self.columns.iter().zip(cells).filter_map(|(name, time)| {
                    Some((number(name.strip_suffix('%')?, false)?.value, cut_off(time_ms(time)?)))
                });
                row.percentiles_ms = percents.collect();
            }
            Some(&"Req/Sec") => row.sampled_per_s = of("Avg").and_then(|it| number(it, false)),
            Some(percent) if self.columns.first().is_some_and(|it| it == "Percentile") => {
                let time = cells.get(1).and_then(|it| number(it, false)).map(cut_off);
                let percent = number(percent, false).filter(|it| it.value < 100.0);
                row.percentiles_ms.extend(percent.zip(time).map(|(percent, time)| (percent.value, time)));
            }
            _ => {}
        }
    }
}

/// `999`, or `114k`.
fn in_thousands(text: &str) -> Option<Figure> {
    match text.strip_suffix('k') {
        Some(thousands) => Some(number(thousands, false)?.times(1e3)),
        None => Some(Figure::exact(number(text, false)?.value)),
    }
}

/// A time of which no more than whole milliseconds are known, however many digits were printed.
fn cut_off(time: Figure) -> Figure {
    Figure { step: time.step.max(STEP_MS), ..time }
}

fn per_second((count, elapsed): (Figure, Figure)) -> Option<Figure> {
    let value = count.value / elapsed.value;
    let step = value * (count.slack() + elapsed.slack());
    (value.is_finite() && step.is_finite()).then_some(Figure { value, step })
}

/// The row, if it is autocannon's.
pub(super) fn read_json(value: &Value) -> Option<Row> {
    let latency = value.get("latency").filter(|it| it.is_object())?;
    let requests = value.get("requests").filter(|it| it.is_object())?;
    let count = |name: &str| count_at(value, &[name]);
    let small = |name: &str| count(name).and_then(|it| u32::try_from(it).ok());
    count("non2xx")?;
    let time = |name: &str| number_at(latency, &[name]).and_then(Figure::of_json).map(cut_off);
    let mut row = Row {
        tool: Tool::Autocannon,
        connections: small("connections"),
        streams: small("pipelining"),
        timeout_s: Some(TIMEOUT_S),
        path: value.get("url").and_then(Value::as_str).and_then(super::path_of),
        requests: count_at(requests, &["total"]),
        elapsed_s: number_at(value, &["duration"]).map(|value| Figure { value, step: 0.01 }),
        sampled_per_s: number_at(requests, &["average"]).and_then(Figure::of_json),
        mean_ms: time("average"),
        stdev_ms: time("stddev"),
        max_ms: time("max"),
        min_ms: time("min"),
        received_bytes: number_at(value, &["throughput", "total"]).and_then(Figure::of_json),
        ..Row::default()
    };
    for (name, percent) in PERCENTILES {
        row.percentiles_ms.extend(time(name).map(|time| (percent, time)));
    }
    let bad = [count("1xx"), count("4xx"), count("5xx")].into_iter().flatten();
    row.errors.bad_answers = Some(bad.fold(0, u64::saturating_add));
    row.errors.timeout = count("timeouts");
    row.errors.read = count("errors").map(|it| it.saturating_sub(count("timeouts").unwrap_or(0)));
    let made = row.requests.map(|it| Figure::exact(it as f64));
    row.rate_per_s = made.zip(row.elapsed_s).and_then(per_second);
    if row.rate_per_s.is_none() || row.mean_ms.is_none() {
        row.missing.push("the count, the time or the latency");
    }
    Some(row)
}
