// Made by web/model.mjs from docs/report.schema.json, which is that of crates/report/src/page/model.rs. Do not edit.
//
// Times are microseconds, rates a second, shares 0 to 1, unless a name says otherwise. A figure that is not known is null or
// absent, never 0.

/** The version of the documents that this page knows. */
export const PAGE_VERSION = 2;

/** A run. */
export interface Page {
  /** One sentence a table, in the order of `tables`. */
  answers: Answer[];
  /** What the stacks can carry, where several numbers of connections were measured. */
  capacities: Capacity[];
  /** Every stack at every load, in the order of the tables. */
  cells: Cell[];
  /** What one chooses by, of each table whose stacks were also asked at shares of what the slowest carries. */
  choices?: Choice[];
  /** The claims of the write-up that was replicated. */
  claims?: ClaimsReport | null;
  /** What is missing: trials that failed, stacks left out. */
  missing: Missing;
  /** Version of Proofload that made this document; that which measured is in `run`. */
  proofload: string;
  /** What was measured, and how. */
  run: RunFacts;
  /** Where the answers of the stacks of a round differ. */
  same_work: WorkDifference[];
  /** Rate and times against what was varied: connections, or the rate asked for. */
  sweeps: Sweep[];
  /** The rankings. */
  tables: Table[];
  /** [`PAGE_VERSION`] of the writer. */
  version: number;
}

/** What a table says, in a sentence and as its parts. */
export interface Answer {
  /** How much the best is ahead of `next`: a ratio of rates, or of 99th percentiles (best over next, below 1). */
  ahead: Interval | null;
  /** The best, or those that share its place, best first. */
  best: string[];
  /**
   * Behind the best, those whose rates are only lower bounds, or whose times only upper ones, where that is why there is no
   * winner.
   */
  bounded: string[];
  /** Of the best and of `next`, those that failed in some blocks, which comes before all that is said of them. */
  failing: Failing[];
  /** What kind of answer the data support. */
  kind: AnswerKind;
  /** The first that is not among them. */
  next: string | null;
  /** In English. */
  sentence: string;
  /** What stopped the others, and the best, by stack, in the order of the ranking. */
  stopped_by: StoppedBy[];
}

/** What kind of answer the data support. */
export type AnswerKind = "winner" | "tie" | "ahead" | "overlap" | "single" | "invalid" | "bounded" | "nothing";

/** How long boots took. */
export interface Boots {
  /** How many there were. */
  count: number;
  /** The median, seconds, with its 95 % interval where there are as many boots as that takes: six. */
  seconds: Interval;
}

/** A range of figures that may be lower bounds. */
export interface BoundedInterval {
  /** The highest. */
  high: number;
  /** Whether the middle one is only a lower bound. */
  is_lower_bound: boolean;
  /** The lowest. */
  low: number;
  /** The middle one. */
  value: number;
}

/** One burst of load before the measurement. */
export interface Burst {
  /** Expected answers a second. */
  goodput_per_s: number;
  /**
   * Time that the JVMs' compilers were busy from its start to its end and the pause behind it, as a share of that
   * time on one core; absent where there is no JVM.
   */
  jit_share: number | null;
}

/** What a stack can carry in a round. */
export interface Capacity {
  /** What made the loads; absent where it was our own engine. */
  driver?: Driver;
  /** Which of the two explains the levels. */
  explained_by: ExplainedBy;
  /** Whether connections carry several requests at a time, as those of HTTP/2 may: then N is requests, and not connections. */
  is_multiplexed?: boolean;
  /** The Universal Scalability Law; absent with fewer than `levels_needed` levels. */
  law: LawFigures | null;
  /** What was measured, by N. */
  levels: CapacityLevel[];
  /** How many levels with a rate the law takes, where there are fewer. */
  levels_needed: number | null;
  /** Trials that failed or were not used, and what the audit says. */
  notes: string[];
  /** The model of a pool; absent with fewer than three levels. */
  pool: PoolFigures | null;
  /** The round. */
  round: string;
  /** The stack. */
  stack: string;
}

