//! JMeter's files: reads its test plans, and writes its results as it does.
//!
//! [`import`] turns a `.jmx` plan into a [`scenario::Scenario`], or names everything in it that is not supported.
//! [`JtlWriter`] writes results that JMeter's report generator reads, [`Summariser`] the lines of its console,
//! [`Aggregate`] its Aggregate and Summary reports. [`UserBooks`] makes all three of what users hand on, and
//! [`RequestRows`] rows of an engine's samples.
//!
//! Invariants: pure: text in, values and text out, the clock and what reads included files arguments; what is not
//! understood is an error before anything is sent; memory is bounded by labels and milliseconds, never by samples.
#![forbid(unsafe_code)]

mod aggregate;
mod assertions;
mod checked;
mod clock;
mod concurrency;
mod controllers;
mod data;
mod dialect;
mod element;
mod extractors;
mod failure;
mod flow;
mod for_each;
mod groups;
mod import;
mod include;
mod jtl;
mod ledger;
mod level;
mod managers;
mod meeting;
mod modules;
mod names;
mod own;
mod parameters;
mod perl;
mod planned;
mod request;
mod rewriting;
mod rows;
mod schedule;
mod sets;
mod shaping;
mod stages;
mod stepping;
mod summariser;
mod timers;
mod ultimate;
mod users;
mod values;
mod variables;
mod walk;
mod weighted;
mod xml;

pub use aggregate::{Aggregate, ELAPSED_MAX_MS, LABELS_MAX, OTHER_LABELS};
pub use failure::Failure;
pub use import::{Plan, import, import_with};
pub use include::Read;
pub use jtl::{JtlWriter, SampleResult};
pub use ledger::{PlanNotUnderstood, Support, Unsupported};
pub use rows::{RequestRows, RowsOf};
pub use stages::{Phase, Stage};
pub use summariser::{Summariser, ThreadCounts, end_lines, start_lines};
pub use users::UserBooks;
pub use walk::DataFile;
