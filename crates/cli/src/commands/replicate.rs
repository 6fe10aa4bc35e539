//! `proofload replicate`: what write-ups measured, measured here, and their claims judged.

mod ahead;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use events::Event;
use lab::experiment::{Bench, Ended, can_be_resumed, carry_out, resume};
use plan::claims::{WriteUp, cheapest};
use plan::stack::Catalogue;
use plan::{CellId, Claim, Experiment, Pace, PlanError, Processes, nearest};
use record::{Manifest, RunDir, Trial};
use report::{ClaimsReport, claims_text};
use units::Duration;

use crate::arguments::Stacks;
use crate::arguments::replicate::Replicate;
use crate::commands::report::leave_html;
use crate::commands::run::{code, run_dir};
use crate::commands::stacks::name_broken;
use crate::exit::{self, Failure};
use crate::output::{print, print_json, say};
use crate::page::Sources;
use crate::progress::RunProgress;
use crate::recorded;
use crate::workbench::Workbench;
use crate::{compact, inside};

/// What a twin and a control add to the trials of a table, beyond which cells may cost no more than a budget: with two
/// stacks a table has half as many trials again, and with more it has less.
const COMPANIONS_PERCENT: u64 = 150;

/// Runs the command.
pub fn run(typed: &Replicate) -> Result<ExitCode, Failure> {
    let stacks = Stacks { dir: inside::path(&typed.stacks.dir)? };
    let published = inside::path(&typed.published)?;
    let arguments = &Replicate { published, stacks, ..typed.clone() };
    let chosen = match (&arguments.write_up, arguments.all) {
        (Some(name), _) => vec![named(&arguments.published, name)?],
        (None, true) => all(&arguments.published)?,
        (None, false) if arguments.is_about_one() => {
            let what = "no write-up is named that this is about";
            return Err(PlanError::new(what, "name one, or give --all; without both they are listed").into());
        }
        (None, false) => return list(&arguments.published, &Catalogue::load(&arguments.stacks.dir)?),
    };
    if arguments.no_load || arguments.dry_run || arguments.export.is_some() {
        return without_load(arguments, &chosen);
    }
    let workbench = Workbench::open(&arguments.stacks.dir)?;
    let (catalogue, control) = (&workbench.catalogue, &workbench.control);
    name_broken(catalogue);
    let begun = Instant::now();
    let mut worst = exit::OK;
    for (index, path) in chosen.iter().enumerate() {
        // What one does not use of its part is shared by those that come after it.
        let left = arguments.budget.map(|budget| budget.saturating_sub(begun.elapsed().into()));
        let budget = left.map(|left| left / (chosen.len() - index) as u64);
        let until = budget.map(|budget| Instant::now() + std::time::Duration::from(budget));
        let mut write_up = WriteUp::read(path, catalogue)?;
        if budget.is_some() {
            // Most claims are of several loads, and one of them is better than none.
            write_up.claims = write_up.claims.iter().flat_map(Claim::by_load).collect();
        }
        let one = One { path, write_up, budget, arguments };
        let bench = Bench { claims: &one.write_up.claims, ..workbench.bench(until) };
        worst = worst.max(match one.replicate(&bench) {
            Ok(code) => code,
            // One that can't run here keeps none of the others from it.
            Err(failure) if chosen.len() > 1 && !control.is_interrupted() => {
                say(format_args!("proofload: {}: {failure}", one.name()));
                failure.number()
            }
            Err(failure) => return Err(failure),
        });
        if control.is_interrupted() {
            break;
        }
    }
    Ok(ExitCode::from(worst))
}

