//! h2load.

use crate::number::{bytes, number, numbers_in, time_ms};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::command::{Asked, command_at, path_of};
use crate::row::{Row, Tool};

/// Streams of a connection where the command names none.
const STREAMS_DEFAULT: u32 = 1;

/// Reads all outputs of h2load in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut asked: Option<Asked> = None;
    let mut current: Option<Reading> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        let is_head = line.text.starts_with("starting benchmark...");
        let is_headless = current.is_none() && finished(line.text).is_some();
        if let Some(found) = command_at(&outline.lines, at, &["h2load"]) {
            rows.extend(current.take().map(Reading::close));
            asked = Some(found);
        } else if is_head || is_headless {
            rows.extend(current.take().map(Reading::close));
            let mut reading = Reading::open(line.number, &asked.take().unwrap_or_default());
            reading.take(line.text);
            current = Some(reading);
        } else if let Some(reading) = &mut current {
            reading.take(line.text);
            if line.text.starts_with("req/s ") {
                rows.extend(current.take().map(Reading::close));
            }
        }
    }
    rows.extend(current.map(Reading::close));
    rows
}

#[derive(Default)]
struct Reading {
    row: Row,
    clients: u32,
    rate_per_client: Option<f64>,
    /// The measured part of a run that is bounded by time, s; `finished in` has the warm-up, too.
    main_s: Option<f64>,
    is_http1: bool,
}

impl Reading {
    fn open(line: usize, asked: &Asked) -> Self {
        let row = Row {
            tool: Tool::H2load,
            line,
            connections: asked.connections,
            streams: streams(asked),
            path: asked.url.as_deref().and_then(path_of),
            ..Row::default()
        };
        Self { row, rate_per_client: asked.rate_per_client, ..Self::default() }
    }

    fn close(self) -> Row {
        let mut row = self.row;
        if self.clients > 0 {
            row.connections = Some(self.clients);
        }
        row.asked_per_s =
            self.rate_per_client.zip(row.connections).map(|(rate, clients)| rate * f64::from(clients));
        if let Some(main_s) = self.main_s {
            row.elapsed_s = Some(crate::Figure::exact(main_s));
            row.duration_s = Some(main_s);
        }
        // Several are streams of HTTP/2, or requests behind one another of HTTP/1.1. Without a command that can be read it is not
        // known how many streams there are, and zero makes the number of users unknown.
        row.streams = row.streams.or(Some(u32::from(self.is_http1)));
        row.note_missing([
            ("the line `finished in`", row.rate_per_s.is_none()),
            ("the line `requests:`", row.requests.is_none()),
            ("the line `time for request:`", row.mean_ms.is_none()),
        ]);
        row
    }

    fn take(&mut self, text: &str) {
        let row = &mut self.row;
        if let Some((clients, rest)) = text.split_once(" total client(s).") {
            let clients = clients.rsplit(' ').next().and_then(|it| it.parse::<u32>().ok()).unwrap_or(0);
            self.clients = self.clients.saturating_add(clients);
            if rest.contains("Timing-based") {
                self.main_s = numbers_in(rest).last().map(|(figure, _)| figure.value);
            }
        } else if let Some(protocol) = text.strip_prefix("Application protocol:") {
            self.is_http1 = protocol.trim() == "http/1.1";
        } else if let Some((elapsed, rate)) = finished(text) {
            row.elapsed_s = time_ms(elapsed).map(|it| it.times(1e-3));
            row.rate_per_s = number(rate, false);
        } else if text.starts_with("requests:") {
            let count = |name: &str| {
                let part =
                    text.trim_start_matches("requests:").split(',').find(|it| it.trim().ends_with(name))?;
                part.trim().split(' ').next()?.parse::<u64>().ok()
            };
            row.errors.timeout = count(" timeout");
            // What was answered: its rate counts that. Of `done` some, and of `failed` all that was never sent, may have ended
            // without an answer.
            let (failed, errored) = (count(" failed"), count(" errored").unwrap_or(0));
            row.errors.bad_answers = failed.map(|it| it.saturating_sub(errored));
            row.errors.read = Some(errored.saturating_sub(row.errors.timeout.unwrap_or(0)));
            row.requests = match (count(" succeeded"), row.errors.bad_answers) {
                (Some(good), Some(bad)) => Some(good.saturating_add(bad)),
                _ => count(" done"),
            };
        } else if let Some(traffic) = text.strip_prefix("traffic:") {
            let exact = traffic.split_once('(').and_then(|(_, it)| it.split(')').next()).and_then(bytes);
            row.received_bytes = exact.or_else(|| traffic.split_whitespace().next().and_then(bytes));
        } else if let Some(times) = text.strip_prefix("time for request:").or_else(|| of_request(text)) {
            // A share ends them.
            let times: Vec<_> = times.split_whitespace().take(8).map_while(time_ms).collect();
            let (min, max, mean, stdev) = match times[..] {
                [min, max, mean, stdev] => (min, max, mean, stdev),
                // From nghttp2 1.69 on.
                [min, max, median, p95, p99, mean, stdev] => {
                    row.percentiles_ms = vec![(50.0, median), (95.0, p95), (99.0, p99)];
                    (min, max, mean, stdev)
                }
                _ => return,
            };
            (row.min_ms, row.max_ms) = (Some(min), Some(max));
            (row.mean_ms, row.stdev_ms) = (Some(mean), Some(stdev));
        }
    }
}

/// What a command says of the streams of a connection, be it by naming none. One without a URL is named in prose, and not whole.
fn streams(asked: &Asked) -> Option<u32> {
    let is_default = asked.url.is_some() && !asked.names_streams;
    asked.streams.or(is_default.then_some(STREAMS_DEFAULT))
}

/// What stands behind `request     :`, as nghttp2 1.69 and later have it.
fn of_request(text: &str) -> Option<&str> {
    text.strip_prefix("request")?.trim_start().strip_prefix(':')
}

/// Elapsed time and rate of `finished in 2.65s, 3771.19 req/s, 645.05KB/s`.
fn finished(text: &str) -> Option<(&str, &str)> {
    let (elapsed, rest) = text.strip_prefix("finished in ")?.split_once(", ")?;
    Some((elapsed, rest.split_once(" req/s")?.0))
}
