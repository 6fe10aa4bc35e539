//! One trial: a load on a fresh process, and what that process used.

use std::collections::BTreeMap;

use plan::{Driver, NamedLoad, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::idle::IdleAnswers;
use crate::load::LoadResult;
use crate::signals::{HostSignals, ServerSignals};

/// Version of [`Trial`].
pub const TRIAL_VERSION: u32 = 1;

/// One line of `trials.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// [`TRIAL_VERSION`] of the writer.
    pub version: u32,
    /// Place in the run's random order, from 0; where it repeats another, a number of its own beyond all places.
    pub index: u32,
    /// Which block, from 0.
    pub block: u32,
    /// Which round.
    pub round: String,
    /// Which stack; of a control, [`CONTROL`].
    pub stack: String,
    /// What it is measured for.
    #[serde(default, skip_serializing_if = "Role::is_stack")]
    pub role: Role,
    /// What made its measured load.
    #[serde(default, skip_serializing_if = "Driver::is_own")]
    pub driver: Driver,
    /// Which load. Of a control it is that of the table that it stands beside; its own is another.
    #[serde(flatten, with = "crate::named_load::written")]
    pub load: NamedLoad,
    /// When it started, RFC 3339.
    pub started: String,
    /// Where it was made once more in the place of an earlier trial: which, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// Why each attempt at it before this one came to nothing, in order: its load lost a machine that carried a share. Nothing else
    /// is kept of those. Attempts of a process that ended without writing the trial down are not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_attempts: Vec<String>,
    /// What came of it.
    #[serde(flatten)]
    pub result: TrialResult,
}

/// Which trial another takes the place of. Blocks are repeated as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// Index of the earlier trial.
    pub index: u32,
    /// Indices of all trials of its block. The repetition stands for the block once there is one of each of them.
    pub block: Vec<u32>,
    /// What disturbed the block, as the machine's own counters have it.
    pub why: String,
}

/// The name of what is measured in a control.
pub const CONTROL: &str = "control";

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialResult {
    /// It was measured.
    Measured(Box<Measured>),
    /// It could not be: the stack did not build, boot, answer as expected, or live.
    Failed {
        /// Why, with what to do.
        error: String,
    },
}

/// A measured trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The generator's side.
    pub load: LoadResult,
    /// The server's side.
    pub server: Server,
    /// What stood behind it and was asked by it, the next one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upstreams: Vec<Upstream>,
    /// The answer before load.
    pub contract: Contract,
    /// The bursts before the load, where the warm-up was one until steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// The machine around the trial. Empty in records of versions that did not look.
    #[serde(default)]
    pub surroundings: Surroundings,
    /// The machine and the generator within the window. Absent in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSignals>,
}

/// A warm-up in bursts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// The bursts in order.
    pub bursts: Vec<Burst>,
    /// Whether the last of them were alike.
    pub steady: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsteady_why: Option<String>,
    /// Loads that were measured of its process between it and this trial. Absent in records of versions that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loads_since: Option<u32>,
}

/// One burst of load before the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// Expected answers a second.
    pub goodput_per_s: f64,
    /// Time that the JVMs' compilers were busy from its start to its end and the pause behind it, as a share of that
    /// time on one core; absent where there is no JVM.
    pub jit_share: Option<f64>,
}

/// What else there was on the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Surroundings {
    /// Sockets in TIME_WAIT when the stack was booted.
    pub time_wait_at_boot: Option<u32>,
    /// Cores that the load threads ran on, as Linux lists them (`0-1,4`), seen at the end of the load.
    pub client_cpus: Option<String>,
    /// Cores that the stack and what is behind it might run on, seen then.
    pub server_cpus: Option<String>,
}

/// A stack behind the one that was loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Upstream {
    /// Which stack.
    pub stack: String,
    /// What it used. Its CPU time is charged to the requests that the load saw done.
    pub server: Server,
}

/// What the stack used within the measured window, its whole process tree together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Server {
    /// The command that ran, after all placeholders.
    pub command: Vec<String>,
    /// JVM flags in effect.
    pub jvm_flags: Vec<String>,
    /// From start to the first good answer, seconds; absent of what was running already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_s: Option<f64>,
    /// CPU time a request done, µs, user and system.
    pub cpu_us_per_request: Option<f64>,
    /// CPU time a second: 1 is one core kept busy.
    pub cpu_cores: Option<f64>,
    /// Most resident memory seen, bytes; absent of what was running already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes_max: Option<u64>,
    /// Most threads seen; absent of what was running already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_max: Option<u32>,
    /// Threads by group at the end of the load: `http-nio-exec-*` → 200.
    pub thread_groups: BTreeMap<String, u32>,
    /// Readings during the load, on the clock of `load.window`; of versions that kept them here and not in a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<UsageSample>,
    /// What it did within the window. Absent in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<ServerSignals>,
    /// [`crate::JvmUse::jit_cores`], where a record is kept without signals ([`Server::compilers_cores`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jit_cores: Option<f64>,
    /// Whether it had to be killed when asked to stop.
    pub stop_forced: bool,
    /// Why nothing is known of it but its answers, where that is so: it was running already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
}

impl Server {
    /// Time a second that the compilers of its JVM were busy, together. `None` where it is none, and where nobody looked.
    pub fn compilers_cores(&self) -> Option<f64> {
        let seen = self.signals.as_ref().and_then(|signals| signals.jvm).map(|jvm| jvm.jit_cores);
        seen.or(self.jit_cores).filter(|it| it.is_finite())
    }
}

/// One reading of a stack's process tree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsageSample {
    /// When, ns on CLOCK_MONOTONIC.
    pub at_monotonic_ns: u64,
    /// CPU time so far, seconds, user.
    pub cpu_user_s: f64,
    /// CPU time so far, seconds, system.
    pub cpu_system_s: f64,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// Threads.
    pub threads: u32,
}

/// The raw answer of the endpoint before load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Contract {
    /// Status.
    pub status: u16,
    /// The head as it came.
    pub head: String,
    /// How the body is framed.
    pub framing: String,
    /// Bytes of the whole answer on the wire.
    pub wire_bytes: u64,
    /// Whether the connection stayed open.
    pub kept_alive: bool,
    /// What became of it: `kept`, `closed`, or `closed unsaid` or `reset unsaid` where the answer had not said so;
    /// then a client that keeps connections loses requests. Empty in records of versions that did not look.
    #[serde(default)]
    pub afterwards: String,
    /// Where the answer is wrapped otherwise than the stack's manifest says, such as a head of another length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    /// How long the answer took on an idle server, µs: service time at low load.
    pub idle_service_time_us: f64,
    /// The same after the load, of a server that is warm and idle again: the shortest of a few. Absent where it did not
    /// answer then, and in records of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_service_time_us: Option<f64>,
    /// All of those few and their mean, of which `warm_service_time_us` is the shortest. Absent where too few came, and in
    /// records of versions that kept the shortest only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_answers: Option<IdleAnswers>,
    /// Attempts until a whole answer came.
    pub tries: u32,
    /// What the server spoke, where it is not HTTP/1.1 without TLS: `https, http/1.1`, `https, h2` or `h2c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}
