//! Locust: the file `…_stats.csv` of `--csv`, and the tables that its console shows (`stats.py`). One row a name; the total mixes
//! them.
//!
//! The console shows its table every other second, with the rate of the last ten. The last one is that of the whole run, and
//! percentiles stand below it.

use std::collections::BTreeMap;

use csv::StringRecord;

use crate::number::{Figure, number};
use crate::outline::Outline;
use crate::read::Rows;
use crate::row::{Row, Tool};

/// Columns without which it is no such file. The one of its history calls them `Total …`.
const NEEDED: [&str; 4] = ["Name", "Request Count", "Average Response Time", "Requests/s"];
/// The total.
const TOTAL: &str = "Aggregated";
/// Heads the percentiles on the console.
const PERCENTILES: &str = "Response time percentiles (approximated)";
/// Its log says so when a run begins.
const BEGIN: &str = ": Starting Locust ";
/// It keeps times as 147 becomes 150, and 3432 becomes 3400: from so many ms on, to so many.
const ROUNDED_MS: [(f64, f64); 3] = [(10_000.0, 1000.0), (1000.0, 100.0), (100.0, 10.0)];

/// The rows if the text is such a file. An error is one that can't be used.
pub(super) fn read(text: &str) -> Result<Option<Rows>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let header = text.lines().next().unwrap_or_default();
    if !NEEDED.iter().all(|name| header.split(',').any(|it| it.trim().trim_matches('"') == *name)) {
        return Ok(None);
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| error.to_string())?.clone();
    let (mut rows, mut total) = (Rows::default(), None);
    for record in reader.records() {
        let record = record.map_err(|error| format!("a line of Locust's file can't be read ({error})"))?;
        let row = row(&columns, &record);
        if row.path.as_deref() == Some(TOTAL) {
            total = Some(Row { path: None, ..row });
        } else {
            rows.push(row);
        }
    }
    if rows.kept.is_empty() {
        rows.extend(total);
    }
    if rows.kept.is_empty() {
        return Err("Locust's file has a header and no row".into());
    }
    Ok(Some(rows))
}

fn row(columns: &StringRecord, record: &StringRecord) -> Row {
    let text = |name: &str| {
        let at = columns.iter().position(|it| it == name)?;
        record.get(at).map(str::trim).filter(|it| !it.is_empty())
    };
    // It writes numbers as Python does, `1e-05` among them.
    let number = |name: &str| text(name)?.parse::<f64>().ok().filter(|it| it.is_finite());
    let count = |name: &str| number(name).filter(|it| (0.0..1e18).contains(it)).map(|it| it as u64);
    let exact = |name: &str| number(name).and_then(Figure::of_json);
    let name = text("Name").unwrap_or_default();
    let mut row = Row {
        tool: Tool::Locust,
        line: record.position().map_or(0, |it| usize::try_from(it.line()).unwrap_or(0)),
        path: Some(text("Type").map_or_else(|| name.to_owned(), |kind| format!("{kind} {name}"))),
        requests: count("Request Count"),
        rate_per_s: exact("Requests/s"),
        mean_ms: exact("Average Response Time"),
        min_ms: exact("Min Response Time"),
        max_ms: exact("Max Response Time"),
        answer_bytes: exact("Average Content Size").filter(|it| it.value > 0.0),
        ..Row::default()
    };
    row.errors.bad_answers = count("Failure Count");
    for (name, time) in columns.iter().zip(record.iter()) {
        let percent = name.strip_suffix('%').and_then(|it| it.parse::<f64>().ok());
        let percent = percent.filter(|it| (0.0..100.0).contains(it));
        let time = time.trim().parse::<f64>().ok().filter(|it| it.is_finite());
        row.percentiles_ms.extend(percent.zip(time.map(rounded)));
    }
    if row.requests.is_none() || row.mean_ms.is_none() || record.len() < columns.len() {
        row.missing.push("columns at the end of the line");
    }
    row
}

/// Reads what its console shows of all runs in the text.
pub(super) fn read_text(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut current: Option<Table> = None;
    for line in &outline.lines {
        if let Some(columns) = head(line.text) {
            // Of one run there are many tables, and of a whole one the last counts.
            if let Some(whole) = current.take().filter(Table::is_whole) {
                rows.append(whole.rows());
            }
            current = Some(Table { columns, ..Table::default() });
        } else if line.text.contains(BEGIN) {
            rows.append(current.take().map_or_else(Rows::default, Table::rows));
        } else if let Some(table) = &mut current {
            table.take(line.text, line.number);
        }
    }
    rows.append(current.map_or_else(Rows::default, Table::rows));
    rows
}

/// The columns behind the name: `Type  Name  # reqs  # fails |  Avg  Min  Max  Med |  req/s  failures/s`.
fn head(text: &str) -> Option<Vec<String>> {
    // Nearly every line is none, and need not be taken apart.
    if !text.contains("# reqs") || !text.contains("# fails") {
        return None;
    }
    let columns = text.split_once("Name")?.1.replace('|', " ");
    Some(columns.split_whitespace().filter(|it| *it != "#").map(str::to_owned).collect())
}

