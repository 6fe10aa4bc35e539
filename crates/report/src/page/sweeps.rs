//! How figures go with what was varied: connections, or the rate asked for.

use std::collections::BTreeMap;

use explain::{Capacity, CapacityFigure, ExplainedBy, PoolKnee, is_concurrency};
use record::{Distribution, Driver, Load, Measured, Role, Trial, TrialResult};
use stats::Spread;

use super::model::{
    BoundedInterval, Cell, Interval, Invalid, Sweep, SweepPoint, SweepSeries, SweptOver, Table,
};

/// A sweep has at least so many points.
const POINTS_MIN: usize = 2;

/// The sweeps of a run, by round and driver, in the order of its trials.
pub(super) fn sweeps(
    trials: &[Trial],
    tables: &[Table],
    cells: &[Cell],
    capacities: &[Capacity],
) -> Vec<Sweep> {
    // A point is as valid as its row: the control of the table is known there.
    let rows: BTreeMap<usize, Invalid> =
        tables.iter().flat_map(|table| &table.rows).map(|row| (row.cell, row.invalid)).collect();
    let mut all = all_sweeps(trials, cells, capacities);
    for point in all.iter_mut().flat_map(|sweep| &mut sweep.series).flat_map(|series| &mut series.points) {
        point.invalid = rows.get(&point.cell).copied().unwrap_or(Invalid::None);
    }
    all
}

fn all_sweeps(trials: &[Trial], cells: &[Cell], capacities: &[Capacity]) -> Vec<Sweep> {
    let mut of: Vec<(&str, Driver, SweptOver)> = Vec::new();
    for trial in trials {
        let TrialResult::Measured(measured) = &trial.result else { continue };
        let Some((over, _)) = place(&measured.load.load) else { continue };
        let key = (trial.round.as_str(), trial.driver, over);
        if !of.contains(&key) {
            of.push(key);
        }
    }
    let all = of.into_iter().map(|key| {
        let (round, driver, over) = key;
        let series = series(trials, cells, capacities, key);
        let is_ceiling = series.iter().any(|it| it.as_control);
        let ceiling = if is_ceiling { ceiling(trials, key) } else { Vec::new() };
        Sweep { round: round.to_owned(), driver, over, series, ceiling }
    });
    all.filter(|sweep| sweep.series.iter().any(|it| it.points.len() >= POINTS_MIN)).collect()
}

/// What a load is a point of, and where it lies.
fn place(load: &Load) -> Option<(SweptOver, f64)> {
    match load.rate_per_s {
        Some(rate) => Some((SweptOver::Rate, rate)),
        None => is_concurrency(load).then(|| (SweptOver::Connections, f64::from(load.connections))),
    }
}

type Key<'a> = (&'a str, Driver, SweptOver);

fn series(trials: &[Trial], cells: &[Cell], capacities: &[Capacity], key: Key<'_>) -> Vec<SweepSeries> {
    let (round, driver, over) = key;
    let mut all: Vec<SweepSeries> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let is_of = |trial: &&Trial| {
            trial.role == Role::Stack
                && trial.driver == driver
                && (trial.round.as_str(), trial.stack.as_str()) == (round, cell.why.stack.as_str())
                && trial.load.id == cell.why.load
        };
        if (cell.why.round.as_str(), cell.why.driver) != (round, driver) {
            continue;
        }
        let measured: Vec<&Measured> = trials.iter().filter(is_of).filter_map(measured_of).collect();
        let Some(point) = point(&measured, index, over) else { continue };
        let stack = &cell.why.stack;
        let as_control = measured.iter().all(|it| is_asked_as_controls(it, trials, key));
        match all.iter_mut().find(|it| it.stack == *stack) {
            Some(series) => {
                series.as_control &= as_control;
                series.points.push(point);
            }
            None => all.push(SweepSeries {
                stack: stack.clone(),
                points: vec![point],
                knee: knee(trials, capacities, key, stack),
                as_control,
            }),
        }
    }
    for series in &mut all {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    all
}

fn measured_of(trial: &Trial) -> Option<&Measured> {
    match &trial.result {
        TrialResult::Measured(measured) => Some(measured),
        TrialResult::Failed { .. } => None,
    }
}

