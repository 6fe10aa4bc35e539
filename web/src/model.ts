/**
 * The whole of a run as one document, as `crates/report/src/page/model.rs` writes it: same names, same order.
 *
 * Times are microseconds, rates a second, shares 0 to 1, unless a name says otherwise. A figure that is not known is
 * absent or null, never 0; JSON has no infinity either, so whatever could not be divided is null.
 */

/** The version of the documents that this page knows. */
export const PAGE_VERSION = 2;

export interface Page {
  version: number;
  proofload: string;
  run: RunFacts;
  answers: Answer[];
  tables: Table[];
  sweeps: Sweep[];
  cells: Cell[];
  capacities: Capacity[];
  same_work: WorkDifference[];
  claims?: ClaimsReport | null;
  missing: Missing;
}

export interface RunFacts {
  title: string;
  dir: string;
  started: string;
  proofload: string;
  argv: string[];
  experiment: string;
  seed: number;
  pace: string;
  placement: string;
  blocks: number;
  blocks_max: number;
  trials: number;
  trials_planned: number;
  machine: Machine;
  tools: Record<string, string>;
  stacks: Record<string, StackFacts>;
}

export interface StackFacts {
  title: string;
  inputs: string | null;
  jdk: string | null;
  upstreams: string[];
}

export interface Missing {
  failures: Failure[];
  left_out: Record<string, string>;
  not_reached: string[];
}

export interface Failure {
  round: string;
  load: string;
  stack: string;
  driver: Driver;
  block: number;
  error: string;
}

export interface Answer {
  kind: AnswerKind;
  sentence: string;
  best: string[];
  next: string | null;
  ahead: Interval | null;
  /** Of the best and of `next`, those that failed in some blocks. */
  failing: Failing[];
  stopped_by: StoppedBy[];
}

export interface Failing {
  stack: string;
  failed: number;
  blocks: number;
}

export type AnswerKind = "winner" | "tie" | "ahead" | "overlap" | "single" | "invalid" | "nothing";

export interface StoppedBy {
  stack: string;
  kind: VerdictKind;
  phrase: string;
}

/** A value with the ends of its 95 % interval, or of a range where a field says so. */
export interface Interval {
  value: number;
  low: number | null;
  high: number | null;
}

export interface Table {
  round: string;
  load: string;
  driver: Driver;
  ranked_by: RankedBy;
  tested: boolean;
  least_effect: number | null;
  ceiling_per_s: number | null;
  twin: TwinGap | null;
  rows: Row[];
}

export type RankedBy = "goodput" | "response_p99";

export interface TwinGap {
  stack: string;
  ratio: Interval;
  noise: number | null;
}

export interface Row {
  stack: string;
  /** Its place in `Page.cells`. */
  cell: number;
  rank_from: number;
  rank_to: number;
  letters: string;
  trials: number;
  failed: number;
  /** Blocks in which it failed as far as the ranking goes. */
  failed_blocks: number;
  /** Median, lowest and highest: a range, no interval. */
  goodput_per_s: Interval;
  to_best: Interval | null;
  service_times: boolean;
  p50: TimeUs | null;
  p99: TimeUs | null;
  p99_9: TimeUs | null;
  server_us_per_request: number | null;
  client_us_per_request: number | null;
  errors: Record<string, number>;
  limit: string;
  limit_kind: VerdictKind | null;
  doubts: Doubt[];
  invalid: Invalid;
}

export interface TimeUs {
  us: number;
  is_lower_bound: boolean;
}

export interface Doubt {
  kind: ReasonKind;
  name: string;
  trials: number;
  text: string;
}

export type Invalid = "none" | "times" | "all";

export interface Sweep {
  round: string;
  driver: Driver;
  over: SweptOver;
  series: SweepSeries[];
  /** `[x, rate]`. */
  ceiling: [number, number][];
}

export type SweptOver = "connections" | "rate";

export interface SweepSeries {
  stack: string;
  points: SweepPoint[];
  knee: Interval | null;
}

