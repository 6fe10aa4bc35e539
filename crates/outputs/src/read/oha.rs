//! oha: its text, and `--output-format json`, whose times are seconds. Both are printed by its `src/printer.rs`; from 1.0 on the
//! text has one unit for all times (`src/timescale.rs`), before that it is `secs`.

use serde_json::Value;

use crate::number::{Figure, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::Call;
use crate::read::json::number_at;
use crate::read::text::{self, Foreign, bracketed, responses};
use crate::row::{Row, TimeoutFrom, Tool, is_good};

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
    let errors = entries("errorDistribution").filter_map(|(name, count)| Some((name, count.as_u64()?)));
    let mut failures = Failures::default();
    errors.for_each(|(name, count)| failures.add(name, count));
    if value.get("statusCodeDistribution").is_some() {
        failures.put_into(&mut row);
    } else {
        row.missing.push("`statusCodeDistribution`");
    }
    Some(row)
}

/// What it calls errors.
#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    /// By the end of the run.
    aborted: u64,
    timed_out: u64,
    /// Others, connects that were refused among them.
    others: u64,
}

impl Failures {
    fn add(&mut self, name: &str, count: u64) {
        let sum = match name {
            ABORTED => &mut self.aborted,
            name if name.contains("timeout") => &mut self.timed_out,
            _ => &mut self.others,
        };
        *sum = sum.saturating_add(count);
    }

    /// Counts what was made, all errors among it, and what failed, beside the statuses of the row.
    fn put_into(self, row: &mut Row) {
        let (answered, good) = (row.answers_with(|_| true), row.answers_with(is_good));
        let failed = self.timed_out.saturating_add(self.others);
        row.requests = Some([failed, self.aborted].into_iter().fold(answered, u64::saturating_add));
        row.errors.bad_answers = Some(answered.saturating_sub(good).saturating_add(failed));
        row.errors.aborted = Some(self.aborted);
        row.errors.timeout = Some(self.timed_out);
        row.errors.read = Some(self.others);
    }
}

/// Whether its users wait between bursts.
pub(super) fn waits(call: &Call) -> bool {
    call.value(&["--burst-delay"]).is_some()
}

/// Reads all texts of oha.
pub(super) fn read_text(outline: &Outline<'_>) -> Rows {
    text::read::<Reading>(outline)
}

/// The part of the text in which a line stands.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Summary,
    Latency,
    /// A histogram, percentiles of some answers only, and what a connect is made of.
    Other,
    Statuses,
    Errors,
}

/// What was read so far.
struct Reading {
    row: Row,
    part: Part,
    has_average: bool,
    /// Whether the statuses were told, be it that there are none.
    has_statuses: bool,
    failures: Failures,
    foreign: Foreign,
}

impl text::Reading for Reading {
    const TOOL: &'static str = "oha";

    /// The heading above it, `Summary:`, is one of hey's as well.
    fn begins(text: &str, _: Option<&Self>) -> bool {
        // In early versions it is no percentage.
        text.strip_prefix("Success rate:").is_some_and(|rate| {
            let rate = rate.trim().trim_end_matches('%');
            rate == "NaN" || number(rate, false).is_some()
        })
    }

    fn open(line: usize, call: Option<Call>) -> Self {
        let timeout_from = if call.is_some() { TimeoutFrom::Command } else { TimeoutFrom::Tool };
        let call = call.unwrap_or_default();
        let row = Row {
            tool: Tool::Oha,
            line,
            connections: call.count(&["-c"]),
            streams: call.count(&["-p"]),
            duration_s: call.seconds(&["-z"]),
            timeout_s: call.seconds(&["-t", "--timeout"]),
            timeout_from,
            asked_per_s: call.rate(&["-q"]),
            may_wait: waits(&call),
            path: call.path(),
            ..Row::default()
        };
        let (part, failures, foreign) = (Part::Summary, Failures::default(), Foreign::default());
        Self { row, part, has_average: false, has_statuses: false, failures, foreign }
    }

