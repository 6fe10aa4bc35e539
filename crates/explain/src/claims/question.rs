//! A part of a claim before it is judged, and its judgement.

use plan::Metric;
use stats::{CONFIDENCE, Least, LogRatios, Observation, Ratio, Told, blocks_needed, holm};

use super::cell::CellTrials;
use super::rule::{Rule, SizeVerdict};
use super::{ClaimPart, ClaimVerdict, PartUnit};

const NOTHING: &str = "nothing was measured of it";

/// What is known of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// What it is.
    Itself,
    /// That it is no less: of the first, what it is at least is compared with what the second is at most.
    AtLeast,
    /// That it is no more.
    AtMost,
}

/// A part before it is judged.
pub(super) struct Question {
    what: String,
    unit: PartUnit,
    published: Option<f64>,
    /// What a ratio of 1 stands for, in `unit`: 1 of ratios, the level of cells.
    scale: f64,
    expected: Option<f64>,
    rule: Rule,
    ratios: LogRatios,
    known: Known,
    /// Why no more is known than a bound.
    bounded_by: String,
    /// The same, over the edge of an equivalence that the estimate is nearest to.
    over_edge: Option<LogRatios>,
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
    let (ratios, known) = compared(a, b, rule);
    let over_edge = nearest_edge(rule, ratios.ratio()).map(|edge| ratios.over(edge));
    let bounded_by = bounded_by(a, b, metric);
    // Of a cell with bounds something was measured, if no figure.
    let missing_of = |it: &CellTrials<'_>| it.missing().filter(|_| !it.is_bounded());
    let missing = (ratios.blocks() == 0).then(|| match missing_of(a).or_else(|| missing_of(b)) {
        Some(why) => (ClaimVerdict::NotMeasured, why),
        None if a.is_bounded() || b.is_bounded() => {
            (ClaimVerdict::Undecided, format!("{bounded_by}, and bounds don't decide it"))
        }
        None => (ClaimVerdict::NotMeasured, "the two were never measured in one block".to_owned()),
    });
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
        known,
        bounded_by,
        over_edge,
        least: Least::KNOWN,
        missing,
        is_lost: known == Known::Itself && (a.is_lost() || b.is_lost()),
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
    let level_of = |level: f64| vec![Some(Observation::Figure(level)); cell.values.len()];
    let is_known = scale.is_some() && !cell.is_bounded();
    let ratios =
        if is_known { LogRatios::of(&cell.values, &level_of(value)) } else { LogRatios::of(&[], &[]) };
    let over_edge = nearest_edge(rule, ratios.ratio()).map(|edge| ratios.over(edge));
    let unknown = "the level grows with the cores, and this machine's are not known";
    let missing = (ratios.blocks() == 0).then(|| match cell.missing() {
        None if scale.is_none() => (ClaimVerdict::NotTestable, unknown.to_owned()),
        _ if cell.is_bounded() => {
            (ClaimVerdict::Undecided, "of most of its trials only a bound is known".to_owned())
        }
        Some(why) => (ClaimVerdict::NotMeasured, why),
        None => (ClaimVerdict::NotMeasured, NOTHING.into()),
    });
    Question {
        what: cell.id.alone(),
        unit: if metric == Metric::Goodput { PartUnit::PerS } else { PartUnit::Micros },
        published: level.published,
        scale: value,
        expected: Some(value),
        rule,
        ratios,
        known: Known::Itself,
        bounded_by: String::new(),
        over_edge,
        least: Least::KNOWN,
        missing,
        is_lost: cell.is_lost() || scale.is_none(),
        spoiled: cell.spoiled(),
    }
}

/// The ratios of two cells. Where no more is known of one than between what its figures lie, the ratio is bounded, which is
/// enough for a direction. Of two bounds the one counts that is off 1: either is true, and each is wrong about a direction
/// no more often than one end of an interval may be.
fn compared(a: &CellTrials<'_>, b: &CellTrials<'_>, rule: Rule) -> (LogRatios, Known) {
    if !(a.is_bounded() || b.is_bounded()) {
        return (a.ratios_to(b), Known::Itself);
    }
    // The few blocks that have figures are those in which the services were slow, and stand for no others.
    let nothing = (LogRatios::of(&[], &[]), Known::Itself);
    if matches!(rule, Rule::Equivalence { .. }) {
        return nothing;
    }
    let (of_a, of_b) = (a.bounds(), b.bounds());
    let at_least = LogRatios::of(&of_a.least, &of_b.most);
    let at_most = LogRatios::of(&of_a.most, &of_b.least);
    let is_known = |ratios: &LogRatios| ratios.estimate().is_some_and(f64::is_finite);
    let is_below = at_most.estimate().is_some_and(|it| it < 0.0);
    match (is_known(&at_least), is_known(&at_most)) {
        (_, true) if is_below => (at_most, Known::AtMost),
        (true, _) => (at_least, Known::AtLeast),
        (false, true) => (at_most, Known::AtMost),
        (false, false) => nothing,
    }
}

