//! An experiment under way: which trial is next, and when enough are made.

use std::collections::BTreeMap;
use std::time::Instant;

use plan::stack::StackManifest;
use plan::{Cell, Experiment, Role};
use record::{RunDir, TRIAL_VERSION, Trial, TrialResult};
use stats::is_precise;
use units::Duration;

use crate::error::LabError;
use crate::experiment::{Ahead, Bench, Ended, Event, now};
use crate::load::Moment;
use crate::order::{Place, order};
use crate::trial::{Cores, NotMeasured, Setting, measure};

/// Cells that are compared with each other: those of a round at the same number of connections.
type TableKey = (usize, u32);

/// A run under way. What it does next follows from the experiment, its seed and the trials that are written down, and
/// from nothing else: a run that is resumed goes on as it would have.
pub(crate) struct Course<'a> {
    experiment: &'a Experiment,
    bench: &'a Bench<'a>,
    run: RunDir,
    left_out: BTreeMap<String, String>,
    control: StackManifest,
    /// What came of the trials written down, by their place in the order: a goodput, or nothing.
    done: BTreeMap<u32, Option<f64>>,
}

impl<'a> Course<'a> {
    pub(crate) fn new(
        experiment: &'a Experiment,
        bench: &'a Bench<'a>,
        run: RunDir,
        left_out: BTreeMap<String, String>,
        trials: &[Trial],
    ) -> Self {
        let done = trials.iter().map(|trial| (trial.index, goodput(trial))).collect();
        Self { experiment, bench, run, left_out, control: StackManifest::control(), done }
    }

    pub(crate) fn finish(mut self, observe: &mut dyn FnMut(Event<'_>)) -> Result<Ended, LabError> {
        let procedure = &self.experiment.procedure;
        let cores = Cores::take(procedure.placement)?;
        let cells: Vec<usize> = self.experiment.rounds.iter().map(|round| round.cells.len()).collect();
        let places = order(self.experiment.seed, procedure.blocks_max, &cells);
        let begun = Instant::now();
        let (mut made, mut failed, mut out_of_time) = (0, 0, false);
        let mut precise: Vec<TableKey> = Vec::new();
        let mut block = None;
        for (position, place) in places.iter().enumerate() {
            if self.bench.interrupt.is_interrupted() {
                break;
            }
            if block.replace(place.block) != Some(place.block) && place.block >= procedure.blocks {
                self.add_precise(&mut precise, &places, place.block, observe);
            }
            if !self.is_to_do(place, &precise) {
                continue;
            }
            if self.bench.until.is_some_and(|until| Instant::now() >= until) {
                out_of_time = true;
                break;
            }
            let ahead = self.ahead(&places[position..], &precise, begun.elapsed().into(), made);
            let (round, cell) = (&self.experiment.rounds[place.round].name, self.cell(place));
            let number = self.done.len() as u32 + 1;
            observe(Event::Starting { number, ahead, block: place.block + 1, round, cell });
            let Some(trial) = self.trial(place, cores.as_ref(), observe)? else { break };
            self.run.append(&trial)?;
            self.done.insert(place.index, goodput(&trial));
            if let TrialResult::Failed { error } = &trial.result {
                failed += 1;
                // A stack that failed once would cost its time-outs in every block.
                self.left_out.insert(trial.stack.clone(), error.clone());
            }
            observe(Event::Finished { trial: &trial });
            made += 1;
        }
        let interrupted = self.bench.interrupt.is_interrupted();
        Ok(Ended { dir: self.run.path().to_owned(), interrupted, failed, out_of_time })
    }

    fn cell(&self, place: &Place) -> &'a Cell {
        &self.experiment.rounds[place.round].cells[place.cell]
    }

    fn table(&self, place: &Place) -> TableKey {
        (place.round, self.cell(place).load.connections.get())
    }

    /// The load in words. A control has that of the stacks it belongs to, though its own is shorter.
    fn load_label(&self, place: &Place) -> String {
        let table = self.table(place);
        let mut cells = self.experiment.rounds[place.round].cells.iter();
        let of_table = cells.find(|cell| cell.load.connections.get() == table.1);
        match self.cell(place) {
            cell if cell.role == Role::Control => of_table.unwrap_or(cell).load.label(),
            cell => cell.load.label(),
        }
    }

