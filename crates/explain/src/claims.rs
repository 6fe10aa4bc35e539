//! Claims of write-ups held against a run: confirmed, in direction alone or with its size, reversed, or tied; or open, because
//! too little or nothing was measured, or because nothing here can test it.
//!
//! A claim is judged part by part: a part is one pair of cells, or one cell against its level. Two cells are compared
//! by the logarithms of their ratios within blocks, as the ranking compares rows (`stats::LogRatios`). A run that goes on
//! until its claims are decided is judged by the looks at it (`stats::Looked`), any other by all of its blocks at once, with
//! Holm's method over the parts of the claim. `docs/claims.md` states the rules.

mod cell;
mod question;
mod rule;
mod settings;
mod whole;

use std::collections::BTreeSet;

use plan::{CellId, Claim, Metric, Statement};
use record::{Manifest, Trial};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{LEAST_EFFECT, Least, Told};

use self::cell::{CellTrials, beside_twin};
use self::question::{Question, judge, judge_looked, level_question, pair_question};
use self::rule::Rule;
pub use self::rule::SizeVerdict;
pub use self::settings::other_settings;
use self::whole::whole;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The records bear it out, with its size where it has one.
    Confirmed,
    /// The direction is borne out, and whether the size is right the records leave open.
    SizeUndecided,
    /// The direction is borne out, and the size is surely another.
    SizeRefuted,
    /// The records show the contrary.
    Reversed,
    /// The records show neither, though they might have.
    Tied,
    /// Measured, in too few blocks to show either, with failures among them, or with bounds instead of figures, that leave it open.
    Undecided,
    /// The records have no figure for it: it was not run, or no trial of it is usable.
    NotMeasured,
    /// Nothing that could be run here can show either.
    NotTestable,
}

impl ClaimVerdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::SizeUndecided => "direction confirmed, size undecided",
            Self::SizeRefuted => "direction confirmed, size refuted",
            Self::Reversed => "reversed",
            Self::Tied => "tied",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
            Self::NotTestable => "not testable here",
        }
    }

    /// Whether it leaves the claim open, because the figures are too few or are none.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Undecided | Self::NotMeasured | Self::NotTestable)
    }
}

/// A claim as judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JudgedClaim {
    /// Its name in the write-up.
    pub id: String,
    /// What is claimed.
    pub sentence: String,
    /// Whether it is in the write-up's figures and not in its words.
    pub is_derived: bool,
    /// `order`, `ratio`, `ceiling`, `invariance`, `equal` or `not-testable`.
    pub kind: &'static str,
    /// What it is about.
    pub metric: Metric,
    /// What became of it.
    pub verdict: ClaimVerdict,
    /// Why, in a sentence without a full stop.
    pub why: String,
    /// Whether more blocks of this run may decide it.
    pub goes_on: bool,
    /// What it was judged by.
    pub parts: Vec<ClaimPart>,
    /// What was otherwise than in the write-up, where the verdict could depend on it.
    pub settings: Vec<String>,
    /// What else is to be known: scaled levels, trials left out, and what the audit says of the cells.
    pub notes: Vec<String>,
}

/// One pair of cells of a claim, or one cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimPart {
    /// Which cells: `jetty / undertow, 400 connections`.
    pub what: String,
    /// What its figures are.
    pub unit: PartUnit,
    /// What was published, in that unit.
    pub published: Option<f64>,
    /// What the claim says it should be on this machine, where it says a figure.
    pub expected: Option<f64>,
    /// What was measured, in that unit.
    pub measured: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Blocks that it rests on.
    pub blocks: usize,
    /// How often chance alone would bring as much, adjusted for the parts of the claim; absent where looks decide, by
    /// intervals.
    pub p: Option<f64>,
    /// Whether what was measured is on the claim's side, however little that shows.
    pub points_the_same_way: Option<bool>,
    /// Of a ratio of which there is an interval: what became of the claimed size.
    pub size: Option<SizeVerdict>,
    /// What became of it.
    pub verdict: ClaimVerdict,
    /// Why, in a phrase.
    pub why: String,
}

/// What a part's figures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartUnit {
    /// The first over the second.
    Ratio,
    /// A rate, 1/s.
    PerS,
    /// A time, µs.
    Micros,
}

