//! hey (its summary). Its times are seconds.

use crate::number::{Figure, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::{Call, call_at};
use crate::read::text::{Foreign, bracketed, responses};
use crate::row::{Row, TimeoutFrom, Tool, is_good};

/// Times that it keeps: the first ones. Percentiles, extremes and, in later versions, statuses are of these, and the sum of
/// all times is divided by their number.
const KEPT_MAX: u64 = 1_000_000;
/// So much more than it keeps must have been made before one believes that it left some out.
const MORE_MIN: f64 = 1.001;
/// Workers, and after how long an answer is late, s, where the command says nothing.
const WORKERS_DEFAULT: u32 = 50;
const TIMEOUT_S: f64 = 20.0;

/// Reads all outputs of hey in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut call: Option<Call> = None;
    let mut current: Option<Reading> = None;
    let mut heading: Option<usize> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        let total = line.text.strip_prefix("Total:").and_then(seconds_ms);
        if let Some(found) = call_at(&outline.lines, at, "hey") {
            rows.extend(current.take().map(Reading::close));
            call = Some(found);
        } else if line.text == "Summary:" {
            rows.extend(current.take().map(Reading::close));
            heading = Some(line.number);
        } else if let (Some(begin), Some(total)) = (heading, total) {
            current = Some(Reading::open(begin, total, call.take()));
        } else if let Some(reading) = &mut current
            && reading.is_over(line.text)
        {
            rows.extend(current.take().map(Reading::close));
        }
        // Nothing stands between the two; in oha's text, which goes on as this one does, the share that succeeded does.
        heading = heading.filter(|begin| *begin == line.number);
    }
    rows.extend(current.map(Reading::close));
    rows
}

/// The part of the output in which a line stands.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Summary,
    Latency,
    /// The histogram, and what a request is made of.
    Other,
    Statuses,
    Errors,
}

/// What was read so far.
struct Reading {
    row: Row,
    part: Part,
    /// Whether there is a line `Average`. Without an answer it is not a number.
    has_average: bool,
    /// Requests that ended without an answer, and those of them that did so at the timeout.
    failed: u64,
    timed_out: u64,
    foreign: Foreign,
}

impl Reading {
    fn open(line: usize, total_ms: Figure, call: Option<Call>) -> Self {
        let mut row = Row {
            tool: Tool::Hey,
            line,
            elapsed_s: Some(total_ms.times(1e-3)),
            timeout_s: Some(TIMEOUT_S),
            ..Row::default()
        };
        if let Some(call) = call {
            row.connections = Some(call.count(&["-c"]).unwrap_or(WORKERS_DEFAULT));
            row.duration_s = call.seconds(&["-z"]);
            // A zero is none.
            row.timeout_s = if call.value(&["-t"]).is_some() { call.seconds(&["-t"]) } else { row.timeout_s };
            row.timeout_from = TimeoutFrom::Command;
            // Of each worker.
            let rate = call.rate(&["-q"]).zip(row.connections);
            row.asked_per_s = rate.map(|(rate, workers)| rate * f64::from(workers));
            row.path = call.path();
        }
        Self {
            row,
            part: Part::Summary,
            has_average: false,
            failed: 0,
            timed_out: 0,
            foreign: Foreign::default(),
        }
    }