/// What needs no stack: judging, telling what is ahead, and copying records.
fn without_load(arguments: &Replicate, chosen: &[PathBuf]) -> Result<ExitCode, Failure> {
    let catalogue = Catalogue::load(&arguments.stacks.dir)?;
    for path in chosen {
        let one = One { path, write_up: WriteUp::read(path, &catalogue)?, budget: None, arguments };
        if arguments.dry_run {
            print(&one.ahead(&one.experiment(&catalogue)?, one.last_run().as_deref())?)?;
        } else if let Some(to) = &arguments.export {
            let nothing = || format!("{} was not measured yet; leave --export out", one.name());
            compact::copy(&one.last_run().ok_or_else(|| Failure::usage(nothing()))?, to)?;
        } else {
            one.judge_records()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A write-up that is replicated.
struct One<'a> {
    path: &'a Path,
    write_up: WriteUp,
    budget: Option<Duration>,
    arguments: &'a Replicate,
}

impl One<'_> {
    /// Measures what is left to measure and prints what became of the claims. Gives the exit code.
    fn replicate(&self, bench: &Bench<'_>) -> Result<u8, Failure> {
        let last = if self.arguments.new { None } else { self.last_run() };
        let ahead = |experiment: &Experiment| -> Result<(), Failure> {
            if self.pace() == Pace::Full && !self.arguments.quiet {
                say(format_args!("{}", self.ahead(experiment, last.as_deref())?));
            }
            Ok(())
        };
        let mut progress = RunProgress::new(self.arguments.quiet, None)?;
        let mut observe = |event: Event<'_>| progress.observe(&event);
        let ended = if let Some(dir) = &last {
            ahead(&self.experiment(bench.catalogue)?)?;
            resume(dir, bench, &mut observe)
        } else {
            let experiment = self.experiment(bench.catalogue)?;
            ahead(&experiment)?;
            let dir = run_dir(&self.arguments.runs, &self.run_name());
            carry_out(&experiment, &dir, bench, &mut observe)
        };
        progress.finish(&ended);
        let ended = ended?;
        self.tell(&ended)?;
        Ok(code(&ended))
    }

    /// Prints what became of the claims by the last run, or by the records that are kept where there is none. Without either
    /// nothing was measured of any claim.
    fn judge_records(&self) -> Result<(), Failure> {
        let kept = self.arguments.records.join(self.name()).join("records");
        match self.last_run().or_else(|| kept.is_dir().then_some(kept)) {
            Some(dir) => {
                let (manifest, trials) = recorded::read(&dir)?;
                self.print_claims(&manifest, &trials, &dir.display().to_string())
            }
            None => self.print_claims(&Manifest::default(), &[], "none: nothing was measured"),
        }
    }

    fn print_claims(&self, manifest: &Manifest, trials: &[Trial], run: &str) -> Result<(), Failure> {
        let report = ClaimsReport::of(&self.write_up, manifest, trials, run);
        if self.arguments.json {
            print_json(&serde_json::to_string(&report).expect("a report is plain data"))?;
        } else {
            print(&claims_text(&report))?;
        }
        Ok(())
    }

    fn pace(&self) -> Pace {
        match (self.arguments.quick, self.budget) {
            (true, _) => Pace::Quick,
            (false, Some(_)) => Pace::Coarse,
            (false, None) => Pace::Full,
        }
    }

    /// What claims need of the experiment, or what of that fits into the budget; all of it at a quick pace.
    fn experiment(&self, catalogue: &Catalogue) -> Result<Experiment, Failure> {
        let mut experiment = Experiment::read(&self.write_up.experiment, catalogue, self.pace())?;
        match (self.pace(), self.budget) {
            (Pace::Full, _) => {
                let cells = self.write_up.claims.iter().flat_map(Claim::cells).collect();
                experiment.decide(&cells, &stats::LOOKS.map(|look| look as u32))?;
            }
            (_, Some(budget)) => self.keep_to(budget, &mut experiment)?,
            (_, None) => {}
        }
        Ok(experiment)
    }

    fn keep_to(&self, budget: Duration, experiment: &mut Experiment) -> Result<(), Failure> {
        let selection = cheapest(&self.write_up.claims, |id| cost(experiment, id), budget);
        if selection.cells.is_empty() {
            let what = format!("no claim of {} can be decided in {budget}", self.name());
            return Err(
                PlanError::new(what, "give it more time, or --quick to see where claims point").into()
            );
        }
        let cells: BTreeSet<CellId> = selection.cells.into_iter().collect();
        let (count, claims) = (cells.len(), selection.claims.len());
        say(format_args!(
            "{}: {count} cells for {claims} of {} claims",
            self.name(),
            self.write_up.claims.len()
        ));
        experiment.select(&cells)?;
        Ok(())
    }

    fn name(&self) -> String {
        self.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// The beginning of the name of its runs.
    fn run_name(&self) -> String {
        let pace = self.pace();
        let pace = if pace == Pace::Full { String::new() } else { format!("-{}", pace.name()) };
        format!("replicate-{}{pace}", self.name())
    }

    /// The last run at this pace that can be gone on with: of this experiment, by this version, on this machine.
    fn last_run(&self) -> Option<PathBuf> {
        let prefix = format!("{}-", self.run_name());
        let of_now = std::fs::read_to_string(&self.write_up.experiment).ok()?;
        let entries = std::fs::read_dir(&self.arguments.runs).ok()?.filter_map(Result::ok);
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        dirs.sort();
        dirs.into_iter().rev().find(|dir| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            // Behind the prefix comes a date; another pace would come with a letter.
            let is_ours =
                name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            let is_same = |manifest: Manifest| {
                // What was measured elsewhere can be judged here, and not gone on with.
                self.arguments.no_load
                    || self.arguments.export.is_some()
                    || can_be_resumed(&manifest, env!("CARGO_PKG_VERSION")).is_ok()
            };
            is_ours
                && RunDir::read_manifest(dir).is_ok_and(is_same)
                && RunDir::read_experiment(dir).is_ok_and(|text| text == of_now)
        })
    }

    fn tell(&self, ended: &Ended) -> Result<(), Failure> {
        let (manifest, trials) = recorded::read(&ended.dir)?;
        self.print_claims(&manifest, &trials, &ended.dir.display().to_string())?;
        let (published, stacks) = (&self.arguments.published, &self.arguments.stacks.dir);
        leave_html(&ended.dir, &Sources { published, stacks }, self.arguments.quiet);
        if ended.interrupted || ended.out_of_time {
            say(format_args!(
                "proofload: trials are left; the same command goes on with {}",
                ended.dir.display()
            ));
        }
        Ok(())
    }
}

/// What a cell takes with all of its blocks, and with its part of what is measured beside it.
fn cost(experiment: &Experiment, id: &CellId) -> Duration {
    let round = experiment.rounds.iter().find(|round| round.name == id.round);
    let of_cell = |cell: &&plan::Cell| {
        cell.role == plan::Role::Stack
            && cell.stack == id.stack
            && cell.load.connections.get() == id.connections
    };
    let Some(cell) = round.and_then(|round| round.cells.iter().find(of_cell)) else { return Duration::MAX };
    let procedure = &experiment.procedure;
    procedure.trial_guess(cell, procedure.processes == Processes::Fresh)
        * u64::from(procedure.blocks)
        * COMPANIONS_PERCENT
        / 100
}

fn named(published: &Path, name: &str) -> Result<PathBuf, Failure> {
    let (by_name, by_path) = (published.join(format!("{name}.toml")), PathBuf::from(name));
    if by_name.is_file() {
        return Ok(by_name);
    }
    if by_path.is_file() {
        return Ok(by_path);
    }
    let known: Vec<String> = all(published)?.iter().filter_map(|path| stem(path)).collect();
    let what = format!("there is no write-up `{name}` in {}", published.display());
    let choose = format!("choose {}, or a path", known.join(", "));
    Err(PlanError::new(what, nearest::help(name, known.iter().map(String::as_str), &choose)).into())
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

/// Every claims file of the folder, by name.
fn all(published: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| {
        let help = "run inside a checkout of proofload, or name the folder of write-ups";
        Failure::from(
            PlanError::new(format!("cannot be read as a folder ({error})"), help).in_file(published),
        )
    };
    let entries = std::fs::read_dir(published).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "toml"));
    paths.sort();
    if paths.is_empty() {
        let what = format!("{} holds no write-up", published.display());
        return Err(PlanError::new(
            what,
            "name the folder of claims files; docs/claims.md says what they are",
        )
        .into());
    }
    Ok(paths)
}

/// Which write-ups there are.
fn list(published: &Path, catalogue: &Catalogue) -> Result<ExitCode, Failure> {
    let mut lines = Vec::new();
    for path in all(published)? {
        let write_up = WriteUp::read(&path, catalogue)?;
        let name = stem(&path).unwrap_or_default();
        lines.push(format!("{name:<20} {:>2} claims: {}", write_up.claims.len(), write_up.title));
    }
    lines.push("\nproofload replicate NAME measures one and judges its claims.".into());
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
