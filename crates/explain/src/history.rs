//! One figure of a cell over recorded runs, and where it changed.

use std::collections::BTreeMap;

use plan::{Metric, Version};
use record::{
    CellName, Driver, LoadId, RevisionName, Trial, TrialResult, Versions, cells, measured_by_block, trials_of,
};
use serde::Serialize;
use stats::{SERIES_MIN, change_points};
use units::Seed;

use crate::agents::LoadedFrom;
use crate::compare::RecordedRun;
use crate::conditions::{Conditions, RunDifference, pace};
use crate::usable::{LeftOut, Usable, ceiling_of, cpu_us_per_request, median};

/// Seed of the random orders that changes are held against: the same runs always give the same answer.
const SEED: Seed = Seed(0x6869_7374);

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMetric {
    /// Expected answers a second.
    Goodput,
    /// Server CPU time a request, µs, with what stands behind it.
    Cpu,
    /// 99th percentile of response time, µs.
    P99,
}

/// Which cells; a part that is absent leaves all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HistoryFilter {
    /// The stack.
    pub stack: Option<String>,
    /// The round.
    pub round: Option<String>,
    /// The load: its label, or the number that it begins with.
    pub load: Option<String>,
}

impl HistoryFilter {
    fn takes(&self, cell: &CellName) -> bool {
        let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|it| it == has);
        // What a user types is held against what a user is shown.
        let label = cell.load.to_string();
        let begins_with = |number: &str| {
            label
                .strip_prefix(number)
                .is_some_and(|rest| rest.starts_with(|it: char| !it.is_ascii_alphanumeric()))
        };
        let load = self.load.as_deref().is_none_or(|it| it == label || begins_with(it));
        is(&self.stack, &cell.stack) && is(&self.round, &cell.round) && load
    }
}

/// What makes two figures ones of the same series. Quick and coarse runs have shorter loads, and where client and server
/// share no cores, or loads come from other machines, or processes are kept for the whole run, the figures are others, as they
/// are on another machine: each makes a series of its own. A machine is told by its CPU and its cores, as `--last-runs` does.
///
/// Its order is that of the series.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SeriesKey {
    title: String,
    pace: String,
    placement: String,
    agents: Vec<String>,
    processes: String,
    round: String,
    load: LoadId,
    stack: String,
    driver: Driver,
    cpu: Option<String>,
    cores: usize,
}

/// A cell's figure in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPoint {
    #[serde(skip)]
    key: SeriesKey,
    #[serde(skip)]
    conditions: Conditions,
    /// The run's directory, as the user would name it.
    pub run: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// The median over its trials; `None` where none may be used, or where half of them are longer than could be seen, or not
    /// known of so few requests.
    pub value: Option<f64>,
    /// Trials that it is the median of. One that failed or brought no good answer is the worst of them: a goodput of 0, a
    /// time without end. So is a percentile that so few requests don't know.
    pub trials: usize,
    /// Of those, the ones that failed, brought no good answer, or have only a lower bound.
    pub failed: usize,
    /// Of those, the others that have so few requests that they don't know the percentile. 0 of other figures.
    pub too_few_requests: usize,
    /// Hash of what the stack was built from, where it is built.
    pub inputs: Option<String>,
    /// The commit that was checked out where it ran, with `+` behind it where files differed; absent where nobody knows. Of one
    /// of two versions, its own.
    pub commit: Option<String>,
}

impl HistoryPoint {
    /// What it is of.
    pub(crate) fn cell(&self) -> CellName {
        let SeriesKey { round, load, stack, driver, .. } = self.key.clone();
        CellName { round, load, stack, driver }
    }

    /// Whether both are of one experiment.
    pub(crate) fn is_of_experiment_of(&self, other: &Self) -> bool {
        self.key.title == other.key.title
    }

    /// What beside the stack was another in the other one.
    pub(crate) fn differs_in(&self, other: &Self) -> Vec<RunDifference> {
        self.conditions.differences(&other.conditions)
    }
}

