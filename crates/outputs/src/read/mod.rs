//! One reader a format. Which it is follows from the content, never from the name.

mod ab;
mod autocannon;
mod bombardier;
mod call;
mod cells;
mod command;
mod fortio;
mod gatling;
mod h2load;
mod hey;
mod jmeter;
mod json;
mod jtl;
mod k6;
mod locust;
mod oha;
mod prefix;
mod sb;
mod siege;
mod summariser;
mod text;
mod unread;
mod vegeta;
mod wrk;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

pub use self::command::path_of;
pub use self::jtl::{JtlSamples, jtl_samples};
use crate::document::{Comparison, Document, Launch};
use crate::outline::{Outline, delay_of_url};
use crate::row::{Row, Tool};

/// Most rows that are read of a file. A longer one is a log of something else than runs; what is beyond is counted.
pub const ROWS_MAX: usize = 5000;
/// The longest text that is read at once, bytes, and its most lines; only a JTL, which is summed up line by line, may
/// be longer.
const TEXT_BYTES_MAX: usize = 32 << 20;
const LINES_MAX: usize = 2_000_000;
/// Begins what steers a terminal.
const ESCAPE: char = '\u{1b}';
/// What is recognised, in words.
pub const EXPECTED: &str = "the output of wrk, wrk2, sb, h2load, ab, hey, oha, k6, vegeta, bombardier, autocannon, Locust, siege \
     or Gatling; a JMeter JTL, its aggregate or summary table as CSV or Markdown, the lines of its Summariser, or \
     statistics.json; Locust's _stats.csv; JSON of oha (--output-format json), k6 (--summary-export, handleSummary), vegeta \
     (-type=json), bombardier (-o json), autocannon (-j), Fortio (-json), siege (-j) or Gatling (global_stats.json); \
     Proofload's own records; or a table as published/figures.csv";

/// Reads an object of JSON as one of Proofload's own records; `None` where it is none.
pub type OwnRecords = fn(&Value) -> Option<Vec<Row>>;

/// Why nothing could be read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecognised {
    /// The file.
    pub name: String,
    /// What is the matter, and where.
    pub reason: String,
}

impl fmt::Display for Unrecognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; expected is {EXPECTED}", self.name, self.reason)
    }
}

impl std::error::Error for Unrecognised {}

/// Rows, up to [`ROWS_MAX`] of them.
#[derive(Debug, Default)]
struct Rows {
    kept: Vec<Row>,
    left_out: usize,
}

impl Rows {
    fn push(&mut self, row: Row) {
        if self.kept.len() < ROWS_MAX {
            self.kept.push(row);
        } else {
            self.left_out += 1;
        }
    }

    /// The row that was pushed last, if it was kept.
    fn last_mut(&mut self) -> Option<&mut Row> {
        if self.left_out > 0 { None } else { self.kept.last_mut() }
    }

    fn append(&mut self, more: Self) {
        more.kept.into_iter().for_each(|row| self.push(row));
        self.left_out += more.left_out;
    }
}

impl Extend<Row> for Rows {
    fn extend<T: IntoIterator<Item = Row>>(&mut self, rows: T) {
        rows.into_iter().for_each(|row| self.push(row));
    }
}

/// The first output of wrk in `text`, which is all of what it printed; `None` where there is none.
pub fn wrk_row(text: &str) -> Option<Row> {
    wrk::read(&Outline::new(text)).kept.into_iter().next()
}

