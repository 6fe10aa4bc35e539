//! What a view shows, as plain data: the same for a terminal and, as JSON, for a browser.
//!
//! Texts are as they came, whatever is in them; who shows them makes them harmless for where they are shown.

use std::collections::BTreeMap;

use events::AgentNow;
use serde::Serialize;

/// Version of [`View`].
pub const VIEW_VERSION: u32 = 1;

/// A run or a load at an instant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// [`VIEW_VERSION`] of the writer.
    pub version: u32,
    /// What goes on.
    pub kind: Kind,
    /// Title of the experiment, or the URL that is loaded.
    pub title: String,
    /// The run's directory, once it has one.
    pub dir: Option<String>,
    /// Since it began, seconds.
    pub elapsed_s: f64,
    /// What is done just now.
    pub stage: StageView,
    /// The trial under way, or the last one.
    pub trial: Option<TrialView>,
    /// The bursts of its warm-up, in order.
    pub bursts: Vec<BurstView>,
    /// What the last of them tells: `steady`, or why it is not.
    pub steadiness: Option<String>,
    /// What is still to do; `None` where nobody knows.
    pub left: Option<LeftView>,
    /// The last trials that were written down, the latest last.
    pub finished: Vec<FinishedView>,
    /// How many were written down, those that are no longer shown included.
    pub finished_count: u64,
    /// The last seconds of the trial's loads, the latest last.
    pub seconds: Vec<Second>,
    /// How long ago the last of them ended, seconds: threads tell of a second once it is over, and of one that not all have told of
    /// nothing is shown. `None` where the load at hand has none yet.
    pub last_second_ago_s: Option<f64>,
    /// What became of the requests of the load at hand.
    pub outcomes: Outcomes,
    /// The same of all loads of the trial so far, its warm-up and earlier attempts among them: counts that only grow.
    pub outcomes_so_far: Outcomes,
    /// How long the answers of the load at hand took.
    pub histogram: Vec<Bucket>,
    /// Who uses the CPU.
    pub cpu: Option<CpuView>,
    /// What speaks against something, the latest last.
    pub warnings: Vec<Warning>,
    /// Of a load that several machines carry, the five that do worst, the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentView>,
    /// How it ended; `None` while it goes on.
    pub ended: Option<EndedView>,
}

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An experiment of many trials.
    Experiment,
    /// One load.
    Load,
}

/// What is done just now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageView {
    /// One of a fixed set, so that a page can translate it.
    pub name: StageName,
    /// Of what, in a word: the stack that is built, `burst 2 of at most 12`, `31 of 300`.
    pub detail: Option<String>,
    /// For how long, seconds.
    pub for_s: f64,
    /// How long it takes, seconds; `None` where nobody knows.
    pub of_s: Option<f64>,
}

/// Names of what may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    /// Nothing was told yet.
    Starting,
    /// A stack is built.
    Building,
    /// Sockets of the trial before it are waited for.
    CoolingDown,
    /// A stack is booted.
    Booting,
    /// Its answer is checked.
    Checking,
    /// It is tried how many threads do.
    Piloting,
    /// Connections are opened.
    Opening,
    /// A burst of load before the measurement, and the rest behind it.
    WarmingUp,
    /// Load before the window.
    Settling,
    /// The window.
    Measuring,
    /// Answers that were due within the window are waited for.
    Draining,
    /// Processes are ended.
    Stopping,
    /// It is over.
    Over,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialView {
    /// From 1.
    pub number: u32,
    /// How many there are at any rate.
    pub of: u32,
    /// How many there are at most.
    pub of_max: u32,
    /// Which block, from 1.
    pub block: u32,
    /// Which round.
    pub round: String,
    /// Which load, in words.
    pub load: String,
    /// Which stack.
    pub stack: String,
    /// What it is measured for: `stack`, `twin`, `control`.
    pub role: record::Role,
    /// What makes its load.
    pub driver: record::Driver,
}

/// A burst of load before the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BurstView {
    /// Expected answers a second.
    pub goodput_per_s: f64,
    /// Time that JVMs' compilers were busy, as a share of a core.
    pub jit_share: Option<f64>,
}

/// What is still to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LeftView {
    /// Trials at any rate, the one under way included; 0 of a single load.
    pub trials: u32,
    /// Trials at most.
    pub trials_max: u32,
    /// How long that takes, seconds.
    pub left_s: f64,
    /// The same if every trial up to `trials_max` is made, seconds.
    pub left_s_max: f64,
}