/** What speaks against a fit. */
export interface CapacityDoubt {
  /** What kind. */
  kind: DoubtKind;
  /** The figures, and what would mend it. */
  text: string;
}

/** A figure of a fit with its 95 % interval. */
export interface CapacityFigure {
  /** The upper end; absent of a single block, and where there is a `low` and it has no bound. */
  high: number | null;
  /** The lower end; absent of a single block. */
  low: number | null;
  /** The estimate; absent where it has no bound. */
  value: number | null;
}

/** A level of concurrency. */
export interface CapacityLevel {
  /** Their median goodput, 1/s, X. */
  goodput_per_s: number;
  /** Trials whose goodput is used. */
  trials: number;
  /** Requests at a time, N: as many as connections, where each carries one. */
  users: number;
}

/** One stack at one load. */
export interface Cell {
  /** Censored samples. */
  censored: number;
  /** The command that ran. */
  command: string[];
  /** What came of changing the limit, where that was tried. */
  confirmations: Confirmed[];
  /** Response times over time; null where there is no interval log. */
  heat: Heat | null;
  /**
   * Its percentile curve: `[quantile, µs]`, rising; those that fall among censored samples are in
   * `percentiles_censored`, as lower bounds, and may lie between the others.
   */
  percentiles: ([number, number])[];
  /** See `percentiles`. */
  percentiles_censored: ([number, number])[];
  /** Samples, censored ones included. */
  samples: number;
  /** Whether the curve is of service times. */
  service_times: boolean;
  /** What parts of requests and of connections took, where that is known and tells anything; empty otherwise. */
  stages: Stage[];
  /** The trial on one clock; null where nothing was kept. */
  timeline: Timeline | null;
  /** The index of the trial nearest the median, of which the curves are. */
  trial: number;
  /** What was asked of it: URL. */
  url: string;
  /** The warm-up's bursts, where it was one until steady. */
  warm_up: WarmUp | null;
  /** Why it stopped where it did, with its name, validity and evidence. */
  why: CellExplanation;
}

/** One stack at one load of a round, and why its rate was what it was. */
export interface CellExplanation {
  /** How many of them, looked at by themselves, have the same first verdict. */
  agreeing: number;
  /** What made it; absent where it was our own engine. */
  driver?: Driver;
  /** Expected answers a second, median of its trials. */
  goodput_per_s: number;
  /** The load, in words. */
  load: string;
  /** Signals that could not be read; what rests on them is not known. */
  not_known: string[];
  /**
   * How the pauses of a JVM's collections and the response times of that trial go together, second by second. Absent where no
   * pause was seen to end, and of records of versions that did not look.
   */
  pauses?: string[];
  /** The round. */
  round: string;
  /** The stack. */
  stack: string;
  /** Trials measured, of which it is known what threads did where it is known of any. */
  trials: number;
  /** Whether the figures of the trial that is explained are what they say. */
  validity: Validity;
  /** The first is the answer; those behind it play a part. Never empty. */
  verdicts: Verdict[];
}

/** A table to choose by. */
export interface Choice {
  /**
   * Whether it is not tested for another reason than too few blocks: they ended when claims were decided, which no test of a ranking
   * counts. Absent where not.
   */
  ended_by_claims?: boolean;
  /** Its load, in words. */
  load: string;
  /** At what rates answer times are compared, from the lowest up. */
  rates: SharedRate[];
  /** The round that says what each stack carries. */
  round: string;
  /** As the round ranks them. */
  rows: ChoiceRow[];
  /** Whether its order is by tests within blocks; else by ranges, which support no claim. */
  tested: boolean;
}

/** A stack at a rate that all were asked. */
export interface ChoiceAt {
  /** What speaks against them, and what failed, in words. */
  doubts: string[];
  /** What of its times is not valid. */
  invalid: Invalid;
  /** Rows that share a letter can't be told apart; empty where nothing was tested. */
  letters: string;
  /** 99th percentile of response time from the instant a request was due: the median over trials. */
  p99: TimeUs | null;
  /** Best rank it may have by that. */
  rank_from: number;
  /** Worst rank it may have. */
  rank_to: number;
  /**
   * Most resident memory of its processes that was seen, warm-up included, bytes: the median over trials. That of what
   * stands behind it is not in it.
   */
  rss_bytes: number | null;
  /** Of tests: the 99th percentile over that of the best, with its 95 % interval; null for the best. */
  to_best: Interval | null;
}