/// Reads all outputs that `text` holds; `own` reads our own records among them.
pub fn read(name: &str, text: &str, own: OwnRecords) -> Result<Document, Unrecognised> {
    let fail = |reason: String| Unrecognised { name: name.to_owned(), reason };
    let document = |rows: Rows| {
        let (name, rows_left_out) = (name.to_owned(), rows.left_out);
        finish(Document { name, rows: rows.kept, rows_left_out, ..Document::default() })
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(fail("the file is empty".into()));
    }
    if let Some(rows) = jtl::read(text).map_err(fail)? {
        return Ok(document(rows));
    }
    if text.len() > TEXT_BYTES_MAX || text.lines().nth(LINES_MAX).is_some() {
        let mib = TEXT_BYTES_MAX >> 20;
        return Err(fail(format!(
            "it is longer than {mib} MiB or {LINES_MAX} lines; cut out the runs in question"
        )));
    }
    let bare = without_escapes(text);
    let text: &str = &bare;
    if let Some(rows) = cells::read(text).map_err(fail)? {
        return Ok(document(rows));
    }
    if let Some(rows) = locust::read(text).map_err(fail)? {
        return Ok(document(rows));
    }
    let mut found = Found::default();
    for of_name in prefix::without_prefixes(text) {
        found.append(Found::of(&of_name, own));
    }
    if found.rows.kept.is_empty() {
        // What all lines have before them is no prefix then, but the first column of a table, say.
        found = Found::of(text, own);
    }
    let Found { mut rows, comparisons, launches, problem } = found;
    if rows.kept.is_empty() {
        let known = unread::told(text).map(str::to_owned).or(problem);
        return Err(fail(known.unwrap_or_else(|| "no load-test output was found in it".into())));
    }
    rows.kept.sort_by_key(|row| row.line);
    Ok(Document { comparisons, launches, ..document(rows) })
}

/// What a text holds.
#[derive(Default)]
struct Found {
    rows: Rows,
    comparisons: Vec<Comparison>,
    launches: Vec<Launch>,
    /// What was wrong with what could not be used.
    problem: Option<String>,
}

impl Found {
    fn of(text: &str, own: OwnRecords) -> Self {
        let outline = Outline::new(text);
        let json::Found { mut rows, problem } = json::read(text, &outline, own);
        rows.append(wrk::read(&outline));
        rows.append(sb::read(&outline));
        rows.append(h2load::read(&outline));
        rows.append(ab::read(&outline));
        rows.append(hey::read(&outline));
        rows.append(vegeta::read(&outline));
        rows.append(bombardier::read(&outline));
        rows.append(autocannon::read(&outline));
        rows.append(oha::read_text(&outline));
        rows.append(k6::read_text(&outline));
        rows.append(siege::read(&outline));
        rows.append(gatling::read(&outline));
        rows.append(jmeter::read(&outline));
        rows.append(summariser::read(&outline));
        rows.append(locust::read_text(&outline));
        place(&mut rows.kept, &outline);
        Self { rows, comparisons: outline.comparisons(), launches: outline.launches(), problem }
    }

    fn append(&mut self, more: Self) {
        self.rows.append(more.rows);
        self.comparisons.extend(more.comparisons);
        self.launches.extend(more.launches);
    }
}

/// The text without the sequences that colour it on a terminal: logs of build servers have them, and recordings of terminals.
fn without_escapes(text: &str) -> Cow<'_, str> {
    let Some((before, rest)) = text.split_once(ESCAPE) else { return Cow::Borrowed(text) };
    let mut bare = String::with_capacity(text.len());
    bare.push_str(before);
    rest.split(ESCAPE).for_each(|sequence| bare.push_str(behind_sequence(sequence)));
    Cow::Owned(bare)
}

/// What stands behind the sequence that begins `text`, of which the escape character is taken off. One that a line end cuts off
/// takes nothing of the next line with it.
fn behind_sequence(text: &str) -> &str {
    let last = match text.strip_prefix('[') {
        Some(parameters) => parameters.trim_start_matches(|it: char| matches!(it, ' '..='?')),
        None => text.trim_start_matches(|it: char| matches!(it, ' '..='/')),
    };
    last.strip_prefix(|it: char| matches!(it, '0'..='~')).unwrap_or(last)
}

/// Gives rows what stands around them.
fn place(rows: &mut [Row], outline: &Outline<'_>) {
    for row in rows {
        let Some(line) = outline.lines.get(row.line.saturating_sub(1)) else { continue };
        let section = outline.section(line);
        row.system = row.system.take().or_else(|| section.system.clone());
        row.round = row.round.take().or_else(|| section.round.clone());
        if row.tool != Tool::Proofload {
            row.service_time_ms = outline.service_time_ms(row.line);
        }
    }
}

fn finish(mut document: Document) -> Document {
    for row in &mut document.rows {
        if let Some(ms) = row.path.as_deref().and_then(delay_of_url) {
            row.service_time_ms = Some((ms, "its URL".into()));
        }
    }
    document
}
