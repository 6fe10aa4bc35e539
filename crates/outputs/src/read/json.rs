//! JSON within a text: whole files, one object a line, or pasted between prose.

use serde_json::Value;

use crate::outline::Outline;
use crate::read::call::{Call, call_above};
use crate::read::command::command_at;
use crate::read::{
    OwnRecords, ROWS_MAX, Rows, autocannon, bombardier, fortio, gatling, jmeter, k6, oha, siege, vegeta,
};
use crate::row::{Row, Tool};

/// Most places that are tried as the begin of JSON in vain, where a try may have cost the length of the rest.
const FAILED_TRIES_MAX: usize = 32;
/// What fails within so many columns of its first line has cost nothing worth counting: logs have lines in braces.
const CHEAP_COLUMNS_MAX: usize = 4096;
/// The longest object that is read, bytes. What a tool prints of a run has some kilobytes; in memory an object of many small
/// ones takes eighty times its length.
const OBJECT_BYTES_MAX: usize = 8 << 20;
/// So many lines above its output a command may stand.
const COMMAND_LINES_MAX: usize = 8;

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub rows: Rows,
    /// What was wrong with JSON that could not be used.
    pub problem: Option<String>,
}

/// All objects in `text` that a tool printed.
pub(super) fn read(text: &str, outline: &Outline<'_>, own: OwnRecords) -> Found {
    let mut found = Found::default();
    let (mut failed, mut from, mut line) = (0, 0, 0);
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        line += 1;
        let begin = offset;
        offset += raw.len();
        let is_object = raw.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        if begin < from || !is_object || failed >= FAILED_TRIES_MAX || found.rows.left_out > ROWS_MAX {
            continue;
        }
        let start = begin + raw.find('{').unwrap_or(0);
        let most = text.len().min(start.saturating_add(OBJECT_BYTES_MAX));
        let end = (0..=most).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        let mut values = serde_json::Deserializer::from_str(&text[start..end]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                from = start + values.byte_offset();
                take(&value, line, own, &mut found);
            }
            Some(Err(error)) => {
                failed += usize::from(is_costly(&error));
                let problem = problem(&error, line, end < text.len());
                found.problem.get_or_insert(problem);
            }
            None => {}
        }
    }
    for row in &mut found.rows.kept {
        with_command(row, outline);
    }
    found
}

/// Whether much was read before it failed.
fn is_costly(error: &serde_json::Error) -> bool {
    error.is_eof() || error.line() > 1 || error.column() > CHEAP_COLUMNS_MAX
}

fn problem(error: &serde_json::Error, line: usize, more: bool) -> String {
    let at = line + error.line().saturating_sub(1);
    if error.is_eof() && more {
        format!("the JSON that begins in line {line} is longer than {} MiB", OBJECT_BYTES_MAX >> 20)
    } else if error.is_eof() {
        format!("the JSON that begins in line {line} ends before it is complete: the file was cut off")
    } else {
        format!("line {at}: what begins as JSON in line {line} is none")
    }
}

/// Reads an object as that of one tool; `None` where it is none of its own.
type Reader = fn(&Value) -> Option<Row>;
const READERS: [Reader; 8] = [
    oha::read,
    k6::read,
    vegeta::read_json,
    bombardier::read_json,
    autocannon::read_json,
    fortio::read_json,
    siege::read_json,
    gatling::read_json,
];

/// Takes what is known.
fn take(value: &Value, line: usize, own: OwnRecords, found: &mut Found) {
    let rows = READERS.into_iter().find_map(|read| read(value)).map(|row| vec![row]);
    let Some(rows) = rows.or_else(|| jmeter::read_json(value)).or_else(|| own(value)) else {
        found.problem.get_or_insert_with(|| {
            format!(
                "the JSON in line {line} is not one that oha, k6, vegeta, bombardier, autocannon, Fortio, siege, Gatling, JMeter \
                 or Proofload prints"
            )
        });
        return;
    };
    found.rows.extend(rows.into_iter().map(|row| Row { line, ..row }));
}

/// oha's JSON does not say how many connections there were, nor vegeta's which rate was asked for; a command above it does.
fn with_command(row: &mut Row, outline: &Outline<'_>) {
    let with_call: Option<fn(&mut Row, &Call)> = match row.tool {
        Tool::Vegeta => Some(vegeta::with_call),
        Tool::Autocannon => Some(autocannon::with_call),
        Tool::Siege => Some(siege::with_call),
        // They tell all by themselves, or nothing that a command has.
        Tool::Bombardier | Tool::Gatling | Tool::Jmeter => return,
        _ => None,
    };
    if let Some(with_call) = with_call {
        if let Some(call) = call_above(&outline.lines, row.line, row.tool.name()) {
            with_call(row, &call);
        }
        return;
    }
    let end = row.line.saturating_sub(1).min(outline.lines.len());
    let mut near = (end.saturating_sub(COMMAND_LINES_MAX)..end).rev();
    let tool = row.tool.name();
    let Some(asked) = near.find_map(|at| command_at(&outline.lines, at, &[tool])) else { return };
    row.connections = row.connections.or(asked.connections);
    row.streams = row.streams.or(asked.parallel);
    row.asked_per_s = row.asked_per_s.or(asked.rate_per_s);
    if row.tool == Tool::Oha {
        row.duration_s = row.duration_s.or(asked.duration_s);
        row.may_wait |= call_above(&outline.lines, row.line, tool).is_some_and(|it| oha::waits(&it));
    }
    row.path = row.path.take().or_else(|| asked.url.as_deref().and_then(super::command::path_of));
}

/// A finite number at a place of a value.
pub(super) fn number_at(value: &Value, path: &[&str]) -> Option<f64> {
    let found = path.iter().try_fold(value, |at, name| at.get(name))?;
    found.as_f64().filter(|it| it.is_finite())
}

/// A count at a place of a value.
pub(super) fn count_at(value: &Value, path: &[&str]) -> Option<u64> {
    number_at(value, path).filter(|it| *it >= 0.0 && *it < 1e18).map(|it| it as u64)
}
