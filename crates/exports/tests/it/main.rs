//! Exports of made-up runs: what every form of them has to keep.

mod docs;
mod forms;
mod made_up;
mod runs;
