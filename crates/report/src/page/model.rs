//! The whole of a run as one document: what the HTML report draws, `report --format json` prints, and `docs/report.schema.json`
//! describes.
//!
//! Times are microseconds, rates a second, shares 0 to 1, unless a name says otherwise. A figure that is not known is absent or
//! null, never 0. Added fields keep the version; a field that goes or changes its meaning raises it.

use std::collections::BTreeMap;

use explain::{Capacity, CellExplanation, VerdictKind};
use plan::load_id::as_label;
use record::{Driver, LoadId, Machine, NamedLoad, RankedBy};
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::ClaimsReport;
pub use crate::ranking::choice::{Boots, Choice, ChoiceAt, ChoiceRow, SharedRate};
pub use crate::told::{Doubt, Interval, Invalid, TimeUs};

/// Version of [`Page`].
pub const PAGE_VERSION: u32 = 2;

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Page {
    /// [`PAGE_VERSION`] of the writer.
    #[schemars(extend("maximum" = PAGE_VERSION))]
    pub version: u32,
    /// Version of Proofload that made this document; that which measured is in `run`.
    pub proofload: String,
    /// What was measured, and how.
    pub run: RunFacts,
    /// One sentence a table, in the order of `tables`.
    pub answers: Vec<Answer>,
    /// The rankings.
    pub tables: Vec<Table>,
    /// What one chooses by, of each table whose stacks were also asked at shares of what the slowest carries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Rate and times against what was varied: connections, or the rate asked for.
    pub sweeps: Vec<Sweep>,
    /// Every stack at every load, in the order of the tables.
    pub cells: Vec<Cell>,
    /// What the stacks can carry, where several numbers of connections were measured.
    pub capacities: Vec<Capacity>,
    /// Where the answers of the stacks of a round differ.
    pub same_work: Vec<WorkDifference>,
    /// The claims of the write-up that was replicated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<ClaimsReport>,
    /// What is missing: trials that failed, stacks left out.
    pub missing: Missing,
}

/// What was measured, and how.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunFacts {
    /// Title of the experiment.
    pub title: String,
    /// The run's directory, as the user named it.
    pub dir: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// Version of Proofload that measured.
    pub proofload: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The experiment file, whole.
    pub experiment: String,
    /// Seed of the order of trials.
    pub seed: u64,
    /// `full`, `quick` or `coarse`.
    pub pace: String,
    /// Where client and servers ran: `shared` or `split`; empty where it is not known.
    pub placement: String,
    /// Where `split` cores are of several kinds or NUMA nodes: which of them servers and client had, in words; absent of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    /// `kept` where one process of each stack served all trials, `block` where one served those of a block; absent where each trial had
    /// one of its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub processes: String,
    /// A sentence on the machines that the loads came from; absent where the run made them itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_from: Option<String>,
    /// Blocks planned at any rate.
    pub blocks: u32,
    /// Blocks made at most.
    pub blocks_max: u32,
    /// Trials made.
    pub trials: usize,
    /// Trials planned for `blocks` blocks.
    pub trials_planned: u32,
    /// The machine.
    pub machine: Machine,
    /// Versions of tools.
    pub tools: BTreeMap<String, String>,
    /// The stacks by id.
    pub stacks: BTreeMap<String, StackFacts>,
}

/// A stack.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StackFacts {
    /// Its title.
    pub title: String,
    /// Hash of what it was built from.
    pub inputs: Option<String>,
    /// Version of its JDK.
    pub jdk: Option<String>,
    /// The ids of the stacks behind it.
    pub upstreams: Vec<String>,
}

/// What is missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Missing {
    /// Trials that failed.
    pub failures: Vec<Failure>,
    /// Stacks left out, and why.
    pub left_out: BTreeMap<String, String>,
    /// Stacks of which no trial was made.
    pub not_reached: Vec<String>,
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Failure {
    /// The round.
    pub round: String,
    /// The load, in words.
    #[serde(serialize_with = "as_label")]
    #[schemars(with = "String")]
    pub load: NamedLoad,
    /// The stack.
    pub stack: String,
    /// What made its load.
    pub driver: Driver,
    /// From 1.
    pub block: u32,
    /// What failed, with what to do.
    pub error: String,
}

