//! An experiment under way: which trial is next, and when enough are made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use events::{Ahead, Event};
use plan::stack::StackManifest;
use plan::{Cell, CellId, Ends, Experiment, Processes, Role};
use record::{Measured, Repeats, RunDir, TRIAL_VERSION, Trial, TrialResult};
use units::Duration;

use crate::bench::{Bench, Ended};
use crate::clock::now;
use crate::decided::open_before;
use crate::error::{LabError, NotMeasured};
use crate::failures::Failures;
use crate::foreign::Programs;
use crate::left::Known;
use crate::order::Place;
use crate::phase::{Came, Done, Phase, TableKey};
use crate::quiet::{disturbance, look, repeats_max};
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
    failures: Failures,
    /// Trials that failed, those before it went on included.
    failed: u32,
    control: StackManifest,
    /// The stacks that stay up between trials, where they do.
    up: BTreeMap<(String, Role), Up>,
    /// What came of the trials written down, by their places.
    done: Done,
    /// The cells that claims leave open, once they were looked at.
    open: Option<BTreeSet<CellId>>,
    /// What disturbed those of them that were, at the first time.
    disturbed: BTreeMap<u32, String>,
}

/// The trial that repeats the one at a place is so far behind it: beyond all places that a run may have.
const REPEATS_FROM: u32 = 1_000_000;

/// Attempts at a trial whose load lost a machine, before the run ends for that.
const ATTEMPTS_MAX: usize = 3;

/// Whether a block is made for the first time, or once more because it was disturbed.
#[derive(Clone, Copy)]
enum Turn<'a> {
    First,
    Again { of: &'a [u32], why: &'a str },
}

impl Turn<'_> {
    const fn is_first(self) -> bool {
        matches!(self, Self::First)
    }
}

/// How a phase came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Interrupted,
    OutOfTime,
}

/// A turn at the block that is the first of `places`.
struct Part<'a> {
    phase: &'a Phase,
    places: &'a [Place],
    /// How many places the block has.
    size: usize,
    turn: Turn<'a>,
    precise: &'a [TableKey],
    cores: Option<&'a Cores>,
}

