//! `proofload explain`: why each cell of a run stopped where it did.

mod confirm;

use std::process::ExitCode;

use explain::{Capacity, CellExplanation, capacity, explain_cells};
use record::Trial;
use report::{capacity_text, explanations_text};
use serde::Serialize;

use crate::arguments::explain::Explain;
use crate::exit::{self, Failure};
use crate::output::{print, print_json};
use crate::recorded;
use crate::workbench::own_name;

use self::confirm::{Tried, confirm};

/// Version of what `--json` prints.
const JSON_VERSION: u32 = 1;

/// What `--json` prints.
#[derive(Serialize)]
struct Explained<'a> {
    version: u32,
    cells: &'a [CellExplanation],
    /// Of the stacks that were measured at several numbers of connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    capacities: Vec<Capacity>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    confirmations: Vec<Tried>,
}

/// Runs the command.
pub fn run(arguments: &Explain) -> Result<ExitCode, Failure> {
    let (manifest, trials) = recorded::read(&arguments.run)?;
    let all = explain_cells(&trials, manifest.machine.cores);
    let cells: Vec<CellExplanation> =
        all.iter().filter(|cell| is_asked_for(cell, &arguments.cells)).cloned().collect();
    if cells.is_empty() {
        return Err(nothing(arguments, &all));
    }
    let capacities = capacities(&trials, &cells);
    if !arguments.json {
        print(explanations_text(&cells).trim_end())?;
        if !capacities.is_empty() {
            print(&format!("\nWhat they can carry\n\n{}", capacity_text(&capacities).trim_end()))?;
        }
    }
    let (confirmations, is_interrupted) =
        if arguments.confirm { confirm(arguments, &trials, &cells)? } else { (Vec::new(), false) };
    let refuted = confirmations.iter().any(Tried::is_refuted);
    if arguments.json {
        let explained = Explained { version: JSON_VERSION, cells: &cells, capacities, confirmations };
        print_json(&serde_json::to_string_pretty(&explained).expect("it is plain data"))?;
    }
    Ok(ExitCode::from(match (is_interrupted, refuted) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::SERVICE,
        (false, false) => exit::OK,
    }))
}

/// What the stacks of some cells can carry, where there is more than one level to tell it from.
fn capacities(trials: &[Trial], cells: &[CellExplanation]) -> Vec<Capacity> {
    let is_of = |cell: &CellExplanation, it: &Capacity| {
        (&cell.round, cell.driver, &cell.stack) == (&it.round, it.driver, &it.stack)
    };
    let is_asked = |it: &Capacity| cells.iter().any(|cell| is_of(cell, it));
    capacity(trials).into_iter().filter(|it| it.levels.len() > 1 && is_asked(it)).collect()
}

fn is_asked_for(cell: &CellExplanation, asked: &[String]) -> bool {
    let name = format!("{}/{}/{}{}", cell.round, cell.load, cell.stack, by(cell));
    let short = format!("{}/{}{}", cell.round, cell.stack, by(cell));
    asked.is_empty() || asked.iter().any(|text| name.contains(text.as_str()) || short.contains(text.as_str()))
}

/// What made its loads, behind its stack.
fn by(cell: &CellExplanation) -> String {
    if cell.driver.is_own() { String::new() } else { format!(" by {}", cell.driver.name()) }
}

fn nothing(arguments: &Explain, all: &[CellExplanation]) -> Failure {
    let run = arguments.run.display();
    if all.is_empty() {
        return Failure::usage(format!(
            "{run} has no measured trial; go on with: {} run --resume {}",
            own_name(),
            plan::shell::quoted_path(&arguments.run)
        ));
    }
    let names: Vec<String> =
        all.iter().map(|cell| format!("{}/{}{}", cell.round, cell.stack, by(cell))).collect();
    Failure::usage(format!(
        "no cell of {run} contains `{}`; it has {}",
        arguments.cells.join("` or `"),
        names.join(", ")
    ))
}
