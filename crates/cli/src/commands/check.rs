//! `proofload check`: boot and contract, no load.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::ExitCode;

use live::waiting_line;
use plan::PlanError;
use plan::stack::{Catalogue, StackManifest};
use record::{CHECK_VERSION, CheckResult, StackCheck};
use stack::ChainOptions;

use crate::arguments::Check;
use crate::commands::stacks::{go_past_proxies, name_broken};
use crate::exit::{self, Failure};
use crate::output::{print, print_json};
use crate::progress::Screen;
use crate::scratch::Scratch;
use crate::workbench::Workbench;

/// Runs the command.
pub fn run(arguments: &Check) -> Result<ExitCode, Failure> {
    let workbench = Workbench::open(&arguments.stacks.dir)?;
    let (catalogue, control) = (&workbench.catalogue, &workbench.control);
    let chosen = arguments.which.chosen(catalogue)?;
    go_past_proxies(arguments.quiet, chosen.iter().copied());
    let scratch = Scratch::new("check")?;
    let screen = Screen::new(arguments.quiet);
    let mut checks = Vec::new();
    for (index, stack) in chosen.iter().enumerate() {
        if control.is_interrupted() {
            break;
        }
        let step = format!("{}/{}: {}: build, boot, check", index + 1, chosen.len(), stack.id);
        screen.now(&step, true);
        let own = scratch.path().join(&stack.id);
        std::fs::create_dir(&own)
            .map_err(|error| Failure::system(format!("cannot make {} ({error})", own.display())))?;
        let options = ChainOptions {
            proofload_exe: &workbench.proofload_exe,
            dir: &own,
            address: Ipv4Addr::LOCALHOST,
            cpus: None,
            interrupt: workbench.interrupt(),
        };
        checks.push(lab::check(&catalogue.chain(&stack.id)?, &options, &mut |stack, waits| {
            let text = waits.map_or_else(|| step.clone(), |it| waiting_line(stack, it.holder()));
            screen.now(&text, true);
        }));
    }
    if arguments.which.all {
        checks.extend(catalogue.broken().map(|(id, error)| broken(id, error)));
    } else {
        name_broken(catalogue);
    }
    screen.clear();
    show(arguments, &checks)?;
    let failed = |check: &StackCheck| matches!(check.result, CheckResult::Failed { .. });
    // What failed names its log, which stays; what was interrupted has nothing to tell, nor has what was not started here.
    if !control.is_interrupted() && checks.iter().any(failed) && has_logs(scratch.path()) {
        scratch.keep();
    }
    Ok(ExitCode::from(match (control.is_interrupted(), checks.iter().all(is_right)) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::OK,
        (false, false) => exit::SERVICE,
    }))
}

/// Whether a stack has left something in its folder in `scratch`.
fn has_logs(scratch: &Path) -> bool {
    let within = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    within(scratch).any(|own| within(&own.path()).next().is_some())
}

/// What a check of a stack comes to whose manifest has a mistake.
fn broken(id: &str, error: &PlanError) -> StackCheck {
    StackCheck {
        version: CHECK_VERSION,
        stack: id.to_owned(),
        title: String::new(),
        generation: String::new(),
        upstream: None,
        result: CheckResult::Failed { error: error.to_string() },
    }
}

fn show(arguments: &Check, checks: &[StackCheck]) -> Result<(), Failure> {
    if arguments.json {
        return print_json(&serde_json::to_string_pretty(checks).expect("a check is plain data"));
    }
    print(&report::checks_text(checks))?;
    match checks {
        [one] => print(&format!("\n{}", report::check_details_text(one))),
        [_, ..] if !arguments.which.all => print(&format!("\n{}", report::same_work_text(checks))),
        _ => Ok(()),
    }
}

/// A stack that could not be checked for want of a tool is not known to be right.
fn is_right(check: &StackCheck) -> bool {
    match &check.result {
        CheckResult::Checked(checked) => checked.deviations.is_empty(),
        CheckResult::LeftOut { .. } | CheckResult::Failed { .. } => false,
    }
}

impl crate::arguments::Which {
    /// The stacks that are named, each once, or all.
    pub fn chosen<'a>(&self, catalogue: &'a Catalogue) -> Result<Vec<&'a StackManifest>, Failure> {
        if self.all {
            let with = catalogue.iter_with_variants();
            return Ok(with.filter(|stack| self.variants || stack.variant.is_none()).collect());
        }
        let mut seen = BTreeSet::new();
        let named = self.stack.iter().filter(|id| seen.insert(id.as_str()));
        Ok(named.map(|id| catalogue.get(id)).collect::<Result<_, _>>()?)
    }
}
