//! wrk and wrk2, plain and with `--latency`, many in one text, blanks within lines as they may be.

use crate::number::{Figure, bytes, numbers_in, rate, time_ms};
use crate::outline::{Line, Outline, STATEMENT_CHARS_MAX};
use crate::read::Rows;
use crate::read::command::{Asked, command_at, path_of};
use crate::read::text::Foreign;
use crate::row::{Row, TimeoutFrom, Tool};

/// wrk's timeout where the command gives none, s.
const TIMEOUT_S: f64 = 2.0;
/// So many lines below an output may hold the author's summary of it.
const SUMMARY_LINES_MAX: usize = 6;

/// Where the reader is.
#[derive(Default)]
struct Reader {
    rows: Rows,
    /// The last command, for the next output.
    asked: Option<Asked>,
    current: Option<Current>,
    /// Lines that may still hold the summary of the last row.
    summary_lines: usize,
    /// The section of the last row.
    section: usize,
}

struct Current {
    row: Row,
    has_threads: bool,
    has_stats: bool,
    is_uncorrected: bool,
    foreign: Foreign,
}

/// All rows of wrk and wrk2 in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut reader = Reader::default();
    for (at, line) in outline.lines.iter().enumerate() {
        reader.line(line, command_at(&outline.lines, at, &["wrk", "wrk2"]));
    }
    reader.close();
    reader.rows
}

impl Reader {
    fn line(&mut self, line: &Line<'_>, asked: Option<Asked>) {
        if let Some(asked) = asked {
            self.close();
            self.summary_lines = 0;
            self.asked = Some(asked);
        } else if let Some(url) = running(line.text) {
            self.open(line);
            self.at_url(line.text, url);
        } else if let Some((threads, connections)) = threads_and_connections(line.text) {
            if self.current.as_ref().is_none_or(|it| it.has_threads) {
                self.open(line);
            }
            if let Some(current) = &mut self.current {
                current.has_threads = true;
                (current.row.threads, current.row.connections) = (Some(threads), Some(connections));
            }
        } else if line.text.starts_with("Thread Stats") && self.current.as_ref().is_none_or(|it| it.has_stats)
        {
            self.open(line);
            self.within(line);
        } else if self.current.as_ref().is_some_and(|it| it.is_of_another(line.text)) {
            self.current = None;
        } else if self.current.is_some() {
            self.within(line);
        } else if self.summary_lines > 0 && line.section == self.section {
            self.summary(line);
        }
    }

    fn open(&mut self, line: &Line<'_>) {
        self.close();
        let timeout_from = if self.asked.is_some() { TimeoutFrom::Command } else { TimeoutFrom::Tool };
        let asked = self.asked.take().unwrap_or_default();
        let row = Row {
            tool: if asked.rate_per_s.is_some() { Tool::Wrk2 } else { Tool::Wrk },
            line: line.number,
            threads: asked.threads,
            connections: asked.connections,
            duration_s: asked.duration_s,
            timeout_s: Some(asked.timeout_s.unwrap_or(TIMEOUT_S)),
            timeout_from,
            asked_per_s: asked.rate_per_s,
            may_wait: asked.may_wait,
            path: asked.url.as_deref().and_then(path_of),
            ..Row::default()
        };
        self.summary_lines = 0;
        self.section = line.section;
        let (has_threads, has_stats, is_uncorrected) = (false, false, false);
        let foreign = Foreign::default();
        self.current = Some(Current { row, has_threads, has_stats, is_uncorrected, foreign });
    }

    fn at_url(&mut self, text: &str, url: &str) {
        let Some(current) = &mut self.current else { return };
        let word = text.split_whitespace().nth(1).and_then(time_ms);
        current.row.duration_s = word.map(|it| it.value / 1e3).or(current.row.duration_s);
        current.row.path = path_of(url).or(current.row.path.take());
    }

    fn within(&mut self, line: &Line<'_>) {
        let Some(current) = &mut self.current else { return };
        let taken = current.take(line.text);
        let is_cut_off = current.foreign.cuts_off(line.text, matches!(taken, Taken::Line));
        match taken {
            Taken::Last => {
                self.close();
                self.summary_lines = SUMMARY_LINES_MAX;
            }
            Taken::Nothing if is_cut_off => self.close(),
            Taken::Line | Taken::Nothing => {}
        }
    }

    /// Ends the output at hand.
    fn close(&mut self) {
        let Some(Current { mut row, has_stats, .. }) = self.current.take() else { return };
        // It keeps no latency beyond its timeout; so it was told one that the text does not tell.
        let is_beyond = |timeout_s: f64| row.max_ms.is_some_and(|max| max.value - max.step > timeout_s * 1e3);
        if row.timeout_from == TimeoutFrom::Tool && row.timeout_s.is_some_and(is_beyond) {
            row.timeout_s = None;
        }
        if row.mean_ms.is_none() && !row.is_nan {
            row.missing.push(if has_stats { "the line `Latency`" } else { "the lines below `Thread Stats`" });
        }
        if row.requests.is_none() {
            row.missing.push("the line `requests in`");
        }
        if row.rate_per_s.is_none() {
            row.missing.push("the line `Requests/sec`");
        }
        self.rows.push(row);
    }

