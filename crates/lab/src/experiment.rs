//! An experiment: build, then trial after trial in random blocks, each written down before the next.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use driver::Control;
use plan::stack::Catalogue;
use plan::{Cell, Experiment, Pace};
use record::{MANIFEST_VERSION, Manifest, RunDir, StackManifest, TRIAL_VERSION, Trial, TrialResult};
use stack::{BuildOptions, Interrupt, StackError};
use stats::Interval;
use units::Duration;

use crate::error::LabError;
use crate::load::Moment;
use crate::machine;
use crate::order::{Place, order};
use crate::tools::{self, State};
use crate::trial::{NotMeasured, Setting, measure};

/// Boot, contract and stop of a trial, until trials of this run have shown how long they take.
const OVERHEAD_GUESS: Duration = Duration::from_millis(1200);

/// What is going on.
#[derive(Debug)]
pub enum Event<'a> {
    /// A stack does not take part.
    LeftOut {
        /// Which.
        stack: &'a str,
        /// Why, and what would mend it.
        why: &'a str,
    },
    /// A stack is being built, if its sources changed.
    Building {
        /// Which.
        stack: &'a str,
    },
    /// A trial starts.
    Starting {
        /// From 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// Which block, from 1.
        block: u32,
        /// Which round.
        round: &'a str,
        /// Which cell.
        cell: &'a Cell,
        /// Estimate until the end of the run.
        left: Duration,
    },
    /// An interval of a load is over: a second, or what was left at its end.
    Interval {
        /// What happened in it.
        interval: &'a Interval,
        /// How long it was.
        length: Duration,
    },
    /// A trial is written down.
    Finished {
        /// The trial.
        trial: &'a Trial,
    },
}

/// Where stacks and programs are.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The stacks.
    pub catalogue: &'a Catalogue,
    /// The `proofload` binary.
    pub proofload_exe: &'a Path,
    /// Version of Proofload.
    pub version: &'a str,
    /// The command line, for the manifest.
    pub argv: &'a [String],
    /// Ends the run when interrupted.
    pub interrupt: &'a Control,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The run's directory.
    pub dir: PathBuf,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Trials that failed.
    pub failed: u32,
}

/// Carries `experiment` out into the new directory `dir`.
pub fn carry_out(
    experiment: &Experiment,
    dir: &Path,
    bench: &Bench<'_>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Ended, LabError> {
    let run = RunDir::create(dir, &experiment.source)?;
    let mut left_out = without_needs(experiment, bench.catalogue)?;
    let built = build_all(experiment, dir, bench, &mut left_out, observe).inspect_err(|_| {
        // Without a manifest there is nothing to resume, and an empty run only puzzles.
        let _ = std::fs::remove_dir_all(dir);
    })?;
    for (stack, why) in &left_out {
        observe(Event::LeftOut { stack, why });
    }
    let stacks = experiment.stacks();
    if stacks.iter().all(|stack| left_out.contains_key(*stack)) {
        let why: Vec<String> = left_out.iter().map(|(stack, why)| format!("{stack}: {why}")).collect();
        return Err(LabError::NothingToRun { why: why.join("; ") });
    }
    run.write_manifest(&manifest(experiment, bench, built, left_out.clone()))?;
    Course { experiment, bench, run, left_out, done: BTreeSet::new() }.finish(observe)
}

/// Goes on with the run in `dir`: the same cells in the same order, without those already measured.
pub fn resume(dir: &Path, bench: &Bench<'_>, observe: &mut dyn FnMut(Event<'_>)) -> Result<Ended, LabError> {
    let (run, manifest, trials) = RunDir::resume(dir)?;
    if manifest.proofload != bench.version {
        let why = format!("it was made by version {}, this is {}", manifest.proofload, bench.version);
        return Err(LabError::NotResumable { run: dir.display().to_string(), why });
    }
    let pace = if manifest.quick { Pace::Quick } else { Pace::Full };
    let experiment = Experiment::read(&RunDir::experiment_path(dir), bench.catalogue, pace)?;
    let mut left_out = manifest.left_out;
    build_all(&experiment, dir, bench, &mut left_out, observe)?;
    for trial in &trials {
        if let TrialResult::Failed { error } = &trial.result {
            left_out.insert(trial.stack.clone(), error.clone());
        }
    }
    let done = trials.iter().map(|trial| trial.index).collect();
    Course { experiment: &experiment, bench, run, left_out, done }.finish(observe)
}

