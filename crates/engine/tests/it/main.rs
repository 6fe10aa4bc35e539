//! The engine, told what happens event by event.

mod common;
mod deadline;
mod gate;
mod late_answers;
mod late_generator;
mod looks;
mod overload;
mod reads_first;
mod streams;
mod users;
mod worn_out;
mod wrong_answers;
