//! The rankings, and a cell for each of their rows.

use explain::CellExplanation;
use record::{Driver, Measured, Trial, TrialResult};

use super::answers::answer;
use super::details;
use super::model::{Answer, Cell, Confirmed, Interval, Row, Table, TwinGap};
use super::{PageOf, TrialDetail};
use crate::ranking::Ranking;
use crate::ranking::order::{Order, Place};
use crate::ranking::rows::{self, Rows, TableName};
use crate::told::invalid;

/// The rankings of a run and their cells.
pub(super) struct Ranked {
    pub(super) tables: Vec<Table>,
    /// One a table.
    pub(super) answers: Vec<Answer>,
    pub(super) cells: Vec<Cell>,
}

/// The tables of a run, ranked, and a cell for each row.
pub(super) fn ranked(of: &PageOf<'_>, rankings: &[Ranking<'_>], explained: &[CellExplanation]) -> Ranked {
    let mut ranked = Ranked { tables: Vec::new(), answers: Vec::new(), cells: Vec::new() };
    for Ranking { name, rows, order, ended_by_claims } in rankings {
        let name = *name;
        // Of what speaks otherwise than the control, its rate is no ceiling.
        let has_ceiling = rows.cells.iter().any(|cell| cell.as_control);
        let mut table = Table {
            round: name.round.to_owned(),
            load: name.load.clone(),
            driver: name.driver,
            ranked_by: rows.ranked_by,
            tested: matches!(order, Order::Tests(..)),
            ended_by_claims: *ended_by_claims,
            least_effect: match order {
                Order::Tests(comparison, _) => Some(comparison.least_effect),
                Order::Ranges(..) => None,
            },
            ceiling_per_s: rows.ceiling_per_s.filter(|_| has_ceiling),
            twin: rows.twin_gap().map(|(stack, ratio, noise)| TwinGap {
                stack: stack.to_owned(),
                ratio: ratio.into(),
                noise,
            }),
            rows: Vec::new(),
        };
        let places = order.places();
        for place in &places {
            let cell = &rows.cells[place.index];
            let why = explained.iter().find(|it| it.is_of(&name.cell(cell.stack)));
            let Some(why) = why else { continue };
            table.rows.push(row(rows, place, why, ranked.cells.len()));
            ranked.cells.push(cell_of(of, name, cell, why));
        }
        let ratio = |a: usize, b: usize| order.ratio(places.get(a)?.index, places.get(b)?.index);
        let is_behind = |stack: &str| rows.cells.iter().any(|cell| stands_behind(stack, cell.typical()));
        ranked.answers.push(answer(&table, is_behind, |a, b| ratio(a, b).map(Interval::from)));
        ranked.tables.push(table);
    }
    ranked
}

fn stands_behind(stack: &str, measured: &Measured) -> bool {
    measured.upstreams.iter().any(|it| it.stack == stack)
}

fn row(rows: &Rows<'_>, place: &Place, why: &CellExplanation, index: usize) -> Row {
    let cell = &rows.cells[place.index];
    let typical = cell.typical();
    let doubts = cell.doubted();
    let first = why.explanation.first();
    Row {
        stack: cell.stack.to_owned(),
        cell: index,
        rank_from: place.ranks.0,
        rank_to: place.ranks.1,
        letters: place.letters.clone().unwrap_or_default(),
        trials: cell.trials().len(),
        failed: cell.failed,
        failed_blocks: cell.failed_blocks().0,
        goodput_per_s: cell.goodput.into(),
        to_best: place.to_best.map(Interval::from),
        service_times: typical.load.driver.is_some(),
        p50: cell.time("p50"),
        p99: cell.time("p99"),
        p99_9: cell.time("p99_9"),
        server_us_per_request: cell.server_us_per_request(),
        client_us_per_request: cell.client_us_per_request(),
        client_busy_share: cell.client_busy_share(),
        as_control: cell.as_control,
        errors: cell
            .failures()
            .into_iter()
            .map(|(kind, (count, intended))| (kind, count as f64 / intended.max(1) as f64))
            .collect(),
        limit: first.phrase.clone(),
        limit_kind: Some(first.kind),
        invalid: invalid(&doubts, cell.trials().len()),
        doubts,
    }
}

fn cell_of(of: &PageOf<'_>, table: TableName<'_>, cell: &rows::Cell<'_>, why: &CellExplanation) -> Cell {
    let typical = cell.typical();
    let trial = index_of(of.trials, typical);
    let detail = if table.driver == Driver::Proofload { (of.detail)(trial) } else { TrialDetail::default() };
    let confirmations = of.confirmations.iter().filter(|it| {
        (it.round.as_str(), &it.load, it.stack.as_str()) == (table.round, table.load, cell.stack)
    });
    let curve = details::curve(typical, &detail.intervals);
    Cell {
        why: why.clone(),
        confirmations: confirmations.map(Confirmed::of).collect(),
        trial,
        url: typical.load.url.clone(),
        command: typical.server.command.clone(),
        percentiles: curve.seen,
        percentiles_censored: curve.censored,
        samples: curve.samples,
        censored: curve.censored_samples,
        service_times: typical.load.driver.is_some(),
        heat: details::heat(&detail.intervals),
        timeline: super::timeline::timeline(typical, &detail.readings, of.manifest.machine.cores),
        warm_up: typical.warm_up.clone(),
        stages: details::stages(&typical.load),
    }
}

/// The index of the trial that holds `measured`.
fn index_of(trials: &[Trial], measured: &Measured) -> u32 {
    let holds = |trial: &&Trial| matches!(&trial.result, TrialResult::Measured(it) if std::ptr::eq(&raw const **it, measured));
    trials.iter().find(holds).expect("rows are made of these trials").index
}
