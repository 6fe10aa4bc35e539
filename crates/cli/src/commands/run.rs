//! `proofload run`: an experiment.

mod ahead;
#[cfg(feature = "kubernetes")]
mod kubernetes;
#[cfg(not(feature = "kubernetes"))]
#[path = "run/no_kubernetes.rs"]
mod kubernetes;
mod project;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::report::page::model::Page;
use lab::experiment::{Bench, Ended, carry_out, resume};
use plan::gate::{Gate, can_hold};
use plan::stack::Catalogue;
use plan::{Experiment, KeptRuns, Pace, PlanError, shell, toml_file};
use record::{RunDir, Versions};

use crate::arguments::Run;
use crate::arguments::kubernetes::Place;
use crate::commands::report;
use crate::commands::stacks::{go_past_proxies, name_broken};
use crate::exit::{self, Failure};
use crate::gate;
use crate::output::{print, say};
use crate::page::Sources;
use crate::progress::RunProgress;
use crate::recorded;
use crate::workbench::{PROJECT_FILE, Workbench, Written, own_name};
use crate::{inside, kept, pods};

/// What is to be run.
enum What {
    /// The experiment in this file.
    Anew(PathBuf),
    /// The run in this directory goes on.
    GoesOn(PathBuf),
}

/// The same, once nothing is known that keeps it from being run.
enum Work<'a> {
    /// This experiment, of the file.
    Anew(&'a Path, Box<Experiment>),
    /// The run in this directory goes on.
    GoesOn(&'a Path),
}

/// Runs the command.
pub fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let clients = &arguments.clients;
    if clients.kubernetes.rbac {
        return pods::print_rbac(false);
    }
    if clients.kubernetes.manifest {
        return kubernetes::print_manifest(clients);
    }
    let what = what(arguments)?;
    // Before the stacks: where there is no such file, nothing else is worth a word.
    let written = written(&what)?;
    let workbench = Workbench::for_experiment(&arguments.stacks.dir, &written)?;
    // A mistake in it is told before anything is measured, and where nothing is to be.
    let of_experiment = Gate::of_experiment(&written.file, &written.text)?;
    let asked = gate::of_run(&arguments.gate, &arguments.against, of_experiment)?;
    let kept = KeptRuns::of_experiment(&written.file, &written.text)?;
    let enough = asked.as_ref().map_or(Ok(()), |it| kept.keeps_enough_for(it));
    enough.map_err(|error| error.in_file(&written.file))?;
    let work = checked(arguments, &what, &workbench.catalogue, asked.as_ref())?;
    let wait_for_quiet = arguments.wait_for_quiet.map_or(std::time::Duration::ZERO, Into::into);
    let hosts = match clients.kubernetes.on {
        // What is ahead is told without a cluster.
        Some(Place::Kubernetes) if arguments.only_ahead => None,
        Some(Place::Kubernetes) => Some(kubernetes::hosts(clients)?),
        None => clients.hosts()?,
    };
    let bench = Bench { wait_for_quiet, hosts: hosts.as_ref(), ..workbench.bench(None) };
    if let (Work::Anew(_, experiment), true) = (&work, arguments.only_ahead) {
        bench.can_carry(experiment)?;
        print(&ahead::text(experiment))?;
        return Ok(ExitCode::SUCCESS);
    }
    let catalogue = &workbench.catalogue;
    let mut progress = RunProgress::new(arguments.quiet, arguments.serve)?;
    let ended = match &work {
        Work::Anew(path, experiment) => {
            name_broken(catalogue);
            let stacks = experiment.stacks();
            go_past_proxies(arguments.quiet, stacks.into_iter().filter_map(|id| catalogue.get(id).ok()));
            let name = path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
            let runs = arguments.runs.clone().unwrap_or_else(|| kept.folder(&written.folder));
            let dir = run_dir(&runs, &name);
            carry_out(experiment, &dir, &bench, &mut |event| progress.observe(&event))
        }
        Work::GoesOn(dir) => {
            name_broken(catalogue);
            resume(dir, &bench, &mut |event| progress.observe(&event))
        }
    };
    drop(hosts);
    progress.finish(&ended);
    let ended = ended?;
    report::print_ranking(&ended.dir)?;
    let sources = Sources { stacks: &arguments.stacks.dir, ..Sources::of_checkout() };
    let judge = |asked: &Gate| gate::judge_run(&arguments.gate, asked, &ended);
    // What is not whole is no evidence, and nobody is to find it for an answer.
    let answer = asked.as_ref().filter(|_| !ended.interrupted).map(judge).transpose()?;
    let page = report::leave_html(&ended.dir, &sources, arguments.quiet);
    if ended.interrupted {
        let command = going_on(arguments, &written, &ended.dir);
        say(format_args!("proofload: interrupted; go on with: {command}"));
    } else {
        if let Some(page) = page.filter(|_| !arguments.quiet) {
            say_what_it_comes_to(&ended.dir, &page, &what);
        }
        kept::tidy(&kept, &ended);
    }
    progress.linger(ended.dir.clone(), &workbench.control);
    let code = code(&ended);
    Ok(ExitCode::from(match answer {
        Some(answer) => gate::code(answer, code),
        None => code,
    }))
}

