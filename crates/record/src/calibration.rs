//! What the generator told beside what its calibration server logged: `proofload calibrate --json`.

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::load::LoadResult;
use crate::manifest::Machine;

/// Version of [`Calibration`].
pub const CALIBRATION_VERSION: u32 = 1;

/// A calibration of this generator on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// [`CALIBRATION_VERSION`] of the writer.
    pub version: u32,
    /// Version of Proofload.
    pub proofload: String,
    /// What it ran on.
    pub machine: Machine,
    /// Whether these are the few short cases.
    pub quick: bool,
    /// Whether it was ended before its last case.
    pub interrupted: bool,
    /// How late a thread that sleeps until an instant wakes while nothing else goes on, µs.
    pub idle_scheduling_delay_us: Distribution,
    /// The cases, in the order in which they ran.
    pub cases: Vec<CalibrationCase>,
    /// Other generators that were asked for and are not here.
    pub peers_missing: Vec<PeerMissing>,
}

/// One load on one server whose truth is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationCase {
    /// What it is called wherever it is told of.
    pub name: String,
    /// The server, in words.
    pub server: String,
    /// What the server was started with.
    pub command: Vec<String>,
    /// Why the server's log does not hold what a service time is compared with; absent where it does.
    pub service_not_logged: Option<String>,
    /// Every try, the last of which counts. Empty where it failed before the first.
    pub tries: Vec<CalibrationTry>,
    /// Why there is no further try: the server, the system.
    pub failed: Option<String>,
    /// What other generators told of the same server, each in a run of its own.
    pub peers: Vec<PeerRun>,
}

/// One run of our own generator, and the truth of that very run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationTry {
    /// What the generator told.
    pub load: LoadResult,
    /// What the server logged.
    pub truth: Truth,
    /// How late a thread that sleeps until an instant woke within the window, µs.
    pub scheduling_delay_us: Distribution,
}

/// What the server's log says of a load, computed from every line of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// What a response time counts from.
    pub response_from: ResponseFrom,
    /// Until the answer was handed to the kernel, µs.
    pub response_time_us: Distribution,
    /// answered − arrived, µs.
    pub service_time_us: Distribution,
    /// Requests of the window that the server read and never answered.
    pub unanswered: u64,
    /// Requests that arrived before the instant they were paired with; above 0 the pairing is wrong.
    pub arrived_early: u64,
}

/// From when the server's own log counts what a user waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFrom {
    /// Open model: the instant at which the schedule wanted the request.
    Due,
    /// Closed model: the previous answer on the same connection, for that is when its user wanted the next.
    PreviousAnswer,
}

/// One run of another generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerRun {
    /// Which: `wrk --latency`.
    pub name: String,
    /// The command line.
    pub command: Vec<String>,
    /// What came of it.
    #[serde(flatten)]
    pub result: PeerResult,
}

/// What came of the run of another generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerResult {
    /// It ran.
    Told {
        /// The figures it printed, µs; those it has none of are absent. `count` is what it says it made.
        told: Box<Distribution>,
        /// What the server logged of this run.
        truth: Box<Truth>,
    },
    /// It cannot make this load, or it failed.
    Nothing {
        /// In a sentence, for the report.
        why: String,
    },
}

/// Another generator that is not on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerMissing {
    /// The program, as it is called on a command line.
    pub name: String,
    /// How to get it.
    pub install: String,
}
