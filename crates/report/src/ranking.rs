//! An experiment's ranking, for a person.

pub(crate) mod choice;
mod drivers;
mod notes;
pub(crate) mod order;
pub(crate) mod rows;

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{CellExplanation, audit, explain_cells};
use record::{Driver, Manifest, Trial, TrialResult};
use unicode_width::UnicodeWidthStr;

use self::choice::{choice_text, choices};
use self::order::Order;
use self::rows::{Cell, Rows, TableName, tables};
use crate::figure::{NONE, figure, indented, micros_bare, name, per_s, plain_line};

/// A run as read from its directory.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// What it was.
    pub manifest: &'a Manifest,
    /// What was measured.
    pub trials: &'a [Trial],
    /// Where it lies, as the user would name it.
    pub dir: &'a str,
}

/// A table of a run with the order of its rows.
pub(crate) struct Ranking<'a> {
    pub(crate) name: TableName<'a>,
    pub(crate) rows: Rows<'a>,
    pub(crate) order: Order,
    /// Whether its blocks ended when claims were decided, so that no test counts them, however many they are.
    pub(crate) ended_by_claims: bool,
}

impl<'a> Ranking<'a> {
    /// Every table of a run; `is_untested` as [`Order::of`] has it.
    pub(crate) fn all(trials: &'a [Trial], is_untested: bool) -> Vec<Self> {
        let of = |name| {
            let rows = Rows::of(trials, name);
            Self { name, order: Order::of(&rows, is_untested), rows, ended_by_claims: is_untested }
        };
        tables(trials).into_iter().map(of).collect()
    }
}

/// The ranking of every round, and what is to be known to read it.
pub fn ranking_text(run: &RunReport<'_>) -> String {
    let mut text = format!("{}\n", plain_line(&run.manifest.title));
    let explained = explain_cells(run.trials, run.manifest.machine.cores);
    let all = Ranking::all(run.trials, run.manifest.ends_when_decided());
    let names: Vec<TableName<'_>> = all.iter().map(|it| it.name).collect();
    for choice in choices(&all, run.trials, &explained) {
        text.push_str(&choice_text(&choice));
    }
    for (index, Ranking { name, rows, order, .. }) in all.iter().enumerate() {
        let body = if rows.cells.is_empty() {
            "Nothing was measured here.".into()
        } else {
            let why = |stack: &str| {
                let named = name.cell(stack);
                explained.iter().find(|cell| cell.is_of(&named))
            };
            let body = table(rows, order, name.driver, why);
            let beside = notes::beside(rows, order);
            format!("{body}{beside}")
        };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "\n{}\n{body}", name.heading());
        let next = names.get(index + 1);
        if next.is_none_or(|next| (next.round, next.load) != (name.round, name.load)) {
            text.push_str(&drivers::side_by_side(run.trials, &names, *name));
        }
    }
    if run.trials.is_empty() {
        text.push_str("\nNothing was measured: no trial was finished.\n");
    }
    let orders: Vec<&Order> = all.iter().filter(|it| !it.rows.cells.is_empty()).map(|it| &it.order).collect();
    text.push_str(&notes::notes(run, &orders));
    text
}

const fn header(range: &str, driver: Driver) -> [&str; 9] {
    // Another driver does not know when a request was due.
    let [p50, p99, p99_9] = match driver {
        Driver::Proofload => ["p50", "p99", "p99.9"],
        Driver::Wrk | Driver::Jmeter => ["service\np50", "service\np99", "service\np99.9"],
    };
    ["#", "stack", "goodput", range, p50, p99, p99_9, "server\nus/req", "client\nus/req"]
}
/// The columns that are numbers.
const NUMBERS: std::ops::Range<usize> = 2..9;
/// How wide a table's text may be, and how far it is indented below a row.
const WIDTH: usize = 100;
const INDENT: &str = "      ";

fn table<'a>(
    rows: &Rows<'_>,
    order: &Order,
    driver: Driver,
    why: impl Fn(&str) -> Option<&'a CellExplanation>,
) -> String {
    let mut table = Table::new();
    let header = header(order.range_title(), driver);
    table.load_style(comfy_table::presets::NOTHING).set_header(header);
    let mut below = Vec::new();
    for place in order.places() {
        let cell = &rows.cells[place.index];
        let row = row(cell, Order::rank(&place), order.range(&place));
        below.push((lines_of(&row), limit(cell, why(cell.stack))));
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let table = table.trim_fmt();
    let mut lines = table.lines();
    let mut text: Vec<String> = lines.by_ref().take(lines_of(&header)).map(str::to_owned).collect();
    for (height, limit) in below {
        text.extend(lines.by_ref().take(height).map(str::to_owned));
        text.extend(limit);
    }
    text.join("\n")
}

/// How many lines the highest of them has.
fn lines_of(cells: &[impl AsRef<str>]) -> usize {
    cells.iter().map(|cell| cell.as_ref().lines().count()).max().unwrap_or(1)
}

/// What stands below a row: what held the stack back, what speaks against its figures, and what failed.
fn limit(cell: &Cell<'_>, why: Option<&CellExplanation>) -> Vec<String> {
    let phrase = why.map_or_else(|| NONE.into(), |why| plain_line(&why.explanation.first().phrase));
    let doubts = cell.doubts();
    // What the verdict says need not be doubted once more.
    let others: Vec<&str> =
        doubts.iter().map(String::as_str).filter(|doubt| !phrase.starts_with(doubt)).collect();
    let doubts = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    let errors = cell.failures_text().map_or_else(String::new, |errors| format!("; errors: {errors}"));
    wrapped(&format!("limit: {phrase}{doubts}{errors}"), INDENT)
}

/// A text in lines of at most [`WIDTH`], indented, those behind the first by more; a word that is longer than a line has a line of
/// its own.
fn wrapped(text: &str, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            // A unit stays with its number, for which there is room.
            Some(line) if word.starts_with('%') || line.width() + 1 + word.width() + " %,".len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}  {word}")),
            None => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

fn row(cell: &Cell<'_>, rank: String, range: String) -> Vec<String> {
    let (typical, times) = (cell.typical(), &cell.times);
    let by =
        typical.load.driver.as_ref().map_or_else(String::new, |it| format!("\nby {}", plain_line(&it.name)));
    vec![
        rank,
        name(cell.stack) + &by,
        per_s(cell.goodput.median),
        range,
        figure(times, "p50"),
        figure(times, "p99"),
        figure(times, "p99_9"),
        micros_bare(cell.server_us_per_request()),
        micros_bare(cell.client_us_per_request()),
    ]
}

/// One finished trial in a line.
#[derive(Debug)]
pub struct TrialLine<'a>(pub &'a Trial);

impl std::fmt::Display for TrialLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0.result {
            TrialResult::Measured(measured) => {
                let load = &measured.load;
                write!(
                    f,
                    "{}, p99 {}, {}",
                    per_s(load.goodput_per_s),
                    figure(load.times(), "p99"),
                    audit(load).verdict
                )
            }
            TrialResult::Failed { error } => write!(f, "failed: {}", indented(error)),
        }
    }
}