/// A trial that is written down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FinishedView {
    /// Which it was.
    #[serde(flatten)]
    pub trial: TrialView,
    /// Expected answers a second; `None` of one that failed.
    pub goodput_per_s: Option<f64>,
    /// 99th percentile of response time, or of service time where another driver knows no other, µs.
    pub p99_us: Option<f64>,
    /// Whether it is only known to be longer than that.
    pub p99_is_lower_bound: bool,
    /// `valid`, or what speaks against it the most.
    pub verdict: String,
    /// Why there is no measurement.
    pub failure: Option<String>,
}

/// A second of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Second {
    /// Which burst it was of, from 1; `None` of the measured load.
    pub burst: Option<u32>,
    /// When it began, from the start of the load's window on, seconds.
    pub from_s: f64,
    /// Expected answers a second.
    pub goodput_per_s: f64,
    /// Median response time, µs.
    pub p50_us: Option<f64>,
    /// Whether it is only known to be longer than that.
    pub p50_is_lower_bound: bool,
    /// 99th percentile, µs.
    pub p99_us: Option<f64>,
    /// Whether it is only known to be longer than that.
    pub p99_is_lower_bound: bool,
    /// Requests that did not end as expected, by kind: those of [`Outcomes::failures`].
    pub failures: BTreeMap<&'static str, u64>,
}

/// What became of requests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Outcomes {
    /// Requests that were due.
    pub intended: u64,
    /// Answered as expected.
    pub answered_as_expected: u64,
    /// The others by kind, where there are any: `timed_out`, `connect_failed`, `reset`, `closed_early`, `malformed`,
    /// `unsent`, `backlog_overflow`, `in_flight`, and `unexpected` of answers with another status or body.
    pub failures: BTreeMap<&'static str, u64>,
}

/// A part of a histogram of response times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bucket {
    /// Times up to here, µs; `None` of the last, which has no end.
    pub up_to_us: Option<f64>,
    /// How many there were. Requests without an answer count with how long they were waited for.
    pub count: u64,
}

/// Who uses the CPU, in cores kept busy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuView {
    /// Cores that there are.
    pub cores: u32,
    /// What makes the load.
    pub generator: f64,
    /// The stack and what stands behind it; `None` where they are not ours to watch, and among the others.
    pub servers: Option<f64>,
    /// All other processes.
    pub others: Option<f64>,
    /// Interrupts and what follows them: on loopback, a part of the load itself. `None` where the kernel books them in the time
    /// of whom they interrupt, so that the parts add up.
    pub interrupts: Option<f64>,
    /// Taken by the hypervisor.
    pub steal: Option<f64>,
}

/// How a machine does that carries a share of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentView {
    /// Its number, from 0.
    pub number: usize,
    /// As it was named.
    pub name: String,
    /// How late its requests went out by its own fault, 99th percentile of its last second, µs.
    pub generator_lag_p99_us: Option<f64>,
    /// Whether it is only known to be longer than that.
    pub generator_lag_p99_is_lower_bound: bool,
    /// How long it was not heard of, seconds.
    pub silent_s: f64,
    /// Whether it is lost.
    pub lost: bool,
}

impl From<&AgentNow<'_>> for AgentView {
    fn from(agent: &AgentNow<'_>) -> Self {
        Self {
            number: agent.number,
            name: agent.name.to_owned(),
            generator_lag_p99_us: agent.generator_lag_p99.map(|it| it.value.as_micros_f64()),
            generator_lag_p99_is_lower_bound: agent.generator_lag_p99.is_some_and(|it| it.is_lower_bound),
            silent_s: agent.silent_for.as_secs_f64(),
            lost: agent.is_lost,
        }
    }
}

/// What speaks against something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What kind.
    pub kind: WarningKind,
    /// What of: a stack, or nothing in particular.
    pub of: String,
    /// What happened.
    pub text: String,
    /// How often the same was said; the text is the latest.
    pub times: u32,
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A stack takes no part.
    LeftOut,
    /// A trial failed.
    Failed,
    /// The figures of a trial are in doubt.
    Doubt,
    /// Others use the machine.
    NoisyHost,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EndedView {
    /// Whether somebody interrupted it.
    pub interrupted: bool,
    /// What went wrong, if something did.
    pub error: Option<String>,
}
