//! `proofload build`: what stacks are made of.

use std::collections::BTreeSet;
use std::process::ExitCode;

use live::waiting_line;
use stack::{BuildOptions, Shared};

use crate::arguments::Build;
use crate::commands::stacks::name_broken;
use crate::exit::{self, Failure};
use crate::output::{print, say};
use crate::progress::Screen;
use crate::scratch::Scratch;
use crate::workbench::Workbench;

/// What goes on with a stack: its build, or what that waits for.
fn show(screen: &Screen, stack: &str, waits: Option<Shared>) {
    let text = waits.map_or_else(|| format!("building {stack}"), |it| waiting_line(stack, it.holder()));
    screen.now(&text, true);
}

/// Runs the command.
pub fn run(arguments: &Build) -> Result<ExitCode, Failure> {
    let workbench = Workbench::open(&arguments.stacks.dir)?;
    let (catalogue, control) = (&workbench.catalogue, &workbench.control);
    let scratch = Scratch::new("build")?;
    let log = scratch.path().join("build.log");
    let (proofload_exe, interrupt) = (&workbench.proofload_exe, workbench.interrupt());
    let options = BuildOptions { proofload_exe, log: &log, interrupt };
    let screen = Screen::new(arguments.quiet);
    let mut seen = BTreeSet::new();
    let chosen = arguments.which.chosen(catalogue)?;
    name_broken(catalogue);
    let mut all_built = !arguments.which.all || catalogue.broken().next().is_none();
    let mut is_log_named = false;
    for chosen in chosen {
        for stack in catalogue.chain(&chosen.id)? {
            // Variants and proxies have their builds in common with others.
            let is_new =
                stack.build.is_some() && seen.insert(stack.id.split('@').next().unwrap_or(&stack.id));
            if !is_new || control.is_interrupted() {
                continue;
            }
            let mut tell = |waits| show(&screen, &stack.id, waits);
            tell(None);
            let missing = stack::missing(stack);
            let outcome = match missing.first() {
                Some(it) => Err(format!("{} is missing: {}", it.name, it.install)),
                None => stack::build(stack, &options, &mut tell).map_err(|error| {
                    is_log_named |= !control.is_interrupted();
                    error.to_string()
                }),
            };
            screen.clear();
            match outcome {
                Ok(outcome) => {
                    let what = if outcome.built { "built" } else { "unchanged" };
                    print(&format!("{}: {what}, {}", stack.id, outcome.took))?;
                }
                Err(why) => {
                    say(format_args!("proofload: {}: {why}", stack.id));
                    all_built = false;
                }
            }
        }
    }
    if is_log_named {
        // What failed names its log, which stays; what was interrupted, or never begun, has none to look at.
        scratch.keep();
    }
    Ok(ExitCode::from(match (control.is_interrupted(), all_built) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::OK,
        (false, false) => exit::SERVICE,
    }))
}
