//! What records mean. First whether the figures can be believed ([`audit`]), then what limited the server
//! ([`explain`]). Also what a stack can carry, whether claims and gates hold, and what differs between runs or
//! between two versions of a service.
//!
//! It measures nothing, reads no file and prints nothing: records come in, and `report` makes text of the answers.
//!
//! Invariants: pure functions of records. Each statement carries the figures it rests on; where the evidence does not
//! decide, the answer is *unexplained* or *could not tell*, in those words.
#![forbid(unsafe_code)]

mod agents;
mod alone;
mod asked;
mod audit;
mod calibration;
mod capacity;
mod cells;
mod claims;
mod compare;
mod conditions;
mod confirmation;
mod even;
mod facts;
mod gate;
mod history;
mod idle;
mod kind;
mod level;
mod levels;
mod noise;
mod others;
mod pauses;
mod rates;
mod reasons;
mod rules;
mod same_work;
mod shape;
mod steps;
mod trend;
mod usable;
mod validity;
mod verdict;
mod versions;
mod weight;
mod workers;

pub use agents::LoadedFrom;
pub use audit::{Reason, ReasonKind, Validity, audit, audit_trial, leads_elsewhere};
pub use calibration::{AllowedBy, CALIBRATED_PERCENTILES, CaseOutcome, CaseVerdict, Deviation, judge_case};
pub use capacity::{
    Capacity, CapacityDoubt, CapacityFigure, CapacityLevel, DoubtKind, ExplainedBy, LawFigures, PoolFigures,
    PoolKnee, capacity, is_concurrency,
};
pub use cells::{CellExplanation, explain_cells, typical};
pub use claims::{
    ClaimPart, ClaimVerdict, JudgedClaim, PartUnit, SizeVerdict, findable_difference, judge_claim,
    open_cells, other_settings,
};
pub use compare::{
    Bounded, CellChange, ChangeVerdict, ControlChange, RecordedRun, RunSide, RunsCompared, WithinRuns,
    WorseBy, compare_runs,
};
pub use conditions::RunDifference;
pub use confirmation::{Confirmation, Outcome};
pub use facts::{Alone, Context, KeptAnswer};
pub use gate::{
    LoadsBefore, RunsBefore, gate_load, gate_run, gate_versions, gate_without, intervals_of_versions,
};
pub use history::{
    HistoryFilter, HistoryMetric, HistoryPoint, Series, SeriesChange, points_of_run, series_of,
};
pub use level::Level;
pub use levels::{confirmed_by_levels, is_told_by_users};
pub use noise::{STEAL_SHARE_MAX, who};
pub use others::OTHERS_SHARE_MAX;
pub use pauses::beside_pauses;
pub use reasons::{Explanation, explain};
pub use same_work::{Difference, differences, differences_within};
pub use usable::{ceiling_beside, ceiling_of};
pub use verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};
pub use versions::{
    FigureChange, FigureVerdict, ServiceChange, VersionsCompared, blocks_of_versions, compare_versions,
    wider_than,
};
