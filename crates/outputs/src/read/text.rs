//! Outputs whose first line says by itself that they begin.

use crate::outline::Outline;
use crate::read::Rows;
use crate::read::call::{Call, call_at};
use crate::row::Row;

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

    fn close(self) -> Row;
}

/// Reads all outputs of a tool in the text.
pub(super) fn read<R: Reading>(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut call: Option<Call> = None;
    let mut current: Option<R> = None;
    for (at, line) in outline.lines.iter().enumerate() {
        if let Some(found) = call_at(&outline.lines, at, R::TOOL) {
            rows.extend(current.take().map(R::close));
            call = Some(found);
        } else if R::begins(line.text, current.as_ref()) {
            rows.extend(current.take().map(R::close));
            let mut reading = R::open(line.number, call.take());
            reading.take(line.text);
            current = Some(reading);
        } else if let Some(reading) = &mut current
            && reading.ends_with(line.text)
        {
            rows.extend(current.take().map(R::close));
        }
    }
    rows.extend(current.map(R::close));
    rows
}
