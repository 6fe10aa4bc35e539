//! Claims of write-ups held against a run: confirmed, in direction alone or with its size, reversed, or tied; or open, because
//! too little or nothing was measured, or because nothing here can test it.
//!
//! A claim is judged part by part: a part is one pair of cells, or one cell against its level. Two cells are compared
//! by the logarithms of their ratios within blocks, as the ranking compares rows (`stats::LogRatios`), with Holm's
//! method over the parts of the claim. `docs/claims.md` states the rules.

mod cell;

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
    /// Measured, in too few blocks to show either, or with failures among them that leave it open.
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

/// What became of the size that a claim names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizeVerdict {
    /// The interval holds it, and few others.
    Confirmed,
    /// The interval excludes it.
    Refuted,
    /// The interval holds it, and sizes that are quite different.
    Undecided,
}

impl SizeVerdict {
    /// Of a claimed ratio by the interval of the measured one. The interval holds what is nearer to it than `least_effect`,
    /// since nothing nearer is called another size; and it tells the claimed effect from one half as large and from one half as
    /// large again, or it tells nothing of the size.
    fn of(size: f64, (low, high): (f64, f64), least_effect: f64) -> Self {
        let margin = 1.0 + least_effect;
        if low > size * margin || size > high * margin {
            return Self::Refuted;
        }
        let (half, more) = (size.powf(0.5), size.powf(1.5));
        let is_told = low > half.min(more) && high < half.max(more);
        if is_told { Self::Confirmed } else { Self::Undecided }
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
    /// Why there is no block, if there is none: not measured, or not testable.
    missing: Option<(ClaimVerdict, String)>,
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
    let missing = (ratios.blocks() == 0)
        .then(|| (ClaimVerdict::NotMeasured, a.missing().or_else(|| b.missing()).unwrap_or_else(apart)));
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
    let unknown = "the level grows with the cores, and this machine's are not known";
    let missing = (ratios.blocks() == 0).then(|| match cell.missing() {
        Some(why) => (ClaimVerdict::NotMeasured, why),
        None => (ClaimVerdict::NotTestable, unknown.to_owned()),
    });
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
        let is_enough = blocks >= blocks_needed(parts);
        let size = ratio.filter(|_| is_enough).and_then(|ratio| self.rule.size(ratio, self.least_effect));
        let (verdict, why) = match (ratio, &self.missing) {
            (Some(ratio), None) if is_enough => {
                let decided = self.rule.verdict(ratio, p, self.least_effect, size);
                match &self.spoiled {
                    Some(why) if !decided.0.is_open() && decided.0 != ClaimVerdict::Tied => {
                        (ClaimVerdict::Undecided, why.clone())
                    }
                    _ => decided,
                }
            }
            (Some(_), None) => (ClaimVerdict::Undecided, too_few(blocks, parts)),
            (_, Some(missing)) => missing.clone(),
            (None, None) => (ClaimVerdict::NotMeasured, "nothing was measured of it".into()),
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
            size,
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

    /// What becomes of the claimed size, where there is one and an interval to hold it against.
    fn size(self, ratio: Ratio, least_effect: f64) -> Option<SizeVerdict> {
        match (self, bounds(ratio)) {
            (Self::Direction { size: Some(size), .. }, Some(interval)) => {
                Some(SizeVerdict::of(size, interval, least_effect))
            }
            _ => None,
        }
    }

    /// The verdict on an estimate with enough blocks, and why.
    fn verdict(
        self,
        ratio: Ratio,
        p: f64,
        least_effect: f64,
        size: Option<SizeVerdict>,
    ) -> (ClaimVerdict, String) {
        match self {
            Self::Direction { above, size: claimed } => {
                let not_as_claimed = if size == Some(SizeVerdict::Refuted) {
                    "; the size is surely not the claimed one"
                } else {
                    ""
                };
                let effect = ratio.value.max(1.0 / ratio.value) - 1.0;
                if p > ALPHA {
                    return (ClaimVerdict::Tied, format!("the difference may be chance{not_as_claimed}"));
                }
                if effect <= least_effect {
                    let beside =
                        if least_effect > LEAST_EFFECT { ", as a stack and its twin are apart" } else { "" };
                    return (
                        ClaimVerdict::Tied,
                        format!("nearer than {:.1} %{beside}{not_as_claimed}", least_effect * 100.0),
                    );
                }
                if (ratio.value > 1.0) != above {
                    return (ClaimVerdict::Reversed, "it is the other way round".into());
                }
                match (claimed, size) {
                    (None, _) => (ClaimVerdict::Confirmed, "it holds".into()),
                    (Some(_), Some(SizeVerdict::Confirmed)) => {
                        (ClaimVerdict::Confirmed, "the size agrees".into())
                    }
                    (Some(claimed), Some(SizeVerdict::Refuted)) => {
                        let is_more = (ratio.value > claimed) == above;
                        let than = if is_more { "more" } else { "less" };
                        (
                            ClaimVerdict::SizeRefuted,
                            format!("the direction holds, and it is surely {than} than claimed"),
                        )
                    }
                    (Some(_), _) => {
                        let why = "the direction holds, and the interval is too wide for the size";
                        (ClaimVerdict::SizeUndecided, why.into())
                    }
                }
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

/// As far above as below: a ratio and its inverse are equally near to 1.
fn is_within(ratio: f64, within: f64) -> bool {
    (1.0 / (1.0 + within)..=1.0 + within).contains(&ratio)
}

/// A claim holds if all of its parts do, and is refuted by any one.
fn whole(parts: &[ClaimPart]) -> (ClaimVerdict, String) {
    let are = |verdict: ClaimVerdict| parts.iter().filter(move |it| it.verdict == verdict);
    let decided_by = [
        ClaimVerdict::Reversed,
        ClaimVerdict::NotTestable,
        ClaimVerdict::NotMeasured,
        ClaimVerdict::Undecided,
        ClaimVerdict::Tied,
        ClaimVerdict::SizeRefuted,
        ClaimVerdict::SizeUndecided,
    ];
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
    match &pointing[..] {
        _ if !verdict.is_open() => String::new(),
        [true] => "; it points the same way".into(),
        [false] => "; it points the other way".into(),
        [_, ..] => {
            format!("; {same} of {} measured comparisons point the same way", pointing.len())
        }
        [] => String::new(),
    }
}