/// A cell's figure over runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Title of the experiment.
    pub title: String,
    /// The round.
    pub round: String,
    /// The load, in words.
    pub load: String,
    /// What made it; absent where it was our own engine.
    #[serde(skip_serializing_if = "Driver::is_own")]
    pub driver: Driver,
    /// The stack.
    pub stack: String,
    /// How thorough its runs were: `full`, `quick` or `coarse`.
    pub pace: String,
    /// Where client and servers ran: `shared` or `split`; empty where the records don't say.
    pub placement: String,
    /// The machines that loads came from; absent where that was the one with the servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// How long its stacks' processes lived: `kept` for the whole run, `block` for a block; absent where for one trial.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub processes: String,
    /// The CPU of the machine that its runs were made on; absent where the records don't say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Cores that Proofload might use there; 0 where the records don't say.
    pub cores: usize,
    /// Which figure.
    pub metric: HistoryMetric,
    /// By start.
    pub points: Vec<HistoryPoint>,
    /// Where it changed.
    pub changes: Vec<SeriesChange>,
    /// How many runs with a figure it takes before a change can be found, where there are fewer.
    pub runs_needed: Option<usize>,
}

/// A change in a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesChange {
    /// Index of the first of `points` after it.
    pub at: usize,
    /// What follows over what was before.
    pub ratio: f64,
    /// How often chance alone would bring a split as uneven.
    pub p: f64,
    /// Whether the stack was built from something else than in the run before.
    pub other_inputs: bool,
    /// What beside the stack became another at it, or a run before or after: then it need not be the stack's. Empty where
    /// nothing did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<RunDifference>,
    /// The commits of the last run before it and of the first one after, where they are known: what changed is between them.
    pub commits: Option<[String; 2]>,
}

/// The figures of one run, a point for each cell that `filter` takes. `versions` are those that it compares, where it does.
pub fn points_of_run(
    run: RecordedRun<'_>,
    versions: Option<&Versions>,
    metric: HistoryMetric,
    filter: &HistoryFilter,
) -> Vec<HistoryPoint> {
    let point = |cell: CellName| {
        let is_of_cell = |trial: &Trial| CellName::of(trial) == cell;
        let measured = measured_by_block(run.trials, is_of_cell).into_iter().flatten();
        let ceiling = ceiling_of(run.trials, &cell);
        let is_failed = |trial: &&Trial| matches!(trial.result, TrialResult::Failed { .. });
        let mut failed = trials_of(run.trials, is_of_cell).filter(is_failed).count();
        let (mut values, mut too_few_requests) = (Vec::new(), 0);
        for it in measured {
            match figure(it, metric, ceiling) {
                Ok(value) => values.push(value),
                Err(LeftOut::TooFewRequests) => too_few_requests += 1,
                Err(why) => failed += usize::from(why.is_services_fault()),
            }
        }
        // What a request costs is nothing where there was none.
        let worst = worst(metric);
        let unknown = if worst.is_some() { failed + too_few_requests } else { 0 };
        values.extend(std::iter::repeat_n(worst.unwrap_or_default(), unknown));
        HistoryPoint {
            run: run.dir.to_owned(),
            started: run.manifest.started.clone(),
            trials: values.len(),
            failed,
            too_few_requests,
            value: median(&values).filter(|it| it.is_finite()),
            inputs: run.manifest.stacks.get(&cell.stack).and_then(|it| it.inputs.clone()),
            // What was checked out where two versions were measured may be neither of them.
            commit: versions
                .and_then(|it| revision_of(it, &cell.stack))
                .map(commit_of)
                .or_else(|| run.manifest.commit.clone()),
            conditions: Conditions::of(run.manifest, run.trials, &cell),
            key: SeriesKey {
                title: run.manifest.title.clone(),
                pace: pace(run.manifest),
                placement: run.manifest.placement.clone(),
                agents: LoadedFrom::of(run.trials).map_or_else(Vec::new, |it| it.names()),
                processes: run.manifest.processes.clone(),
                round: cell.round,
                load: cell.load,
                stack: cell.stack,
                driver: cell.driver,
                cpu: run.manifest.machine.cpu.clone(),
                cores: run.manifest.machine.cores,
            },
        }
    };
    cells(run.trials).into_iter().filter(|cell| filter.takes(cell)).map(point).collect()
}

/// The version that a stack is of.
fn revision_of<'a>(versions: &'a Versions, stack: &str) -> Option<&'a RevisionName> {
    let is_its = |version: Version| versions.services.iter().any(|id| version.id_of(id) == stack);
    let both = [(Version::Before, &versions.before), (Version::After, &versions.after)];
    both.into_iter().find(|(version, _)| is_its(*version)).map(|(_, revision)| revision)
}