/** A stack that can be chosen. */
export interface ChoiceRow {
  /** At each of the rates; null where it was not measured there. */
  at: (ChoiceAt | null)[];
  /** From the start of a process to its first right answer. */
  boot: Boots | null;
  /** What speaks against its goodput, in words. */
  doubts: string[];
  /** Median goodput of the trials, 1/s, with the lowest and the highest (a range, no interval). */
  goodput_per_s: Interval;
  /** What of its goodput and of the times beside it is not valid. */
  invalid: Invalid;
  /** Rows that share a letter can't be told apart; empty where nothing was tested. */
  letters: string;
  /** What stopped it, in a phrase. */
  limit: string;
  /** Best rank it may have by what it carries. */
  rank_from: number;
  /** Worst rank it may have. */
  rank_to: number;
  /** Its id. */
  stack: string;
  /** Of tests: goodput over that of the best, with its 95 % interval; null for the best. */
  to_best: Interval | null;
}

/** One pair of cells of a claim, or one cell. */
export interface ClaimPart {
  /** Blocks that it rests on. */
  blocks: number;
  /** What the claim says it should be on this machine, where it says a figure. */
  expected: number | null;
  /** The upper end. */
  high: number | null;
  /** The lower end of its 95 % interval. */
  low: number | null;
  /** What was measured, in that unit. */
  measured: number | null;
  /**
   * How often chance alone would bring as much, adjusted for the parts of the claim; absent where looks decide, by
   * intervals.
   */
  p: number | null;
  /** Whether what was measured is on the claim's side, however little that shows. */
  points_the_same_way: boolean | null;
  /** What was published, in that unit. */
  published: number | null;
  /** Of a ratio of which there is an interval: what became of the claimed size. */
  size: SizeVerdict | null;
  /** What its figures are. */
  unit: PartUnit;
  /** What became of it. */
  verdict: ClaimVerdict;
  /** Which cells: `jetty / undertow, 400 connections`. */
  what: string;
  /** Why, in a phrase. */
  why: string;
}

/** What became of a claim. */
export type ClaimVerdict = "confirmed" | "size_undecided" | "size_refuted" | "reversed" | "tied" | "undecided" | "not_measured" | "not_testable";

/** A write-up's claims held against a run. */
export interface ClaimsReport {
  /** Blocks of which there are trials. */
  blocks: number;
  /** The claims, in the write-up's order. */
  claims: JudgedClaim[];
  /** The commit that it was measured at, where that was written down; with `+` where files differed from it. */
  commit?: string | null;
  /** How many claims came to each verdict. */
  counts: VerdictCounts;
  /** What made its load. */
  driver: string;
  /** Blocks after which claims were held against it, where it went on until they were decided. */
  looks?: number[];
  /** What this run measured on. */
  machine: Machine;
  /** The runs that other claims are judged by, where a write-up was measured in parts; the oldest first. */
  other_runs?: OtherRun[];
  /** What it measured on. */
  published_machine: PublishedMachine;
  /** Whether it was to be a quick look. */
  quick: boolean;
  /** The run's directory, as the user would name it. */
  run: string;
  /** Where it was published, as far as it says. */
  source: string;
  /** The write-up's title. */
  title: string;
  /** Version of this form. */
  version: number;
  /** When, as far as it says. */
  when: string;
}

/** How sure a verdict is. */
export type Confidence = "sure" | "likely" | "possible";

