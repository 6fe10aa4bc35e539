//! ab, of Apache's server (its text; not the HTML of `-w`).

use crate::number::{Figure, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::Call;
use crate::read::text::{self, Foreign};
use crate::row::{Errors, OfAb, Row, Tool};

/// Reads all outputs of ab in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    text::read::<Reading>(outline)
}

/// What a table below tells of.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    None,
    Times,
    Percentiles,
}

/// What was read so far.
struct Reading {
    row: Row,
    of_ab: OfAb,
    has_server: bool,
    /// Connections that were opened; later versions tell them.
    achieved: Option<u32>,
    not_2xx: u64,
    other_lengths: u64,
    table: Table,
    foreign: Foreign,
}

impl text::Reading for Reading {
    const TOOL: &'static str = "ab";

    fn begins(text: &str, current: Option<&Self>) -> bool {
        let is_head = text.starts_with("Benchmarking ") && text.contains("(be patient)");
        let is_server = text.starts_with("Server Software:") && current.is_none_or(|it| it.has_server);
        let is_level = text.starts_with("Concurrency Level:") && current.is_none_or(|it| it.of_ab.level > 0);
        is_head || is_server || is_level
    }

    fn open(line: usize, call: Option<Call>) -> Self {
        let call = call.unwrap_or_default();
        let row = Row {
            tool: Tool::Ab,
            line,
            // It ends after so many seconds, or so many requests: by itself an output does not tell which.
            duration_s: call.seconds(&["-t"]),
            path: call.path(),
            ..Row::default()
        };
        Self {
            row,
            of_ab: OfAb::default(),
            has_server: false,
            achieved: None,
            not_2xx: 0,
            other_lengths: 0,
            table: Table::None,
            foreign: Foreign::default(),
        }
    }

    fn close(self) -> Option<Row> {
        let Self { mut row, mut of_ab, achieved, not_2xx, other_lengths, .. } = self;
        row.connections = Some(achieved.unwrap_or(of_ab.level).min(of_ab.level)).filter(|it| *it > 0);
        let made = row.requests.unwrap_or(0);
        // One failure may be counted under several names, and an error page has another length: the most of one name is what
        // failed at least. Heads that came when the run ended are counted as well.
        let bad = not_2xx.max(row.errors.read.unwrap_or(0)).min(made);
        row.errors.bad_answers = row.requests.map(|_| bad);
        of_ab.other_lengths = other_lengths.saturating_sub(bad).min(made);
        row.of_ab = Some(of_ab);
        // Of no request it tells neither rates nor times.
        let is_empty = row.requests == Some(0);
        row.note_missing([
            ("the line `Complete requests`", row.requests.is_none()),
            ("the line `Requests per second`", row.rate_per_s.is_none() && !is_empty),
            ("the line `Total` of the connection times", row.mean_ms.is_none() && !is_empty),
        ]);
        Some(row)
    }

    fn ends_with(&mut self, text: &str) -> bool {
        let is_taken = self.take(text);
        let is_cut_off = self.foreign.cuts_off(text, is_taken);
        let is_last = self.table == Table::Percentiles && text.starts_with("100%");
        is_last || is_cut_off
    }

    fn take(&mut self, text: &str) -> bool {
        if self.table == Table::Times && text.starts_with("Total:") {
            self.times(text);
        } else if self.table == Table::Percentiles && text.contains('%') {
            self.percentile(text);
        } else if let Some((name, value)) = text.split_once(':') {
            return self.field(name.trim(), value.trim());
        } else if text.starts_with("Connection Times (ms)") {
            self.table = Table::Times;
        } else if text.starts_with("Percentage of the requests served") {
            self.table = Table::Percentiles;
        } else if let Some(count) = text.strip_prefix("Total of ") {
            // All it says where a socket failed.
            self.row.requests = self.row.requests.or(whole(count));
        } else {
            return text.is_empty() || text.starts_with("Completed ") || text.starts_with("Finished ");
        }
        true
    }
}

impl Reading {
    fn field(&mut self, name: &str, value: &str) -> bool {
        let row = &mut self.row;
        let figure = || number(value.split(' ').next().unwrap_or(value), false);
        let small = || whole(value).and_then(|it| u32::try_from(it).ok());
        match name {
            "Server Software" => self.has_server = true,
            "Document Path" => {
                row.path = Some(value.to_owned()).filter(|it| it.starts_with('/')).or(row.path.take());
            }
            "Concurrency Level" => self.of_ab.level = small().unwrap_or(0),
            "Concurrency achieved" => self.achieved = small(),
            "Time taken for tests" => row.elapsed_s = figure(),
            "Complete requests" => row.requests = whole(value),
            "(Connect" => self.failures(value),
            "Write errors" => row.errors.write = whole(value),
            "Non-2xx responses" => self.not_2xx = whole(value).unwrap_or(0),
            "Keep-Alive requests" => self.of_ab.keep_alive = whole(value),
            "Total transferred" => row.received_bytes = whole(value).map(|it| Figure::exact(it as f64)),
            "Requests per second" => row.rate_per_s = figure(),
            // The one that is divided by the concurrency level is the reciprocal of the rate.
            "Time per request" if !value.contains("across") => self.of_ab.per_request_ms = figure(),
            "Time per request" | "Failed requests" | "Transfer rate" | "HTML transferred" | "Connect"
            | "Processing" | "Waiting" | "Server Hostname" | "Server Port" | "Document Length" => {}
            _ => return false,
        }
        true
    }

    /// `(Connect: 0, Receive: 0, Length: 12, Exceptions: 0)`, of which the first name is taken off.
    fn failures(&mut self, value: &str) {
        let count = |name: &str| {
            let part = value.split(',').find_map(|part| part.trim().strip_prefix(name))?;
            whole(part.trim_start_matches(':').trim())
        };
        let Errors { connect, read, .. } = &mut self.row.errors;
        (*connect, *read) = (whole(value), count("Receive"));
        self.other_lengths = count("Length").unwrap_or(0);
    }

    /// `Total:  1  13  5.1  12  70`: min, mean, standard deviation, median and max, in whole ms but for the deviation. With `-S`
    /// min, mean and max.
    fn times(&mut self, text: &str) {
        self.table = Table::None;
        let words = text.split_whitespace().skip(1).take(6);
        let figures: Vec<Figure> = words.map_while(|it| number(it, false)).collect();
        let row = &mut self.row;
        match figures[..] {
            [min, mean, stdev, _, max] => {
                (row.min_ms, row.max_ms) = (Some(min), Some(max));
                (row.mean_ms, row.stdev_ms) = (Some(mean), Some(stdev));
            }
            [min, mean, max] => (row.min_ms, row.mean_ms, row.max_ms) = (Some(min), Some(mean), Some(max)),
            _ => {}
        }
    }

    /// `  90%     21`, and `100%     70 (longest request)`, which the maximum has.
    fn percentile(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().take(3).collect();
        let [percent, time] = words[..] else { return };
        let percent = number(percent.trim_end_matches('%'), false).filter(|it| it.value < 100.0);
        let times = percent.zip(number(time, false)).map(|(percent, time)| (percent.value, time));
        self.row.percentiles_ms.extend(times);
    }
}

/// The whole number that a text begins with.
fn whole(text: &str) -> Option<u64> {
    text.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}