export interface SweepPoint {
  x: number;
  cell: number;
  goodput_per_s: Interval;
  p50_us: BoundedInterval | null;
  p99_us: BoundedInterval | null;
  invalid: Invalid;
}

export interface BoundedInterval {
  value: number;
  low: number;
  high: number;
  is_lower_bound: boolean;
}

export interface Cell {
  why: CellExplanation;
  confirmations: Confirmed[];
  trial: number;
  url: string;
  command: string[];
  /** `[quantile, µs]`, rising. */
  percentiles: [number, number][];
  percentiles_censored: [number, number][];
  samples: number;
  censored: number;
  service_times: boolean;
  heat: Heat | null;
  timeline: Timeline | null;
  warm_up: WarmUp | null;
}

export interface Confirmed {
  variant: string;
  before_per_s: number;
  predicted_per_s: number;
  measured_per_s: number;
  outcome: string;
}

export interface Heat {
  column_s: number;
  columns: number;
  edges_us: number[];
  /** `[column, row, answers]`. */
  counts: [number, number, number][];
  censored: [number, number, number][];
}

export interface Timeline {
  window_s: number;
  seconds: number[];
  goodput_per_s: number[];
  failures_per_s: number[];
  p50_us: (number | null)[];
  p99_us: (number | null)[];
  readings: number[];
  signals: Signal[];
}

export interface Signal {
  panel: Panel;
  name: string;
  is_given: boolean;
  values: (number | null)[];
}

export type Panel = "cpu" | "thread_groups" | "sockets" | "jvm" | "memory" | "threads";

export interface WorkDifference {
  round: string;
  aspect: string;
  /** Each value and the stacks that have it. */
  values: [string, string[]][];
}

// What other crates' types come to as JSON.

/** `record::Driver`. Where a type leaves out our own engine, the field is absent. */
export type Driver = "proofload" | "wrk" | "jmeter";

/** `record::Machine`. */
export interface Machine {
  kernel: string | null;
  cpu: string | null;
  cores: number;
  memory_bytes: number | null;
  open_files: number | null;
  sysctls: Record<string, string>;
}

/** `record::WarmUp`. */
export interface WarmUp {
  bursts: Burst[];
  steady: boolean;
  unsteady_why?: string | null;
}

/** `record::Burst`. */
export interface Burst {
  goodput_per_s: number;
  jit_share: number | null;
}

/** `explain::CellExplanation`. */
export interface CellExplanation {
  round: string;
  load: string;
  driver?: Driver;
  stack: string;
  goodput_per_s: number;
  trials: number;
  agreeing: number;
  validity: Validity;
  verdicts: Verdict[];
  not_known: string[];
}

/** `explain::Validity`. */
export interface Validity {
  valid: boolean;
  verdict: string;
  reasons: Reason[];
}

/** `explain::Reason`. */
export interface Reason {
  kind: ReasonKind;
  text: string;
}

/** `explain::ReasonKind`. */
export type ReasonKind =
  | "empty"
  | "interrupted"
  | "incorrect_service"
  | "unsent"
  | "censored"
  | "littles_law"
  | "too_short"
  | "ramp_not_over"
  | "client_bound"
  | "late_generator"
  | "late_receiver"
  | "not_steady";

/** `explain::Verdict`. */
export interface Verdict {
  kind: VerdictKind;
  phrase: string;
  confidence: Confidence;
  accounts_for?: number | null;
  evidence: string[];
  excluded: string[];
  confirm: Intervention | null;
}

/** `explain::Confidence`. */
export type Confidence = "sure" | "likely" | "possible";

/** `explain::VerdictKind`. */
export type VerdictKind =
  | "port_exhaustion"
  | "descriptor_limit"
  | "client_bound"
  | "noisy_host"
  | "memory_growth"
  | "not_steady"
  | "incorrect_service"
  | "quota_bound"
  | "delayed_ack"
  | "keeps_rate"
  | "idle_pace"
  | "log_bound"
  | "garbage_collection"
  | "upstream_pool_limit"
  | "backend_bound"
  | "pinned_carriers"
  | "pool_limit"
  | "blocked_event_loop"
  | "serial_section"
  | "accept_queue_overflow"
  | "no_keep_alive"
  | "keep_alive_cap"
  | "cpu_bound"
  | "box_bound"
  | "contention"
  | "unexplained";

