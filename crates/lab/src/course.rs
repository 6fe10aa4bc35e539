//! An experiment under way: which trial is next, and when enough are made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use events::{Ahead, Event};
use plan::stack::StackManifest;
use plan::{Cell, CellId, Driver, Ends, Experiment, Processes, Role};
use record::{RunDir, TRIAL_VERSION, Trial, TrialResult};
use units::Duration;

use crate::bench::{Bench, Ended};
use crate::clock::now;
use crate::decided::open_before;
use crate::error::{LabError, NotMeasured};
use crate::foreign::Programs;
use crate::order::Place;
use crate::phase::{Came, Done, Phase, TableKey};
use crate::trial::{Cores, Setting, Up, measure};

/// A run under way. What it does next follows from the experiment, its seed and the trials that are written down, and
/// from nothing else: a run that is resumed goes on as it would have.
pub(crate) struct Course<'a> {
    experiment: &'a Experiment,
    bench: &'a Bench<'a>,
    programs: &'a Programs,
    run: RunDir,
    /// Stacks that take no part.
    left_out: BTreeMap<String, String>,
    /// Of which a trial failed, with the driver: one that failed once would cost its time-outs in every block, and what one
    /// driver can't load another may.
    failed: BTreeSet<(String, Driver)>,
    control: StackManifest,
    /// The stacks that stay up between trials, where they do.
    up: BTreeMap<(String, Role), Up>,
    /// What came of the trials written down.
    done: Done,
    /// The cells that claims leave open, once they were looked at.
    open: Option<BTreeSet<CellId>>,
}

/// How a phase came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Interrupted,
    OutOfTime,
}

/// What this process has made so far, to tell how long the rest takes.
struct Made {
    begun: Instant,
    trials: u64,
    failed: u32,
}

impl<'a> Course<'a> {
    pub(crate) fn new(
        experiment: &'a Experiment,
        bench: &'a Bench<'a>,
        programs: &'a Programs,
        run: RunDir,
        left_out: BTreeMap<String, String>,
        trials: &[Trial],
    ) -> Self {
        let done = trials.iter().map(|trial| (trial.index, Came::of(trial))).collect();
        let failed = trials.iter().filter(|trial| matches!(trial.result, TrialResult::Failed { .. }));
        let failed = failed.map(|trial| (trial.stack.clone(), trial.driver)).collect();
        let control = StackManifest::control();
        let up = BTreeMap::new();
        Self { experiment, bench, programs, run, left_out, failed, control, up, done, open: None }
    }

