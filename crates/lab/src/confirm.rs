//! A verdict is put to the test, as an experiment, and what came of it is kept with the run.
//!
//! Where the stack has a variant that makes the change which the verdict names, that is made: it tells the most. Else half and
//! twice the users are tried, which any stack can be.

mod change;
mod levels;

use std::path::Path;

use explain::{CellExplanation, Confirmation, Level, typical};
use plan::stack::Catalogue;
use plan::{Experiment, Pace};
use record::{
    CONFIRMATION_VERSION, CellName, ConfirmationRecord, LevelRate, Measured, Trial, TrialResult,
    append_confirmation, trials_of,
};

use self::change::Change;
use self::levels::Levels;
use crate::beside::Beside;
use crate::error::LabError;

/// What puts the first verdict of a cell to the test.
#[derive(Debug)]
pub struct Test<'a> {
    cell: &'a CellExplanation,
    by: By<'a>,
}

/// By what.
#[derive(Debug)]
enum By<'a> {
    Change(Box<Change<'a>>),
    Levels(Box<Levels<'a>>),
}

/// Why a verdict is not tried.
#[derive(Debug, thiserror::Error)]
pub enum NotTried {
    /// There is nothing to try, and why.
    #[error("{0}")]
    Nothing(String),
    /// It can't be carried out.
    #[error(transparent)]
    Lab(#[from] LabError),
}

fn nothing<T>(why: impl Into<String>) -> Result<T, NotTried> {
    Err(NotTried::Nothing(why.into()))
}

impl<'a> Test<'a> {
    /// The test for `cell`, of a run with these `trials` and this experiment on record.
    ///
    /// # Errors
    /// A cell with nothing to try: it was loaded by another program, or by users who come and go or at a rate; neither a variant
    /// nor other numbers of users would tell; or the record lacks what it takes.
    pub fn of(
        cell: &'a CellExplanation,
        trials: &[Trial],
        recorded: &Experiment,
        catalogue: &'a Catalogue,
    ) -> Result<Self, NotTried> {
        if !cell.driver.is_own() {
            let by = cell.driver.name();
            return nothing(format!("it was loaded by {by}, and a test is measured by our own engine"));
        }
        let why_no_change = match Change::of(cell, trials, recorded, catalogue) {
            Ok(change) => return Ok(Self { cell, by: By::Change(Box::new(change)) }),
            Err(NotTried::Nothing(why)) => why,
            Err(error) => return Err(error),
        };
        match Levels::of(cell, trials, recorded, catalogue) {
            Ok(levels) => Ok(Self { cell, by: By::Levels(Box::new(levels)) }),
            Err(NotTried::Nothing(why)) => nothing(format!("{why_no_change}, and {why}")),
            Err(error) => Err(error),
        }
    }

    /// What measures it.
    pub const fn experiment(&self) -> &Experiment {
        match &self.by {
            By::Change(change) => &change.experiment,
            By::Levels(levels) => &levels.experiment,
        }
    }

    /// Holds the rates of the experiment's run in `measured` against the prediction, and keeps what follows with the run in `run`,
    /// where its report finds it. `None` where something that is compared was not measured.
    pub fn conclude(&self, run: &Path, measured: &Path) -> Result<Option<Confirmation>, LabError> {
        let judged = match &self.by {
            By::Change(change) => change.judged(measured)?,
            By::Levels(levels) => levels.judged(measured)?,
        };
        if let Some(confirmation) = &judged {
            append_confirmation(run, &self.on_record(confirmation, measured))?;
        }
        Ok(judged)
    }

    fn on_record(&self, of: &Confirmation, measured: &Path) -> ConfirmationRecord {
        let CellExplanation { round, load, stack, .. } = self.cell;
        let rate = |level: &Level| LevelRate { users: level.users, goodput_per_s: level.goodput_per_s };
        ConfirmationRecord {
            version: CONFIRMATION_VERSION,
            round: round.clone(),
            load: load.clone(),
            stack: stack.clone(),
            variant: of.variant.clone(),
            levels: of.levels.iter().map(rate).collect(),
            before_per_s: of.before_per_s,
            predicted_per_s: of.predicted_per_s,
            measured_per_s: of.measured_per_s,
            outcome: of.outcome.key().to_owned(),
            why: of.why.clone(),
            run: measured.display().to_string(),
        }
    }
}

/// What is on record of a cell, as far as it takes to measure it again.
struct Recorded<'a> {
    endpoint: &'a str,
    measured: &'a Measured,
    experiment: &'a Experiment,
}

impl<'a> Recorded<'a> {
    fn of(cell: &CellExplanation, trials: &'a [Trial], experiment: &'a Experiment) -> Result<Self, NotTried> {
        let Some(measured) = typical_of(trials, cell) else {
            return nothing("it has no measured trial");
        };
        let load = &measured.load.load;
        if load.rate_per_s.is_some() || load.ramp_up_s.is_some() || load.requests_per_user.is_some() {
            return nothing(format!("`{}` is no closed load of users who stay", load.label));
        }
        let Some(endpoint) = endpoint_of(experiment, cell) else {
            return nothing("the experiment on record does not name it");
        };
        Ok(Self { endpoint, measured, experiment })
    }

    fn experiment(&self, beside: &Beside<'_>, catalogue: &Catalogue) -> Result<Experiment, NotTried> {
        let text = beside.as_toml(self.measured, self.experiment);
        let read = Experiment::parse(Path::new("confirm.toml"), &text, catalogue, Pace::Full);
        Ok(read.map_err(LabError::from)?)
    }
}

fn typical_of<'a>(trials: &'a [Trial], cell: &CellExplanation) -> Option<&'a Measured> {
    let of_cell = trials_of(trials, |trial| cell.is_of(&CellName::of(trial)));
    let measured: Vec<&Measured> = of_cell
        .filter_map(|trial| match &trial.result {
            TrialResult::Measured(measured) => Some(&**measured),
            TrialResult::Failed { .. } => None,
        })
        .collect();
    typical(&measured)
}

fn endpoint_of<'a>(recorded: &'a Experiment, cell: &CellExplanation) -> Option<&'a str> {
    let round = recorded.rounds.iter().find(|round| round.name == cell.round)?;
    Some(&round.cells.iter().find(|it| it.stack == cell.stack)?.endpoint.name)
}
