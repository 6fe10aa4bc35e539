//! JMeter's Aggregate Report and Summary Report: saved as CSV, pasted as Markdown, or with tabs.

use crate::number::{Figure, is_whole, number};
use crate::outline::{Outline, Plan};
use crate::read::Rows;
use crate::row::{Row, Tool};

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

/// The columns of a table.
struct Table {
    separator: char,
    names: Vec<String>,
}

impl Table {
    fn of_header(text: &str) -> Option<Self> {
        // Nearly every line is none, and need not be taken apart.
        if !text.contains("# Samples") {
            return None;
        }
        let separator = ['|', '\t', ';', ','].into_iter().find(|it| text.contains(*it))?;
        let names = cells(text, separator);
        let has = |name: &str| names.iter().any(|it| it == name);
        (has("Label") && has("# Samples") && has("Average")).then_some(Self { separator, names })
    }

    fn row(&self, text: &str, line: usize, plan: Plan) -> Option<Row> {
        let cells = cells(text, self.separator);
        let is_rule = cells.iter().all(|it| it.chars().all(|it| "-: ".contains(it)));
        let at = |name: &str| {
            let index = self.names.iter().position(|it| it == name)?;
            cells.get(index).map(String::as_str).filter(|it| !it.is_empty())
        };
        let label = at("Label")?;
        // The total repeats a table of one label, and mixes those of several.
        if is_rule || label == "TOTAL" {
            return None;
        }
        let mut row = Row { tool: Tool::Jmeter, line, ..Row::default() };
        if cells.len() < self.names.len() {
            row.missing.push("columns at the end of the line");
        }
        // A JMeter of another country separates by commas all the same, and quotes.
        let decimal_comma = self.separator == ';' || at("Throughput").is_some_and(has_decimal_comma);
        let mut unreadable = Vec::new();
        let mut figure = |name: &str| {
            let text = at(name)?;
            let read = number(text.trim_end_matches('%'), decimal_comma);
            if read.is_none() {
                unreadable.push(text.to_owned());
            }
            read
        };
        row.requests = figure("# Samples").filter(|it| it.value >= 0.0).map(|it| it.value as u64);
        row.mean_ms = figure("Average");
        row.min_ms = figure("Min");
        row.max_ms = figure("Max");
        row.stdev_ms = figure("Std. Dev.");
        for (name, percent) in [("Median", 50.0), ("90% Line", 90.0), ("95% Line", 95.0), ("99% Line", 99.0)]
        {
            row.percentiles_ms.extend(figure(name).map(|time| (percent, time)));
        }
        row.rate_per_s = figure("Throughput");
        let error_share = figure("Error %").map(|it| it.value / 100.0);
        row.errors.bad_answers =
            row.requests.zip(error_share).map(|(requests, share)| (requests as f64 * share).round() as u64);
        let received = figure("Received KB/sec").or_else(|| figure("KB/sec"));
        row.answer_bytes = answer_bytes(received, row.rate_per_s);
        row.unreadable = unreadable;
        if label != "HTTP Request" {
            row.system = Some(label.to_owned());
        }
        with_plan(&mut row, plan);
        Some(row)
    }
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

/// Whether a throughput, of which JMeter prints five decimals, has a comma before them.
fn has_decimal_comma(text: &str) -> bool {
    !text.contains('.') && text.rsplit_once(',').is_some_and(|(_, decimals)| decimals.len() == 5)
}
