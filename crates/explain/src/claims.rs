//! Claims of write-ups held against a run: confirmed, reversed, tied, or not testable here.
//!
//! A claim is judged part by part: a part is one pair of cells, or one cell against its level. Two cells are compared
//! by the logarithms of their ratios within blocks, as the ranking compares rows (`stats::LogRatios`), with Holm's
//! method over the parts of the claim. `docs/claims.md` states the rules.

mod cell;

use plan::claims::WITHIN_DEFAULT;
use plan::{Claim, Metric, Statement};
use record::{Manifest, Trial};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{ALPHA, LEAST_EFFECT, LogRatios, Observation, Ratio, blocks_needed, holm};

use self::cell::{CellTrials, twin_gap};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The records bear it out.
    Confirmed,
    /// The records show the contrary.
    Reversed,
    /// The records show neither, though they might have.
    Tied,
    /// The records can't show either.
    NotTestable,
}

impl ClaimVerdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Reversed => "reversed",
            Self::Tied => "tied",
            Self::NotTestable => "not testable here",
        }
    }
}

/// A claim as judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JudgedClaim {
    /// Its name in the write-up.
    pub id: String,
    /// What is claimed.
    pub sentence: String,
    /// `order`, `ratio`, `ceiling`, `invariance`, `equal` or `not-testable`.
    pub kind: &'static str,
    /// What it is about.
    pub metric: Metric,
    /// What became of it.
    pub verdict: ClaimVerdict,
    /// Why, in a sentence without a full stop.
    pub why: String,
    /// What it was judged by.
    pub parts: Vec<ClaimPart>,
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
    /// How often chance alone would bring as much, adjusted for the parts of the claim.
    pub p: Option<f64>,
    /// Whether what was measured is on the claim's side, however little that shows.
    pub points_the_same_way: Option<bool>,
    /// Of a ratio: whether the interval holds the claimed size.
    pub size_agrees: Option<bool>,
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

/// What a part is tested for.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// Above 1, or below it.
    Direction { above: bool, size: Option<f64> },
    /// Within so much of 1.
    Equivalence { within: f64 },
}

/// A part before it is judged.
struct Question {
    what: String,
    unit: PartUnit,
    published: Option<f64>,
    /// What a ratio of 1 stands for, in `unit`: 1 of ratios, the level of cells.
    scale: f64,
    expected: Option<f64>,
    rule: Rule,
    ratios: LogRatios,
    /// The same, over the edge of an equivalence that the estimate is nearest to.
    over_edge: Option<LogRatios>,
    /// What is nearer to 1 than this is no difference.
    least_effect: f64,
    /// Why there is no block, if there is none.
    missing: Option<String>,
    /// Why its blocks are not the whole, where they are not.
    spoiled: Option<String>,
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
            let gap = |id| twin_gap(id, claim.metric, trials, manifest).unwrap_or(0.0);
            LEAST_EFFECT.max(gap(&it.a)).max(gap(&it.b))
        };
        let question = |it: &plan::CellPair| {
            let question = pair_question(of(&it.a), of(&it.b), it.published, rule);
            Question { least_effect: least(it), ..question }
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
    let parts = judge(questions);
    notes.extend(cells.iter().flat_map(CellTrials::notes));
    notes.dedup();
    let (verdict, why) = whole(&parts);
    let (id, sentence) = (claim.id.clone(), claim.sentence.clone());
    JudgedClaim { id, sentence, kind, metric: claim.metric, verdict, why, parts, notes }
}

