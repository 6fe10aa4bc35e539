//! A part of a claim before it is judged, and its judgement.

use plan::Metric;
use stats::{BoundedRatios, CONFIDENCE, Least, LogRatios, Ratio, Told, blocks_needed, holm};

use super::cell::CellTrials;
use super::rule::{Rule, SizeVerdict};
use super::{ClaimPart, ClaimVerdict, PartUnit};

const NOTHING: &str = "nothing was measured of it";

/// A part before it is judged.
pub(super) struct Question {
    what: String,
    unit: PartUnit,
    published: Option<f64>,
    /// What a ratio of 1 stands for, in `unit`: 1 of ratios, the level of cells.
    scale: f64,
    expected: Option<f64>,
    rule: Rule,
    ratios: BoundedRatios,
    /// Why no more than bounds is known of some of them.
    bounded_by: String,
    /// The same, over the edge of an equivalence that the estimate is nearest to.
    over_edge: Option<BoundedRatios>,
    /// What is nearer to 1 than this is no difference.
    pub(super) least: Least,
    /// Why there is no block, if there is none: not measured, or not testable.
    missing: Option<(ClaimVerdict, String)>,
    /// Whether more blocks would bring none either.
    is_lost: bool,
    /// Why its blocks are not the whole, where they are not.
    spoiled: Option<String>,
}

pub(super) fn pair_question(
    a: &CellTrials<'_>,
    b: &CellTrials<'_>,
    published: Option<(f64, f64)>,
    rule: Rule,
    metric: Metric,
) -> Question {
    let all = a.ratios_to(b);
    let bounded_by = bounded_by(&[a, b], pair_name(a, b), metric);
    // Of a cell with bounds something was measured, if no figure.
    let missing_of = |it: &CellTrials<'_>| it.missing().filter(|_| !it.has_bounds());
    let missing = (!all.tells()).then(|| match missing_of(a).or_else(|| missing_of(b)) {
        Some(why) => (ClaimVerdict::NotMeasured, why),
        None if all.blocks() > 0 => {
            (ClaimVerdict::Undecided, format!("{bounded_by}, and bounds don't decide it"))
        }
        None => (ClaimVerdict::NotMeasured, "the two were never measured in one block".to_owned()),
    });
    let is_lost = missing.is_some() && (a.is_lost() || b.is_lost() || all.leaves_open(1.0));
    let ratios = if missing.is_some() { nothing() } else { all };
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
        over_edge: over_nearest_edge(rule, &ratios),
        bounded_by,
        least: Least::KNOWN,
        is_lost,
        missing,
        ratios,
        spoiled: a.spoiled().or_else(|| b.spoiled()),
    }
}

pub(super) fn level_question(
    cell: &CellTrials<'_>,
    level: &plan::Level,
    scale: Option<f64>,
    rule: Rule,
    metric: Metric,
) -> Question {
    let value = level.value * scale.unwrap_or(1.0);
    let ratios = if scale.is_some() { cell.ratios_to_level(value) } else { nothing() };
    let unknown = "the level grows with the cores, and this machine's are not known";
    let missing = (ratios.blocks() == 0).then(|| match cell.missing().filter(|_| !cell.has_bounds()) {
        Some(why) => (ClaimVerdict::NotMeasured, why),
        None if scale.is_none() => (ClaimVerdict::NotTestable, unknown.to_owned()),
        None => (ClaimVerdict::NotMeasured, NOTHING.into()),
    });
    Question {
        what: cell.id.alone(),
        unit: if metric == Metric::Goodput { PartUnit::PerS } else { PartUnit::Micros },
        published: level.published,
        scale: value,
        expected: Some(value),
        rule,
        over_edge: over_nearest_edge(rule, &ratios),
        bounded_by: bounded_by(&[cell], "it", metric),
        least: Least::KNOWN,
        is_lost: missing.is_some() && (cell.is_lost() || scale.is_none()),
        missing,
        ratios,
        spoiled: cell.spoiled(),
    }
}

/// No block.
fn nothing() -> BoundedRatios {
    BoundedRatios::exactly(LogRatios::of(&[], &[]))
}

/// Of which of the two no more than bounds is known, in some trials at least.
fn pair_name(a: &CellTrials<'_>, b: &CellTrials<'_>) -> &'static str {
    match (a.has_bounds(), b.has_bounds()) {
        (true, true) => "both",
        (true, false) => "the first",
        (false, _) => "the second",
    }
}