fn commit_of(revision: &RevisionName) -> String {
    let commit = revision.short_commit();
    let is_changed = revision.changed_files.is_some_and(|files| files > 0);
    if is_changed { commit + "+" } else { commit }
}

/// What a trial counts as that failed; `None` where it counts as nothing.
const fn worst(metric: HistoryMetric) -> Option<f64> {
    match metric {
        HistoryMetric::Goodput => Some(0.0),
        HistoryMetric::P99 => Some(f64::INFINITY),
        HistoryMetric::Cpu => None,
    }
}

fn figure(
    measured: &record::Measured,
    metric: HistoryMetric,
    ceiling_per_s: Option<f64>,
) -> Result<f64, LeftOut> {
    let usable = |of: Metric| Usable::of(measured, of, ceiling_per_s).figure;
    match metric {
        HistoryMetric::Goodput => usable(Metric::Goodput),
        // As a ranking has it, what a trial's requests don't know is longer than any that is known: the slower a stack is, the
        // fewer of them there are.
        HistoryMetric::P99 => match usable(Metric::ResponseP99) {
            Ok(_) if measured.load.times().is_too_few_for("p99") => Err(LeftOut::TooFewRequests),
            told => told,
        },
        // What a request costs the server does not hang on how well it was watched, but on requests being made.
        HistoryMetric::Cpu => {
            usable(Metric::Goodput).and_then(|_| cpu_us_per_request(measured).ok_or(LeftOut::Unseen))
        }
    }
}

/// Points of many runs as series, with their changes: by experiment, round, load, stack and machine.
pub fn series_of(points: Vec<HistoryPoint>, metric: HistoryMetric) -> Vec<Series> {
    let mut by_key: BTreeMap<SeriesKey, Vec<HistoryPoint>> = BTreeMap::new();
    for point in points {
        by_key.entry(point.key.clone()).or_default().push(point);
    }
    let series = by_key.into_iter().map(|(key, mut points)| {
        // RFC 3339 in UTC sorts by time.
        points.sort_by(|a, b| a.started.cmp(&b.started).then_with(|| a.run.cmp(&b.run)));
        one(key, points, metric)
    });
    series.collect()
}

/// What beside the stack became another from the run `before` a change to the first one after it. Where a series splits is known to
/// a run or so, so that the runs next to the two count as well.
fn became_others(points: &[HistoryPoint], before: usize, at: usize) -> Vec<RunDifference> {
    let last = (at + 1).min(points.len() - 1);
    let mut all: Vec<RunDifference> = Vec::new();
    for pair in points[before.saturating_sub(1)..=last].windows(2) {
        let differences = pair[0].differs_in(&pair[1]).into_iter();
        let new = differences.filter(|it| all.iter().all(|known| known.what != it.what)).collect::<Vec<_>>();
        all.extend(new);
    }
    all
}

fn one(key: SeriesKey, points: Vec<HistoryPoint>, metric: HistoryMetric) -> Series {
    let with_value: Vec<(usize, f64)> =
        // Changes are shifts of logarithms: a run that brought nothing shows for itself.
        points.iter().enumerate().filter_map(|(at, it)| Some((at, it.value.filter(|it| *it > 0.0)?))).collect();
    let values: Vec<f64> = with_value.iter().map(|it| it.1).collect();
    let changes = change_points(&values, SEED).into_iter().map(|it| {
        let (before, at) = (with_value[it.at - 1].0, with_value[it.at].0);
        let other_inputs = points[before].inputs != points[at].inputs;
        let commits = points[before].commit.clone().zip(points[at].commit.clone()).map(<[String; 2]>::from);
        let conditions = became_others(&points, before, at);
        SeriesChange { at, ratio: it.ratio, p: it.p, other_inputs, conditions, commits }
    });
    Series {
        changes: changes.collect(),
        title: key.title,
        round: key.round,
        load: key.load.to_string(),
        driver: key.driver,
        stack: key.stack,
        pace: key.pace,
        placement: key.placement,
        agents: key.agents,
        processes: key.processes,
        cpu: key.cpu,
        cores: key.cores,
        metric,
        points,
        runs_needed: (values.len() < SERIES_MIN).then_some(SERIES_MIN),
    }
}