fn point(measured: &[&Measured], cell: usize, over: SweptOver) -> Option<SweepPoint> {
    let x = measured.iter().find_map(|it| place(&it.load.load)).filter(|(of, _)| *of == over)?.1;
    let goodputs: Vec<f64> = measured.iter().map(|it| it.load.goodput_per_s).collect();
    let goodput_per_s = Interval::from(Spread::of(&goodputs)?);
    Some(SweepPoint {
        x,
        cell,
        goodput_per_s,
        p50_us: bounded(measured, "p50"),
        p99_us: bounded(measured, "p99"),
        invalid: Invalid::None,
    })
}

/// The figure of the cell's row, with the shortest and the longest of its trials.
fn bounded(measured: &[&Measured], percentile: &str) -> Option<BoundedInterval> {
    let all: Vec<&Distribution> = measured.iter().map(|it| it.load.times()).collect();
    let (value, is_lower_bound) = Distribution::of_medians(&all).told(percentile)?;
    let told = all.iter().filter_map(|it| it.told(percentile)).map(|it| it.0).filter(|us| us.is_finite());
    let Spread { low, high, .. } = Spread::of(&told.collect::<Vec<f64>>())?;
    Some(BoundedInterval { value, low, high, is_lower_bound })
}

/// Where a stack's line bends, in connections, if a model explains it and saw it bend.
fn knee(trials: &[Trial], capacities: &[Capacity], key: Key<'_>, stack: &str) -> Option<Interval> {
    let (round, driver, over) = key;
    let is_of = |it: &&Capacity| it.round == round && it.driver == driver && it.stack == stack;
    let capacity = capacities.iter().find(is_of).filter(|_| over == SweptOver::Connections)?;
    let figure: CapacityFigure = match capacity.explained_by {
        ExplainedBy::Pool => capacity.pool.as_ref().filter(|it| matches!(it.knee, PoolKnee::Seen))?.size,
        ExplainedBy::Law => capacity.law.as_ref()?.bends_at_users?,
        ExplainedBy::Undecided => return None,
    };
    // A model is of requests at a time, of which a connection of HTTP/2 carries several.
    let each = f64::from(streams(trials, key, stack)?.max(1));
    let connections = |requests: Option<f64>| requests.map(|it| it / each);
    Some(Interval {
        value: figure.value? / each,
        low: connections(figure.low),
        high: connections(figure.high),
    })
}

/// How many requests at a time a connection of a stack's loads carries; `None` where that is not the same in all of them.
fn streams(trials: &[Trial], (round, driver, _): Key<'_>, stack: &str) -> Option<u32> {
    let is_of = |it: &&Trial| {
        it.role == Role::Stack
            && it.driver == driver
            && (it.round.as_str(), it.stack.as_str()) == (round, stack)
    };
    let measured = trials.iter().filter(is_of).filter_map(measured_of);
    let mut all = measured.map(|it| it.load.load.streams.unwrap_or(1));
    let first = all.next()?;
    all.all(|it| it == first).then_some(first)
}

/// Whether a trial was asked as the controls of its sweep were; without any, as they would have been.
fn is_asked_as_controls(trial: &Measured, trials: &[Trial], key: Key<'_>) -> bool {
    trial.load.is_plain_http1()
        && controls(trials, key).all(|(_, control)| trial.load.is_asked_as(&control.load))
}

fn controls<'a>(
    trials: &'a [Trial],
    (round, driver, over): Key<'_>,
) -> impl Iterator<Item = (f64, &'a Measured)> {
    let of_round =
        trials.iter().filter(move |it| it.role == Role::Control && it.round == round && it.driver == driver);
    of_round.filter_map(measured_of).filter_map(move |measured| {
        let (_, x) = place(&measured.load.load).filter(|(of, _)| *of == over)?;
        Some((x, measured))
    })
}

/// The control's rate along a sweep.
fn ceiling(trials: &[Trial], key: Key<'_>) -> Vec<[f64; 2]> {
    let mut points: Vec<(f64, Vec<f64>)> = Vec::new();
    for (x, measured) in controls(trials, key) {
        match points.iter_mut().find(|(at, _)| at.total_cmp(&x).is_eq()) {
            Some((_, rates)) => rates.push(measured.load.goodput_per_s),
            None => points.push((x, vec![measured.load.goodput_per_s])),
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.into_iter().filter_map(|(x, rates)| Some([x, Spread::of(&rates)?.median])).collect()
}
