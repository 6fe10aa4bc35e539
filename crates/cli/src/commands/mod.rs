//! One module a command: from its arguments to its output and exit code.

pub mod agent;
pub mod audit;
pub mod build;
pub mod calibrate;
pub mod check;
pub mod compare;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod error_rates;
pub mod explain;
pub mod export;
pub mod h2load;
pub mod history;
pub mod hit;
pub mod init;
pub mod jmeter;
pub mod list;
pub mod replicate;
pub mod report;
pub mod run;
pub mod sb;
mod stacks;
pub mod target;
pub mod view;
pub mod wrk;
