//! A table of published cells, one row a measured cell: `published/figures.csv`.

use csv::StringRecord;

use crate::number::{Figure, bytes, is_whole, number};
use crate::read::Rows;
use crate::row::{Row, TimeoutFrom, Tool};

/// Columns without which it is no such table.
const NEEDED: [&str; 3] = ["system", "requests_per_s", "latency_avg_ms"];
/// From here on wrk prints seconds with two decimals, ms.
const WRK_SECONDS_MS: f64 = 1000.0;
/// The digit that it then leaves out, ms.
const WRK_SECONDS_STEP_MS: f64 = 10.0;
const PERCENTILES: [(&str, f64); 9] = [
    ("latency_p50_ms", 50.0),
    ("latency_p60_ms", 60.0),
    ("latency_p70_ms", 70.0),
    ("latency_p80_ms", 80.0),
    ("latency_p90_ms", 90.0),
    ("latency_p95_ms", 95.0),
    ("latency_p98_ms", 98.0),
    ("latency_p99_ms", 99.0),
    ("latency_p999_ms", 99.9),
];

/// The rows if the text is such a table. An error is one that can't be used.
pub(super) fn read(text: &str) -> Result<Option<Rows>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let header = text.lines().next().unwrap_or_default();
    let delimiter =
        [b',', b';', b'\t'].into_iter().find(|it| header.contains(char::from(*it))).unwrap_or(b',');
    let names: Vec<&str> = header.split(char::from(delimiter)).map(str::trim).collect();
    if !NEEDED.iter().all(|it| names.contains(it)) {
        return Ok(None);
    }
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = Rows::default();
    for record in reader.records() {
        let record = record.map_err(|error| format!("a line of the table can't be read ({error})"))?;
        rows.push(Cells { columns: &columns, record: &record, decimal_comma: delimiter == b';' }.row());
    }
    if rows.kept.is_empty() {
        return Err("the table has a header and no row".into());
    }
    Ok(Some(rows))
}

struct Cells<'a> {
    columns: &'a StringRecord,
    record: &'a StringRecord,
    decimal_comma: bool,
}

impl Cells<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let at = self.columns.iter().position(|it| it == name)?;
        self.record.get(at).map(str::trim).filter(|it| !it.is_empty())
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    fn row(&self) -> Row {
        let tool = match self.text("driver") {
            Some("wrk") => Tool::Wrk,
            Some("wrk2") => Tool::Wrk2,
            Some("sb") => Tool::Sb,
            Some("jmeter") => Tool::Jmeter,
            Some("h2load") => Tool::H2load,
            Some("oha") => Tool::Oha,
            Some("k6") => Tool::K6,
            Some("ab") => Tool::Ab,
            Some("hey") => Tool::Hey,
            Some("vegeta") => Tool::Vegeta,
            Some("bombardier") => Tool::Bombardier,
            Some("autocannon") => Tool::Autocannon,
            Some("locust") => Tool::Locust,
            Some("fortio") => Tool::Fortio,
            Some("siege") => Tool::Siege,
            Some("gatling") => Tool::Gatling,
            _ => Tool::Unnamed,
        };
        let mut row = Row {
            tool,
            line: self.record.position().map_or(0, |it| usize::try_from(it.line()).unwrap_or(0)),
            document: self.owned("document"),
            round: self.owned("round"),
            system: self.owned("system"),
            setup: self.owned("setup"),
            path: self.owned("path"),
            is_nan: self.record.iter().any(|it| it.trim().eq_ignore_ascii_case("-nan")),
            ..Row::default()
        };
        if self.record.len() < self.columns.len() {
            row.missing.push("columns at the end of the line");
        }
        self.load(&mut row);
        self.latency(&mut row);
        self.counts(&mut row);
        row
    }

    /// The number in a column; what is none is noted.
    fn figure(&self, name: &str, row: &mut Row) -> Option<Figure> {
        let text = self.text(name)?;
        let read = number(text, self.decimal_comma);
        if read.is_none() && !text.contains("nan") {
            row.unreadable.push(text.to_owned());
        }
        read
    }

    fn value(&self, name: &str, row: &mut Row) -> Option<f64> {
        self.figure(name, row).map(|it| it.value)
    }

    fn count(&self, name: &str, row: &mut Row) -> Option<u64> {
        self.value(name, row).filter(|it| (0.0..1e18).contains(it)).map(|it| it as u64)
    }

    fn time(&self, name: &str, row: &mut Row) -> Option<Figure> {
        let mut figure = self.figure(name, row)?;
        if matches!(row.tool, Tool::Wrk | Tool::Wrk2) && figure.value >= WRK_SECONDS_MS {
            figure.step = WRK_SECONDS_STEP_MS;
        }
        Some(figure)
    }

    fn load(&self, row: &mut Row) {
        let small = |count: Option<u64>| count.and_then(|it| u32::try_from(it).ok());
        row.connections = small(self.count("connections", row));
        row.threads = small(self.count("threads", row));
        row.duration_s = self.value("duration_s", row);
        row.timeout_s = self.value("timeout_s", row);
        row.timeout_from = TimeoutFrom::Table;
        row.ramp_s = self.value("ramp_up_s", row);
        row.loops = self.value("loops", row);
        row.is_planned = row.loops.is_some_and(is_whole);
        row.users = row.connections.filter(|_| row.loops.is_some());
        row.service_time_ms =
            self.value("service_time_ms", row).map(|ms| (ms, "column service_time_ms".into()));
    }

    fn latency(&self, row: &mut Row) {
        row.mean_ms = self.time("latency_avg_ms", row);
        row.stdev_ms = self.time("latency_stdev_ms", row);
        row.max_ms = self.time("latency_max_ms", row);
        row.min_ms = self.time("latency_min_ms", row);
        for (name, percent) in PERCENTILES {
            let time = self.time(name, row);
            row.percentiles_ms.extend(time.map(|time| (percent, time)));
        }
    }

    fn counts(&self, row: &mut Row) {
        row.requests = self.count("requests", row);
        row.elapsed_s = self.figure("elapsed_s", row);
        row.rate_per_s = self.figure("requests_per_s", row);
        row.errors.connect = self.count("errors_connect", row);
        row.errors.read = self.count("errors_read", row);
        row.errors.write = self.count("errors_write", row);
        row.errors.timeout = self.count("errors_timeout", row);
        row.summary.rate_per_s = self.figure("summary_requests_per_s", row);
        row.summary.mean_ms = self.time("summary_latency_ms", row);
        row.summary.line = row.line;
        row.received_bytes = self.text("bytes_read").and_then(bytes);
        for status in [200, 303] {
            let count = self.count(&format!("status_{status}"), row);
            row.statuses.extend(count.map(|count| (status, count)));
        }
        if row.tool == Tool::Sb && !row.statuses.is_empty() {
            row.requests = Some(row.answers_with(|_| true));
            row.errors.bad_answers = row.statuses.get(&303).copied();
        }
        let error_share = self.value("error_pct", row).map(|it| it / 100.0);
        if let (Some(share), Some(requests)) = (error_share, row.requests) {
            row.errors.bad_answers = Some((requests as f64 * share).round() as u64);
        }
        let received = self.figure("received_kb_per_s", row);
        if let (Some(received), Some(rate)) = (received, row.rate_per_s.filter(|it| it.value > 0.0)) {
            let value = received.value * 1024.0 / rate.value;
            row.answer_bytes = Some(Figure { value, step: value * (received.slack() + rate.slack()) });
        }
    }
}