/// What a table says, in a sentence and as its parts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// What kind of answer the data support.
    pub kind: AnswerKind,
    /// In English.
    pub sentence: String,
    /// The best, or those that share its place, best first.
    pub best: Vec<String>,
    /// The first that is not among them.
    pub next: Option<String>,
    /// How much the best is ahead of `next`: a ratio of rates, or of 99th percentiles (best over next, below 1).
    pub ahead: Option<Interval>,
    /// Of the best and of `next`, those that failed in some blocks, which comes before all that is said of them.
    pub failing: Vec<Failing>,
    /// Behind the best, those whose rates are only lower bounds, or whose times only upper ones, where that is why there is no
    /// winner.
    pub bounded: Vec<String>,
    /// What stopped the others, and the best, by stack, in the order of the ranking.
    pub stopped_by: Vec<StoppedBy>,
}

/// A stack that failed in some blocks, as [`Row::failed_blocks`] has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failing {
    /// The stack.
    pub stack: String,
    /// Blocks in which it failed.
    pub failed: usize,
    /// Blocks in which it was tried.
    pub blocks: usize,
}

/// What kind of answer the data support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// One is ahead, by tests.
    Winner,
    /// Several share the first place, by tests.
    Tie,
    /// Too few blocks to test: one is ahead in all trials, and that supports no claim.
    Ahead,
    /// Too few blocks to test, and ranges overlap.
    Overlap,
    /// One stack, so nothing to compare.
    Single,
    /// The first place is held by a row that is not valid: the data don't support a winner.
    Invalid,
    /// One is ahead by tests of rows that may be better than their figures, those in [`Answer::bounded`]: the client came no
    /// further with them, or added to their times, and the data don't support a winner.
    Bounded,
    /// Nothing was measured.
    Nothing,
}

/// A stack and its limit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StoppedBy {
    /// The stack.
    pub stack: String,
    /// What kind of limit.
    pub kind: VerdictKind,
    /// In a phrase.
    pub phrase: String,
}

/// A ranking.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// The round.
    pub round: String,
    /// The load, in words.
    #[serde(serialize_with = "as_label")]
    #[schemars(with = "String")]
    pub load: LoadId,
    /// What made it.
    pub driver: Driver,
    /// What it is ranked by.
    pub ranked_by: RankedBy,
    /// Whether its order is by tests within blocks; else by ranges, which support no claim.
    pub tested: bool,
    /// Whether it is not tested for another reason than too few blocks: they ended when claims were decided, which no test of a ranking
    /// counts. Absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_claims: bool,
    /// Of tests: ratios nearer to 1 than this are no difference.
    pub least_effect: Option<f64>,
    /// Median rate that the same client reached of the calibration target over HTTP/1.1 without TLS, 1/s: a ceiling of the rows that
    /// were asked as it was ([`Row::as_control`]). Null where none was.
    pub ceiling_per_s: Option<f64>,
    /// A stack against itself.
    pub twin: Option<TwinGap>,
    /// From the best down.
    pub rows: Vec<Row>,
}

/// A stack that was measured twice in each block.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TwinGap {
    /// Its id.
    pub stack: String,
    /// The second over the first.
    pub ratio: Interval,
    /// Noise within a block, relative standard deviation.
    pub noise: Option<f64>,
}

/// A row of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The stack.
    pub stack: String,
    /// Its place in [`Page::cells`].
    pub cell: usize,
    /// Best rank it may have.
    pub rank_from: usize,
    /// Worst rank it may have.
    pub rank_to: usize,
    /// Rows that share a letter can't be told apart; empty where nothing was tested.
    pub letters: String,
    /// Trials measured.
    pub trials: usize,
    /// Trials that failed.
    pub failed: usize,
    /// Blocks in which it failed as far as the ranking goes: its trial failed, brought no good answer or, where the ranking
    /// is by the 99th percentile, left more than 1 % of requests unanswered. It is the last of such a block.
    pub failed_blocks: usize,
    /// Median goodput of the trials, 1/s, with the lowest and the highest (a range, no interval).
    pub goodput_per_s: Interval,
    /// Of tests: what it is ranked by, over that of the best, with its 95 % interval; null for the best.
    pub to_best: Option<Interval>,
    /// Whether its times are service times, because its driver told no others.
    pub service_times: bool,
    /// Median response time: the median over the trials, as every figure of a row.
    pub p50: Option<TimeUs>,
    /// 99th percentile.
    pub p99: Option<TimeUs>,
    /// 99.9th percentile.
    pub p99_9: Option<TimeUs>,
    /// CPU time a request of the server, µs.
    pub server_us_per_request: Option<f64>,
    /// CPU time a request of the generator, µs.
    pub client_us_per_request: Option<f64>,
    /// Share of the time that the generator's busiest thread was on a CPU.
    pub client_busy_share: Option<f64>,
    /// Whether it was asked as its table's control was (HTTP/1.1 without TLS, connections used alike): the rate of that is its ceiling.
    pub as_control: bool,
    /// What failed, as shares of what was intended, by kind; empty where nothing did.
    pub errors: BTreeMap<String, f64>,
    /// What limited it, in a phrase.
    pub limit: String,
    /// What kind of limit that is.
    pub limit_kind: Option<VerdictKind>,
    /// What speaks against its figures.
    pub doubts: Vec<Doubt>,
    /// What of it is not valid.
    pub invalid: Invalid,
}