/// Stacks for which something is missing, themselves or behind them, and how to get it.
fn without_needs(
    experiment: &Experiment,
    catalogue: &Catalogue,
) -> Result<BTreeMap<String, String>, LabError> {
    let mut left_out = BTreeMap::new();
    for id in experiment.stacks() {
        let missing: Vec<_> = catalogue.chain(id)?.into_iter().flat_map(stack::missing).collect();
        if !missing.is_empty() {
            let why: Vec<String> =
                missing.iter().map(|it| format!("{} is missing: {}", it.name, it.install)).collect();
            left_out.insert(id.to_owned(), why.join(", "));
        }
    }
    Ok(left_out)
}

/// Builds what takes part; a stack that does not build is left out. Gives each stack's manifest.
fn build_all(
    experiment: &Experiment,
    dir: &Path,
    bench: &Bench<'_>,
    left_out: &mut BTreeMap<String, String>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<BTreeMap<String, StackManifest>, LabError> {
    let mut built = BTreeMap::new();
    let log = dir.join("build.log");
    for id in experiment.stacks() {
        if left_out.contains_key(id) {
            continue;
        }
        observe(Event::Building { stack: id });
        match build_chain(&bench.catalogue.chain(id)?, bench, &log) {
            Err(StackError::Interrupted { .. }) => return Err(LabError::InterruptedEarly),
            Ok(entry) => {
                built.insert(id.to_owned(), entry);
            }
            Err(error) => {
                left_out.insert(id.to_owned(), error.to_string());
            }
        }
    }
    Ok(built)
}

/// Builds a stack and what stands behind it. Gives what is known of it then.
fn build_chain(
    chain: &[&plan::stack::StackManifest],
    bench: &Bench<'_>,
    log: &Path,
) -> Result<StackManifest, StackError> {
    let is_interrupted = || bench.interrupt.is_interrupted();
    let interrupt = Interrupt::when(&is_interrupted);
    let options = BuildOptions { proofload_exe: bench.proofload_exe, log, interrupt };
    let mut entries = BTreeMap::new();
    let mut front = StackManifest::default();
    for stack in chain {
        front = StackManifest {
            title: stack.title.clone(),
            inputs: stack::build(stack, &options)?.inputs,
            jdk: stack::jdk_version(stack),
            upstreams: entries.clone(),
        };
        entries.insert(stack.id.clone(), StackManifest { upstreams: BTreeMap::new(), ..front.clone() });
    }
    Ok(front)
}

fn manifest(
    experiment: &Experiment,
    bench: &Bench<'_>,
    stacks: BTreeMap<String, StackManifest>,
    left_out: BTreeMap<String, String>,
) -> Manifest {
    let needed: BTreeSet<&str> = stacks
        .keys()
        .filter_map(|id| bench.catalogue.get(id).ok())
        .flat_map(|stack| stack.needs.tools.iter().map(String::as_str))
        .collect();
    let cells: usize = experiment.rounds.iter().map(|round| round.cells.len()).sum();
    Manifest {
        version: MANIFEST_VERSION,
        proofload: bench.version.to_owned(),
        argv: bench.argv.to_vec(),
        title: experiment.title.clone(),
        started: now(),
        seed: experiment.seed.0,
        blocks: experiment.blocks,
        quick: experiment.pace == Pace::Quick,
        trials: cells as u32 * experiment.blocks,
        stacks,
        left_out,
        tools: versions(&needed.into_iter().collect::<Vec<_>>()),
        machine: machine::machine(),
    }
}

/// The version that each of `tools` tells of itself.
fn versions(tools: &[&str]) -> BTreeMap<String, String> {
    let known = tools::look_for_all(tools).into_iter();
    known
        .filter_map(|(tool, state)| match state {
            State::Present { version } => Some((tool.to_owned(), version)),
            State::Missing | State::Broken { .. } => None,
        })
        .collect()
}

/// The time of day, RFC 3339, UTC, to the second.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A run under way.
struct Course<'a> {
    experiment: &'a Experiment,
    bench: &'a Bench<'a>,
    run: RunDir,
    left_out: BTreeMap<String, String>,
    done: BTreeSet<u32>,
}