/** `explain::Intervention`. */
export interface Intervention {
  text: string;
  setting: Setting | null;
  now: number | null;
  threads: string[];
  rate_per_s: number;
  rate_max_per_s: number | null;
}

/** `explain::Setting`. */
export type Setting = "pool" | "upstream-pool" | "accept-queue" | "heap" | "keep-alive" | "collector" | "cores";

/** `explain::Capacity`. */
export interface Capacity {
  round: string;
  driver?: Driver;
  stack: string;
  levels: CapacityLevel[];
  law: LawFigures | null;
  pool: PoolFigures | null;
  explained_by: ExplainedBy;
  levels_needed: number | null;
  notes: string[];
}

export type ExplainedBy = "law" | "pool" | "undecided";

export interface CapacityLevel {
  users: number;
  trials: number;
  goodput_per_s: number;
}

export interface CapacityFigure {
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface LawFigures {
  lambda_per_s: CapacityFigure;
  sigma: CapacityFigure;
  kappa: CapacityFigure;
  bends_at_users: CapacityFigure | null;
  peak_per_s: CapacityFigure;
  residual: number;
  noise: number | null;
  doubts: CapacityDoubt[];
}

export interface PoolFigures {
  size: CapacityFigure;
  service_time_s: CapacityFigure;
  rate_per_s: CapacityFigure;
  knee: PoolKnee;
  residual: number;
  doubts: CapacityDoubt[];
}

export type PoolKnee = "seen" | "not_reached" | "before_first";

export interface CapacityDoubt {
  kind: DoubtKind;
  text: string;
}

export type DoubtKind = "worse_than_noise" | "saturated" | "extrapolated" | "one_block";

/** `report::ClaimsReport`. */
export interface ClaimsReport {
  version: number;
  title: string;
  source: string;
  when: string;
  driver: string;
  published_machine: PublishedMachine;
  machine: Machine;
  run: string;
  blocks: number;
  quick: boolean;
  counts: VerdictCounts;
  claims: JudgedClaim[];
}

/** `plan::claims::PublishedMachine`. */
export interface PublishedMachine {
  cores: number | null;
  memory_gb: number | null;
  description: string;
}

/** `report::VerdictCounts`. */
export interface VerdictCounts {
  confirmed: number;
  size_undecided: number;
  size_refuted: number;
  reversed: number;
  tied: number;
  undecided: number;
  not_measured: number;
  not_testable: number;
}

/** `explain::ClaimVerdict`. */
export type ClaimVerdict = "confirmed" | "size_undecided" | "size_refuted" | "reversed" | "tied" | "undecided" | "not_measured" | "not_testable";

/** `explain::SizeVerdict`. */
export type SizeVerdict = "confirmed" | "refuted" | "undecided";

/** `explain::JudgedClaim`. */
export interface JudgedClaim {
  id: string;
  sentence: string;
  kind: string;
  metric: Metric;
  verdict: ClaimVerdict;
  why: string;
  parts: ClaimPart[];
  notes: string[];
}

/** `plan::Metric`. */
export type Metric = "goodput" | "response-mean" | "response-p50" | "response-p90" | "response-p99" | "response-max";

/** `explain::ClaimPart`. */
export interface ClaimPart {
  what: string;
  unit: PartUnit;
  published: number | null;
  expected: number | null;
  measured: number | null;
  low: number | null;
  high: number | null;
  blocks: number;
  p: number | null;
  points_the_same_way: boolean | null;
  size: SizeVerdict | null;
  verdict: ClaimVerdict;
  why: string;
}

export type PartUnit = "ratio" | "per_s" | "micros";
