//! Carries out what a plan says and hands back records: one load ([`load::run`]), users who follow a scenario or a
//! script ([`users`], [`scripted`]), a load on several machines ([`agents`], [`carrier`]), an experiment of many trials
//! ([`experiment::carry_out`]), the test of a verdict ([`confirm`]), a check of stacks without load ([`check()`]), or a
//! comparison of our own figures with the truth ([`calibrate::carry_out`]). [`doctor`] looks at the machine.
//!
//! It draws and prints nothing: what goes on is told as `events`, and records are explained and reported elsewhere.
//!
//! Invariants: one load at a time; a trial is written down before the next begins; an interruption returns what was
//! measured, and no process is left behind.
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