    fn is_to_do(&self, place: &Place, precise: &[TableKey]) -> bool {
        !self.done.contains_key(&place.index)
            && !self.left_out.contains_key(&self.cell(place).stack)
            && !precise.contains(&self.table(place))
    }

    /// Adds the tables that are precise after the blocks before `block`.
    fn add_precise(
        &self,
        precise: &mut Vec<TableKey>,
        places: &[Place],
        block: u32,
        observe: &mut dyn FnMut(Event<'_>),
    ) {
        let mut tables: BTreeMap<TableKey, BTreeMap<usize, Vec<Option<f64>>>> = BTreeMap::new();
        for place in places.iter().filter(|it| it.block < block && self.cell(it).role == Role::Stack) {
            let rows = tables.entry(self.table(place)).or_default();
            let row = rows.entry(place.cell).or_insert_with(|| vec![None; block as usize]);
            row[place.block as usize] = self.done.get(&place.index).copied().flatten();
        }
        let bound = self.experiment.procedure.precision.get();
        for (key, rows) in tables {
            let rows: Vec<Vec<Option<f64>>> = rows.into_values().collect();
            if precise.contains(&key) || !is_precise(&rows, bound) {
                continue;
            }
            precise.push(key);
            let round = &self.experiment.rounds[key.0];
            let of_table = round.cells.iter().find(|cell| cell.load.connections.get() == key.1);
            let load = of_table.map_or_else(String::new, |cell| cell.load.label());
            observe(Event::Precise { round: &round.name, load: &load, blocks: block });
        }
    }

    /// What is left of `rest`, by what the `made` trials took in all.
    fn ahead(&self, rest: &[Place], precise: &[TableKey], elapsed: Duration, made: u64) -> Ahead {
        let estimate = |blocks: u32| {
            let (mut guess, mut count) = (Duration::ZERO, 0);
            for place in rest.iter().filter(|it| it.block < blocks && self.is_to_do(it, precise)) {
                guess += self.experiment.procedure.trial_guess(self.cell(place));
                count += 1;
            }
            let left = if made == 0 { guess } else { elapsed * u64::from(count) / made };
            (count, left)
        };
        let procedure = &self.experiment.procedure;
        let ((trials, left), (trials_max, left_max)) =
            (estimate(procedure.blocks), estimate(procedure.blocks_max));
        Ahead { trials, left, trials_max, left_max }
    }

    /// One trial; `None` if it was interrupted, and then nothing is written down.
    fn trial(
        &self,
        place: &Place,
        cores: Option<&Cores>,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Trial>, LabError> {
        let cell = self.cell(place);
        let procedure = &self.experiment.procedure;
        let started = now();
        let dir = self.run.trial_dir(place.index)?;
        let chain = match cell.role {
            Role::Control => vec![&self.control],
            Role::Stack | Role::Twin => self.bench.catalogue.chain(&cell.stack)?,
        };
        let setting = Setting {
            cell,
            chain: &chain,
            proofload_exe: self.bench.proofload_exe,
            dir: &dir,
            bursts: &procedure.bursts,
            cool_down_max: procedure.cool_down_max,
            cores,
            interrupt: self.bench.interrupt,
        };
        let measured = measure(&setting, &mut |moment| match moment {
            Moment::Interval { interval, length } => observe(Event::Interval { interval, length }),
            Moment::Burst(burst) => observe(Event::WarmingUp { burst, of: procedure.bursts.most }),
            Moment::Tick(_) | Moment::Pilot(_) | Moment::Opening(_) => {}
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
            role: role(cell.role),
            load: self.load_label(place),
            started,
            result,
        }))
    }
}

const fn role(role: Role) -> record::Role {
    match role {
        Role::Stack => record::Role::Stack,
        Role::Twin => record::Role::Twin,
        Role::Control => record::Role::Control,
    }
}

fn goodput(trial: &Trial) -> Option<f64> {
    match &trial.result {
        TrialResult::Measured(measured) => Some(measured.load.goodput_per_s),
        TrialResult::Failed { .. } => None,
    }
}