/// Holds a claim against the trials of a run.
pub fn judge_claim(claim: &Claim, trials: &[Trial], manifest: &Manifest) -> JudgedClaim {
    let mut notes = Vec::new();
    let cells: Vec<CellTrials<'_>> =
        claim.cells().into_iter().map(|cell| CellTrials::of(cell, claim.metric, trials, manifest)).collect();
    let of = |id: &plan::CellId| {
        cells.iter().find(|it| it.id == *id).expect("a claim's cells are those of its statement")
    };
    let pairs = |pairs: &[plan::CellPair], rule: Rule| -> Vec<Question> {
        let least = |it: &plan::CellPair| {
            let twins = [&it.a, &it.b].map(|id| beside_twin(id, claim.metric, trials, manifest)?.ratio());
            twins.into_iter().flatten().fold(Least::KNOWN, Least::beside)
        };
        let question = |it: &plan::CellPair| {
            let mut question = pair_question(of(&it.a), of(&it.b), it.published, rule, claim.metric);
            question.least = least(it);
            question
        };
        pairs.iter().map(question).collect()
    };
    let (kind, questions) = match &claim.statement {
        Statement::Order(all) => ("order", pairs(all, Rule::Direction { above: true, size: None })),
        Statement::Ratio { pairs: all, ratio } => {
            ("ratio", pairs(all, Rule::Direction { above: *ratio > 1.0, size: Some(*ratio) }))
        }
        Statement::Invariance { pairs: all, within } => {
            ("invariance", pairs(all, Rule::Equivalence { within: *within }))
        }
        Statement::Equal { pairs: all, within } => {
            ("equal", pairs(all, Rule::Equivalence { within: *within }))
        }
        Statement::Ceiling { levels, cores_published, within } => {
            let scale = scaled_to_cores(*cores_published, manifest.machine.cores, &mut notes);
            let rule = Rule::Equivalence { within: *within };
            let question = |it: &plan::Level| level_question(of(&it.cell), it, scale, rule, claim.metric);
            ("ceiling", levels.iter().map(question).collect())
        }
        Statement::NotTestable { why } => return not_testable(claim, why),
    };
    let (parts, goes_on, is_surely_tied) = if manifest.ends_when_decided() {
        let (parts, told): (Vec<ClaimPart>, Vec<Option<Told>>) = judge_looked(questions).into_iter().unzip();
        (parts, stats::goes_on(told.iter().copied()), told.contains(&Some(Told::Neither)))
    } else {
        (judge(questions), false, false)
    };
    notes.extend(cells.iter().flat_map(CellTrials::notes));
    notes.dedup();
    let (verdict, why) = whole(&parts, is_surely_tied);
    let (id, sentence, metric) = (claim.id.clone(), claim.sentence.clone(), claim.metric);
    let (is_derived, settings) = (claim.is_derived, Vec::new());
    JudgedClaim { id, sentence, is_derived, kind, metric, verdict, why, goes_on, parts, settings, notes }
}

/// The cells of claims that more blocks may decide, by the looks at a run that goes on until they are.
pub fn open_cells(claims: &[Claim], trials: &[Trial], manifest: &Manifest) -> BTreeSet<CellId> {
    let open = claims.iter().filter(|claim| judge_claim(claim, trials, manifest).goes_on);
    open.flat_map(Claim::cells).collect()
}

/// The smallest difference, as a share, that the comparisons of a claim are likely to find by their last look, with the noise
/// that twins of its rounds had in `trials`: of the noisiest round. `None` where that is not known yet, and of claims that
/// nothing here can test.
pub fn findable_difference(claim: &Claim, trials: &[Trial], manifest: &Manifest) -> Option<f64> {
    let noise = |cell: &CellId| beside_twin(cell, claim.metric, trials, manifest)?.noise();
    let noises = claim.cells().into_iter().map(|cell| noise(&cell)).collect::<Option<Vec<f64>>>()?;
    let noisiest = noises.into_iter().reduce(f64::max)?;
    Some(stats::findable(noisiest, LEAST_EFFECT))
}

fn not_testable(claim: &Claim, why: &str) -> JudgedClaim {
    JudgedClaim {
        id: claim.id.clone(),
        sentence: claim.sentence.clone(),
        is_derived: claim.is_derived,
        kind: "not-testable",
        metric: claim.metric,
        verdict: ClaimVerdict::NotTestable,
        why: why.to_owned(),
        goes_on: false,
        parts: Vec::new(),
        settings: Vec::new(),
        notes: Vec::new(),
    }
}

/// By what a level that grows with the cores is multiplied here. `None` where the cores are not known.
fn scaled_to_cores(published: Option<u32>, here: usize, notes: &mut Vec<String>) -> Option<f64> {
    let Some(published) = published else { return Some(1.0) };
    if here == 0 {
        return None;
    }
    if here != published as usize {
        notes.push(format!("the level grows with the cores: {published} there, {here} here"));
    }
    Some(here as f64 / f64::from(published))
}
