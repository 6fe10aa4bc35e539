//! What is persisted of a run: versioned, append-only, readable by other tools.
//!
//! A run directory holds `manifest.json` (what it ran on), `experiment.toml` (what was asked for), `trials.jsonl` (one
//! line per finished trial, synced before the next trial starts) and, in `trials/NNNN/`, each trial's HdrHistogram
//! interval log, the sampler's readings and the server's log. `docs/records.md` describes every field.
//!
//! It stores and reads back. What a record means is for `explain` to say.
//!
//! Invariants: a line that was synced is never written again, so `kill -9` loses at most the trial in progress; a reader
//! skips a last line that was not finished; everything read has a bound, since a record may be anybody's.
#![forbid(unsafe_code)]

mod agents;
mod bounds;
mod calibration;
mod cells;
mod check;
mod confirmation;
mod confirmations_file;
mod distribution;
mod error;
mod files;
mod gate;
mod hlog;
mod idle;
mod ledger;
mod load;
mod load_file;
mod manifest;
mod named_load;
mod run_dir;
mod server_pods;
mod signals;
mod signals_file;
mod stamp;
mod tls;
mod trial;
mod versions;

pub use agents::{AgentLost, AgentResult};
pub use bounds::check_container;
pub use calibration::{
    CALIBRATION_VERSION, Calibration, CalibrationCase, CalibrationTry, PeerMissing, PeerResult, PeerRun,
    ResponseFrom, Truth,
};
pub use cells::{
    CellName, RankedBy, cells, measured_by_block, measured_controls, observed, standing, trials_of,
    twins_by_block,
};
pub use check::{CHECK_VERSION, CheckResult, Checked, EndpointCheck, StackCheck};
pub use confirmation::{CONFIRMATION_VERSION, ConfirmationRecord, LevelRate};
pub use confirmations_file::{append_confirmation, read_confirmations};
pub use distribution::{Distribution, FastTimes, LowerBounds, told_quantile};
pub use error::RecordError;
pub use gate::{GATE_FILE, GATE_VERSION, GateAnswer, GateCell, GateCheck, GateResult, GateUnit};
pub use hlog::{
    IntervalLog, LoggedInterval, empty, interval_log_bytes, read_interval_log, with_interval_log,
};
pub use idle::{AnswerTimes, Bounds, BurstAnswers, IdleAnswers, QuantileBounds, RestedAnswers};
pub use ledger::{Appended, Ledger};
pub use load::{
    Connections, ForeignDriver, Generator, LOAD_VERSION, LittlesLaw, Load, LoadResult, Outcomes,
    RequestSummary, Second, StepResult, Window, WrongAnswer,
};
pub use manifest::{MANIFEST_VERSION, Machine, Manifest, StackManifest};
pub use named_load::load_of_label;
pub use run_dir::RunDir;
pub use server_pods::{ContainerUse, PodSample, PodWithin, ServerPod, ServerPods};
pub use signals::{
    AcceptQueue, Asked, GcPauses, GroupReading, Held, HostReading, HostSignals, JvmReading, JvmUse,
    LinkReading, LinkUse, NamedUse, PausedSecond, ProcessReading, Quota, Runtime, SIGNALS_VERSION,
    ServerSignals, SignalReading, ThreadBand, ThreadGroupUse,
};
pub use signals_file::{read_signals, write_signals};
pub use tls::{Agreed, Tls};
pub use trial::{
    Burst, CONTROL, Contract, Measured, Repeats, Server, Surroundings, TRIAL_VERSION, Trial, TrialResult,
    Upstream, UsageSample, WarmUp,
};
pub use versions::{COMMIT_DIGITS, RevisionName, VERSIONS_FILE, VERSIONS_VERSION, Versions};
// What a record says of a plan, in the plan's own words.
pub use plan::{CellId, Driver, LoadId, NamedLoad, Role};