/// A table of the console.
#[derive(Default)]
struct Table {
    columns: Vec<String>,
    rows: Rows,
    /// Where each name stands among them.
    places: BTreeMap<String, usize>,
    total: Option<Row>,
    /// Which percentiles there are, below their heading; none until their own head was read.
    percents: Option<Vec<f64>>,
}

impl Table {
    /// Whether it is that of the whole run.
    fn is_whole(&self) -> bool {
        self.percents.is_some()
    }

    fn take(&mut self, text: &str, line: usize) {
        if self.percents.is_none() {
            if text.starts_with(PERCENTILES) {
                self.percents = Some(Vec::new());
            } else {
                self.row(text, line);
            }
        } else if self.percents.as_ref().is_some_and(Vec::is_empty) {
            let percents = text.split(['|', ' ']).filter_map(|it| it.strip_suffix('%')?.parse().ok());
            self.percents = Some(percents.collect());
        } else {
            self.percentiles(text);
        }
    }

    /// `GET  /hello  4000  0(0.00%) |  13  3  147  12 |  66.71  0.00`.
    fn row(&mut self, text: &str, line: usize) {
        let bare = text.replace('|', " ");
        let words: Vec<&str> = bare.split_whitespace().collect();
        let Some(from) = words.len().checked_sub(self.columns.len()) else { return };
        let (name, figures) = words.split_at(from);
        let of = |column: &str| figures.get(self.columns.iter().position(|it| it == column)?).copied();
        let figure = |column: &str| of(column).and_then(|it| number(it, false));
        let requests = of("reqs").and_then(|it| it.parse::<u64>().ok());
        let failed = of("fails").and_then(|it| it.split_once('(')?.0.parse::<u64>().ok());
        let (Some(requests), Some(failed)) = (requests, failed) else { return };
        let name = name.join(" ");
        let mut row = Row {
            tool: Tool::Locust,
            line,
            requests: Some(requests),
            rate_per_s: figure("req/s"),
            mean_ms: figure("Avg"),
            min_ms: figure("Min"),
            max_ms: figure("Max"),
            ..Row::default()
        };
        // Versions without this column count what failed beside the requests.
        row.errors.bad_answers = of("failures/s").map(|_| failed);
        let median = figure("Med").or_else(|| figure("Median"));
        row.percentiles_ms.extend(median.map(|it| (50.0, rounded(it.value))));
        if is_total(&name) {
            self.total = Some(row);
            return;
        }
        let place = self.rows.kept.len();
        self.rows.push(Row { path: Some(name.clone()), ..row });
        if self.rows.left_out == 0 {
            self.places.insert(name, place);
        }
    }

    /// `GET  /hello  12  14  16 … 150  4000`: times, and the number of requests.
    fn percentiles(&mut self, text: &str) {
        let bare = text.replace('|', " ");
        let words: Vec<&str> = bare.split_whitespace().collect();
        let percents = self.percents.as_deref().unwrap_or_default();
        let Some(from) = words.len().checked_sub(percents.len() + 1) else { return };
        let (name, times) = words.split_at(from);
        let name = name.join(" ");
        let times: Vec<Figure> = times.iter().map_while(|it| number(it, false)).collect();
        if times.len() <= percents.len() {
            return;
        }
        let found = match self.places.get(&name) {
            Some(place) => self.rows.kept.get_mut(*place),
            None if is_total(&name) => self.total.as_mut(),
            None => None,
        };
        if let Some(row) = found {
            let ranks = percents.iter().zip(times).filter(|(percent, _)| (0.0..100.0).contains(*percent));
            row.percentiles_ms = ranks.map(|(percent, time)| (*percent, rounded(time.value))).collect();
        }
    }

    fn rows(self) -> Rows {
        let is_whole = self.is_whole();
        let Self { mut rows, total, .. } = self;
        if rows.kept.is_empty() {
            rows.extend(total);
        }
        for row in rows.kept.iter_mut().filter(|_| !is_whole) {
            // It is that of the last ten seconds.
            row.rate_per_s = None;
            row.missing.push("the table of percentiles, with which a run ends,");
        }
        rows
    }
}

/// Whether a row is that of all. It has no type, or `None`.
fn is_total(name: &str) -> bool {
    name.strip_prefix("None ").unwrap_or(name) == TOTAL
}

fn rounded(ms: f64) -> Figure {
    let step = ROUNDED_MS.into_iter().find(|(from, _)| ms >= *from).map_or(1.0, |(_, step)| step);
    Figure { value: ms, step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_as_exact_as_they_are_kept() {
        for (ms, step) in
            [(0.0, 1.0), (99.0, 1.0), (100.0, 10.0), (990.0, 10.0), (3400.0, 100.0), (59e3, 1e3)]
        {
            assert_eq!(rounded(ms), Figure { value: ms, step });
        }
    }
}