    pub(crate) fn finish(mut self, observe: &mut dyn FnMut(Event<'_>)) -> Result<Ended, LabError> {
        let cores = Cores::take(self.experiment.procedure.placement)?;
        let mut made = Made { begun: Instant::now(), trials: 0, failed: 0 };
        let capacity = Phase::of_capacity(self.experiment);
        let mut end = self.carry_out(&capacity, cores.as_ref(), &mut made, observe)?;
        if end == End::Complete {
            let latency = Phase::of_latency(self.experiment, &capacity, &self.done);
            end = self.carry_out(&latency, cores.as_ref(), &mut made, observe)?;
        }
        let stopped = std::mem::take(&mut self.up).into_values().map(Up::stop);
        stopped.collect::<Result<Vec<()>, _>>()?;
        Ok(Ended {
            dir: self.run.path().to_owned(),
            interrupted: end == End::Interrupted,
            failed: made.failed,
            out_of_time: end == End::OutOfTime,
        })
    }

    /// Makes the trials of a phase that are not made yet.
    fn carry_out(
        &mut self,
        phase: &Phase,
        cores: Option<&Cores>,
        made: &mut Made,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<End, LabError> {
        let mut precise: Vec<TableKey> = Vec::new();
        let (mut block, mut is_new_block) = (None, false);
        for (position, place) in phase.places.iter().enumerate() {
            if self.bench.interrupt.is_interrupted() {
                return Ok(End::Interrupted);
            }
            if block.replace(place.block) != Some(place.block) {
                self.add_precise(&mut precise, phase, place.block, observe);
                self.look_before(place.block, phase, observe)?;
                is_new_block = true;
            }
            if !self.is_to_do(phase, place, &precise) {
                continue;
            }
            self.end_others(phase.cell(place), std::mem::take(&mut is_new_block))?;
            if self.bench.until.is_some_and(|until| Instant::now() >= until) {
                return Ok(End::OutOfTime);
            }
            let ahead = self.ahead(phase, &phase.places[position..], &precise, made);
            let (round, cell) = (&phase.rounds[place.round].name, phase.cell(place));
            let number = self.done.len() as u32 + 1;
            observe(Event::Starting { number, ahead, block: place.block + 1, round, cell });
            let Some(trial) = self.trial(phase, place, cores, observe)? else { return Ok(End::Interrupted) };
            self.run.append(&trial)?;
            self.done.insert(place.index, Came::of(&trial));
            if let TrialResult::Failed { .. } = &trial.result {
                made.failed += 1;
                self.failed.insert((trial.stack.clone(), trial.driver));
            }
            observe(Event::Finished { trial: &trial });
            made.trials += 1;
        }
        Ok(End::Complete)
    }

    fn is_to_do(&self, phase: &Phase, place: &Place, precise: &[TableKey]) -> bool {
        let cell = phase.cell(place);
        !self.done.contains_key(&place.index)
            && !self.left_out.contains_key(&cell.stack)
            && !self.failed.contains(&(cell.stack.clone(), cell.driver))
            && !precise.contains(&phase.table(place))
            && self.open.as_ref().is_none_or(|open| phase.is_for(place, open))
    }

    /// Where blocks end when claims are decided: looks at them, and says what is left.
    fn look_before(
        &mut self,
        block: u32,
        phase: &Phase,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), LabError> {
        if self.experiment.procedure.ends != Ends::Decided {
            return Ok(());
        }
        if let Some(open) = open_before(block, self.bench.claims, &self.run)? {
            let of_stacks = |round: &plan::Round| round.cells.iter().filter(|it| it.role.is_stack()).count();
            let cells = phase.rounds.iter().map(of_stacks).sum();
            observe(Event::Looked { blocks: block, open: open.len(), cells });
            self.open = Some(open);
        }
        Ok(())
    }

    /// Where processes live for a block, ends those that `cell` is not measured on, and all before a new block.
    fn end_others(&mut self, cell: &Cell, is_new_block: bool) -> Result<(), LabError> {
        if self.experiment.procedure.processes != Processes::Block {
            return Ok(());
        }
        let is_its = |(stack, role): &(String, Role)| (stack, *role) == (&cell.stack, cell.role);
        let all = std::mem::take(&mut self.up);
        let (its, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(key, _)| is_its(key) && !is_new_block);
        self.up = its;
        others.into_values().try_for_each(Up::stop)
    }

    /// Adds the tables that are precise after the blocks before `block`, and says so once.
    fn add_precise(
        &self,
        precise: &mut Vec<TableKey>,
        phase: &Phase,
        block: u32,
        observe: &mut dyn FnMut(Event<'_>),
    ) {
        for key in phase.precise_before(block, &self.done) {
            if !precise.contains(&key) {
                precise.push(key);
                let round = &phase.rounds[key.0].name;
                let load = phase.load_of_table(key).map_or_else(String::new, |it| it.to_string());
                observe(Event::Precise { round, load: &load, blocks: block });
            }
        }
    }

    /// What is left of `rest` and of what comes behind this phase, by what was made so far.
    fn ahead(&self, phase: &Phase, rest: &[Place], precise: &[TableKey], made: &Made) -> Ahead {
        let procedure = &self.experiment.procedure;
        let is_kept = procedure.processes == Processes::Kept;
        let elapsed: Duration = made.begun.elapsed().into();
        let estimate = |blocks: u32| {
            let (mut count, mut guess) = phase.behind;
            let mut seen = BTreeSet::new();
            for place in rest.iter().filter(|it| it.block < blocks && self.is_to_do(phase, it, precise)) {
                let cell = phase.cell(place);
                let is_up = self.up.get(&(cell.stack.clone(), cell.role)).is_some_and(|up| up.is_warm(cell));
                let is_new = match procedure.processes {
                    Processes::Fresh => true,
                    Processes::Kept => !is_up && seen.insert((0, place.round, place.cell, "", cell.role)),
                    // Warmed up once a round, whatever the number of users is.
                    Processes::Block => seen.insert((place.block, place.round, 0, &*cell.stack, cell.role)),
                };
                guess += procedure.trial_guess(cell, is_new);
                count += 1;
            }
            // Where processes are kept, the first trials say nothing of the others.
            let by_guess = made.trials == 0 || is_kept;
            let left = if by_guess { guess } else { elapsed * u64::from(count) / made.trials };
            (count, left)
        };
        let ((trials, left), (trials_max, left_max)) = (estimate(phase.blocks), estimate(u32::MAX));
        Ahead { trials, left, trials_max, left_max }
    }

    /// One trial; `None` if it was interrupted, and then nothing is written down.
    fn trial(
        &mut self,
        phase: &Phase,
        place: &Place,
        cores: Option<&Cores>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Trial>, LabError> {
        let cell = &phase.cell_of_trial(place);
        let procedure = &self.experiment.procedure;
        let started = now();
        let dir = self.run.trial_dir(place.index)?;
        let chain = match cell.role {
            Role::Control => vec![&self.control],
            Role::Stack | Role::Twin => self.bench.catalogue.chain(&cell.stack)?,
        };
        let key = (cell.stack.clone(), cell.role);
        let mut up = self.up.remove(&key);
        let setting = Setting {
            cell,
            chain: &chain,
            proofload_exe: self.bench.proofload_exe,
            dir: &dir,
            bursts: &procedure.bursts,
            processes: procedure.processes,
            cool_down_max: procedure.cool_down_max,
            jvm_events: procedure.jvm_events,
            cores,
            programs: self.programs,
            interrupt: self.bench.interrupt,
        };
        let measured = measure(&setting, &mut up, &mut |moment| observe(Event::During(moment)));
        self.up.extend(up.map(|up| (key, up)));
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
            round: phase.rounds[place.round].name.clone(),
            stack: cell.stack.clone(),
            role: cell.role,
            driver: cell.driver,
            load: phase.load(place),
            started,
            result,
        }))
    }
}