/// What this process has made so far, to tell how long the rest takes.
struct Made {
    begun: Instant,
    trials: u64,
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
        let control = StackManifest::control();
        let mut course = Self {
            experiment,
            bench,
            programs,
            run,
            left_out,
            failures: Failures::default(),
            failed: 0,
            control,
            up: BTreeMap::new(),
            done: Done::new(),
            disturbed: BTreeMap::new(),
            open: None,
        };
        for trial in trials {
            course.add(trial);
        }
        course
    }

    /// Takes note of a trial that is written down.
    fn add(&mut self, trial: &Trial) {
        let place = trial.repeats.as_ref().map_or(trial.index, |it| it.index);
        self.done.insert(place, Came::of(trial));
        if trial.repeats.is_none() {
            self.disturbed.extend(disturbance(trial).map(|why| (place, why)));
        }
        let failed = matches!(trial.result, TrialResult::Failed { .. });
        self.failed += u32::from(failed);
        self.failures.add(place, trial.repeats.is_some(), failed);
    }

    pub(crate) fn finish(mut self, observe: &mut dyn FnMut(Event<'_>)) -> Result<Ended, LabError> {
        // Where the load comes from elsewhere, servers have all cores of this machine.
        let cores = match self.bench.hosts {
            Some(hosts) if hosts.are_elsewhere() => None,
            _ => Cores::take(self.experiment.procedure.placement)?,
        };
        let mut made = Made { begun: Instant::now(), trials: 0 };
        let capacity = Phase::of_capacity(self.experiment);
        let mut end = self.carry_out(&capacity, cores.as_ref(), &mut made, observe)?;
        if end == End::Complete {
            let latency = Phase::of_latency(self.experiment, &capacity, &self.done);
            end = self.carry_out(&latency, cores.as_ref(), &mut made, observe)?;
        }
        let stopped = std::mem::take(&mut self.up).into_values().map(Up::stop);
        stopped.collect::<Result<Vec<()>, _>>()?;
        if end == End::Complete {
            self.run.complete()?;
        }
        Ok(Ended {
            dir: self.run.path().to_owned(),
            interrupted: end == End::Interrupted,
            failed: self.failed,
            out_of_time: end == End::OutOfTime,
            left_out: self.left_out,
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
        let mut repeated = 0;
        let mut places = &phase.places[..];
        while let Some(first) = places.first() {
            let size = places.iter().take_while(|it| it.block == first.block).count();
            let (block, rest) = places.split_at(size);
            self.add_precise(&mut precise, phase, first.block, observe);
            self.look_before(first.block, phase, observe)?;
            let mut make = |course: &mut Self, turn| {
                course.carry_out_block(
                    &Part { phase, places, size, turn, precise: &precise, cores },
                    made,
                    observe,
                )
            };
            let end = make(self, Turn::First)?;
            if end != End::Complete {
                return Ok(end);
            }
            let of: Vec<u32> =
                block.iter().map(|it| it.index).filter(|index| self.done.contains_key(index)).collect();
            let why = of.iter().find_map(|index| self.disturbed.get(index)).cloned();
            if let Some(why) = why.filter(|_| repeated < repeats_max(phase.blocks)) {
                repeated += 1;
                self.failures.begin_again(&of);
                let end = make(self, Turn::Again { of: &of, why: &why })?;
                if end != End::Complete {
                    return Ok(end);
                }
            }
            places = rest;
        }
        Ok(End::Complete)
    }

    /// Makes the trials of a block that are not made yet.
    fn carry_out_block(
        &mut self,
        part: &Part<'_>,
        made: &mut Made,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<End, LabError> {
        let Part { phase, places, size, turn, precise, cores } = *part;
        let mut is_told = turn.is_first();
        let mut is_new_block = true;
        for (position, place) in places[..size].iter().enumerate() {
            if self.bench.interrupt.is_interrupted() {
                return Ok(End::Interrupted);
            }
            let is_to_do = match turn {
                Turn::First => self.is_to_do(phase, place, precise),
                Turn::Again { of, .. } => {
                    of.contains(&place.index) && !self.failures.was_made_again(place.index)
                }
            };
            if !is_to_do {
                continue;
            }
            self.end_others(phase.cell(place), std::mem::take(&mut is_new_block))?;
            if self.bench.until.is_some_and(|until| Instant::now() >= until) {
                return Ok(End::OutOfTime);
            }
            if let (Turn::Again { why, .. }, false) = (turn, std::mem::replace(&mut is_told, true)) {
                observe(Event::Repeating { block: place.block + 1, why });
            }
            let ahead = self.ahead(phase, &places[position..], precise, made);
            let (round, cell) = (&phase.rounds[place.round].name, phase.cell(place));
            if made.trials == 0 {
                look(cell, Cores::count(cores), self.bench.wait_for_quiet, self.bench.interrupt, observe);
            }
            let number = self.done.len() as u32 + u32::from(turn.is_first());
            observe(Event::Starting { number, ahead, block: place.block + 1, round, cell });
            let Some(trial) = self.trial(phase, place, turn, cores, observe)? else {
                return Ok(End::Interrupted);
            };
            self.run.append(&trial)?;
            self.add(&trial);
            observe(Event::Finished { trial: &trial });
            made.trials += 1;
        }
        Ok(End::Complete)
    }

    fn is_to_do(&self, phase: &Phase, place: &Place, precise: &[TableKey]) -> bool {
        let Self { done, failures, left_out, .. } = self;
        Known { done, failures, left_out, open: self.open.as_ref(), precise }.leaves(phase, place)
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
            let (mut kept, mut of_blocks) = (BTreeSet::new(), BTreeSet::new());
            for place in rest.iter().filter(|it| it.block < blocks && self.is_to_do(phase, it, precise)) {
                let cell = phase.cell(place);
                let is_up = self.up.get(&(cell.stack.clone(), cell.role)).is_some_and(|up| up.is_warm(cell));
                let is_new = match procedure.processes {
                    Processes::Fresh => true,
                    Processes::Kept => !is_up && kept.insert((place.round, place.cell)),
                    // Warmed up once for each endpoint, whatever the load is.
                    Processes::Block => {
                        of_blocks.insert((place.block, &cell.stack, cell.role, &cell.endpoint.name))
                    }
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
        turn: Turn<'_>,
        cores: Option<&Cores>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Trial>, LabError> {
        let cell = &phase.cell_of_trial(place);
        let procedure = &self.experiment.procedure;
        let started = now();
        let index = if turn.is_first() { place.index } else { REPEATS_FROM + place.index };
        let dir = self.run.trial_dir(index)?;
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
            idle_look: procedure.idle_look,
            jvm_events: procedure.jvm_events,
            cores,
            programs: self.programs,
            hosts: self.bench.hosts,
            interrupt: self.bench.interrupt,
        };
        let mut lost_attempts = Vec::new();
        let measured = measure_by_all(&setting, &mut up, &mut lost_attempts, observe);
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
            index,
            block: place.block,
            round: phase.rounds[place.round].name.clone(),
            stack: cell.stack.clone(),
            role: cell.role,
            driver: cell.driver,
            load: phase.load(place),
            started,
            repeats: match turn {
                Turn::First => None,
                Turn::Again { of, why } => {
                    Some(Repeats { index: place.index, block: of.to_vec(), why: why.to_owned() })
                }
            },
            lost_attempts,
            result,
        }))
    }
}

/// Makes one trial; anew where a machine that loads fell silent, which is no fault of the stack's. Why each attempt before was
/// lost is added to `lost`.
fn measure_by_all(
    setting: &Setting<'_>,
    up: &mut Option<Up>,
    lost: &mut Vec<String>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Measured, NotMeasured> {
    loop {
        match measure(setting, up, &mut |moment| observe(Event::During(moment))) {
            Err(NotMeasured::Lab(LabError::AgentLost(why))) if lost.len() + 1 < ATTEMPTS_MAX => {
                observe(Event::MadeAgain { attempt: lost.len() + 2, of: ATTEMPTS_MAX, why: &why });
                lost.push(why);
            }
            measured => return measured,
        }
    }
}
