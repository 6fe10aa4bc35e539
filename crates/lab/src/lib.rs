//! Carries out what a plan says and hands back records: one load ([`load::run`]), an experiment of many trials
//! on fresh processes ([`experiment::carry_out`]), or a comparison of our own figures with the truth
//! ([`calibrate::carry_out`]).
//!
//! Invariants: one load at a time; a trial is written down before the next begins; whoever interrupts gets
//! back what was measured, and no process is left behind.
#![forbid(unsafe_code)]

pub mod agents;
mod bench;
mod beside;
mod books;
pub mod calibrate;
pub mod carrier;
mod carry;
mod check;
mod clock;
pub mod confirm;
mod cool_down;
mod course;
mod crew;
mod decided;
pub mod doctor;
mod error;
pub mod experiment;
mod failures;
mod feed;
mod foreign;
pub mod hosts;
mod idle;
mod job;
mod left;
pub mod load;
mod machine;
mod order;
mod phase;
mod pilot;
mod quiet;
pub mod scripted;
mod seconds;
pub mod secured;
pub mod tap;
mod tools;
mod trial;
pub mod users;
mod warm_up;

pub use check::check;
pub use error::LabError;
