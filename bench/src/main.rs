//! What Proofload costs, beside other clients and beside a client that does nothing.
//!
//! The rows are data (`table.rs`). Every client of a scenario runs once a round, in an order that is turned round
//! from one round to the next, against a fresh server; figures are ratios within a round. What comes out goes between
//! the markers of `docs/benchmarks.md`, scenario by scenario, so that an interrupted run keeps what it has.
#![forbid(unsafe_op_in_unsafe_fn)]

mod arguments;
mod contestant;
mod lag;
mod machine;
mod markers;
mod measure;
mod output;
mod peers;
mod process;
mod render;
mod scenario;
mod server;
mod statistics;
mod table;
mod watcher;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::measure::{Plan, Progress};
use crate::peers::Peers;
use crate::process::Interrupt;
use crate::scenario::Scenario;

const EXIT_INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let scenarios: Vec<Scenario> = table::scenarios()
        .into_iter()
        .filter(|it| arguments.only.is_empty() || arguments.only.iter().any(|only| it.name.starts_with(only)))
        .collect();
    if arguments.list {
        for scenario in &scenarios {
            println!("{:<12} {}", scenario.name, scenario.title);
        }
        return ExitCode::SUCCESS;
    }
    match run(&arguments, scenarios) {
        Ok(()) => ExitCode::SUCCESS,
        Err(process::Failure::Interrupted) => {
            eprintln!("bench: interrupted; what was finished is kept");
            ExitCode::from(EXIT_INTERRUPTED)
        }
        Err(process::Failure::Because(why)) => {
            eprintln!("bench: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, scenarios: Vec<Scenario>) -> Result<(), process::Failure> {
    if scenarios.is_empty() {
        return Err("no scenario has such a name; --list shows them".into());
    }
    let interrupt = Interrupt::on_signals()?;
    let peers = Peers::find()?;
    for missing in peers.missing() {
        eprintln!("bench: left out: {missing}");
    }
    process::stay_beside_the_server()?;
    let scenarios: Vec<Scenario> = scenarios.into_iter().filter_map(|it| peers.what_can_run(it)).collect();
    let plan = Plan { rounds: arguments.rounds(), seconds: arguments.seconds(), quick: arguments.quick };
    let keep = |name: &str, text: &str| {
        if arguments.print {
            println!("{text}");
            return Ok(());
        }
        markers::replace_in(&arguments.docs, name, text)
    };
    let machine = machine::describe(&peers);
    let mut progress = Progress::new(&scenarios, &plan);
    for scenario in &scenarios {
        let measured = measure::scenario(scenario, &plan, &peers, &interrupt, &mut progress)?;
        keep(scenario.name, &render::section(scenario, &measured, &plan, &machine))?;
    }
    Ok(())
}