/// What is to be run, with its experiment, in which no mistake is found.
fn checked<'a>(
    arguments: &Run,
    what: &'a What,
    catalogue: &Catalogue,
    asked: Option<&Gate>,
) -> Result<Work<'a>, PlanError> {
    match what {
        What::Anew(path) => {
            let experiment = experiment(arguments, path, catalogue)?;
            knows_baseline(asked, &experiment)?;
            // The gate of a file is for its full loads; a quick look has shorter ones, of which only what is typed is asked.
            let of_full = asked.filter(|_| experiment.pace == Pace::Full);
            let held = of_full.map_or(&arguments.gate.fail_if, |it| &it.fail_if);
            can_hold(held, experiment.requests_max())?;
            Ok(Work::Anew(path, experiment.into()))
        }
        What::GoesOn(dir) => Ok(Work::GoesOn(dir)),
    }
}

/// The command that goes on with the run in `dir`: in the folder of its services, whose builds and commands are looked for where it
/// is given.
fn going_on(arguments: &Run, written: &Written, dir: &Path) -> String {
    let elsewhere = project::is_elsewhere(written).then_some(written.folder.as_path());
    let seen = |path: &Path| elsewhere.map_or_else(|| path.to_owned(), |it| project::seen_from(it, path));
    let cd = elsewhere.map_or_else(String::new, |it| format!("cd {} && ", shell::quoted_path(it)));
    let dir = shell::quoted_path(&seen(dir));
    let (stacks, clients) = (arguments.stacks.typed(&seen), arguments.clients.typed());
    let gate = gate::typed(&arguments.gate, &arguments.against, &seen);
    format!("{cd}{} run --resume {dir}{stacks}{clients}{gate}", own_name())
}

/// What it comes to in a sentence each, and what one would type next.
fn say_what_it_comes_to(dir: &Path, page: &Page, what: &What) {
    for line in report::in_short(page) {
        say(format_args!("In short: {line}"));
    }
    let own = own_name();
    say(format_args!("Why: {own} explain {}", shell::quoted_path(dir)));
    let is_of_others =
        matches!(what, What::Anew(path) if path.file_name().is_none_or(|it| it != PROJECT_FILE));
    if is_of_others {
        say(format_args!("Your own service: {own} init, in its folder"));
    }
}

/// The experiment in `path`, as it is asked for.
fn experiment(arguments: &Run, path: &Path, catalogue: &Catalogue) -> Result<Experiment, PlanError> {
    let pace = if arguments.quick { Pace::Quick } else { Pace::Full };
    let mut experiment = Experiment::read_driven(path, catalogue, pace, arguments.driver.as_ref())?;
    if !arguments.only.is_empty() {
        experiment.keep_only(&arguments.only)?;
    }
    Ok(experiment)
}

/// What was named, or the project's own file where nothing was.
fn what(arguments: &Run) -> Result<What, Failure> {
    if let Some(dir) = &arguments.resume {
        return Ok(What::GoesOn(dir.clone()));
    }
    if let Some(path) = &arguments.experiment {
        return Ok(What::Anew(inside::path(path)?));
    }
    if Path::new(PROJECT_FILE).is_file() {
        return Ok(What::Anew(PROJECT_FILE.into()));
    }
    let help = format!("name an EXPERIMENT, or write a {PROJECT_FILE} with `proofload init`");
    Err(PlanError::new(format!("no experiment is named, and there is no {PROJECT_FILE} here"), help).into())
}

/// The experiment's text, and the folder that paths in it are relative to: a run to go on with is of the project in which it
/// is gone on with.
fn written(what: &What) -> Result<Written, Failure> {
    match what {
        What::Anew(path) => {
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok(Written { file: path.clone(), text: toml_file::read(path)?, folder: folder.to_owned() })
        }
        What::GoesOn(dir) => {
            // Told apart here from what may go wrong with a run that is one.
            let (manifest, _) = recorded::read(dir)?;
            if Versions::of_run(dir)?.is_some() {
                let help = "compare them anew with `proofload diff`";
                let what = "it compares two versions, whose folders are gone";
                return Err(PlanError::new(what, help).in_file(dir).into());
            }
            let text = RunDir::read_experiment(dir).map_err(|error| recorded::unreadable(dir, &error))?;
            let written = Written { file: RunDir::experiment_path(dir), text, folder: ".".into() };
            project::is_here(dir, &manifest, &written)?;
            Ok(written)
        }
    }
}

/// Whether the stack that others are held against takes part, and another one that is held against it.
fn knows_baseline(gate: Option<&Gate>, experiment: &Experiment) -> Result<(), PlanError> {
    let Some(baseline) = gate.and_then(|it| it.baseline.as_ref()) else { return Ok(()) };
    let (name, stacks) = (baseline.stack.as_str(), experiment.stacks());
    if !stacks.contains(&name) {
        let what = format!("the baseline `{name}` takes no part in this run");
        return Err(PlanError::new(what, format!("name one of {}", stacks.join(", "))));
    }
    if stacks.len() == 1 {
        let what =
            format!("the baseline `{name}` is the only stack of this run, and none is held against it");
        return Err(PlanError::new(what, "have another stack take part, or leave the baseline out"));
    }
    Ok(())
}

/// `runs/quick-20260101-120000`, in UTC, with a number behind it if that is taken.
pub fn run_dir(runs: &Path, name: &str) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let first = runs.join(format!("{name}-{time}"));
    let next = (2..).map(|number| runs.join(format!("{name}-{time}-{number}")));
    std::iter::once(first).chain(next).find(|path| !path.exists()).expect("numbers do not run out")
}

/// The exit code of a run that ended like that.
pub fn code(ended: &Ended) -> u8 {
    match ended {
        Ended { interrupted: true, .. } => exit::INTERRUPTED,
        Ended { failed: 0, .. } => exit::OK,
        Ended { .. } => exit::SERVICE,
    }
}