/** A prediction that was put to the test. */
export interface Confirmed {
  /** The rate without it, 1/s. */
  before_per_s: number;
  /** `[users, rate]`, 1/s, by users; empty where a variant made the change. */
  levels: ([number, number])[];
  /** What it was, 1/s. */
  measured_per_s: number;
  /** `confirmed`, `partly`, `refuted` or `could_not_tell`. */
  outcome: string;
  /** What the verdict predicted, with twice the users where those were changed, 1/s; null where it predicted nothing. */
  predicted_per_s: number | null;
  /** The variant that made the change; null where other numbers of users did. */
  variant: string | null;
  /** Why, in a sentence; null where the rates say it. */
  why: string | null;
}

/** What speaks against a row. */
export interface Doubt {
  /** What kind. */
  kind: ReasonKind;
  /** In words. */
  name: string;
  /** The figures and what to do, of the first of them. */
  text: string;
  /** In how many of the measured trials. */
  trials: number;
}

/** Kinds of doubts. */
export type DoubtKind = "worse_than_noise" | "saturated" | "extrapolated" | "one_block";

/** What made the measured load of a trial. */
export type Driver = "proofload" | "wrk" | "jmeter";

/** Which model explains a stack's levels. */
export type ExplainedBy = "law" | "pool" | "undecided";

/** A stack that failed in some blocks, as [`Row::failed_blocks`] has it. */
export interface Failing {
  /** Blocks in which it was tried. */
  blocks: number;
  /** Blocks in which it failed. */
  failed: number;
  /** The stack. */
  stack: string;
}

/** A trial that failed. */
export interface Failure {
  /** From 1. */
  block: number;
  /** What made its load. */
  driver: Driver;
  /** What failed, with what to do. */
  error: string;
  /** The load, in words. */
  load: string;
  /** The round. */
  round: string;
  /** The stack. */
  stack: string;
}

/** How many answers took how long, by when they came. */
export interface Heat {
  /** The same of censored samples, at their bounds. */
  censored: ([number, number, number])[];
  /** The start of each column since the window's start, seconds; all are as long as `column_s`, the last may be shorter. */
  column_s: number;
  /** How many columns. */
  columns: number;
  /** `[column, row, answers]`, those above 0. */
  counts: ([number, number, number])[];
  /** The lower edges of the rows, µs, rising by a constant factor; the last is the upper edge of the last row. */
  edges_us: number[];
}

/** A value with the ends of its 95 % interval, or of a range where a field says so. */
export interface Interval {
  /** The upper end. */
  high: number | null;
  /** The lower end; null where it can't be told. */
  low: number | null;
  /** The estimate. */
  value: number;
}

/** One change that would confirm a verdict, and what would come of it. */
export interface Intervention {
  /** What the setting is now, where that is a number: threads, connections, bytes of heap. */
  now: number | null;
  /** The next limit: what the load itself and the CPU would allow, requests a second. */
  rate_max_per_s: number | null;
  /** The rate, requests a second. */
  rate_per_s: number;
  /** What is changed, where a stack's manifest could have a variant for it. */
  setting: Setting | null;
  /** In a sentence. */
  text: string;
  /** Of a pool, the names of its threads. */
  threads: string[];
}

/** What of a row is not valid. */
export type Invalid = "none" | "times" | "all";

/** A claim as judged. */
export interface JudgedClaim {
  /** Whether more blocks of this run may decide it. */
  goes_on: boolean;
  /** Its name in the write-up. */
  id: string;
  /** Whether it is in the write-up's figures and not in its words. */
  is_derived: boolean;
  /** `order`, `ratio`, `ceiling`, `invariance`, `equal` or `not-testable`. */
  kind: string;
  /** What it is about. */
  metric: Metric;
  /** What else is to be known: scaled levels, trials left out, and what the audit says of the cells. */
  notes: string[];
  /** What it was judged by. */
  parts: ClaimPart[];
  /** What is claimed. */
  sentence: string;
  /** What was otherwise than in the write-up, where the verdict could depend on it. */
  settings: string[];
  /** What became of it. */
  verdict: ClaimVerdict;
  /** Why, in a sentence without a full stop. */
  why: string;
}