/// How a round goes with what was varied in it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sweep {
    /// The round.
    pub round: String,
    /// What made the loads.
    pub driver: Driver,
    /// What was varied.
    pub over: SweptOver,
    /// Each stack.
    pub series: Vec<SweepSeries>,
    /// The control: what the client reaches at all, as `[x, rate]`. A ceiling of the series that were asked as it was
    /// ([`SweepSeries::as_control`]), and empty where none was.
    pub ceiling: Vec<[f64; 2]>,
}

/// What was varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SweptOver {
    /// Connections, in the closed model.
    Connections,
    /// The rate asked for, 1/s, in the open model.
    Rate,
}

/// A stack's line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepSeries {
    /// The stack.
    pub stack: String,
    /// In order of `x`.
    pub points: Vec<SweepPoint>,
    /// Where it bends, in connections: K of a pool or N* of the scalability law, whichever explains it, if one does.
    pub knee: Option<Interval>,
    /// Whether it was asked as the controls were (HTTP/1.1 without TLS, connections used alike): their rate is its ceiling.
    pub as_control: bool,
}

/// A point.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepPoint {
    /// Connections, or the rate asked for.
    pub x: f64,
    /// Its place in [`Page::cells`].
    pub cell: usize,
    /// Median goodput with its range over trials, 1/s.
    pub goodput_per_s: Interval,
    /// Median of the trials' medians, µs, with their range.
    pub p50_us: Option<BoundedInterval>,
    /// The same of 99th percentiles.
    pub p99_us: Option<BoundedInterval>,
    /// What of it is not valid.
    pub invalid: Invalid,
}

/// A range of figures that may be lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BoundedInterval {
    /// The middle one.
    pub value: f64,
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Whether the middle one is only a lower bound.
    pub is_lower_bound: bool,
}

/// One stack at one load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// Why it stopped where it did, with its name, validity and evidence.
    pub why: CellExplanation,
    /// What came of changing the limit, where that was tried.
    pub confirmations: Vec<Confirmed>,
    /// The index of the trial nearest the median, of which the curves are.
    pub trial: u32,
    /// What was asked of it: URL.
    pub url: String,
    /// The command that ran.
    pub command: Vec<String>,
    /// Its percentile curve: `[quantile, µs]`, rising; those that fall among censored samples are in
    /// `percentiles_censored`, as lower bounds, and may lie between the others.
    pub percentiles: Vec<[f64; 2]>,
    /// See `percentiles`.
    pub percentiles_censored: Vec<[f64; 2]>,
    /// Samples, censored ones included.
    pub samples: u64,
    /// Censored samples.
    pub censored: u64,
    /// Whether the curve is of service times.
    pub service_times: bool,
    /// Response times over time; null where there is no interval log.
    pub heat: Option<Heat>,
    /// The trial on one clock; null where nothing was kept.
    pub timeline: Option<Timeline>,
    /// The warm-up's bursts, where it was one until steady.
    pub warm_up: Option<record::WarmUp>,
    /// What parts of requests and of connections took, where that is known and tells anything; empty otherwise.
    pub stages: Vec<Stage>,
}

