//! What a stack can carry, from how its rate grows with the connections of a round: the Universal Scalability Law and the
//! model of a pool, fitted to each stack (`stats::scalability`, `stats::pool_model`). `docs/statistics.md` states the
//! rules.
//!
//! Only the closed model without think time is a sweep over concurrency: there, N connections are N requests under way.
//! Users who think, or who come and go, are fewer than their number.

use std::collections::BTreeMap;

use plan::Metric;
use record::{CellName, Driver, Load, Measured, Trial, TrialResult, cells, measured_by_block, trials_of};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{
    Doubt, Estimate, Explained, Knee, LAW_LEVELS_MIN, LawFit, LoadPoint, PoolFit, explained_by, pool_model,
    scalability,
};
use units::Seed;

use crate::usable::{Usable, ceiling_of, median};

/// Seed of the resampled blocks: the same trials always give the same intervals.
const SEED: Seed = Seed(0x7573_6c21);

/// What a stack can carry in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Capacity {
    /// The round.
    pub round: String,
    /// What made the loads; absent where it was our own engine.
    #[serde(default, skip_serializing_if = "Driver::is_own")]
    pub driver: Driver,
    /// The stack.
    pub stack: String,
    /// Whether connections carry several requests at a time, as those of HTTP/2 may: then N is requests, and not connections.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_multiplexed: bool,
    /// What was measured, by N.
    pub levels: Vec<CapacityLevel>,
    /// The Universal Scalability Law; absent with fewer than `levels_needed` levels.
    pub law: Option<LawFigures>,
    /// The model of a pool; absent with fewer than three levels.
    pub pool: Option<PoolFigures>,
    /// Which of the two explains the levels.
    pub explained_by: ExplainedBy,
    /// How many levels with a rate the law takes, where there are fewer.
    pub levels_needed: Option<usize>,
    /// Trials that failed or were not used, and what the audit says.
    pub notes: Vec<String>,
}

/// A level of concurrency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CapacityLevel {
    /// Requests at a time, N: as many as connections, where each carries one.
    pub users: u32,
    /// Trials whose goodput is used.
    pub trials: usize,
    /// Their median goodput, 1/s, X.
    pub goodput_per_s: f64,
}

/// A figure of a fit with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CapacityFigure {
    /// The estimate; absent where it has no bound.
    pub value: Option<f64>,
    /// The lower end; absent of a single block.
    pub low: Option<f64>,
    /// The upper end; absent of a single block, and where there is a `low` and it has no bound.
    pub high: Option<f64>,
}

impl From<Estimate> for CapacityFigure {
    fn from(from: Estimate) -> Self {
        // JSON has no infinity.
        let finite = |it: f64| Some(it).filter(|it| it.is_finite());
        Self { value: finite(from.value), low: from.low.and_then(finite), high: from.high.and_then(finite) }
    }
}

/// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), fitted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LawFigures {
    /// λ: goodput of one user, 1/s.
    pub lambda_per_s: CapacityFigure,
    /// σ, contention: the share of the work that is done one after another.
    pub sigma: CapacityFigure,
    /// κ, coherency: what each pair of users costs each other, as a share of a user's time.
    pub kappa: CapacityFigure,
    /// N*: the N beyond which the rate falls; absent where it never does.
    pub bends_at_users: Option<CapacityFigure>,
    /// The highest goodput, 1/s.
    pub peak_per_s: CapacityFigure,
    /// Relative error of the fit, root mean square.
    pub residual: f64,
    /// Standard deviation of a trial within its level and block, relative; absent where it can't be told.
    pub noise: Option<f64>,
    /// What speaks against it; empty where nothing does.
    pub doubts: Vec<CapacityDoubt>,
}

/// X(N) = min(N, K) / S, fitted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PoolFigures {
    /// K: requests that are worked on at a time. Unless the knee is `seen` it is a bound.
    pub size: CapacityFigure,
    /// S: how long each takes, seconds; an upper bound where the knee is `before_first`.
    pub service_time_s: CapacityFigure,
    /// K / S, 1/s.
    pub rate_per_s: CapacityFigure,
    /// Where the pool fills up.
    pub knee: PoolKnee,
    /// Relative error of the fit, root mean square.
    pub residual: f64,
    /// What speaks against it; empty where nothing does.
    pub doubts: Vec<CapacityDoubt>,
}