/** X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), fitted. */
export interface LawFigures {
  /** N*: the N beyond which the rate falls; absent where it never does. */
  bends_at_users: CapacityFigure | null;
  /** What speaks against it; empty where nothing does. */
  doubts: CapacityDoubt[];
  /** κ, coherency: what each pair of users costs each other, as a share of a user's time. */
  kappa: CapacityFigure;
  /** λ: goodput of one user, 1/s. */
  lambda_per_s: CapacityFigure;
  /** Standard deviation of a trial within its level and block, relative; absent where it can't be told. */
  noise: number | null;
  /** The highest goodput, 1/s. */
  peak_per_s: CapacityFigure;
  /** Relative error of the fit, root mean square. */
  residual: number;
  /** σ, contention: the share of the work that is done one after another. */
  sigma: CapacityFigure;
}

/** Facts of the machine; what can't be read is absent. */
export interface Machine {
  /** Cores this process may use. */
  cores: number;
  /** CPU model. */
  cpu: string | null;
  /** Kernel release. */
  kernel: string | null;
  /** Memory, bytes. */
  memory_bytes: number | null;
  /** Soft limit of open files. */
  open_files: number | null;
  /** Kernel settings that bear on the figures. */
  sysctls: Record<string, string>;
}

/** What a claim is about. */
export type Metric = "goodput" | "response-mean" | "response-p50" | "response-p90" | "response-p99" | "response-max" | "failed-share" | "server-threads";

/** What is missing. */
export interface Missing {
  /** Trials that failed. */
  failures: Failure[];
  /** Stacks left out, and why. */
  left_out: Record<string, string>;
  /** Stacks of which no trial was made. */
  not_reached: string[];
}

/** A run that some claims are judged by, beside the last one. */
export interface OtherRun {
  /** Blocks of which there are trials. */
  blocks: number;
  /** The claims that it decides upon, by their names. */
  claims: string[];
  /** The commit that it was measured at, where that was written down. */
  commit?: string | null;
  /** What it measured on. */
  machine: Machine;
  /** Whether it was to be a quick look; absent where not. */
  quick?: boolean;
  /** Its directory, as the user would name it. */
  run: string;
}

/** What a signal is of, and its unit. */
export type Panel = "cpu" | "thread_groups" | "sockets" | "jvm" | "memory" | "threads";

/** What a part's figures are. */
export type PartUnit = "ratio" | "per_s" | "micros";

/** X(N) = min(N, K) / S, fitted. */
export interface PoolFigures {
  /** What speaks against it; empty where nothing does. */
  doubts: CapacityDoubt[];
  /** Where the pool fills up. */
  knee: PoolKnee;
  /** K / S, 1/s. */
  rate_per_s: CapacityFigure;
  /** Relative error of the fit, root mean square. */
  residual: number;
  /** S: how long each takes, seconds; an upper bound where the knee is `before_first`. */
  service_time_s: CapacityFigure;
  /** K: requests that are worked on at a time. Unless the knee is `seen` it is a bound. */
  size: CapacityFigure;
}

/** Where the levels saw a pool fill up. */
export type PoolKnee = "seen" | "not_reached" | "before_first";

/** The machine of a write-up. */
export interface PublishedMachine {
  /** Cores, where it says so. */
  cores: number | null;
  /** In words: the product, the system, where the client ran. */
  description: string;
  /** Version of its JDK, where it says so. */
  jdk: string | null;
  /** Memory, GB, where it says so. */
  memory_gb: number | null;
}

/** What the rows of a table are ranked by. */
export type RankedBy = "goodput" | "response_p99";

/** One thing that speaks against a result. */
export interface Reason {
  /** What kind. */
  kind: ReasonKind;
  /** The figures, and what to do. */
  text: string;
}

/** Kinds of reasons, the gravest first. */
export type ReasonKind = "empty" | "interrupted" | "lost_agent" | "incorrect_service" | "unsent" | "censored" | "littles_law" | "too_short" | "ramp_not_over" | "client_bound" | "throttled" | "late_generator" | "late_receiver" | "skewed_clocks" | "compiling" | "not_steady" | "two_levels";