    fn close(self) -> Option<Row> {
        let Self { mut row, has_average, has_statuses, failures, .. } = self;
        if has_statuses {
            failures.put_into(&mut row);
        }
        row.note_missing([
            ("the line `Average`", !has_average),
            ("the line `Requests/sec`", row.rate_per_s.is_none()),
            ("the lines of `Status code distribution`", !has_statuses),
        ]);
        Some(row)
    }

    fn ends_with(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        let is_cut_off = self.foreign.cuts_off(text, is_taken);
        (text.is_empty() && self.part == Part::Errors) || is_cut_off
    }

    fn take(&mut self, text: &str) -> bool {
        let part = match text {
            "Response time distribution:" | "Latency distribution:" => Some(Part::Latency),
            "Status code distribution:" => Some(Part::Statuses),
            "Error distribution:" => Some(Part::Errors),
            "Details (average, fastest, slowest):" => Some(Part::Other),
            _ if text.starts_with("Response time ") && text.ends_with(':') => Some(Part::Other),
            _ => None,
        };
        if let Some(part) = part {
            self.part = part;
            self.has_statuses |= part == Part::Statuses;
            return true;
        }
        match self.part {
            Part::Summary => self.summary(text),
            Part::Latency => self.percentile(text),
            Part::Statuses => responses(text, &mut self.row),
            Part::Errors => self.error(text),
            Part::Other => text.starts_with(|it: char| it.is_ascii_digit()) || text.starts_with("DNS"),
        }
    }
}

impl Reading {
    fn summary(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.split_once(':') else { return false };
        let row = &mut self.row;
        match name {
            "Total" => row.elapsed_s = time_ms(value).map(|it| it.times(1e-3)),
            "Slowest" => row.max_ms = time_ms(value),
            "Fastest" => row.min_ms = time_ms(value),
            "Average" => (row.mean_ms, self.has_average) = (time_ms(value), true),
            "Requests/sec" => row.rate_per_s = number(value, false),
            "Success rate" | "Total data" | "Size/request" | "Size/sec" => {}
            _ => return false,
        }
        true
    }

    /// `50.00% in 0.4457 ms`.
    fn percentile(&mut self, text: &str) -> bool {
        let Some((percent, time)) = text.split_once("% in ") else { return false };
        let percent = number(percent, false).filter(|it| (0.0..100.0).contains(&it.value));
        let times = percent.zip(time_ms(time)).map(|(percent, time)| (percent.value, time));
        self.row.percentiles_ms.extend(times);
        true
    }

    /// `[50] aborted due to deadline`.
    fn error(&mut self, text: &str) -> bool {
        let Some((count, name)) = bracketed(text) else { return false };
        self.failures.add(name, count);
        true
    }
}

/// `0.4457 ms`, `1.0029 sec`, `0.3001 10 sec`, in ms.
fn time_ms(text: &str) -> Option<Figure> {
    let (figure, unit) = text.trim().split_once(' ')?;
    let ms = match unit.trim() {
        "ns" => 1e-6,
        "us" => 1e-3,
        "ms" => 1.0,
        "sec" | "secs" => 1e3,
        "10 sec" => 10e3,
        "min" => 60e3,
        "10 min" => 600e3,
        "hr" => 3600e3,
        _ => return None,
    };
    number(figure, false).map(|it| it.times(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_times_have_a_unit_behind_a_blank() {
        for (text, ms, step) in [
            ("\t0.4457 ms", 0.4457, 1e-4),
            ("1.0029 sec", 1002.9, 0.1),
            ("0.0012 secs", 1.2, 0.1),
            ("0.3001 10 sec", 3001.0, 1.0),
            ("0.0500 min", 3000.0, 6.0),
        ] {
            let figure = time_ms(text).unwrap_or_else(|| panic!("{text}"));
            assert!((figure.value - ms).abs() < 1e-9 && (figure.step - step).abs() < 1e-9, "{figure:?}");
        }
        for text in ["", "NaN sec", "-inf sec", "1.0", "1.0 m", "1.0ms"] {
            assert_eq!(time_ms(text), None, "{text}");
        }
    }
}