fn not_testable(claim: &Claim, why: &str) -> JudgedClaim {
    JudgedClaim {
        id: claim.id.clone(),
        sentence: claim.sentence.clone(),
        kind: "not-testable",
        metric: claim.metric,
        verdict: ClaimVerdict::NotTestable,
        why: why.to_owned(),
        parts: Vec::new(),
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

fn pair_question(
    a: &CellTrials<'_>,
    b: &CellTrials<'_>,
    published: Option<(f64, f64)>,
    rule: Rule,
) -> Question {
    let ratios = LogRatios::of(&a.values, &b.values);
    let over_edge = nearest_edge(rule, ratios.ratio()).map(|edge| ratios.over(edge));
    let apart = || "the two were never measured in one block".to_owned();
    let missing = (ratios.blocks() == 0).then(|| a.missing().or_else(|| b.missing()).unwrap_or_else(apart));
    let expected = match rule {
        Rule::Direction { size, .. } => size,
        Rule::Equivalence { .. } => Some(1.0),
    };
    Question {
        what: a.id.beside(&b.id),
        unit: PartUnit::Ratio,
        published: published.map(|(a, b)| a / b),
        scale: 1.0,
        expected,
        rule,
        ratios,
        over_edge,
        least_effect: LEAST_EFFECT,
        missing,
        spoiled: a.spoiled().or_else(|| b.spoiled()),
    }
}

fn level_question(
    cell: &CellTrials<'_>,
    level: &plan::Level,
    scale: Option<f64>,
    rule: Rule,
    metric: Metric,
) -> Question {
    let value = level.value * scale.unwrap_or(1.0);
    let level_of = |level: f64| vec![Some(Observation::Figure(level)); cell.values.len()];
    let ratios =
        if scale.is_some() { LogRatios::of(&cell.values, &level_of(value)) } else { LogRatios::of(&[], &[]) };
    let over_edge = nearest_edge(rule, ratios.ratio()).map(|edge| ratios.over(edge));
    let unknown = || "the level grows with the cores, and this machine's are not known".to_owned();
    let missing = (ratios.blocks() == 0).then(|| cell.missing().unwrap_or_else(unknown));
    Question {
        what: cell.id.alone(),
        unit: if metric == Metric::Goodput { PartUnit::PerS } else { PartUnit::Micros },
        published: level.published,
        scale: value,
        expected: Some(value),
        rule,
        ratios,
        over_edge,
        least_effect: LEAST_EFFECT,
        missing,
        spoiled: cell.spoiled(),
    }
}

/// The end of an equivalence's bounds on the estimate's side.
fn nearest_edge(rule: Rule, estimate: Option<Ratio>) -> Option<f64> {
    match (rule, estimate) {
        (Rule::Equivalence { within }, Some(ratio)) => {
            Some(if ratio.value > 1.0 { 1.0 + within } else { 1.0 / (1.0 + within) })
        }
        _ => None,
    }
}

/// Comparisons that nothing was measured of can't err, and are none of those that Holm's method counts.
fn judge(questions: Vec<Question>) -> Vec<ClaimPart> {
    let measured: Vec<usize> = (0..questions.len()).filter(|it| questions[*it].ratios.blocks() > 0).collect();
    let p_of = |question: &Question| question.over_edge.as_ref().unwrap_or(&question.ratios).p_value();
    let p: Vec<f64> = measured.iter().map(|it| p_of(&questions[*it])).collect();
    let mut adjusted = vec![1.0; questions.len()];
    for (index, p) in measured.iter().zip(holm(&p)) {
        adjusted[*index] = p;
    }
    let count = measured.len();
    questions.into_iter().zip(adjusted).map(|(question, p)| question.judge(p, count)).collect()
}

impl Question {
    fn judge(self, p: f64, parts: usize) -> ClaimPart {
        let blocks = self.ratios.blocks();
        let ratio = self.ratios.ratio();
        let same_way = ratio.map(|it| self.rule.points_the_same_way(it.value));
        let (verdict, why) = match (ratio, &self.missing) {
            (Some(ratio), None) if blocks >= blocks_needed(parts) => {
                match (self.rule.verdict(ratio, p, self.least_effect), &self.spoiled) {
                    ((ClaimVerdict::Confirmed | ClaimVerdict::Reversed, _), Some(why)) => {
                        (ClaimVerdict::NotTestable, why.clone())
                    }
                    (decided, _) => decided,
                }
            }
            (Some(_), None) => (ClaimVerdict::NotTestable, too_few(blocks, parts)),
            (_, missing) => (ClaimVerdict::NotTestable, missing.clone().unwrap_or_default()),
        };
        let size_agrees = match (self.rule, ratio.and_then(bounds)) {
            (Rule::Direction { size: Some(size), .. }, Some(interval)) => Some(size_agrees(size, interval)),
            _ => None,
        };
        let shown = |value: f64| value * self.scale;
        ClaimPart {
            what: self.what,
            unit: self.unit,
            published: self.published,
            expected: self.expected,
            measured: ratio.map(|it| shown(it.value)),
            low: ratio.and_then(|it| it.low).map(shown),
            high: ratio.and_then(|it| it.high).map(shown),
            blocks,
            p: (blocks > 0).then_some(p),
            points_the_same_way: same_way,
            size_agrees,
            verdict,
            why,
        }
    }
}

fn too_few(blocks: usize, parts: usize) -> String {
    match (blocks, blocks_needed(parts)) {
        (1, _) => "one block supports no claim".into(),
        (_, needed) if parts == 1 => format!("{blocks} blocks are too few, it takes {needed}"),
        (_, needed) => format!("{blocks} blocks are too few for {parts} comparisons, it takes {needed}"),
    }
}

fn bounds(ratio: Ratio) -> Option<(f64, f64)> {
    ratio.low.zip(ratio.high)
}

impl Rule {
    fn points_the_same_way(self, ratio: f64) -> bool {
        match self {
            Self::Direction { above, .. } => (ratio > 1.0) == above,
            Self::Equivalence { within } => is_within(ratio, within),
        }
    }

    /// The verdict on an estimate with enough blocks, and why.
    fn verdict(self, ratio: Ratio, p: f64, least_effect: f64) -> (ClaimVerdict, String) {
        match self {
            Self::Direction { above, size } => {
                let effect = ratio.value.max(1.0 / ratio.value) - 1.0;
                if p > ALPHA {
                    return (ClaimVerdict::Tied, "the difference may be chance".into());
                }
                if effect <= least_effect {
                    let beside =
                        if least_effect > LEAST_EFFECT { ", as a stack and its twin are apart" } else { "" };
                    return (
                        ClaimVerdict::Tied,
                        format!("nearer than {:.1} %{beside}", least_effect * 100.0),
                    );
                }
                if (ratio.value > 1.0) != above {
                    return (ClaimVerdict::Reversed, "it is the other way round".into());
                }
                let holds = |size: f64| bounds(ratio).is_some_and(|interval| size_agrees(size, interval));
                let why = match size {
                    Some(size) if holds(size) => "the size agrees",
                    Some(_) => "the direction holds, the size differs",
                    None => "it holds",
                };
                (ClaimVerdict::Confirmed, why.into())
            }
            Self::Equivalence { within } => {
                let (low, high) = bounds(ratio).unwrap_or((0.0, f64::INFINITY));
                let percent = format!("{:.1} %", within * 100.0);
                if is_within(low, within) && is_within(high, within) {
                    return (ClaimVerdict::Confirmed, format!("surely within {percent}"));
                }
                let outside = (low > 1.0 + within) || (high < 1.0 / (1.0 + within));
                if outside && p <= ALPHA {
                    return (ClaimVerdict::Reversed, format!("surely further off than {percent}"));
                }
                (ClaimVerdict::Tied, format!("it may be within {percent} and may not"))
            }
        }
    }
}

/// Whether a size that is claimed in round figures is within [`WITHIN_DEFAULT`] of one that the interval holds.
fn size_agrees(size: f64, (low, high): (f64, f64)) -> bool {
    low <= size * (1.0 + WITHIN_DEFAULT) && size <= high * (1.0 + WITHIN_DEFAULT)
}

/// As far above as below: a ratio and its inverse are equally near to 1.
fn is_within(ratio: f64, within: f64) -> bool {
    (1.0 / (1.0 + within)..=1.0 + within).contains(&ratio)
}

/// A claim holds if all of its parts do, and is refuted by any one.
fn whole(parts: &[ClaimPart]) -> (ClaimVerdict, String) {
    let are = |verdict: ClaimVerdict| parts.iter().filter(move |it| it.verdict == verdict);
    let decided_by = [ClaimVerdict::Reversed, ClaimVerdict::NotTestable, ClaimVerdict::Tied];
    let verdict =
        decided_by.into_iter().find(|it| are(*it).next().is_some()).unwrap_or(ClaimVerdict::Confirmed);
    let Some(first) = are(verdict).next() else { return (verdict, "it has no part".into()) };
    let way = way(verdict, parts);
    if parts.len() == 1 {
        return (verdict, format!("{}{way}", first.why));
    }
    let count = are(verdict).count();
    let why = match are(verdict).all(|it| it.why == first.why) {
        true if count == parts.len() => first.why.clone(),
        true => format!("in {count} of {} comparisons: {}", parts.len(), first.why),
        false => {
            format!("in {count} of {} comparisons, the first: {}, {}", parts.len(), first.what, first.why)
        }
    };
    let why = format!("{why}{way}");
    (verdict, why)
}

/// Where figures point that support nothing.
fn way(verdict: ClaimVerdict, parts: &[ClaimPart]) -> String {
    let pointing: Vec<bool> = parts.iter().filter_map(|it| it.points_the_same_way).collect();
    let same = pointing.iter().filter(|same| **same).count();
    match (verdict, &pointing[..]) {
        (ClaimVerdict::NotTestable, [true]) => "; it points the same way".into(),
        (ClaimVerdict::NotTestable, [false]) => "; it points the other way".into(),
        (ClaimVerdict::NotTestable, [_, ..]) => {
            format!("; {same} of {} measured comparisons point the same way", pointing.len())
        }
        _ => String::new(),
    }
}