    fn close(self) -> Row {
        let Self { mut row, has_average, failed, timed_out, .. } = self;
        let (told, good) = (row.answers_with(|_| true), row.answers_with(is_good));
        let made =
            row.rate_per_s.zip(row.elapsed_s).map_or(0.0, |(rate, elapsed)| rate.value * elapsed.value);
        // Later versions tell the statuses of those alone that they keep.
        let is_of_kept =
            told == KEPT_MAX && made > told.saturating_add(failed) as f64 * MORE_MIN && made < 1e18;
        let requests = if is_of_kept { made.round() as u64 } else { told.saturating_add(failed) };
        // The rate of earlier versions is that of answers alone.
        let off = |count: u64| (made - count as f64).abs();
        row.rated = Some(told).filter(|_| !is_of_kept && made > 0.0 && off(told) < off(requests));
        let answers = requests.saturating_sub(failed);
        row.kept = Some(KEPT_MAX).filter(|kept| answers > *kept);
        let of_all = row.kept.map_or(1.0, |kept| kept as f64 / answers as f64);
        row.mean_ms = row.mean_ms.map(|it| it.times(of_all));
        let received = row.received_bytes.take().filter(|_| answers > 0);
        row.answer_bytes = received.map(|it| it.times(1.0 / answers as f64));
        let has_statuses = told > 0 || failed > 0;
        if has_statuses {
            row.requests = Some(requests);
            row.errors.bad_answers = Some((told - good.min(told)).saturating_add(failed));
            row.errors.timeout = Some(timed_out);
            row.errors.read = Some(failed.saturating_sub(timed_out));
        }
        if row.mean_ms.is_none() {
            // Without an answer there are zeros in the place of times.
            (row.min_ms, row.max_ms) = (None, None);
        }
        row.note_missing([
            ("the line `Average`", !has_average),
            ("the line `Requests/sec`", row.rate_per_s.is_none()),
            ("the lines of `Status code distribution`", !has_statuses),
        ]);
        row
    }

    /// Takes a line, and says whether the output is over.
    fn is_over(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        self.foreign.cuts_off(text, is_taken)
    }

    fn take(&mut self, text: &str) -> bool {
        let part = match text {
            "Response time histogram:" | "Details (average, fastest, slowest):" => Some(Part::Other),
            "Latency distribution:" => Some(Part::Latency),
            "Status code distribution:" => Some(Part::Statuses),
            "Error distribution:" => Some(Part::Errors),
            // A list ends with a blank line.
            "" if matches!(self.part, Part::Statuses | Part::Errors) => Some(Part::Other),
            _ => None,
        };
        if let Some(part) = part {
            self.part = part;
            return !text.is_empty();
        }
        match self.part {
            Part::Summary => self.summary(text),
            Part::Latency => self.percentile(text),
            Part::Statuses => responses(text, &mut self.row),
            Part::Errors => self.error(text),
            Part::Other => text.starts_with(|it: char| it.is_ascii_digit()) || text.ends_with(" secs"),
        }
    }

    fn summary(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.split_once(':') else { return false };
        let row = &mut self.row;
        let first = value.split_whitespace().next().unwrap_or_default();
        match name {
            "Slowest" => row.max_ms = seconds_ms(value),
            "Fastest" => row.min_ms = seconds_ms(value),
            "Average" => {
                row.mean_ms = seconds_ms(value);
                self.has_average = row.mean_ms.is_some() || first == "NaN";
            }
            "Requests/sec" => row.rate_per_s = number(first, false),
            // Of bodies that have a length.
            "Total data" => row.received_bytes = number(first, false).map(|it| Figure::exact(it.value)),
            "Size/request" => {}
            _ => return false,
        }
        true
    }

    /// `50% in 0.0012 secs`; some versions print two signs. Of fewer requests than it needs for them it prints `0%`.
    fn percentile(&mut self, text: &str) -> bool {
        let Some((percent, time)) = text.split_once('%') else { return false };
        let time = time.trim_start_matches('%').trim_start().strip_prefix("in ").and_then(seconds_ms);
        let (Some(percent), Some(time)) = (number(percent, false), time) else { return false };
        if percent.value > 0.0 && percent.value < 100.0 {
            self.row.percentiles_ms.push((percent.value, time));
        }
        true
    }

    /// `[12]  Get "http://h/": dial tcp: connection refused`.
    fn error(&mut self, text: &str) -> bool {
        let Some((count, name)) = bracketed(text) else { return false };
        self.failed = self.failed.saturating_add(count);
        // The URL says nothing of it.
        let reason = name.rsplit_once("\": ").map_or(name, |(_, reason)| reason);
        if ["timeout", "Timeout", "deadline exceeded"].iter().any(|it| reason.contains(it)) {
            self.timed_out = self.timed_out.saturating_add(count);
        }
        true
    }
}

/// `0.0123 secs` in ms.
fn seconds_ms(text: &str) -> Option<Figure> {
    let (figure, unit) = text.trim().split_once(' ')?;
    number(figure, false).filter(|_| unit.trim() == "secs").map(|it| it.times(1e3))
}