/** A row of a ranking. */
export interface Row {
  /** Whether it was asked as its table's control was (HTTP/1.1 without TLS, connections used alike): the rate of that is its ceiling. */
  as_control: boolean;
  /** Its place in [`Page::cells`]. */
  cell: number;
  /** Share of the time that the generator's busiest thread was on a CPU. */
  client_busy_share: number | null;
  /** CPU time a request of the generator, µs. */
  client_us_per_request: number | null;
  /** What speaks against its figures. */
  doubts: Doubt[];
  /** What failed, as shares of what was intended, by kind; empty where nothing did. */
  errors: Record<string, number>;
  /** Trials that failed. */
  failed: number;
  /**
   * Blocks in which it failed as far as the ranking goes: its trial failed, brought no good answer or, where the ranking
   * is by the 99th percentile, left more than 1 % of requests unanswered. It is the last of such a block.
   */
  failed_blocks: number;
  /** Median goodput of the trials, 1/s, with the lowest and the highest (a range, no interval). */
  goodput_per_s: Interval;
  /** What of it is not valid. */
  invalid: Invalid;
  /** Rows that share a letter can't be told apart; empty where nothing was tested. */
  letters: string;
  /** What limited it, in a phrase. */
  limit: string;
  /** What kind of limit that is. */
  limit_kind: VerdictKind | null;
  /** Median response time: the median over the trials, as every figure of a row. */
  p50: TimeUs | null;
  /** 99th percentile. */
  p99: TimeUs | null;
  /** 99.9th percentile. */
  p99_9: TimeUs | null;
  /** Best rank it may have. */
  rank_from: number;
  /** Worst rank it may have. */
  rank_to: number;
  /** CPU time a request of the server, µs. */
  server_us_per_request: number | null;
  /** Whether its times are service times, because its driver told no others. */
  service_times: boolean;
  /** The stack. */
  stack: string;
  /** Of tests: what it is ranked by, over that of the best, with its 95 % interval; null for the best. */
  to_best: Interval | null;
  /** Trials measured. */
  trials: number;
}

/** What was measured, and how. */
export interface RunFacts {
  /** The command line. */
  argv: string[];
  /** Blocks planned at any rate. */
  blocks: number;
  /** Blocks made at most. */
  blocks_max: number;
  /** The run's directory, as the user named it. */
  dir: string;
  /** The experiment file, whole. */
  experiment: string;
  /** A sentence on the machines that the loads came from; absent where the run made them itself. */
  loaded_from?: string | null;
  /** The machine. */
  machine: Machine;
  /** `full`, `quick` or `coarse`. */
  pace: string;
  /** Where client and servers ran: `shared` or `split`; empty where it is not known. */
  placement: string;
  /**
   * `kept` where one process of each stack served all trials, `block` where one served those of a block; absent where each trial had
   * one of its own.
   */
  processes?: string;
  /** Version of Proofload that measured. */
  proofload: string;
  /** Seed of the order of trials. */
  seed: number;
  /** Where `split` cores are of several kinds or NUMA nodes: which of them servers and client had, in words; absent of others. */
  sides?: string | null;
  /** The stacks by id. */
  stacks: Record<string, StackFacts>;
  /** When it started, RFC 3339. */
  started: string;
  /** Title of the experiment. */
  title: string;
  /** Versions of tools. */
  tools: Record<string, string>;
  /** Trials made. */
  trials: number;
  /** Trials planned for `blocks` blocks. */
  trials_planned: number;
}

/** A setting that an intervention changes. */
export type Setting = "pool" | "upstream-pool" | "accept-queue" | "heap" | "keep-alive" | "collector" | "cores";

/** A rate that all stacks were asked. */
export interface SharedRate {
  /** Requests a second; null where the load does not say. */
  per_s: number | null;
  /** As a share of what the slowest carries. */
  share: number;
}

/** One thing over time. */
export interface Signal {
  /** Whether `name` is that of a group of threads or a stack, as it came. */
  is_given: boolean;
  /** A fixed name such as `server_user`, or that of a group of threads. */
  name: string;
  /** What panel it belongs to. */
  panel: Panel;
  /** The values; null where a reading did not look. */
  values: (number | null)[];
}

