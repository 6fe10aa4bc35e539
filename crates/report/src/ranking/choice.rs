//! What one chooses by: of each stack what it carries, how long its answers take at rates that all of them can carry, what it
//! takes of memory and until it is up, and what it is stopped by.
//!
//! Every figure is that of a ranking's row; none is computed here but the time of a boot, which no ranking has.

mod text;

use explain::CellExplanation;
use plan::latency_of;
use plan::load_id::as_label;
use record::{LoadId, RankedBy, Trial, TrialResult, trials_of};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{RankBounds, Spread, rank_bounds};
use units::Share;

pub(crate) use self::text::{cells, choice_text, header, legend, limit};
use super::Ranking;
use super::order::{Order, Place};
use super::rows::Cell;
use crate::told::{Interval, Invalid, TimeUs, invalid};

/// The probability that a boot's median lies beyond one end of its interval.
const BOOT_TAIL: f64 = 0.025;

/// A table to choose by.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// The round that says what each stack carries.
    pub round: String,
    /// Its load, in words.
    #[serde(serialize_with = "as_label")]
    #[schemars(with = "String")]
    pub load: LoadId,
    /// Whether its order is by tests within blocks; else by ranges, which support no claim.
    pub tested: bool,
    /// Whether it is not tested for another reason than too few blocks: they ended when claims were decided, which no test of a ranking
    /// counts. Absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_claims: bool,
    /// At what rates answer times are compared, from the lowest up.
    pub rates: Vec<SharedRate>,
    /// As the round ranks them.
    pub rows: Vec<ChoiceRow>,
}

/// A rate that all stacks were asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SharedRate {
    /// As a share of what the slowest carries.
    pub share: f64,
    /// Requests a second; null where the load does not say.
    pub per_s: Option<f64>,
}

/// A stack that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChoiceRow {
    /// Its id.
    pub stack: String,
    /// Best rank it may have by what it carries.
    pub rank_from: usize,
    /// Worst rank it may have.
    pub rank_to: usize,
    /// Rows that share a letter can't be told apart; empty where nothing was tested.
    pub letters: String,
    /// Median goodput of the trials, 1/s, with the lowest and the highest (a range, no interval).
    pub goodput_per_s: Interval,
    /// Of tests: goodput over that of the best, with its 95 % interval; null for the best.
    pub to_best: Option<Interval>,
    /// What of its goodput and of the times beside it is not valid.
    pub invalid: Invalid,
    /// What speaks against its goodput, in words.
    pub doubts: Vec<String>,
    /// At each of the rates; null where it was not measured there.
    pub at: Vec<Option<ChoiceAt>>,
    /// From the start of a process to its first right answer.
    pub boot: Option<Boots>,
    /// What stopped it, in a phrase.
    pub limit: String,
}

/// A stack at a rate that all were asked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChoiceAt {
    /// 99th percentile of response time from the instant a request was due: the median over trials.
    pub p99: Option<TimeUs>,
    /// Best rank it may have by that.
    pub rank_from: usize,
    /// Worst rank it may have.
    pub rank_to: usize,
    /// Rows that share a letter can't be told apart; empty where nothing was tested.
    pub letters: String,
    /// Of tests: the 99th percentile over that of the best, with its 95 % interval; null for the best.
    pub to_best: Option<Interval>,
    /// What of its times is not valid.
    pub invalid: Invalid,
    /// What speaks against them, and what failed, in words.
    pub doubts: Vec<String>,
    /// Most resident memory of its processes that was seen, warm-up included, bytes: the median over trials. That of what
    /// stands behind it is not in it.
    pub rss_bytes: Option<f64>,
}

/// How long boots took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Boots {
    /// The median, seconds, with its 95 % interval where there are as many boots as that takes: six.
    pub seconds: Interval,
    /// How many there were.
    pub count: usize,
}

