//! What goes on while it goes on: a state folded from the events of a run or of one load ([`State`]), what a view shows
//! of it ([`View`], and as JSON in a browser), and a picture of that in lines of a terminal ([`draw`], [`Inline`]).
//!
//! Invariants: nothing here reads a clock, a file or a terminal, instants are arguments; memory is bounded whatever a
//! run's length; no text from outside reaches a terminal with a control character in it.
#![forbid(unsafe_code)]

mod buckets;
mod cpu;
mod draw;
mod finished;
mod inline;
mod metrics;
mod progress;
mod rate;
mod seconds;
mod series;
mod state;
mod text;
mod view;
mod warnings;
mod words;

pub use draw::{COLUMNS_MIN, ROWS_MIN, draw, rows_wanted};
pub use inline::Inline;
pub use metrics::metrics;
pub use seconds::{SecondLine, SecondLines};
pub use state::State;
pub use view::{
    AgentView, Bucket, BurstView, CpuView, EndedView, FinishedView, Kind, LeftView, Outcomes, Second,
    StageName, StageView, TrialView, VIEW_VERSION, View, Warning, WarningKind,
};
pub use words::{
    agent_line, finished_line, left_out_line, left_words, length_words, looked_line, made_again_line,
    neighbours_line, precise_line, repeating_line, started, trial_words, waiting_line,
};