/// Where the levels saw a pool fill up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolKnee {
    /// Between them.
    Seen,
    /// Not yet: K is at least `low`, or the largest level.
    NotReached,
    /// Before the first: K is at most `high`, or the smallest level.
    BeforeFirst,
}

/// Which model explains a stack's levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainedBy {
    /// The Universal Scalability Law.
    Law,
    /// A pool.
    Pool,
    /// The levels do not decide.
    Undecided,
}

/// What speaks against a fit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CapacityDoubt {
    /// What kind.
    pub kind: DoubtKind,
    /// The figures, and what would mend it.
    pub text: String,
}

/// Kinds of doubts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// The levels lie off the curve.
    WorseThanNoise,
    /// Even the smallest level waited.
    Saturated,
    /// The peak was not seen.
    Extrapolated,
    /// There is no spread.
    OneBlock,
}

impl DoubtKind {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WorseThanNoise => "another curve",
            Self::Saturated => "saturated",
            Self::Extrapolated => "extrapolated",
            Self::OneBlock => "one block",
        }
    }
}

/// The capacity of every stack in every round that has a level of the closed model, by round, driver and stack.
pub fn capacity(trials: &[Trial]) -> Vec<Capacity> {
    let mut sweeps: BTreeMap<(String, Driver, String), Sweep> = BTreeMap::new();
    for cell in cells(trials).into_iter().filter(|cell| is_swept(trials, cell)) {
        let sweep = sweeps.entry((cell.round.clone(), cell.driver, cell.stack.clone())).or_default();
        sweep.add(trials, &cell);
    }
    sweeps
        .into_iter()
        .map(|((round, driver, stack), sweep)| Capacity { driver, ..of_sweep(round, stack, sweep) })
        .collect()
}

/// Whether a cell's connections are its concurrency, by any measured trial of that load in the round: a stack that only
/// failed says nothing of its load, and the others were asked for the same.
fn is_swept(trials: &[Trial], cell: &CellName) -> bool {
    let is_of_load = |it: &Trial| it.round == cell.round && it.load.id == cell.load;
    let load = |trial: &Trial| match &trial.result {
        TrialResult::Measured(it) => Some(is_concurrency(&it.load.load)),
        TrialResult::Failed { .. } => None,
    };
    trials_of(trials, is_of_load).find_map(load).unwrap_or(false)
}

/// Whether a load's connections are as many requests under way: closed, without think time, all users there all the time.
pub fn is_concurrency(load: &Load) -> bool {
    let thinks = load.think_us.is_some_and(|it| it > 0.0);
    load.model == "closed" && !thinks && load.ramp_up_s.is_none() && load.requests_per_user.is_none()
}

/// The levels of one stack in a round.
#[derive(Default)]
struct Sweep {
    points: Vec<LoadPoint>,
    is_multiplexed: bool,
    levels: Vec<CapacityLevel>,
    notes: Vec<String>,
}

impl Sweep {
    fn add(&mut self, trials: &[Trial], cell: &CellName) {
        let is_of_cell = |trial: &Trial| CellName::of(trial) == *cell;
        let ceiling = ceiling_of(trials, cell);
        let by_block = measured_by_block(trials, is_of_cell);
        let is_failed = |trial: &&Trial| matches!(trial.result, TrialResult::Failed { .. });
        let failed = trials_of(trials, is_of_cell).filter(is_failed).count();
        let mut notes: BTreeMap<String, usize> = BTreeMap::new();
        let mut goodputs = Vec::new();
        let blocks = (0_u32..).zip(&by_block);
        for (block, measured) in blocks.filter_map(|(block, it)| Some((block, (*it)?))) {
            self.is_multiplexed |= measured.load.load.streams.is_some_and(|it| it > 1);
            let usable = Usable::of(measured, Metric::Goodput, ceiling);
            match usable.figure {
                Ok(rate_per_s) => {
                    self.points.push(LoadPoint { block, users: users(measured), rate_per_s });
                    goodputs.push(rate_per_s);
                }
                Err(why) => *notes.entry(format!("not used: {}", why.name())).or_default() += 1,
            }
            for doubt in usable.doubts {
                *notes.entry(doubt.name().to_owned()).or_default() += 1;
            }
        }
        let measured = by_block.iter().flatten().count();
        let of = format!("of {} trials at {}", measured + failed, cell.load);
        self.notes.extend((failed > 0).then(|| format!("{failed} {of} failed")));
        self.notes.extend(notes.into_iter().map(|(what, count)| format!("{count} {of}: {what}")));
        let first = by_block.iter().flatten().next();
        self.levels.extend(first.zip(median(&goodputs)).map(|(first, goodput_per_s)| CapacityLevel {
            users: users(first),
            trials: goodputs.len(),
            goodput_per_s,
        }));
    }
}