/// A table of each ranking by goodput whose stacks were also asked at shares of what the slowest of them carries.
pub(crate) fn choices(
    rankings: &[Ranking<'_>],
    trials: &[Trial],
    explained: &[CellExplanation],
) -> Vec<Choice> {
    let of = |ranking| choice(ranking, rankings, trials, explained);
    rankings.iter().filter_map(of).collect()
}

fn choice(
    of: &Ranking<'_>,
    rankings: &[Ranking<'_>],
    trials: &[Trial],
    explained: &[CellExplanation],
) -> Option<Choice> {
    let mut at: Vec<(Share, &Ranking<'_>)> =
        rankings.iter().filter_map(|it| Some((share_of(of, it)?, it))).collect();
    at.sort_by(|a, b| a.0.get().total_cmp(&b.0.get()));
    if at.is_empty() || of.rows.cells.is_empty() {
        return None;
    }
    let row = |place: &Place| -> ChoiceRow {
        let cell = &of.rows.cells[place.index];
        let why = explained.iter().find(|it| it.is_of(&of.name.cell(cell.stack)));
        ChoiceRow {
            stack: cell.stack.to_owned(),
            rank_from: place.ranks.0,
            rank_to: place.ranks.1,
            letters: place.letters.clone().unwrap_or_default(),
            goodput_per_s: cell.goodput.into(),
            to_best: place.to_best.map(Interval::from),
            invalid: invalid(&cell.doubted(), cell.trials().len()),
            doubts: in_words(cell),
            at: at.iter().map(|(_, ranking)| choice_at(ranking, cell.stack)).collect(),
            boot: boots(trials, cell.stack),
            limit: why.map_or_else(String::new, |it| it.explanation.first().phrase.clone()),
        }
    };
    Some(Choice {
        round: of.name.round.to_owned(),
        load: of.name.load.clone(),
        tested: matches!(of.order, Order::Tests(..)),
        ended_by_claims: of.ended_by_claims,
        rates: at.iter().map(|(share, ranking)| shared_rate(*share, ranking)).collect(),
        rows: of.order.places().iter().map(row).collect(),
    })
}

/// Of a table of answer times of the stacks in `of`: at which share of what the slowest carries. `None` of any other.
fn share_of(of: &Ranking<'_>, other: &Ranking<'_>) -> Option<Share> {
    let (round, share) = latency_of(other.name.round)?;
    let users = of.name.load.users()?;
    let is_its = round == of.name.round
        && of.rows.ranked_by == RankedBy::Goodput
        && other.rows.ranked_by == RankedBy::ResponseP99
        && of.name.driver.is_own()
        && other.name.driver.is_own()
        && matches!(other.name.load, LoadId::Open { connections, .. } if connections.get() == users);
    is_its.then_some(share)
}

fn shared_rate(share: Share, ranking: &Ranking<'_>) -> SharedRate {
    let per_s = match ranking.name.load {
        LoadId::Open { rate, .. } => Some(rate.as_per_sec()),
        LoadId::Closed { .. } | LoadId::Scripted { .. } | LoadId::Unknown { .. } => None,
    };
    SharedRate { share: share.get(), per_s }
}

fn choice_at(ranking: &Ranking<'_>, stack: &str) -> Option<ChoiceAt> {
    let Ranking { rows, order, .. } = ranking;
    let places = order.places();
    let place = places.iter().find(|it| rows.cells[it.index].stack == stack)?;
    let cell = &rows.cells[place.index];
    Some(ChoiceAt {
        p99: cell.time("p99"),
        rank_from: place.ranks.0,
        rank_to: place.ranks.1,
        letters: place.letters.clone().unwrap_or_default(),
        to_best: place.to_best.map(Interval::from),
        invalid: invalid(&cell.doubted(), cell.trials().len()),
        doubts: in_words(cell),
        rss_bytes: cell.rss_bytes(),
    })
}

/// What speaks against a cell's figures, and what failed.
fn in_words(cell: &Cell<'_>) -> Vec<String> {
    let errors = cell.failures_text().map(|it| format!("errors: {it}"));
    cell.doubts().into_iter().chain(errors).collect()
}

/// How long the boots of a stack took in the whole run; `None` where none was timed.
fn boots(trials: &[Trial], stack: &str) -> Option<Boots> {
    let of_stack = trials_of(trials, |trial| trial.stack == stack);
    let timed = of_stack.filter_map(|trial| match &trial.result {
        TrialResult::Measured(measured) => measured.server.boot_s,
        TrialResult::Failed { .. } => None,
    });
    let mut sorted: Vec<f64> = timed.filter(|it| it.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    // A process that served several trials was booted once: each of them has its time, which is to the nanosecond.
    sorted.dedup();
    let median = Spread::of(&sorted)?.median;
    let RankBounds { low, high } = rank_bounds(0.5, sorted.len() as u64, BOOT_TAIL);
    let end = |rank: Option<u64>| sorted.get(usize::try_from(rank?).ok()?.checked_sub(1)?).copied();
    Some(Boots { seconds: Interval { value: median, low: end(low), high: end(high) }, count: sorted.len() })
}