impl Course<'_> {
    fn finish(mut self, observe: &mut dyn FnMut(Event<'_>)) -> Result<Ended, LabError> {
        let cells: Vec<usize> = self.experiment.rounds.iter().map(|round| round.cells.len()).collect();
        let places = order(self.experiment.seed, self.experiment.blocks, &cells);
        let begun = Instant::now();
        let (mut made, mut failed) = (0, 0);
        for (position, place) in places.iter().enumerate() {
            if self.bench.interrupt.is_interrupted() {
                break;
            }
            if !self.is_to_do(place) {
                continue;
            }
            let rest = &places[position..];
            let left = self.time_left(rest, begun.elapsed().into(), made);
            let number = position + 1;
            let round = &self.experiment.rounds[place.round];
            let cell = &round.cells[place.cell];
            let (block, of) = (place.block + 1, places.len());
            observe(Event::Starting { number, of, block, round: &round.name, cell, left });
            let Some(trial) = self.trial(place, observe)? else { break };
            self.run.append(&trial)?;
            if let TrialResult::Failed { error } = &trial.result {
                failed += 1;
                // A stack that failed once would cost its time-outs in every block.
                self.left_out.insert(cell.stack.clone(), error.clone());
            }
            observe(Event::Finished { trial: &trial });
            made += 1;
        }
        let interrupted = self.bench.interrupt.is_interrupted();
        Ok(Ended { dir: self.run.path().to_owned(), interrupted, failed })
    }

    fn cell(&self, place: &Place) -> &Cell {
        &self.experiment.rounds[place.round].cells[place.cell]
    }

    fn is_to_do(&self, place: &Place) -> bool {
        !self.done.contains(&place.index) && !self.left_out.contains_key(&self.cell(place).stack)
    }

    /// Loads still to be made, and what else trials have taken so far on average.
    fn time_left(&self, rest: &[Place], elapsed: Duration, made: u64) -> Duration {
        let mut load = Duration::ZERO;
        let mut count = 0;
        for place in rest.iter().filter(|place| self.is_to_do(place)) {
            let plan = &self.cell(place).load;
            load += plan.warm_up + plan.stop.duration.min(Duration::from_secs(3600));
            count += 1;
        }
        if made == 0 { load + OVERHEAD_GUESS * count } else { elapsed * count / made }
    }

    /// One trial; `None` if it was interrupted, and then nothing is written down.
    fn trial(&self, place: &Place, observe: &mut dyn FnMut(Event<'_>)) -> Result<Option<Trial>, LabError> {
        let cell = self.cell(place);
        let started = now();
        let dir = self.run.trial_dir(place.index)?;
        let setting = Setting {
            cell,
            chain: &self.bench.catalogue.chain(&cell.stack)?,
            proofload_exe: self.bench.proofload_exe,
            dir: &dir,
            interrupt: self.bench.interrupt,
        };
        let measured = measure(&setting, &mut |moment| {
            if let Moment::Interval { interval, length } = moment {
                observe(Event::Interval { interval, length });
            }
        });
        let result = match measured {
            Ok(measured) => TrialResult::Measured(Box::new(measured)),
            Err(NotMeasured::Interrupted) => return Ok(None),
            Err(NotMeasured::Lab(error)) => return Err(error),
            Err(NotMeasured::Stack(_)) if self.bench.interrupt.is_interrupted() => return Ok(None),
            Err(NotMeasured::Stack(error)) => TrialResult::Failed { error },
        };
        Ok(Some(Trial {
            version: TRIAL_VERSION,
            index: place.index,
            block: place.block,
            round: self.experiment.rounds[place.round].name.clone(),
            stack: cell.stack.clone(),
            load: cell.load.label(),
            started,
            result,
        }))
    }
}