/// What a part of requests or of connections took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stage {
    /// Which part.
    pub part: StagePart,
    /// How many requests or connections had it.
    pub count: u64,
    /// Of handshakes, how many of these went on with the keys of an earlier connection; null of others.
    pub resumed: Option<u64>,
    /// Mean; null where it is not known.
    pub mean: Option<TimeUs>,
    /// Median; null where it is not known.
    pub p50: Option<TimeUs>,
    /// 99th percentile; null where it is not known.
    pub p99: Option<TimeUs>,
}

/// A part of a request or of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StagePart {
    /// From the first packet of a connection until it was there, where it was to be secured.
    Connect,
    /// From there until it was secured.
    TlsHandshake,
    /// From when a request was sent until the first byte of its answer was read.
    FirstByte,
    /// Until a connection of HTTP/2 had room for one more request, of those that waited.
    StreamWait,
    /// Until the server's windows of HTTP/2 let a body go on, of those that waited.
    WindowWait,
}

/// A prediction that was put to the test.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Confirmed {
    /// The variant that made the change; null where other numbers of users did.
    pub variant: Option<String>,
    /// `[users, rate]`, 1/s, by users; empty where a variant made the change.
    pub levels: Vec<[f64; 2]>,
    /// The rate without it, 1/s.
    pub before_per_s: f64,
    /// What the verdict predicted, with twice the users where those were changed, 1/s; null where it predicted nothing.
    pub predicted_per_s: Option<f64>,
    /// What it was, 1/s.
    pub measured_per_s: f64,
    /// `confirmed`, `partly`, `refuted` or `could_not_tell`.
    pub outcome: String,
    /// Why, in a sentence; null where the rates say it.
    pub why: Option<String>,
}

/// How many answers took how long, by when they came.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Heat {
    /// The start of each column since the window's start, seconds; all are as long as `column_s`, the last may be shorter.
    pub column_s: f64,
    /// How many columns.
    pub columns: usize,
    /// The lower edges of the rows, µs, rising by a constant factor; the last is the upper edge of the last row.
    pub edges_us: Vec<f64>,
    /// `[column, row, answers]`, those above 0.
    pub counts: Vec<[u64; 3]>,
    /// The same of censored samples, at their bounds.
    pub censored: Vec<[u64; 3]>,
}

/// A trial on one clock.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// Length of the measured window, which begins at 0, seconds.
    pub window_s: f64,
    /// By the second: instants (middles), seconds since the window's start.
    pub seconds: Vec<f64>,
    /// Expected answers a second.
    pub goodput_per_s: Vec<f64>,
    /// Everything else a second.
    pub failures_per_s: Vec<f64>,
    /// Median of what was done, µs.
    pub p50_us: Vec<Option<f64>>,
    /// Whether that is only known to be longer; false of records of versions that did not say.
    pub p50_is_lower_bound: Vec<bool>,
    /// Its 99th percentile, µs.
    pub p99_us: Vec<Option<f64>>,
    /// See `p50_is_lower_bound`.
    pub p99_is_lower_bound: Vec<bool>,
    /// By the reading of the sampler: instants, seconds since the window's start; before 0 lies the warm-up.
    pub readings: Vec<f64>,
    /// What it read, each as long as `readings`.
    pub signals: Vec<Signal>,
}

/// One thing over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Signal {
    /// What panel it belongs to.
    pub panel: Panel,
    /// A fixed name such as `server_user`, or that of a group of threads.
    pub name: String,
    /// Whether `name` is that of a group of threads or a stack, as it came.
    pub is_given: bool,
    /// The values; null where a reading did not look.
    pub values: Vec<Option<f64>>,
}

/// What a signal is of, and its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Panel {
    /// Cores kept busy: `server_user`, `server_system`, `client`, `steal`, `others`, `upstream`.
    Cpu,
    /// Cores kept busy by group of threads of the server.
    ThreadGroups,
    /// Sockets: `established`, `accept_queue`, `accept_queue_limit`, `time_wait`.
    Sockets,
    /// Shares of the time: `gc`, `safepoint`, and cores of the compilers: `jit`.
    Jvm,
    /// Bytes: `heap_used`, `heap_max`, `rss`.
    Memory,
    /// Threads: `threads`, `runnable`.
    Threads,
}

/// Something in which the answers of stacks differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorkDifference {
    /// The round.
    pub round: String,
    /// In what.
    pub aspect: String,
    /// Each value and the stacks that have it.
    pub values: Vec<(String, Vec<String>)>,
}
