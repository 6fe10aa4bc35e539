//! Readers of what load generators print.
//!
//! Text in, rows out. [`read`] recognises the output of wrk, wrk2, SuperBenchmarker, JMeter, oha, k6, h2load, ab, hey, vegeta,
//! bombardier, autocannon, Locust, Fortio, siege and Gatling, and a table of published cells; many in one file, with prose in
//! between.
//! [`wrk_row`] and [`jtl_samples`] read what a program printed that we ran ourselves.
//!
//! Invariants: pure, no I/O; never panics, whatever the text is; bounded work (see [`ROWS_MAX`]).
#![forbid(unsafe_code)]

mod document;
mod number;
mod outline;
mod read;
mod row;
pub mod shown;

pub use document::{Comparison, Document, Launch};
pub use number::Figure;
pub use read::{
    EXPECTED, JtlSamples, OwnRecords, ROWS_MAX, Unrecognised, jtl_samples, path_of, read, wrk_row,
};
pub use row::{Errors, OfAb, OfK6, Row, Summary, TimeoutFrom, Tool};