/// Exchanges that are under way at a time, of which connections of HTTP/2 carry several.
fn users(measured: &Measured) -> u32 {
    measured.load.load.exchanges()
}

fn of_sweep(round: String, stack: String, mut sweep: Sweep) -> Capacity {
    sweep.levels.sort_by_key(|it| it.users);
    let law = scalability(&sweep.points, SEED);
    let pool = pool_model(&sweep.points, SEED).ok();
    let explained = match (&law, &pool) {
        (Ok(_), Some(pool)) => explained_by(&sweep.points, pool),
        _ => Explained::Undecided,
    };
    let (first, last) = (sweep.levels.first().map(|it| it.users), sweep.levels.last().map(|it| it.users));
    let of = if sweep.is_multiplexed { "requests at a time" } else { "connections" };
    let ends = Ends { first: first.unwrap_or(0), last: last.unwrap_or(0), of };
    Capacity {
        round,
        driver: Driver::default(),
        stack,
        levels_needed: law.is_err().then_some(LAW_LEVELS_MIN),
        law: law.ok().map(|it| law_figures(&it, ends)),
        pool: pool.map(|it| pool_figures(&it, ends)),
        explained_by: match explained {
            Explained::ByLaw => ExplainedBy::Law,
            Explained::ByPool => ExplainedBy::Pool,
            Explained::Undecided => ExplainedBy::Undecided,
        },
        is_multiplexed: sweep.is_multiplexed,
        levels: sweep.levels,
        notes: sweep.notes,
    }
}

/// The smallest and the largest level.
#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
    /// What they are numbers of.
    of: &'static str,
}

fn law_figures(fit: &LawFit, ends: Ends) -> LawFigures {
    LawFigures {
        lambda_per_s: fit.lambda_per_s.into(),
        sigma: fit.sigma.into(),
        kappa: fit.kappa.into(),
        bends_at_users: fit.bends_at_users.map(Into::into),
        peak_per_s: fit.peak_per_s.into(),
        residual: fit.residual,
        noise: fit.noise,
        doubts: fit.doubts.iter().map(|it| doubt(*it, ends)).collect(),
    }
}

fn pool_figures(fit: &PoolFit, ends: Ends) -> PoolFigures {
    PoolFigures {
        size: fit.size.into(),
        service_time_s: fit.service_time_s.into(),
        rate_per_s: fit.rate_per_s.into(),
        knee: match fit.knee {
            Knee::Seen => PoolKnee::Seen,
            Knee::NotReached => PoolKnee::NotReached,
            Knee::BeforeFirst => PoolKnee::BeforeFirst,
        },
        residual: fit.residual,
        doubts: fit.doubts.iter().map(|it| doubt(*it, ends)).collect(),
    }
}

fn doubt(doubt: Doubt, ends: Ends) -> CapacityDoubt {
    let of = ends.of;
    let (kind, text) = match doubt {
        Doubt::WorseThanNoise { misfit, noise } => (
            DoubtKind::WorseThanNoise,
            format!(
                "the levels' means are off the curve by {:.1} %, which is more than chance makes of trials that differ by {:.1} % \
                 within a level and block",
                misfit * 100.0,
                noise * 100.0
            ),
        ),
        Doubt::Saturated { share } => (
            DoubtKind::Saturated,
            format!(
                "at {} {of}, the fewest, one already got {:.0} % of what one alone would: λ is a guess; measure fewer {of} as \
                 well",
                ends.first,
                share * 100.0
            ),
        ),
        Doubt::Extrapolated => (
            DoubtKind::Extrapolated,
            format!("the peak lies far beyond {} {of}, the most that were measured", ends.last),
        ),
        Doubt::OneBlock => {
            (DoubtKind::OneBlock, "a single block has no spread, so nothing here has an interval".to_owned())
        }
    };
    CapacityDoubt { kind, text }
}
