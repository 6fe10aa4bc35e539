//! The cells of a run, each explained.

use plan::load_id::as_label;
use record::{
    CellName, Driver, LoadId, LoadResult, Measured, RankedBy, Trial, TrialResult, Upstream, cells, trials_of,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::audit::{ReasonKind, Validity, audit, audit_trial};
use crate::facts::{Alone, Context, Facts, KeptAnswer};
use crate::pauses::beside_pauses;
use crate::reasons::{Explanation, explain};
use crate::usable::{ceiling_of, median};
use crate::verdict::VerdictKind;

/// One stack at one load of a round, and why its rate was what it was.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellExplanation {
    /// The round.
    pub round: String,
    /// The load, in words.
    #[serde(serialize_with = "as_label")]
    #[schemars(with = "String")]
    pub load: LoadId,
    /// What made it; absent where it was our own engine.
    #[serde(default, skip_serializing_if = "Driver::is_own")]
    pub driver: Driver,
    /// The stack.
    pub stack: String,
    /// Expected answers a second, median of its trials.
    pub goodput_per_s: f64,
    /// Trials measured, of which it is known what threads did where it is known of any.
    pub trials: u32,
    /// How many of them, looked at by themselves, have the same first verdict.
    pub agreeing: u32,
    /// Whether the figures of the trial that is explained are what they say.
    pub validity: Validity,
    /// Why, of the trial in the middle.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// How the pauses of a JVM's collections and the response times of that trial go together, second by second. Absent where no
    /// pause was seen to end, and of records of versions that did not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<String>,
}

impl CellExplanation {
    /// Whether it is of this cell.
    pub fn is_of(&self, cell: &CellName) -> bool {
        let CellName { round, load, driver, stack } = cell;
        self.round == *round && self.load == *load && self.driver == *driver && self.stack == *stack
    }
}

/// Explains every cell that was measured, on a machine of `cores` cores.
pub fn explain_cells(trials: &[Trial], cores: usize) -> Vec<CellExplanation> {
    cells(trials).iter().filter_map(|cell| explain_cell(trials, cell, cores)).collect()
}

/// The trial that stands for a cell: the one in the middle of what its table is ranked by, of two in the middle the one
/// behind; who failed is behind all others. `None` of none.
pub fn typical<'a>(trials: &[&'a Measured]) -> Option<&'a Measured> {
    let ranked_by = RankedBy::of(trials.first()?);
    let mut ordered: Vec<(f64, &Measured)> = trials
        .iter()
        .map(|trial| (ranked_by.observation(trial).figure().unwrap_or(f64::NEG_INFINITY), *trial))
        .collect();
    ordered.sort_by(|a, b| b.0.total_cmp(&a.0));
    ordered.get(ordered.len() / 2).map(|it| it.1)
}

fn explain_cell(trials: &[Trial], cell: &CellName, cores: usize) -> Option<CellExplanation> {
    let measured = measured_of(trials, cell);
    let typical = typical(&measured)?;
    let context = Context {
        cores,
        ceiling_per_s: ceiling_of(trials, cell),
        backends_alone: backends_alone(trials, cell, typical, cores),
        kept: on_kept_connections(trials, cell, typical),
    };
    let explanation = explain(typical, &context);
    let first = explanation.first().kind;
    // A record that was made small keeps what threads did of some trials only; others can't agree or disagree.
    let is_seen = |trial: &&&Measured| trial.server.signals.is_some() == typical.server.signals.is_some();
    let seen: Vec<&Measured> = measured.iter().filter(is_seen).copied().collect();
    let agreeing = seen.iter().filter(|trial| explain(trial, &context).first().kind == first).count();
    let rates: Vec<f64> = measured.iter().map(|trial| trial.load.goodput_per_s).collect();
    Some(CellExplanation {
        round: cell.round.clone(),
        load: cell.load.clone(),
        driver: cell.driver,
        stack: cell.stack.clone(),
        goodput_per_s: median(&rates)?,
        trials: seen.len() as u32,
        agreeing: agreeing as u32,
        validity: audit_trial(typical, context.ceiling_per_s),
        explanation,
        pauses: beside_pauses(typical),
    })
}

fn measured_of<'a>(trials: &'a [Trial], cell: &CellName) -> Vec<&'a Measured> {
    trials_of(trials, |trial| CellName::of(trial) == *cell)
        .filter_map(|trial| match &trial.result {
            TrialResult::Measured(measured) => Some(&**measured),
            TrialResult::Failed { .. } => None,
        })
        .collect()
}

/// What each stack behind this one carries by itself, where the same round measured it at the same load.
fn backends_alone(trials: &[Trial], cell: &CellName, front: &Measured, cores: usize) -> Vec<Alone> {
    let alone = |behind: &Upstream| {
        let of_it = CellName { stack: behind.stack.clone(), ..cell.clone() };
        let measured = measured_of(trials, &of_it);
        let rates: Vec<f64> = measured.iter().map(|trial| trial.load.throughput_per_s).collect();
        let asks = measured.first()?.upstreams.iter().map(|it| it.stack.clone()).collect();
        let context = Context { cores, ceiling_per_s: ceiling_of(trials, &of_it), ..Context::default() };
        // A rate that was asked for, or that of users who wait for nobody, is the load's and none that it can't exceed.
        let told = explain(typical(&measured)?, &context);
        let is_least = matches!(told.first().kind, VerdictKind::ClientBound | VerdictKind::NetworkLink)
            || told.verdicts.iter().any(|it| it.kind.is_no_limit());
        Some(Alone { stack: of_it.stack, asks, per_s: median(&rates)?, is_least })
    };
    front.upstreams.iter().filter_map(alone).collect()
}

/// What an answer took of the CPU where the run asked the same of this stack on connections that are kept: the most of all such loads.
/// `None` where this load keeps its own, or has them without TLS.
fn on_kept_connections(trials: &[Trial], cell: &CellName, opened: &Measured) -> Option<KeptAnswer> {
    if opened.load.tls.is_none() || keeps_connections(opened) {
        return None;
    }
    let of_stack = cells(trials).into_iter().filter(|it| it.stack == cell.stack && it.driver == cell.driver);
    let answers = of_stack.filter_map(|other| {
        let measured = measured_of(trials, &other);
        let kept = typical(&measured)?;
        let is_wrong = audit(&kept.load).reasons.iter().any(|it| it.kind == ReasonKind::IncorrectService);
        if is_wrong || !keeps_connections(kept) || !ask_the_same(&kept.load, &opened.load) {
            return None;
        }
        let (server_us, client_us) = (kept.server.cpu_us_per_request?, kept.load.cpu_us_per_request?);
        Some(KeptAnswer { server_us, client_us }).filter(|it| it.server_us > 0.0 && it.client_us > 0.0)
    });
    answers.reduce(|a, b| if b.server_us > a.server_us { b } else { a })
}

fn keeps_connections(measured: &Measured) -> bool {
    Facts::of(measured, &Context::default()).keeps_connections()
}

/// Whether two loads ask for the same, over the same protocol. A server listens at another port each time.
fn ask_the_same(one: &LoadResult, other: &LoadResult) -> bool {
    let asked = |load: &LoadResult| {
        let path = load.url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        let sent = load.request.as_ref().map(|it| (it.method.clone(), it.body_bytes));
        (path, sent, load.tls.is_some(), load.load.protocol.clone())
    };
    one.steps.is_empty() && other.steps.is_empty() && asked(one) == asked(other)
}
