//! A run held against those before it: what lies between two runs of one service is known by how they differ from each other.

use std::collections::{BTreeMap, BTreeSet};

use plan::gate::LastRuns;
use record::{CellName, GateAnswer, GateCheck, GateUnit, RankedBy};

use super::super::answer::without_figure;
use super::super::loss::{Beside, held_against_earlier, name_of};
use super::super::tail_of;
use super::baseline::ranked_by;
use crate::audit::Reason;
use crate::compare::RecordedRun;
use crate::history::{HistoryFilter, HistoryMetric, HistoryPoint, points_of_run};

/// Conditions that are named as the reason why runs can't be compared.
const NAMED_MAX: usize = 4;

/// A run, and what those before it came to.
#[derive(Debug, Clone, Default)]
pub struct RunsBefore {
    started: String,
    cells: BTreeMap<CellName, OfCell>,
}

#[derive(Debug, Clone)]
struct OfCell {
    ranked_by: RankedBy,
    own: HistoryPoint,
    before: Vec<HistoryPoint>,
    /// How many more there were that did not come to their end.
    cut_short: usize,
}

impl RunsBefore {
    /// Of `run`, before any is known.
    pub fn of(run: RecordedRun<'_>) -> Self {
        let own = points(run).map(|(metric, own)| {
            let cell = own.cell();
            (
                cell.clone(),
                metric,
                OfCell { ranked_by: ranked_by(run.trials, &cell), own, before: Vec::new(), cut_short: 0 },
            )
        });
        let of_its_rank = own.filter(|(_, metric, it)| *metric == metric_of(it.ranked_by));
        Self {
            started: run.manifest.started.clone(),
            cells: of_its_rank.map(|(cell, _, it)| (cell, it)).collect(),
        }
    }

    /// Takes in a run, if it was made before this one, of the same experiment. One that was cut short has no answer of a gate, and
    /// whoever ends those that go badly would be left with a measure of them.
    pub fn add(&mut self, run: RecordedRun<'_>) {
        // RFC 3339 in UTC sorts by time.
        if run.manifest.started >= self.started {
            return;
        }
        for (metric, point) in points(run) {
            let Some(it) = self.cells.get_mut(&point.cell()) else { continue };
            if metric != metric_of(it.ranked_by) || !it.own.is_of_experiment_of(&point) {
                continue;
            }
            if run.manifest.complete == Some(false) {
                it.cut_short += 1;
            } else {
                it.before.push(point);
            }
        }
    }

    /// The check of `cell`; `intervals` are those of the whole gate.
    pub(super) fn check(
        &self,
        asked: &LastRuns,
        cell: &CellName,
        intervals: usize,
        doubts: &[Reason],
    ) -> GateCheck {
        let limit = asked.max_loss.get();
        let Some(OfCell { ranked_by, own, before, cut_short }) = self.cells.get(cell) else {
            return GateCheck {
                why: Some("no trial has such a figure".into()),
                would_decide: Some("trials that do not fail".into()),
                ..without_figure(fails_if(asked, RankedBy::default()), limit, GateUnit::Loss)
            };
        };
        let unknown = without_figure(fails_if(asked, *ranked_by), limit, GateUnit::Loss);
        // One of which no trial may be used says nothing. One that was too bad for a figure is one of the last runs all the same.
        let is_known = |it: &&HistoryPoint| it.value.is_some() || it.failed > 0;
        // Of another machine, another kernel or another client, say, is more than what the service lost.
        let (mut before, others): (Vec<&HistoryPoint>, Vec<&HistoryPoint>) =
            before.iter().filter(is_known).partition(|it| own.differs_in(it).is_empty());
        before.sort_by(|a, b| b.started.cmp(&a.started));
        before.truncate(asked.count as usize);
        let earlier: Vec<f64> =
            before.iter().filter_map(|it| it.value).filter(|value| *value > 0.0).collect();
        let beyond = before.len() - earlier.len();
        let own_value = own.value.filter(|it| *it > 0.0);
        let beside = Beside {
            of: "runs",
            ranked_by: *ranked_by,
            own: own_value.ok_or_else(|| without_answers(own, earlier.len(), unknown.clone())),
            is_lower_bound: false,
            earlier,
            beyond,
            passed_over: passed_over(own, &others, *cut_short),
            tail: tail_of(intervals),
            doubts,
        };
        held_against_earlier(beside, unknown)
    }
}

/// Why those can't be compared that were measured under other conditions than `own`, or were cut short: whoever sees the runs lie
/// there would look for a mistake.
fn passed_over(own: &HistoryPoint, others: &[&HistoryPoint], cut_short: usize) -> String {
    let unfinished = match cut_short {
        0 => String::new(),
        1 => "; 1 more was cut short".to_owned(),
        count => format!("; {count} more were cut short"),
    };
    if others.is_empty() {
        return unfinished;
    }
    let what: BTreeSet<String> =
        others.iter().flat_map(|it| own.differs_in(it)).map(|difference| difference.what).collect();
    let more = if what.len() > NAMED_MAX { ", …" } else { "" };
    let what: Vec<String> = what.into_iter().take(NAMED_MAX).collect();
    format!(
        "; {} more were measured under other conditions ({}{more}){unfinished}",
        others.len(),
        what.join(", ")
    )
}

/// Of a run that has no figure, beside so many that have one.
fn without_answers(own: &HistoryPoint, before: usize, unknown: GateCheck) -> GateCheck {
    if own.trials == 0 {
        return GateCheck {
            why: Some("no trial of it may be used".into()),
            would_decide: Some("a load that the audit calls valid".into()),
            ..unknown
        };
    }
    let why = format!(
        "{} of {} trials failed or have only a lower bound, and the {before} runs before it have a figure",
        own.failed, own.trials
    );
    GateCheck { answer: GateAnswer::Failed, why: Some(why), ..unknown }
}

/// Figures alone are looked at, and no commits.
fn points(run: RecordedRun<'_>) -> impl Iterator<Item = (HistoryMetric, HistoryPoint)> {
    let all = [HistoryMetric::Goodput, HistoryMetric::P99].into_iter();
    all.flat_map(move |metric| {
        points_of_run(run, None, metric, &HistoryFilter::default()).into_iter().map(move |it| (metric, it))
    })
}

const fn metric_of(ranked_by: RankedBy) -> HistoryMetric {
    match ranked_by {
        RankedBy::Goodput => HistoryMetric::Goodput,
        RankedBy::ResponseP99 => HistoryMetric::P99,
    }
}

fn fails_if(asked: &LastRuns, ranked_by: RankedBy) -> String {
    format!("loss of {} to the last {} runs > {}", name_of(ranked_by), asked.count, asked.max_loss)
}
