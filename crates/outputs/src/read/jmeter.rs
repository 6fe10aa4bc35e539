//! JMeter's Aggregate Report and Summary Report: saved as CSV, pasted as Markdown, or with tabs; and `statistics.json` of its
//! dashboard.
//!
//! The names of the columns are those of its user interface in its language (`messages_*.properties`); a report of its command
//! line has their keys. The dashboard takes percentiles of the last samples alone (`PercentileAggregator.java`).

use serde_json::Value;

use crate::number::{Figure, is_whole, number};
use crate::outline::{Outline, Plan};
use crate::read::Rows;
use crate::read::json::{count_at, number_at};
use crate::row::{Row, Tool};

/// What a line has that names the columns: the number of samples, in every language that is read.
const COUNTS: [&str; 5] = ["# Samples", "#Samples", "aggregate_report_count", "样本", "Echantillons"];
/// Names of columns without blanks, in small letters: in English, as keys, in Chinese and in French.
const NAMES: [(Column, &[&str]); 10] = [
    (Column::Label, &["label", "samplerlabel", "标签", "libellé"]),
    (Column::Count, &["samples", "aggregatereportcount", "样本", "echantillons"]),
    (Column::Mean, &["average", "平均值", "moyenne"]),
    (Column::Percentile(50.0), &["median", "aggregatereportmedian", "中位数", "médiane"]),
    (Column::Min, &["min", "aggregatereportmin", "最小值"]),
    (Column::Max, &["max", "aggregatereportmax", "最大值"]),
    (Column::Deviation, &["std.dev.", "aggregatereportstddev", "标准偏差", "ecarttype"]),
    (Column::Errors, &["error%", "aggregatereporterror%", "异常%", "%erreur"]),
    (Column::Rate, &["throughput", "aggregatereportrate", "吞吐量", "débit"]),
    (Column::Received, &["receivedkbsec", "kbsec", "aggregatereportbandwidth", "接收kbsec", "kosecreçus"]),
];
/// What the row of all is called. It repeats a table of one label, and mixes those of several.
const TOTALS: [&str; 3] = ["TOTAL", "Total", "总体"];
/// What a request is called that nobody named.
const UNNAMED: [&str; 3] = ["HTTP Request", "HTTP请求", "Requête HTTP"];
/// Of so many samples, the last ones, the dashboard takes percentiles, unless it is told otherwise.
const WINDOW: u64 = 20_000;
/// Percentiles of `statistics.json`, if `aggregate_rpt_pct1` and so on name no others.
const PERCENTILES: [(&str, f64); 4] =
    [("medianResTime", 50.0), ("pct1ResTime", 90.0), ("pct2ResTime", 95.0), ("pct3ResTime", 99.0)];

/// Reads all tables of JMeter in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let plan = outline.plan();
    let mut rows = Rows::default();
    let mut table: Option<Table> = None;
    for line in &outline.lines {
        if let Some(found) = Table::of_header(line.text) {
            table = Some(found);
        } else if let Some(columns) = &table {
            if line.text.is_empty() {
                table = None;
                continue;
            }
            rows.extend(columns.row(line.text, line.number, plan));
        }
    }
    rows
}

/// What a column tells.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Label,
    Count,
    Mean,
    Min,
    Max,
    Deviation,
    Errors,
    Rate,
    Received,
    Percentile(f64),
    Other,
}

impl Column {
    fn of(name: &str) -> Self {
        let is_kept = |it: &char| it.is_alphanumeric() || matches!(*it, '%' | '.');
        let plain: String = name.chars().filter(is_kept).flat_map(char::to_lowercase).collect();
        if let Some((column, _)) = NAMES.iter().find(|(_, names)| names.contains(&plain.as_str())) {
            return *column;
        }
        // `90% Line`, `90% 百分位`, `aggregate_report_90%_line`: which ones there are can be set.
        let rank = plain.strip_prefix("aggregatereport").unwrap_or(&plain).split_once('%');
        let percent = rank.and_then(|(percent, _)| number(percent, false)).map(|it| it.value);
        percent.filter(|it| *it > 0.0 && *it < 100.0).map_or(Self::Other, Self::Percentile)
    }
}

/// The columns of a table.
struct Table {
    separator: char,
    columns: Vec<Column>,
}

impl Table {
    fn of_header(text: &str) -> Option<Self> {
        // Nearly every line is none, and need not be taken apart.
        if !COUNTS.iter().any(|it| text.contains(it)) {
            return None;
        }
        let separator = ['|', '\t', ';', ','].into_iter().find(|it| text.contains(*it))?;
        let columns: Vec<Column> = cells(text, separator).iter().map(|it| Column::of(it)).collect();
        let needed = [Column::Label, Column::Count, Column::Mean];
        needed.iter().all(|it| columns.contains(it)).then_some(Self { separator, columns })
    }