/** What became of the size that a claim names. */
export type SizeVerdict = "confirmed" | "refuted" | "undecided";

/** A stack. */
export interface StackFacts {
  /** Hash of what it was built from. */
  inputs: string | null;
  /** Version of its JDK. */
  jdk: string | null;
  /** Its title. */
  title: string;
  /** The ids of the stacks behind it. */
  upstreams: string[];
}

/** What a part of requests or of connections took. */
export interface Stage {
  /** How many requests or connections had it. */
  count: number;
  /** Mean; null where it is not known. */
  mean: TimeUs | null;
  /** Median; null where it is not known. */
  p50: TimeUs | null;
  /** 99th percentile; null where it is not known. */
  p99: TimeUs | null;
  /** Which part. */
  part: StagePart;
  /** Of handshakes, how many of these went on with the keys of an earlier connection; null of others. */
  resumed: number | null;
}

/** A part of a request or of a connection. */
export type StagePart = "connect" | "tls_handshake" | "first_byte" | "stream_wait" | "window_wait";

/** A stack and its limit. */
export interface StoppedBy {
  /** What kind of limit. */
  kind: VerdictKind;
  /** In a phrase. */
  phrase: string;
  /** The stack. */
  stack: string;
}

/** How a round goes with what was varied in it. */
export interface Sweep {
  /**
   * The control: what the client reaches at all, as `[x, rate]`. A ceiling of the series that were asked as it was
   * ([`SweepSeries::as_control`]), and empty where none was.
   */
  ceiling: ([number, number])[];
  /** What made the loads. */
  driver: Driver;
  /** What was varied. */
  over: SweptOver;
  /** The round. */
  round: string;
  /** Each stack. */
  series: SweepSeries[];
}

/** A point. */
export interface SweepPoint {
  /** Its place in [`Page::cells`]. */
  cell: number;
  /** Median goodput with its range over trials, 1/s. */
  goodput_per_s: Interval;
  /** What of it is not valid. */
  invalid: Invalid;
  /** Median of the trials' medians, µs, with their range. */
  p50_us: BoundedInterval | null;
  /** The same of 99th percentiles. */
  p99_us: BoundedInterval | null;
  /** Connections, or the rate asked for. */
  x: number;
}

/** A stack's line. */
export interface SweepSeries {
  /** Whether it was asked as the controls were (HTTP/1.1 without TLS, connections used alike): their rate is its ceiling. */
  as_control: boolean;
  /** Where it bends, in connections: K of a pool or N* of the scalability law, whichever explains it, if one does. */
  knee: Interval | null;
  /** In order of `x`. */
  points: SweepPoint[];
  /** The stack. */
  stack: string;
}

/** What was varied. */
export type SweptOver = "connections" | "rate";

/** A ranking. */
export interface Table {
  /**
   * Median rate that the same client reached of the calibration target over HTTP/1.1 without TLS, 1/s: a ceiling of the rows that
   * were asked as it was ([`Row::as_control`]). Null where none was.
   */
  ceiling_per_s: number | null;
  /** What made it. */
  driver: Driver;
  /**
   * Whether it is not tested for another reason than too few blocks: they ended when claims were decided, which no test of a ranking
   * counts. Absent where not.
   */
  ended_by_claims?: boolean;
  /** Of tests: ratios nearer to 1 than this are no difference. */
  least_effect: number | null;
  /** The load, in words. */
  load: string;
  /** What it is ranked by. */
  ranked_by: RankedBy;
  /** The round. */
  round: string;
  /** From the best down. */
  rows: Row[];
  /** Whether its order is by tests within blocks; else by ranges, which support no claim. */
  tested: boolean;
  /** A stack against itself. */
  twin: TwinGap | null;
}

/** A time. */
export interface TimeUs {
  /** Whether it is only a lower bound, because it falls among censored samples. */
  is_lower_bound: boolean;
  /** Microseconds. */
  us: number;
}

