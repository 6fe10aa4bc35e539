//! `--confirm`: a verdict put to the test, by the change that it names or by other numbers of users.

use explain::{CellExplanation, Confirmation, Outcome};
use lab::confirm::{NotTried, Test};
use lab::experiment::{Bench, carry_out};
use plan::{Experiment, Pace};
use record::{RunDir, Trial};
use report::confirmation_text;
use serde::Serialize;

use crate::arguments::explain::Explain;
use crate::commands::run::run_dir;
use crate::commands::stacks::name_broken;
use crate::exit::Failure;
use crate::output::print;
use crate::progress::RunProgress;
use crate::workbench::Workbench;

/// What became of the first verdict of a cell.
#[derive(Debug, Serialize)]
pub struct Tried {
    round: String,
    load: String,
    stack: String,
    /// Why nothing was.
    #[serde(rename = "not_tried", skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation: Option<Confirmation>,
    /// The run that measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

impl Tried {
    /// Whether the prediction did not come true at all.
    pub fn is_refuted(&self) -> bool {
        self.confirmation.as_ref().is_some_and(|it| it.outcome == Outcome::Refuted)
    }

    fn of(cell: &CellExplanation) -> Self {
        let CellExplanation { round, load, stack, .. } = cell.clone();
        Self { round, load: load.to_string(), stack, why_not: None, confirmation: None, run: None }
    }
}

/// Tries the first verdict of each cell, and says whether that was interrupted.
pub fn confirm(
    arguments: &Explain,
    trials: &[Trial],
    cells: &[CellExplanation],
) -> Result<(Vec<Tried>, bool), Failure> {
    let workbench = Workbench::open(&arguments.stacks.dir)?;
    let experiment = RunDir::experiment_path(&arguments.run);
    let recorded = Experiment::read(&experiment, &workbench.catalogue, Pace::Full)?;
    name_broken(&workbench.catalogue);
    let bench = workbench.bench(None);
    let mut all = Vec::new();
    for cell in cells {
        if workbench.control.is_interrupted() {
            break;
        }
        let tried = try_one(arguments, trials, cell, &recorded, &bench)?;
        if !arguments.json {
            print(&told(&tried))?;
        }
        all.push(tried);
    }
    Ok((all, workbench.control.is_interrupted()))
}

fn told(tried: &Tried) -> String {
    let Tried { round, load, stack, why_not, confirmation, run } = tried;
    let of = format!("\n{round}, {load}, {stack}");
    match (confirmation, why_not) {
        (Some(confirmation), _) => {
            format!(
                "{of}\n  {}\n  Full record: {}",
                confirmation_text(confirmation),
                run.as_deref().unwrap_or("")
            )
        }
        (None, why) => format!("{of}\n  not tried: {}", why.as_deref().unwrap_or("it was interrupted")),
    }
}

fn try_one(
    arguments: &Explain,
    trials: &[Trial],
    cell: &CellExplanation,
    recorded: &Experiment,
    bench: &Bench<'_>,
) -> Result<Tried, Failure> {
    let tried = Tried::of(cell);
    let test = match Test::of(cell, trials, recorded, bench.catalogue) {
        Ok(test) => test,
        Err(NotTried::Nothing(why)) => return Ok(Tried { why_not: Some(why), ..tried }),
        Err(NotTried::Lab(error)) => return Err(error.into()),
    };
    let dir = run_dir(&arguments.runs, &format!("confirm-{}", cell.stack));
    let mut progress = RunProgress::new(arguments.quiet, None)?;
    let ended = carry_out(test.experiment(), &dir, bench, &mut |event| progress.observe(&event));
    progress.finish(&ended);
    let ended = ended?;
    if ended.interrupted {
        return Ok(tried);
    }
    let confirmation = test.conclude(&arguments.run, &ended.dir)?;
    Ok(Tried { confirmation, run: Some(ended.dir.display().to_string()), ..tried })
}
