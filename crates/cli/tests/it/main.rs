//! The real binary against real servers.

mod bad_input;
mod calibrate;
mod check;
mod common;
mod compare;
mod error_rates;
mod experiment;
mod history;
mod hit;
mod recorded;
