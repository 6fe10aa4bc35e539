//! Says of anyone's load-test output what can't be true or can't be known.
//!
//! Rows in, findings out. [`read`] has the rows from `outputs`, and judges our own records by `explain`; [`audit`] holds
//! each row against itself and against the others.
//!
//! Invariants: pure, no I/O; never panics, whatever the text is. What is sound is not accused: every check allows for the
//! digits that were printed, and a gap that has innocent causes is a [`Level::Note`] at most.
#![forbid(unsafe_code)]

mod findings;
mod records;

pub use findings::{AUDIT_VERSION, Audit, Counts, FileAudit, Finding, Kind, Level, audit};
pub use outputs::{
    Comparison, Document, EXPECTED, Errors, Figure, Launch, OfAb, OfK6, ROWS_MAX, Row, Summary, Tool,
    Unrecognised,
};

/// Reads all outputs that `text` holds, our own records included.
pub fn read(name: &str, text: &str) -> Result<Document, Unrecognised> {
    outputs::read(name, text, records::read)
}
