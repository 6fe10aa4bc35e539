//! `proofload replicate`: what write-ups measured, measured here, and their claims judged.

mod ahead;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use events::Event;
use lab::experiment::{Bench, Ended, can_be_resumed, carry_out, is_placed_as_before, resume};
use plan::claims::{WriteUp, cheapest};
use plan::stack::Catalogue;
use plan::{CellId, Claim, Experiment, Pace, PlanError, Processes, nearest, toml_file};
use record::{Manifest, RunDir, Trial};
use report::{ClaimsReport, MeasuredRun, claims_text};
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
        let one = One { budget, ..One::read(path, catalogue, arguments)? }.in_time();
        let bench = Bench { claims: &one.asked.claims, ..workbench.bench(until) };
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
        let one = One::read(path, &catalogue, arguments)?;
        if arguments.dry_run {
            let experiment = one.experiment(&catalogue)?;
            let ahead = one.ahead(&experiment, one.to_go_on_with().as_deref())?;
            if arguments.json {
                print_json(&ahead.json())?;
            } else {
                print(&ahead.text())?;
            }
        } else if let Some(to) = &arguments.export {
            compact::copy(&one.to_export()?, to)?;
        } else {
            one.print_claims(&one.judges()?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A write-up that is replicated.
struct One<'a> {
    path: &'a Path,
    /// All of it.
    write_up: WriteUp,
    /// With the claims alone that are to be measured.
    asked: WriteUp,
    budget: Option<Duration>,
    arguments: &'a Replicate,
}

/// A run that claims are judged by.
struct Judge {
    manifest: Manifest,
    trials: Vec<Trial>,
    dir: String,
}

impl Judge {
    fn read(dir: &Path) -> Result<Self, Failure> {
        let (manifest, trials) = recorded::read(dir)?;
        Ok(Self { manifest, trials, dir: dir.display().to_string() })
    }
}

impl<'a> One<'a> {
    fn read(path: &'a Path, catalogue: &Catalogue, arguments: &'a Replicate) -> Result<Self, Failure> {
        let write_up = WriteUp::read(path, catalogue)?;
        let asked = write_up.with_claims(&arguments.claims)?;
        Ok(Self { path, write_up, asked, budget: None, arguments })
    }

    /// With a budget a claim of several loads is so many claims: one of them is better than none.
    fn in_time(mut self) -> Self {
        if self.budget.is_some() {
            for write_up in [&mut self.write_up, &mut self.asked] {
                write_up.claims = write_up.claims.iter().flat_map(Claim::by_load).collect();
            }
        }
        self
    }
}

impl One<'_> {
    /// Measures what is left to measure and prints what became of the claims. Gives the exit code.
    fn replicate(&self, bench: &Bench<'_>) -> Result<u8, Failure> {
        let last = if self.arguments.new { None } else { self.to_go_on_with() };
        let ahead = |experiment: &Experiment| -> Result<(), Failure> {
            say(self.ahead(experiment, last.as_deref())?.text());
            Ok(())
        };
        let is_told = self.pace() == Pace::Full && !self.arguments.quiet;
        let mut progress = RunProgress::new(self.arguments.quiet, None)?;
        let mut observe = |event: Event<'_>| progress.observe(&event);
        // What a budget left is gone on with as it was chosen, however little time there is now.
        let ended = if let Some(dir) = &last {
            if is_told {
                ahead(&self.experiment(bench.catalogue)?)?;
            }
            resume(dir, bench, &mut observe)
        } else {
            let experiment = self.experiment(bench.catalogue)?;
            if is_told {
                ahead(&experiment)?;
            }
            let dir = run_dir(&self.arguments.runs, &self.run_name());
            carry_out(&experiment, &dir, bench, &mut observe)
        };
        progress.finish(&ended);
        let ended = ended?;
        self.tell(&ended)?;
        Ok(code(&ended))
    }

    /// What claims can be judged by: the runs at this pace, and the records that are kept, the oldest first. Without any nothing was
    /// measured of any claim.
    fn judges(&self) -> Result<Vec<Judge>, Failure> {
        let runs = self.runs();
        // A short look is judged by itself.
        let with_kept = self.pace() == Pace::Full || runs.is_empty();
        let kept = if with_kept { self.kept_records() } else { Vec::new() };
        let read = |dirs: Vec<PathBuf>| -> Result<Vec<Judge>, Failure> {
            dirs.iter().map(|dir| Judge::read(dir)).collect()
        };
        // What is kept of a run that is there is no other run.
        let mut judges = read(runs)?;
        let begun: BTreeSet<String> = judges.iter().map(|it| it.manifest.started.clone()).collect();
        judges.extend(read(kept)?.into_iter().filter(|it| !begun.contains(&it.manifest.started)));
        judges.sort_by(|a, b| a.manifest.started.cmp(&b.manifest.started));
        Ok(judges)
    }

    /// The folders of its kept records: `records`, and another for each part that was measured in a run of its own.
    fn kept_records(&self) -> Vec<PathBuf> {
        let folder = self.arguments.records.join(self.name());
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let is_records = |dir: &PathBuf| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            name == "records" || name.starts_with("records-")
        };
        dirs.retain(|dir| dir.is_dir() && is_records(dir));
        dirs.sort();
        dirs
    }

    fn print_claims(&self, judges: &[Judge]) -> Result<(), Failure> {
        let runs: Vec<MeasuredRun<'_>> = judges
            .iter()
            .map(|Judge { manifest, trials, dir }| MeasuredRun { manifest, trials, dir })
            .collect();
        let report = if runs.is_empty() {
            ClaimsReport::of(&self.write_up, &Manifest::default(), &[], "none: nothing was measured")
        } else {
            ClaimsReport::of_runs(&self.write_up, &runs)
        };
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
                experiment.decide(&self.cells(), &stats::LOOKS.map(|look| look as u32))?;
            }
            (Pace::Quick, _) if !self.arguments.claims.is_empty() => {
                experiment.select(&self.cells())?;
            }
            (_, Some(budget)) => self.keep_to(budget, &mut experiment)?,
            (_, None) => {}
        }
        Ok(experiment)
    }

    fn keep_to(&self, budget: Duration, experiment: &mut Experiment) -> Result<(), Failure> {
        let selection = cheapest(&self.asked.claims, |id| cost(experiment, id), budget);
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
            self.asked.claims.len()
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

    /// Its runs at this pace that can be read, of this experiment, the oldest first.
    fn runs(&self) -> Vec<PathBuf> {
        let prefix = format!("{}-", self.run_name());
        let Ok(of_now) = toml_file::read(&self.write_up.experiment) else { return Vec::new() };
        let entries = std::fs::read_dir(&self.arguments.runs).into_iter().flatten().flatten();
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        dirs.retain(|dir| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            // Behind the prefix comes a date; another pace would come with a letter.
            let is_ours =
                name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            is_ours
                && RunDir::read_manifest(dir).is_ok()
                && RunDir::read_experiment(dir).is_ok_and(|text| text == of_now)
        });
        dirs.sort();
        dirs
    }

    /// The last of them that can be gone on with for what is asked: by this version, on this machine and the same of its cores, and
    /// of the same cells.
    fn to_go_on_with(&self) -> Option<PathBuf> {
        let goes_on = |dir: &PathBuf| {
            let Ok(manifest) = RunDir::read_manifest(dir) else { return false };
            // What can't be read is told of where it is gone on with.
            let is_elsewhere = || {
                RunDir::read_trials(dir).is_ok_and(|trials| is_placed_as_before(&manifest, &trials).is_err())
            };
            can_be_resumed(&manifest, env!("CARGO_PKG_VERSION")).is_ok()
                && self.is_of_what_is_asked(&manifest)
                && !is_elsewhere()
        };
        self.runs().into_iter().rev().find(goes_on)
    }

    /// Whether a run at this pace is of the cells that are asked for. Of a budget it is of what fitted into that.
    fn is_of_what_is_asked(&self, manifest: &Manifest) -> bool {
        let selection = || manifest.selection.as_ref().map(|it| it.iter().cloned().collect::<BTreeSet<_>>());
        match self.pace() {
            Pace::Full => selection() == Some(self.cells()),
            Pace::Quick => selection() == (!self.arguments.claims.is_empty()).then(|| self.cells()),
            Pace::Coarse => true,
        }
    }

    /// The cells of the claims that are asked for.
    fn cells(&self) -> BTreeSet<CellId> {
        self.asked.claims.iter().flat_map(Claim::cells).collect()
    }

    /// The last of them that was made for what is asked, wherever it was measured: one of some claims is none of all.
    fn to_export(&self) -> Result<PathBuf, Failure> {
        let runs = self.runs();
        for dir in runs.iter().rev() {
            if self.is_of_what_is_asked(&recorded::manifest(dir)?) {
                return Ok(dir.clone());
            }
        }
        let name = self.name();
        let Some(last) = runs.last() else {
            return Err(Failure::usage(format!("{name} was not measured yet; leave --export out")));
        };
        let what = if self.arguments.claims.is_empty() {
            format!("no run of {name} measured all of its claims")
        } else {
            format!("no run of {name} is of these claims, and of no others")
        };
        let help = format!(
            "name the claims of a run with --claims, or copy the last run as it is with \
             `proofload report {} --export DIR`",
            last.display()
        );
        Err(PlanError::new(what, help).into())
    }

    fn tell(&self, ended: &Ended) -> Result<(), Failure> {
        let only = self.pace() != Pace::Full;
        self.print_claims(&if only { vec![Judge::read(&ended.dir)?] } else { self.judges()? })?;
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
