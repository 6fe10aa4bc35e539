//! siege: the block that closes its output, and the JSON of `-j`. Both are printed by its `src/main.c`: seconds with two decimals,
//! and in the text of 4.1.6 and later milliseconds.
//!
//! `Transactions` counts answers but for 408 and 5xx, `Failed transactions` those and what brought no answer, and `Response time`
//! is the time of all answers, of 408 and 5xx too, over the number of the former (`src/browser.c`, `src/data.c`). `Concurrency` is
//! that time over the time of the run.

use serde_json::Value;

use crate::number::{Figure, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::{Call, call_at};
use crate::read::json::{count_at, number_at};
use crate::read::text::Foreign;
use crate::row::{Row, Tool};

/// It takes times by a clock of a hundred ticks a second (`times`), ms.
const TICK_MS: f64 = 10.0;
/// JSON has two decimals.
const JSON_STEP: f64 = 0.01;
/// Its megabytes.
const MIB: f64 = 1024.0 * 1024.0;

/// Reads all closing blocks of siege in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut call: Option<Call> = None;
    let mut users: Option<u32> = None;
    let mut current: Option<Reading> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        if let Some(found) = call_at(&outline.lines, at, "siege") {
            rows.extend(current.take().map(Reading::close));
            (call, users) = (Some(found), None);
        } else if let Some(found) = prepared(line.text) {
            rows.extend(current.take().map(Reading::close));
            users = Some(found);
        } else if is_head(line.text) {
            rows.extend(current.take().map(Reading::close));
            let mut row =
                Row { tool: Tool::Siege, line: line.number, connections: users.take(), ..Row::default() };
            if let Some(call) = call.take() {
                with_call(&mut row, &call);
            }
            let mut reading = Reading { row, good: None, foreign: Foreign::default() };
            reading.take(line.text);
            current = Some(reading);
        } else if let Some(reading) = &mut current
            && reading.is_over(line.text)
        {
            rows.extend(current.take().map(Reading::close));
        }
    }
    rows.extend(current.map(Reading::close));
    rows
}

/// Users of `** Preparing 25 concurrent users for battle.`
fn prepared(text: &str) -> Option<u32> {
    text.strip_prefix("** Preparing ")?.split_once(" concurrent users")?.0.parse().ok()
}

/// Whether the block begins with a line: `Transactions: 12345 hits`.
fn is_head(text: &str) -> bool {
    text.starts_with("Transactions:") && text.ends_with(" hits")
}

/// Takes what a command says. Users wait between requests unless it has `-b`, or their settings say otherwise.
pub(super) fn with_call(row: &mut Row, call: &Call) {
    row.connections = row.connections.or_else(|| call.count(&["-c", "--concurrent"]));
    row.duration_s = call.value(&["-t", "--time"]).and_then(seconds);
    row.path = row.path.take().or_else(|| call.path());
}

/// `60S`, `5M`, `1H`.
fn seconds(text: &str) -> Option<f64> {
    let unit = text.chars().next_back()?;
    let scale = match unit {
        'S' | 's' => 1.0,
        'M' | 'm' => 60.0,
        'H' | 'h' => 3600.0,
        _ => return None,
    };
    number(text.strip_suffix(unit)?, false).map(|it| it.value * scale).filter(|it| *it > 0.0)
}

/// What was read so far.
struct Reading {
    row: Row,
    /// `Successful transactions`: answers that are none of 4xx and 5xx, but for 401 and 407.
    good: Option<u64>,
    foreign: Foreign,
}

impl Reading {
    fn close(self) -> Row {
        let Self { mut row, good, .. } = self;
        finish(&mut row, good);
        row.note_missing([
            ("the line `Transactions`", row.requests.is_none()),
            ("the line `Response time`", row.mean_ms.is_none()),
            ("the line `Failed transactions`", row.errors.read.is_none()),
            ("the line `Shortest transaction`", row.min_ms.is_none()),
        ]);
        row
    }

