//! From records to text, HTML, Markdown, JUnit, CSV and JSON, for people and for programs. Also the outputs of the
//! tools that Proofload stands in for (wrk, h2load, sb).
//!
//! Nothing is measured or judged here: verdicts come from `explain`, findings from `audit`. The page of the HTML report
//! is built in `web/` and filled here.
//!
//! Invariants: reports are made from records alone, so that newer code can make the report of an old run again; no
//! figure is printed bare that its own audit speaks against.
#![forbid(unsafe_code)]

mod agents;
mod audit;
mod beside;
mod books;
mod calibration;
mod capacity;
mod check;
mod claim_rates;
mod claims;
mod compare;
mod earlier;
mod error_rates;
mod figure;
mod formats;
mod gate;
mod h2load;
mod history;
mod load;
pub mod page;
mod pods;
mod ranking;
mod sb;
mod tls;
mod told;
mod versions;
mod why;
mod wrk;

pub use audit::audit_text;
pub use beside::beside_text;
pub use books::Books;
pub use calibration::{CalibrationReport, calibration_line};
pub use capacity::capacity_text;
pub use check::{check_details_text, checks_text, same_work_text};
pub use claim_rates::{RatesOfClaim, claim_rates_table, claim_rates_text};
pub use claims::{ClaimsReport, MeasuredRun, OtherRun, VerdictCounts, claims_text};
pub use compare::compare_text;
pub use earlier::earlier_text;
pub use error_rates::{ErrorRates, error_rates_table, error_rates_text};
pub use figure::{indented, micros, per_s, percent_of, plain_line, time_us};
pub use formats::{
    compare_junit, csv, gate_junit, gate_markdown, hit_csv, hit_markdown, html, json, junit, markdown,
    schema, versions_markdown,
};
pub use gate::gate_text;
pub use h2load::{
    H2loadRun, H2loadSpan, H2loadThread, given_up_note, h2load_head, h2load_protocols, h2load_text,
};
pub use history::history_text;
pub use load::{HitReport, hit_text};
pub use ranking::{RunReport, TrialLine, ranking_text};
pub use sb::{SbRun, sb_progress, sb_text};
pub use versions::versions_text;
pub use why::{confirmation_text, explanations_text};
pub use wrk::{WrkFigures, WrkRun, late_answers_note, wrk_figures, wrk_head, wrk_text};