/// Why no more than bounds is known of some trials of these cells, or of most.
fn bounded_by(cells: &[&CellTrials<'_>], which: &str, metric: Metric) -> String {
    let bounded = || cells.iter().copied().filter(|cell| cell.has_bounds());
    let often = if bounded().all(CellTrials::is_mostly_bounds) { "" } else { "in some trials " };
    let why = match metric {
        Metric::Goodput => {
            match (bounded().any(CellTrials::is_compiling), bounded().all(CellTrials::is_compiling)) {
                (false, _) => format!("the client was the limit of {which}"),
                (true, true) => format!("compilers were at work beside {which}"),
                (true, false) => format!("the client or compilers were the limit of {which}"),
            }
        }
        _ => format!("for a part of the times of {which} the client was late"),
    };
    format!("{often}{why}")
}

/// The ratios over the end of an equivalence's bounds that is on the estimate's side.
fn over_nearest_edge(rule: Rule, ratios: &BoundedRatios) -> Option<BoundedRatios> {
    nearest_edge(rule, ratios.ratio()).map(|edge| ratios.over(edge))
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

/// By all blocks at once, of a run that made as many as it was to. Comparisons that nothing was measured of can't err, and
/// are none of those that Holm's method counts.
pub(super) fn judge(questions: Vec<Question>) -> Vec<ClaimPart> {
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

/// By looks, of a run that goes on until its claims are decided; with what each look told.
pub(super) fn judge_looked(questions: Vec<Question>) -> Vec<(ClaimPart, Option<Told>)> {
    let count = questions.len();
    questions.into_iter().map(|question| question.judge_looked(count)).collect()
}

impl Question {
    fn judge(self, p: f64, parts: usize) -> ClaimPart {
        let blocks = self.ratios.blocks();
        let ratio = self.ratios.ratio();
        let is_enough = blocks >= blocks_needed(parts);
        let rule = self.rule_of_known();
        let joint = self.joint_ends(parts);
        let size = ratio.filter(|_| is_enough).and_then(|ratio| rule.size(ratio, joint, self.least.effect));
        let decided = match (ratio, &self.missing) {
            (Some(ratio), None) if is_enough => {
                let decided = self.as_known(rule.verdict(ratio, p, self.least, size));
                match &self.spoiled {
                    Some(why) if !decided.0.is_open() && decided.0 != ClaimVerdict::Tied => {
                        (ClaimVerdict::Undecided, why.clone())
                    }
                    _ => decided,
                }
            }
            (Some(_), None) => (ClaimVerdict::Undecided, too_few(blocks, parts)),
            (_, Some(missing)) => missing.clone(),
            (None, None) => (ClaimVerdict::NotMeasured, NOTHING.into()),
        };
        self.part(ratio, blocks, (blocks > 0).then_some(p), size, decided)
    }

    fn judge_looked(self, parts: usize) -> (ClaimPart, Option<Told>) {
        let all = self.ratios.blocks();
        if let Some(missing) = self.missing.clone() {
            let told = self.is_lost.then_some(Told::Never);
            return (self.part(None, 0, None, None, missing), told);
        }
        // What holds at one look alone is no interval of a run that goes on by what it sees.
        let looked = self.ratios.looked(parts);
        let without_ends = |it: Ratio| Ratio { low: None, high: None, ..it };
        let ratio = looked.map(|it| it.own).or_else(|| self.ratios.ratio().map(without_ends));
        if let Some(why) = self.spoiled.clone() {
            let blocks = looked.map_or(all, |it| it.blocks);
            let part = self.part(ratio, blocks, None, None, (ClaimVerdict::Undecided, why));
            return (part, Some(Told::Never));
        }
        let Some(looked) = looked else {
            let decided = match ratio {
                // With enough blocks it is their bounds that leave no figure.
                Some(_) if all >= blocks_needed(1) && !self.ratios.is_exact() => {
                    (ClaimVerdict::Undecided, format!("{}, which leaves it open", self.bound_words()))
                }
                Some(_) => (ClaimVerdict::Undecided, too_few(all, 1)),
                None => (ClaimVerdict::NotMeasured, NOTHING.into()),
            };
            return (self.part(ratio, all, None, None, decided), None);
        };
        let rule = self.rule_of_known();
        let (told, size) = rule.told(&looked, self.least);
        // What bounds leave open, more of such blocks leave open as well.
        let is_open_for_good = told == Told::NotYet && self.is_left_open();
        let told = if is_open_for_good { Told::Never } else { told };
        let decided = rule.verdict_of(told, size, &looked, self.least);
        // Those that are surely near are so whatever the figures are.
        let decided = if told == Told::Neither { decided } else { self.as_known(decided) };
        (self.part(Some(looked.own), looked.blocks, None, size, decided), Some(told))
    }

    /// The interval that holds together with those of so many comparisons (Bonferroni), open ends being without bound.
    fn joint_ends(&self, parts: usize) -> (f64, f64) {
        let (low, high) = self.ratios.ends((1.0 - CONFIDENCE) / 2.0 / parts.max(1) as f64);
        (low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY))
    }

    /// Whether bounds leave open for good what is asked.
    fn is_left_open(&self) -> bool {
        !self.ratios.is_exact() && self.rule.edges().into_iter().any(|edge| self.ratios.leaves_open(edge))
    }

    /// Whether a size is claimed, and bounds leave it open however many blocks there are.
    fn is_size_left_open(&self) -> bool {
        let Rule::Direction { size: Some(size), .. } = self.rule else { return false };
        let of_bounds = || SizeVerdict::of(size, self.ratios.estimates(), self.least.effect);
        !self.ratios.is_exact() && of_bounds() == SizeVerdict::Undecided
    }

    /// What is asked, without a size of which bounds tell nothing.
    fn rule_of_known(&self) -> Rule {
        match self.rule {
            Rule::Direction { above, .. } if self.is_size_left_open() => {
                Rule::Direction { above, size: None }
            }
            rule => rule,
        }
    }

    /// A verdict by bounds. What they decide is so whatever the figures are; where they decide nothing, the figures might have, so that
    /// it is open and no tie.
    fn as_known(&self, (verdict, why): (ClaimVerdict, String)) -> (ClaimVerdict, String) {
        if self.ratios.is_exact() || verdict == ClaimVerdict::Undecided {
            return (verdict, why);
        }
        let bound = self.bound_words();
        match verdict {
            ClaimVerdict::Tied => (ClaimVerdict::Undecided, format!("{bound}, which leaves it open")),
            ClaimVerdict::Confirmed if self.is_size_left_open() => {
                (ClaimVerdict::SizeUndecided, format!("the direction holds; {bound}"))
            }
            _ => (verdict, format!("{why}; {bound}")),
        }
    }

    /// What is known of the ratio, and why no more.
    fn bound_words(&self) -> String {
        let [lower, upper, between] = match self.unit {
            PartUnit::Ratio => [
                "so that the ratio is a lower bound",
                "so that the ratio is an upper bound",
                "so that of the ratio only two bounds are known",
            ],
            PartUnit::PerS | PartUnit::Micros => [
                "so that the figure is a lower bound",
                "so that the figure is an upper bound",
                "so that of the figure only two bounds are known",
            ],
        };
        let words = match self.ratios.estimates() {
            (least, _) if least > 1.0 => lower,
            (_, most) if most < 1.0 => upper,
            (_, most) if most.is_infinite() => lower,
            (least, _) if least <= 0.0 => upper,
            _ => between,
        };
        format!("{}, {words}", self.bounded_by)
    }

    /// Between what a ratio lies that is shown. What may be on either side is no figure that was measured, unless its ends are no
    /// further apart than what is no difference.
    fn known_ends(&self, shown: f64) -> Option<(f64, f64)> {
        if self.ratios.is_exact() {
            return Some((shown, shown));
        }
        let (least, most) = self.ratios.estimates();
        let is_on_a_side = least > 1.0 || most < 1.0;
        let is_narrow = most <= least * (1.0 + self.least.effect);
        (is_on_a_side || is_narrow).then_some((least, most))
    }

    fn part(
        &self,
        ratio: Option<Ratio>,
        blocks: usize,
        p: Option<f64>,
        size: Option<SizeVerdict>,
        (verdict, why): (ClaimVerdict, String),
    ) -> ClaimPart {
        let shown = |value: f64| value * self.scale;
        let ends = ratio.and_then(|it| self.known_ends(it.value));
        let ratio = ratio.filter(|_| ends.is_some());
        ClaimPart {
            what: self.what.clone(),
            unit: self.unit,
            published: self.published,
            expected: self.expected,
            measured: ratio.map(|it| shown(it.value)),
            low: ratio.and_then(|it| it.low).map(shown),
            high: ratio.and_then(|it| it.high).map(shown),
            blocks,
            p,
            points_the_same_way: ends.and_then(|it| self.rule.points_the_same_way(it)),
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
