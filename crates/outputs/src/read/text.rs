//! Outputs whose first line says by itself that they begin; and where an output that is read line by line was cut off.

use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::{Call, call_at};
use crate::row::Row;

/// So many foreign lines one behind another within an output, and it was cut off. Tools themselves print a warning of a line or two,
/// and a progress bar that is written to a file is several.
const FOREIGN_LINES_MAX: usize = 12;

/// Lines one behind another that are none of the tool's, blank ones left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Foreign(usize);

impl Foreign {
    /// Counts a line, and says how many there are.
    pub(super) fn count(&mut self, text: &str, is_taken: bool) -> usize {
        self.0 = if is_taken { 0 } else { self.0 + usize::from(!text.is_empty()) };
        self.0
    }

    /// Counts a line, and says whether the output was cut off above it.
    pub(super) fn cuts_off(&mut self, text: &str, is_taken: bool) -> bool {
        self.count(text, is_taken) > FOREIGN_LINES_MAX
    }
}

/// What was read so far of an output.
pub(super) trait Reading: Sized {
    /// How the tool is called.
    const TOOL: &'static str;

    /// Whether a line is the first one of an output, be it one of which the head is lost.
    fn begins(text: &str, current: Option<&Self>) -> bool;

    /// Of an output that begins in this line, from 1, with the command above it.
    fn open(line: usize, call: Option<Call>) -> Self;

    /// Takes a line, and says whether it may be one of the tool's.
    fn take(&mut self, text: &str) -> bool;

    /// Takes a line, and says whether the output ends with it.
    fn ends_with(&mut self, text: &str) -> bool;

    /// The row; `None` where the figures stand elsewhere.
    fn close(self) -> Option<Row>;
}

/// Reads all outputs of a tool in the text.
pub(super) fn read<R: Reading>(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut call: Option<Call> = None;
    let mut current: Option<R> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        if let Some(found) = call_at(&outline.lines, at, R::TOOL) {
            rows.extend(current.take().and_then(R::close));
            call = Some(found);
        } else if R::begins(line.text, current.as_ref()) {
            rows.extend(current.take().and_then(R::close));
            let mut reading = R::open(line.number, call.take());
            reading.take(line.text);
            current = Some(reading);
        } else if let Some(reading) = &mut current
            && reading.ends_with(line.text)
        {
            rows.extend(current.take().and_then(R::close));
        }
    }
    rows.extend(current.and_then(R::close));
    rows
}

/// A number in brackets, and what follows.
pub(super) fn bracketed(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest.trim()))
}

/// `[200]  1234 responses`, as hey and oha print a status: whether it is such a line.
pub(super) fn responses(text: &str, row: &mut Row) -> bool {
    let Some((status, rest)) = bracketed(text) else { return false };
    let count = rest.strip_suffix("responses").and_then(|it| it.trim().parse::<u64>().ok());
    if let (Ok(status), Some(count)) = (u16::try_from(status), count) {
        row.statuses.insert(status, count);
    }
    count.is_some()
}