    /// A line below the output, in which the author may say it again.
    fn summary(&mut self, line: &Line<'_>) {
        if line.text.is_empty() {
            return;
        }
        // So begin the summaries that hey and oha make of a run of their own.
        let is_of_hey = line.text.starts_with("Total:") && line.text.ends_with(" secs");
        if is_of_hey || line.text.starts_with("Success rate:") {
            self.summary_lines = 0;
            return;
        }
        self.summary_lines -= 1;
        let Some(row) = self.rows.last_mut().filter(|_| is_statement(line.text)) else { return };
        let lower = line.text.to_lowercase();
        let numbers = numbers_in(line.text);
        let before = (row.summary.rate_per_s, row.summary.mean_ms);
        let is_latency = ["latency", "延迟", "avg", "mean"].iter().any(|it| lower.contains(it));
        let is_rate = ["requests/sec", "req/s"].iter().any(|it| lower.contains(it)) || names_a_rate(&lower);
        let mut rates = Vec::new();
        for (figure, unit) in &numbers {
            let ms = match *unit {
                "us" | "µs" => Some(1e-3),
                "ms" | "毫秒" => Some(1.0),
                "s" | "秒" => Some(1e3),
                _ => None,
            };
            if let Some(ms) = ms.filter(|_| is_latency) {
                row.summary.mean_ms = row.summary.mean_ms.or(Some(figure.times(ms)));
            } else if ms.is_none() && is_rate {
                rates.extend(rate_scale(unit).map(|scale| figure.times(scale)));
            }
        }
        // Of several nobody knows which is the rate: connections, errors and requests stand in such lines as well.
        if let [rate] = rates[..] {
            row.summary.rate_per_s = row.summary.rate_per_s.or(Some(rate));
        }
        if before == (None, None) && before != (row.summary.rate_per_s, row.summary.mean_ms) {
            row.summary.line = line.number;
        }
    }
}

/// Whether a word in small letters is one for a rate. `https` has one in it, and is none.
fn names_a_rate(lower: &str) -> bool {
    let mut words = lower.split(|it: char| !it.is_ascii_alphabetic());
    words.any(|it| ["qps", "rps", "tps"].contains(&it.strip_prefix(['k', 'w', 'm']).unwrap_or(it)))
}

/// What a number is to be multiplied by where what stands behind it may be that of a rate; `None` of anything else.
fn rate_scale(unit: &str) -> Option<f64> {
    const RATES: [&str; 10] = ["", "qps", "rps", "tps", "r", "req", "reqs", "request", "requests", "次"];
    let unit = unit.to_lowercase();
    let scales = [("k", 1e3), ("w", 1e4), ("万", 1e4), ("m", 1e6)];
    let scaled = scales.into_iter().find_map(|(sign, scale)| Some((unit.strip_prefix(sign)?, scale)));
    let (rest, scale) = scaled.unwrap_or((&unit, 1.0));
    RATES.contains(&rest).then_some(scale)
}

/// Whether the line gives figures of the run above it, and is no prose about them: there figures are rounded at will,
/// or are those of something else.
fn is_statement(text: &str) -> bool {
    const OTHERWISE: [&str; 31] = [
        "左右",
        "大概",
        "不到",
        "稳定",
        "提升",
        "相比",
        "最高",
        "最大",
        "最小",
        "峰值",
        "about",
        "around",
        "roughly",
        "nearly",
        "almost",
        "than",
        "vs",
        "compared",
        "peak",
        "max",
        "min",
        "std",
        "median",
        "percentile",
        "p50",
        "p75",
        "p9",
        "%",
        ">",
        "target",
        "expected",
    ];
    const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];
    let lower = text.to_lowercase();
    let numbers = numbers_in(&lower);
    // `99th` is a percentile, and a number in a URL is a port.
    let is_of_else = lower.contains("://") || numbers.iter().any(|(_, unit)| ORDINALS.contains(unit));
    text.len() <= STATEMENT_CHARS_MAX
        && numbers.len() <= 2
        && !is_of_else
        && !OTHERWISE.iter().any(|it| lower.contains(it))
}

enum Taken {
    Line,
    Last,
    Nothing,
}

impl Current {
    /// Whether it is an output of autocannon, which begins as one of wrk does, and whose connections have no threads.
    fn is_of_another(&self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let is_count = words.next().is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
        !self.has_threads && !self.has_stats && is_count && words.next() == Some("connections")
    }