/** A trial on one clock. */
export interface Timeline {
  /** Everything else a second. */
  failures_per_s: number[];
  /** Expected answers a second. */
  goodput_per_s: number[];
  /** Whether that is only known to be longer; false of records of versions that did not say. */
  p50_is_lower_bound: boolean[];
  /** Median of what was done, µs. */
  p50_us: (number | null)[];
  /** See `p50_is_lower_bound`. */
  p99_is_lower_bound: boolean[];
  /** Its 99th percentile, µs. */
  p99_us: (number | null)[];
  /** By the reading of the sampler: instants, seconds since the window's start; before 0 lies the warm-up. */
  readings: number[];
  /** By the second: instants (middles), seconds since the window's start. */
  seconds: number[];
  /** What it read, each as long as `readings`. */
  signals: Signal[];
  /** Length of the measured window, which begins at 0, seconds. */
  window_s: number;
}

/** A stack that was measured twice in each block. */
export interface TwinGap {
  /** Noise within a block, relative standard deviation. */
  noise: number | null;
  /** The second over the first. */
  ratio: Interval;
  /** Its id. */
  stack: string;
}

/** Whether a result is what it says. */
export interface Validity {
  /** What speaks against it, the gravest first. */
  reasons: Reason[];
  /** No reason speaks against it. */
  valid: boolean;
  /** `valid`, or the gravest reason's kind. */
  verdict: string;
}

/** A limit with its evidence. */
export interface Verdict {
  /**
   * How much of the rate this can account for at most, from 0 to 1, as far as the figures tell: of what is used up, the
   * part that is used; of what takes time, its part of the time; of what fails requests, its part of the requests. Absent
   * where no figure tells, and of what is no matter of the rate.
   */
  accounts_for?: number | null;
  /** How sure. */
  confidence: Confidence;
  /** One change that would confirm it. */
  confirm: Intervention | null;
  /** The figures it rests on. */
  evidence: string[];
  /** What it was not, and by which figure. */
  excluded: string[];
  /** Which limit it is. */
  kind: VerdictKind;
  /** In a phrase, for a table. */
  phrase: string;
}

/** How many claims came to each verdict. */
export interface VerdictCounts {
  /** Borne out. */
  confirmed: number;
  /** Without a figure: not run, or no trial is usable. */
  not_measured: number;
  /** Neither could be shown here. */
  not_testable: number;
  /** Refuted. */
  reversed: number;
  /** Borne out in direction, and surely of another size. */
  size_refuted: number;
  /** Borne out in direction, the size left open. */
  size_undecided: number;
  /** Neither, though it might have been shown. */
  tied: number;
  /** Measured, in too few blocks to show either. */
  undecided: number;
}

/** What it was. The names are those of JSON. */
export type VerdictKind = "port_exhaustion" | "descriptor_limit" | "client_bound" | "noisy_host" | "memory_growth" | "not_steady" | "incorrect_service" | "quota_bound" | "delayed_ack" | "keeps_rate" | "idle_pace" | "log_bound" | "garbage_collection" | "upstream_pool_limit" | "backend_bound" | "pinned_carriers" | "pool_limit" | "blocked_event_loop" | "serial_section" | "limit_inside" | "rate_limiter" | "tls_handshakes" | "stream_limit" | "flow_control" | "network_link" | "accept_queue_overflow" | "no_keep_alive" | "keep_alive_cap" | "cpu_bound" | "box_bound" | "contention" | "unexplained";

/** A warm-up in bursts. */
export interface WarmUp {
  /** The bursts in order. */
  bursts: Burst[];
  /** Loads that were measured of its process between it and this trial. Absent in records of versions that did not count them. */
  loads_since?: number | null;
  /** Whether the last of them were alike. */
  steady: boolean;
  /** Why not. */
  unsteady_why?: string | null;
}

/** Something in which the answers of stacks differ. */
export interface WorkDifference {
  /** In what. */
  aspect: string;
  /** The round. */
  round: string;
  /** Each value and the stacks that have it. */
  values: ([string, string[]])[];
}