    /// Takes a line, and says whether the block is over.
    fn is_over(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        let is_cut_off = self.foreign.cuts_off(text, is_taken);
        text.starts_with("Shortest transaction:") || is_cut_off
    }

    fn take(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.split_once(':') else { return false };
        let mut words = value.split_whitespace();
        let first = words.next().unwrap_or_default();
        let ms = if words.next() == Some("ms") { 1.0 } else { 1e3 };
        let figure = || number(first, false).filter(|it| it.value >= 0.0);
        let row = &mut self.row;
        match name.trim() {
            "Transactions" => row.requests = first.parse().ok(),
            "Elapsed time" => row.elapsed_s = figure(),
            "Data transferred" => row.received_bytes = figure().map(|it| it.times(MIB)),
            "Response time" => row.mean_ms = figure().map(|it| it.times(ms)),
            "Transaction rate" => row.rate_per_s = figure(),
            "Concurrency" => row.busy = figure(),
            "Successful transactions" => self.good = first.parse().ok(),
            "Failed transactions" => row.errors.read = first.parse().ok(),
            "Longest transaction" => row.max_ms = figure().map(|it| it.times(ms)),
            "Shortest transaction" => row.min_ms = figure().map(|it| it.times(ms)),
            "Availability" | "Throughput" | "HTTP OK received" => {}
            _ => return false,
        }
        true
    }
}

/// What failed, and how exactly the times are told.
fn finish(row: &mut Row, good: Option<u64>) {
    // Of the answers that count, 4xx is no good one.
    row.errors.bad_answers = row.requests.zip(good).map(|(made, good)| made.saturating_sub(good));
    for time in [&mut row.min_ms, &mut row.max_ms].into_iter().flatten() {
        time.step = time.step.max(TICK_MS);
    }
    let Some(requests) = row.requests.filter(|it| *it > 0).map(|it| it as f64) else { return };
    let Some(told) = row.mean_ms else { return };
    let finer = row.busy.zip(row.elapsed_s).map(|(busy, elapsed)| Figure {
        value: busy.value * elapsed.value / requests * 1e3,
        step: (busy.step * elapsed.value + busy.value * elapsed.step) / requests * 1e3,
    });
    let finer = finer.filter(|it| it.step < told.step && it.agrees(told));
    // Each time is off by less than a tick, by chance: two standard errors of their mean are no more than this.
    let by_chance = TICK_MS / requests.sqrt();
    let mean = finer.unwrap_or(told);
    row.mean_ms = Some(Figure { step: mean.step.max(by_chance), ..mean });
}

/// The row, if it is siege's.
pub(super) fn read_json(value: &Value) -> Option<Row> {
    let figure = |name: &str| {
        let value = number_at(value, &[name]).filter(|it| *it >= 0.0)?;
        Some(Figure { value, step: JSON_STEP })
    };
    let time = |name: &str| figure(name).map(|it| it.times(1e3));
    let mut row = Row {
        tool: Tool::Siege,
        requests: Some(count_at(value, &["transactions"])?),
        rate_per_s: Some(figure("transaction_rate")?),
        busy: Some(figure("concurrency")?),
        elapsed_s: figure("elapsed_time"),
        mean_ms: time("response_time"),
        max_ms: time("longest_transaction"),
        min_ms: time("shortest_transaction"),
        received_bytes: figure("data_transferred").map(|it| it.times(MIB)),
        ..Row::default()
    };
    row.errors.read = count_at(value, &["failed_transactions"]);
    finish(&mut row, count_at(value, &["successful_transactions"]));
    if row.elapsed_s.is_none() || row.mean_ms.is_none() {
        row.missing.push("`elapsed_time` or `response_time`");
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_run_have_a_letter() {
        for (text, s) in [("60S", Some(60.0)), ("5m", Some(300.0)), ("1H", Some(3600.0)), ("0S", None)] {
            assert_eq!(seconds(text), s, "{text}");
        }
        for text in ["", "S", "60", "x5S", "60€"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