    fn take(&mut self, text: &str) -> Taken {
        let words: Vec<&str> = text.split_whitespace().take(12).collect();
        match words[..] {
            ["Thread", "Stats", ..] => self.has_stats = true,
            ["Thread", "calibration:", ..] => self.row.tool = Tool::Wrk2,
            ["Latency", "Distribution", ..] => {
                self.is_uncorrected = text.contains("Uncorrected");
                // wrk has no such histogram.
                if text.contains("HdrHistogram") {
                    self.row.tool = Tool::Wrk2;
                }
            }
            ["Latency", mean, stdev, max, ..] => self.latency(mean, stdev, max, text),
            [count, "requests", "in", elapsed, size, ..] => self.requests(count, elapsed, size),
            ["Socket", "errors:", ..] => self.socket_errors(text),
            ["Non-2xx", "or", "3xx", "responses:", count, ..] => {
                self.row.errors.bad_answers = count.parse().ok();
            }
            ["Requests/sec:", figure, ..] => {
                let read = rate(figure);
                self.row.rate_per_s = read;
                note_unreadable(&mut self.row, figure, read.is_none());
            }
            ["Transfer/sec:", ..] => return Taken::Last,
            [percent, time] if percent.ends_with('%') => return self.percentile(percent, time),
            [
                "Req/Sec"
                | "Detailed"
                | "Value"
                | "----------------------------------------------------------",
                ..,
            ] => {}
            [first, ..] if first.starts_with("#[") || self.is_spectrum(&words) => {}
            _ => return Taken::Nothing,
        }
        Taken::Line
    }

    /// A line of the detailed percentile spectrum of wrk2.
    fn is_spectrum(&self, words: &[&str]) -> bool {
        self.row.tool == Tool::Wrk2 && words.len() <= 4 && words.iter().all(|it| it.parse::<f64>().is_ok())
    }

    fn latency(&mut self, mean: &str, stdev: &str, max: &str, text: &str) {
        let row = &mut self.row;
        row.is_nan = text.contains("nan");
        for (word, field) in [(mean, &mut row.mean_ms), (stdev, &mut row.stdev_ms), (max, &mut row.max_ms)] {
            *field = time_ms(word);
            if field.is_none() && !word.contains("nan") {
                row.unreadable.push(word.to_owned());
            }
        }
    }

    fn requests(&mut self, count: &str, elapsed: &str, size: &str) {
        let row = &mut self.row;
        row.requests = count.parse().ok();
        row.elapsed_s = time_ms(elapsed.trim_end_matches(',')).map(|it| it.times(1e-3));
        row.received_bytes = bytes(size.trim_end_matches("read"));
        for (word, is_bad) in [(count, row.requests.is_none()), (elapsed, row.elapsed_s.is_none())] {
            note_unreadable(row, word, is_bad);
        }
    }

    fn socket_errors(&mut self, text: &str) {
        let count = |name: &str| -> Option<u64> {
            let (_, behind) = text.split_once(name)?;
            behind.trim_start().split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
        };
        let errors = &mut self.row.errors;
        errors.connect = count("connect ");
        errors.read = count("read ");
        errors.write = count("write ");
        errors.timeout = count("timeout ");
    }

    /// Whether a percentile of wrk is none: answers that take no time have a mean of none, too.
    fn is_no_time(&self, time: Figure) -> bool {
        let row = &self.row;
        row.tool == Tool::Wrk && time.value == 0.0 && row.mean_ms.is_some_and(|mean| mean.value > mean.step)
    }

    fn percentile(&mut self, percent: &str, time: &str) -> Taken {
        let percent: Option<f64> = percent.trim_end_matches('%').parse().ok();
        match (percent, time_ms(time)) {
            // What wrk2 calls uncorrected is another distribution, of service times.
            (Some(_), Some(_)) if self.is_uncorrected => {}
            // `stats_percentile` gives a zero where it finds no time of that rank.
            (Some(percent), Some(time)) if self.is_no_time(time) => {
                self.row.zero_from.get_or_insert(percent);
            }
            (Some(percent), Some(time)) if (0.0..=100.0).contains(&percent) => {
                self.row.percentiles_ms.push((percent, time));
            }
            _ => return Taken::Nothing,
        }
        Taken::Line
    }
}

fn note_unreadable(row: &mut Row, word: &str, is_bad: bool) {
    if is_bad && !word.contains("nan") {
        row.unreadable.push(word.to_owned());
    }
}

/// The URL of `Running 30s test @ URL`; some texts have lost it.
fn running(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Running ")?;
    let (duration, rest) = rest.split_once(" test @")?;
    duration.starts_with(|it: char| it.is_ascii_digit()).then_some(rest.trim())
}

fn threads_and_connections(text: &str) -> Option<(u32, u32)> {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    match words[..] {
        [threads, "threads" | "thread", "and", connections, "connections"] => {
            Some((threads.parse().ok()?, connections.parse().ok()?))
        }
        _ => None,
    }
}