    fn row(&self, text: &str, line: usize, plan: Plan) -> Option<Row> {
        let cells = cells(text, self.separator);
        let is_rule = cells.iter().all(|it| it.chars().all(|it| "-: ".contains(it)));
        let at = |column: Column| {
            let index = self.columns.iter().position(|it| *it == column)?;
            cells.get(index).map(String::as_str).filter(|it| !it.is_empty())
        };
        let label = at(Column::Label)?;
        if is_rule || TOTALS.contains(&label) {
            return None;
        }
        let mut row = Row { tool: Tool::Jmeter, line, path: named(label), ..Row::default() };
        if cells.len() < self.columns.len() {
            row.missing.push("columns at the end of the line");
        }
        // A JMeter of another country separates by commas all the same, and quotes.
        let decimal_comma = self.separator == ';' || at(Column::Rate).is_some_and(has_decimal_comma);
        let mut unreadable = Vec::new();
        let mut figure = |column: Column| {
            let text = at(column)?;
            let read = number(text.trim_end_matches('%'), decimal_comma);
            if read.is_none() {
                unreadable.push(text.to_owned());
            }
            read
        };
        row.requests = figure(Column::Count).filter(|it| it.value >= 0.0).map(|it| it.value as u64);
        row.mean_ms = figure(Column::Mean);
        row.min_ms = figure(Column::Min);
        row.max_ms = figure(Column::Max);
        row.stdev_ms = figure(Column::Deviation);
        for column in &self.columns {
            if let Column::Percentile(percent) = column {
                row.percentiles_ms.extend(figure(*column).map(|time| (*percent, time)));
            }
        }
        row.rate_per_s = figure(Column::Rate);
        let error_share = figure(Column::Errors).map(|it| it.value / 100.0);
        row.errors.bad_answers =
            row.requests.zip(error_share).map(|(requests, share)| (requests as f64 * share).round() as u64);
        row.answer_bytes = answer_bytes(figure(Column::Received), row.rate_per_s);
        row.unreadable = unreadable;
        with_plan(&mut row, plan);
        Some(row)
    }
}

/// A label names a request of a plan, and no system: those of one run are no contest.
fn named(label: &str) -> Option<String> {
    (!UNNAMED.contains(&label)).then(|| label.to_owned())
}

/// Received KB (of 1024 bytes) a second over requests a second.
fn answer_bytes(received: Option<Figure>, rate: Option<Figure>) -> Option<Figure> {
    let (received, rate) = (received?, rate.filter(|it| it.value > 0.0)?);
    let value = received.value * 1024.0 / rate.value;
    Some(Figure { value, step: value * (received.slack() + rate.slack()) })
}

/// Takes the plan that the text tells of, if its requests are those of the row.
fn with_plan(row: &mut Row, plan: Plan) {
    let (Some(users), Some(loops), Some(requests)) = (plan.users, plan.loops, row.requests) else { return };
    if (f64::from(users) * loops - requests as f64).abs() < 0.5 {
        row.users = Some(users);
        row.connections = Some(users);
        row.loops = Some(loops);
        row.is_planned = is_whole(loops);
        row.ramp_s = plan.ramp_s;
    }
}

/// The cells of a line. A quoted one may hold the separator, as a saved CSV has it.
fn cells(text: &str, separator: char) -> Vec<String> {
    let text = if separator == '|' { text.trim_matches('|') } else { text };
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for char in text.chars() {
        match char {
            '"' => is_quoted = !is_quoted,
            it if it == separator && !is_quoted => cells.push(String::new()),
            it => cells.last_mut().expect("there is one from the start").push(it),
        }
    }
    cells.into_iter().map(|it| it.trim().to_owned()).collect()
}

/// Whether a throughput, of which JMeter prints one decimal or five, has a comma before them.
fn has_decimal_comma(text: &str) -> bool {
    !text.contains('.') && text.rsplit_once(',').is_some_and(|(_, decimals)| decimals.len() != 3)
}

/// The rows of `statistics.json`, one a label; `None` where it is none.
pub(super) fn read_json(value: &Value) -> Option<Vec<Row>> {
    let labels = value.as_object().filter(|it| !it.is_empty())?;
    let rows = labels.iter().map(|(label, figures)| Some((label.as_str(), of_statistics(label, figures)?)));
    let rows: Vec<(&str, Row)> = rows.collect::<Option<_>>()?;
    let is_alone = rows.len() == 1;
    let kept = rows.into_iter().filter(|(label, _)| is_alone || !TOTALS.contains(label));
    Some(kept.map(|(_, row)| row).collect())
}

fn of_statistics(label: &str, value: &Value) -> Option<Row> {
    let requests = count_at(value, &["sampleCount"])?;
    let failed = count_at(value, &["errorCount"])?;
    let figure = |name: &str| number_at(value, &[name]).and_then(Figure::of_json);
    // It measures whole milliseconds.
    let time = |name: &str| figure(name).map(|it| Figure { step: 1.0, ..it });
    let rate = figure("throughput");
    let mut row = Row {
        tool: Tool::Jmeter,
        path: named(label).filter(|it| !TOTALS.contains(&it.as_str())),
        requests: Some(requests),
        rate_per_s: rate,
        mean_ms: time("meanResTime"),
        min_ms: time("minResTime"),
        max_ms: time("maxResTime"),
        kept: Some(WINDOW).filter(|kept| requests > *kept),
        answer_bytes: answer_bytes(figure("receivedKBytesPerSec"), rate),
        ..Row::default()
    };
    for (name, percent) in PERCENTILES {
        row.percentiles_ms.extend(time(name).map(|time| (percent, time)));
    }
    row.errors.bad_answers = Some(failed);
    if row.mean_ms.is_none() {
        row.missing.push("`meanResTime`");
    }
    Some(row)
}
