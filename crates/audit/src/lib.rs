//! Says of anyone's load-test output what can't be true or can't be known.
//!
//! Text in, rows and findings out. [`read`] recognises the output of wrk, wrk2, SuperBenchmarker, JMeter, oha, k6
//! and h2load, our own records, and a table of published cells; many in one file, with prose in between.
//! [`audit`] holds each row against itself and against the others.
//!
//! Invariants: pure, no I/O; never panics, whatever the text is; bounded work (see [`ROWS_MAX`]). What is sound is
//! not accused: every check allows for the digits that were printed, and a gap that has innocent causes is a
//! [`Level::Note`] at most.
#![forbid(unsafe_code)]

mod document;
mod findings;
mod number;
mod outline;
mod read;
mod row;
mod shown;

pub use document::{Comparison, Document, Launch};
pub use findings::{AUDIT_VERSION, Audit, Counts, FileAudit, Finding, Kind, Level, audit};
pub use number::Figure;
pub use read::{EXPECTED, ROWS_MAX, Unrecognised, read};
pub use row::{Errors, Row, Summary, Tool};
