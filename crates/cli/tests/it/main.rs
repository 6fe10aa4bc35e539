//! The real binary against real servers.

mod audit;
mod bad_input;
mod calibrate;
mod check;
mod common;
mod compare;
mod drivers;
mod error_rates;
mod experiment;
mod explain;
mod history;
mod hit;
mod jmeter;
mod killed;
mod lab;
mod lua;
mod procedure;
mod recorded;
mod sb;
mod sources;
mod wrk;