/// Why no more is known of one of the two, or of both, than a bound.
fn bounded_by(a: &CellTrials<'_>, b: &CellTrials<'_>, metric: Metric) -> String {
    let which = match (a.is_bounded(), b.is_bounded()) {
        (true, true) => "both",
        (true, false) => "the first",
        (false, _) => "the second",
    };
    match metric {
        Metric::Goodput => {
            let bounded = || [a, b].into_iter().filter(|cell| cell.is_bounded());
            match (bounded().any(CellTrials::is_compiling), bounded().all(CellTrials::is_compiling)) {
                (false, _) => format!("the client was the limit of {which}"),
                (true, true) => format!("compilers were at work beside {which}"),
                (true, false) => format!("the client or compilers were the limit of {which}"),
            }
        }
        _ => format!("for a part of the times of {which} the client was late"),
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
                let decided = decided.unwrap_or_else(|bound| left_open(&bound));
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
                Some(_) => (ClaimVerdict::Undecided, too_few(all, 1)),
                None => (ClaimVerdict::NotMeasured, NOTHING.into()),
            };
            return (self.part(ratio, all, None, None, decided), None);
        };
        let rule = self.rule_of_known();
        let (told, size) = rule.told(&looked, self.least);
        let decided = self.as_known(rule.verdict_of(told, size, &looked, self.least));
        // What a bound leaves open, more of such blocks leave open as well.
        let told = if decided.is_err() { Told::Never } else { told };
        let decided = decided.unwrap_or_else(|bound| left_open(&bound));
        (self.part(Some(looked.own), looked.blocks, None, size, decided), Some(told))
    }

    /// The interval that holds together with those of so many comparisons (Bonferroni), open ends being without bound.
    fn joint_ends(&self, parts: usize) -> (f64, f64) {
        let (low, high) = self.ratios.ends((1.0 - CONFIDENCE) / 2.0 / parts.max(1) as f64);
        (low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY))
    }

    /// Whether a ratio, as far as it is known, is on one side: what is no less than some ratio below 1 may be anything.
    fn is_on_a_side(&self, ratio: f64) -> bool {
        match self.known {
            Known::Itself => true,
            Known::AtLeast => ratio > 1.0,
            Known::AtMost => ratio < 1.0,
        }
    }

    /// A bound of a ratio tells of no size.
    fn rule_of_known(&self) -> Rule {
        match (self.rule, self.known) {
            (Rule::Direction { above, .. }, Known::AtLeast | Known::AtMost) => {
                Rule::Direction { above, size: None }
            }
            (rule, _) => rule,
        }
    }

    /// What is left of a verdict where the ratio is only bounded: the side that the bound is on. An error says which bound says
    /// nothing of it.
    fn as_known(&self, (verdict, why): (ClaimVerdict, String)) -> Result<(ClaimVerdict, String), String> {
        let (is_above, side) = match self.known {
            Known::Itself => return Ok((verdict, why)),
            Known::AtLeast => (true, "a lower"),
            Known::AtMost => (false, "an upper"),
        };
        let bound = format!("{}, so that the ratio is {side} bound", self.bounded_by);
        let Rule::Direction { above, size } = self.rule else { return Ok((verdict, why)) };
        match verdict {
            ClaimVerdict::Confirmed if above == is_above && size.is_some() => {
                Ok((ClaimVerdict::SizeUndecided, format!("the direction holds; {bound}")))
            }
            ClaimVerdict::Confirmed if above == is_above => Ok((verdict, format!("{why}; {bound}"))),
            ClaimVerdict::Reversed if above != is_above => Ok((verdict, format!("{why}; {bound}"))),
            ClaimVerdict::Undecided => Ok((verdict, why)),
            _ => Err(bound),
        }
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
        // A bound that says nothing is no figure that was measured.
        let ratio = ratio.filter(|it| self.is_on_a_side(it.value));
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
            points_the_same_way: ratio.map(|it| self.rule.points_the_same_way(it.value)),
            size,
            verdict,
            why,
        }
    }
}

fn left_open(bound: &str) -> (ClaimVerdict, String) {
    (ClaimVerdict::Undecided, format!("{bound}, which leaves it open"))
}

fn too_few(blocks: usize, parts: usize) -> String {
    match (blocks, blocks_needed(parts)) {
        (1, _) => "one block supports no claim".into(),
        (_, needed) if parts == 1 => format!("{blocks} blocks are too few, it takes {needed}"),
        (_, needed) => format!("{blocks} blocks are too few for {parts} comparisons, it takes {needed}"),
    }
}
