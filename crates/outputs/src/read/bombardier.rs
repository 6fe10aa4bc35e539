//! bombardier (its plain text).

use crate::number::{go_time_ms, number, time_ms};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::Call;
use crate::read::text::{self, FOREIGN_LINES_MAX, Foreign};
use crate::row::{Row, TimeoutFrom, Tool};

/// After how long an answer is late, s, where the command says nothing.
const TIMEOUT_S: f64 = 2.0;

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

/// What was read so far.
struct Reading {
    row: Row,
    has_statistics: bool,
    /// Whether the last heading was that of the errors, or of percentiles of some answers only.
    is_error: bool,
    is_of_some: bool,
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
            path: call.url.as_deref().and_then(super::path_of),
            ..Row::default()
        };
        let (has_statistics, is_error, is_of_some) = (false, false, false);
        Self { row, has_statistics, is_error, is_of_some, classes: None, foreign: Foreign::default() }
    }

    fn close(self) -> Row {
        let Self { mut row, classes, .. } = self;
        if let Some(classes) = classes {
            let sum = |of: &[u64]| of.iter().fold(0, |sum: u64, it| sum.saturating_add(*it));
            row.requests = Some(sum(&classes));
            row.errors.bad_answers = Some(sum(&[classes[0], classes[1], classes[4], classes[5]]));
        }
        if row.requests != Some(0) {
            row.note_missing([
                ("the line `Reqs/sec`", row.rate_per_s.is_none()),
                ("the line `Latency`", row.mean_ms.is_none()),
                ("the lines below `HTTP codes:`", row.requests.is_none()),
            ]);
        }
        row
    }

    fn ends_with(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        let foreign_lines = self.foreign.count(text, is_taken);
        text.starts_with("Throughput:") || foreign_lines > FOREIGN_LINES_MAX
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
            ["Latency", "Distribution", ..] => self.is_of_some = text.contains("2xx"),
            ["Latency", mean, stdev, max] => {
                (row.mean_ms, row.stdev_ms, row.max_ms) = (time_ms(mean), time_ms(stdev), time_ms(max));
            }
            [percent, time] if percent.ends_with('%') => return self.percentile(percent, time),
            ["HTTP", "codes:"] | ["Throughput:", ..] => {}
            ["Errors:"] => self.is_error = true,
            ["1xx" | "others", "-", ..] => self.codes(text),
            _ if self.is_error => self.error(text),
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
        if !self.is_of_some && percent.value <= 100.0 {
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
        if let Ok(count) = count.trim().parse::<u64>()
            && (name.contains("timeout") || name.contains("deadline exceeded"))
        {
            let timeouts = &mut self.row.errors.timeout;
            *timeouts = Some(timeouts.unwrap_or(0).saturating_add(count));
        }
    }
}
