//! `proofload diff`: what changed from one version of one's own service to another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration as StdDuration, Instant};

use events::Event;
use explain::{
    blocks_of_versions, compare_versions, gate_versions, gate_without, intervals_of_versions, wider_than,
};
use lab::LabError;
use lab::experiment::{Bench, Ended, carry_out};
use live::length_words;
use plan::gate::{Baseline, Condition, Gate, can_hold};
use plan::stack::{Catalogue, StackManifest};
use plan::{Experiment, KeptRuns, Pace, PlanError, Role, Round, Until, Version, toml_file};
use record::{GateAnswer, RevisionName, VERSIONS_FILE, VERSIONS_VERSION, Versions};
use report::{gate_text, versions_markdown, versions_text};
use stack::{Checkout, Interrupt, Repository, Revision};
use stats::blocks_needed;
use units::Share;

use crate::arguments::project::Diff;
use crate::commands::report::leave_html;
use crate::commands::run::{code, run_dir};
use crate::exit::{self, Failure};
use crate::output::{print, print_json, say, write_into_run};
use crate::page::Sources;
use crate::progress::{RunProgress, Screen};
use crate::scratch::Scratch;
use crate::workbench::{PROJECT_FILE, Workbench};
use crate::{gate, interrupt, kept, recorded};

/// Version of the JSON.
const DIFF_VERSION: u32 = 1;
/// What the working tree is named by.
const HERE: &str = ".";
/// Where versions are checked out: names of one length, since the length of a path is part of a process's memory.
const FOLDERS: [&str; 2] = ["v1", "v2"];

/// Runs the command.
pub fn run(arguments: &Diff) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    gate::can_be_written(&arguments.gate)?;
    let project = Project::read(arguments)?;
    let asked = Asked::of(arguments, &project);
    let runs = arguments.runs.clone().unwrap_or_else(|| project.kept.folder(Path::new("")));
    let control = interrupt::on_signals()?;
    let scratch = Scratch::new("diff")?;
    let interrupt = Interrupt::when(control.flag());
    let repository = Repository::around(Path::new(HERE), scratch.path(), interrupt)?;
    let screen = Screen::new(arguments.quiet);
    let after = match arguments.after.as_deref() {
        None | Some(HERE) => {
            screen.now("reading the working tree", false);
            repository.working_tree(&runs)?
        }
        Some(name) => repository.revision(name)?,
    };
    let revisions = [repository.revision(&arguments.before)?, after];
    let [first, second] = &revisions;
    let check_out = |revision: &Revision, folder: &str| {
        screen.now(&format!("checking out {}", revision.name), false);
        repository.check_out(revision, folder)
    };
    let checkouts = CheckedOut([check_out(first, FOLDERS[0])?, check_out(second, FOLDERS[1])?]);
    screen.clear();
    let places = Places { tree: whole(repository.folder()), versions: whole(scratch.path()) };
    let catalogue = project.versions(&arguments.stacks.dir, &revisions, &checkouts.0, &places)?;
    let compared = compared(arguments, &project, &catalogue, &asked)?;
    let experiment = &compared.experiment;
    let versions = project.named(experiment, &revisions);
    if !arguments.quiet {
        ahead(arguments, experiment, &checkouts.0);
    }
    let workbench = Workbench::controlled(catalogue, Arc::clone(&control))?;
    let until = arguments.budget.map(|budget| begun + StdDuration::from(budget));
    let bench = Bench { takes_all: true, ..workbench.bench(until) };
    let mut progress = RunProgress::new(arguments.quiet, None)?;
    let mut noted = Ok(());
    let ended = carry_out(experiment, &run_dir(&runs, "diff"), &bench, &mut |event| {
        if let Event::Begun { dir, .. } = &event {
            noted = write_into_run(&dir.join(VERSIONS_FILE), format!("{}\n", versions.json()).as_bytes());
        }
        progress.observe(&event);
    });
    progress.finish(&ended);
    let ended = ended.map_err(without_folders)?;
    noted?;
    let answer = judge(arguments, &asked, &compared, &ended, &versions)?;
    let sources = Sources { stacks: &arguments.stacks.dir, ..Sources::of_checkout() };
    leave_html(&ended.dir, &sources, arguments.quiet);
    if ended.interrupted {
        say("proofload: interrupted; what was measured is kept, and is no answer; begin again for one");
        return Ok(ExitCode::from(code(&ended)));
    }
    kept::tidy(&project.kept, &ended);
    if ended.out_of_time {
        say("proofload: the budget is used up; with a larger one more could be told");
    }
    Ok(ExitCode::from(code_of(answer, &ended)))
}

/// The exit code of an answer. A gate that passed has each trial of the version after among its checks, and what of the version before
/// failed is nobody's question.
fn code_of(answer: Option<GateAnswer>, ended: &Ended) -> u8 {
    answer.map_or_else(|| code(ended), |answer| gate::code(answer, exit::OK))
}

/// Both versions in folders of their own, which go with this value. What is left of them is told.
struct CheckedOut([Checkout; 2]);

impl Drop for CheckedOut {
    fn drop(&mut self) {
        for checkout in &mut self.0 {
            if let Err(error) = checkout.remove() {
                say(format_args!("proofload: {error}"));
            }
        }
    }
}

/// What a build or a boot says to do by hand is in a folder that is gone.
fn without_folders(error: LabError) -> Failure {
    match error {
        LabError::NothingToRun { .. } => Failure::unreachable(format!(
            "{error}\nThe folders of both versions are removed; to run something by hand, check the version out yourself"
        )),
        error => error.into(),
    }
}

/// The project as its file in this folder has it.
struct Project {
    text: String,
    /// Those that are built and started; of those that are running already there is one version.
    services: Vec<StackManifest>,
    /// What else there is to stand behind a service, and the services under their own names.
    catalogue: Catalogue,
    gate: Option<Gate>,
    kept: KeptRuns,
}

impl Project {
    fn read(arguments: &Diff) -> Result<Self, PlanError> {
        let file = PathBuf::from(PROJECT_FILE);
        if !file.is_file() {
            let help = "go to the folder of your service, or write one with `proofload init`";
            return Err(PlanError::new(format!("there is no {PROJECT_FILE} here"), help));
        }
        let text = toml_file::read(&file)?;
        let mut services = StackManifest::services(&file, &text, Path::new(HERE))?;
        if services.is_empty() {
            let help = "add a [service.NAME], which is what a version is built and started by";
            return Err(PlanError::new("it has no service", help).in_file(&file));
        }
        let catalogue = Catalogue::with_services(&arguments.stacks.dir, services.clone())?;
        services.retain(|it| it.site().is_none());
        if services.is_empty() {
            let help = "give each version a [service.NAME] with a url of its own, and hold one against the other: proofload run \
                        --baseline NAME";
            let what = "its services are running already, each at a url, and no version of them is built";
            return Err(PlanError::new(what, help).in_file(&file));
        }
        let (gate, kept) = (Gate::of_experiment(&file, &text)?, KeptRuns::of_experiment(&file, &text)?);
        Ok(Self { text, services, catalogue, gate, kept })
    }

    fn has(&self, id: &str) -> bool {
        self.services.iter().any(|it| it.id == id)
    }

    /// The services of both versions.
    fn versions(
        &self,
        stacks: &Path,
        revisions: &[Revision; 2],
        checkouts: &[Checkout; 2],
        places: &Places,
    ) -> Result<Catalogue, PlanError> {
        let mut all = Vec::new();
        for (version, (revision, checkout)) in Version::BOTH.into_iter().zip(revisions.iter().zip(checkouts))
        {
            let services = self.services_of(revision, checkout)?;
            services.iter().try_for_each(|it| places.are_apart(it))?;
            all.extend(version.of_services(services, &revision.name));
        }
        Catalogue::with_services(stacks, all)
    }

    /// The services as a version's own file has them; those that it does not have, as the file of this folder has them.
    fn services_of(&self, revision: &Revision, checkout: &Checkout) -> Result<Vec<StackManifest>, PlanError> {
        // As git names a file of a version: where it lies now is nobody's to know.
        let shown = PathBuf::from(format!("{}:{PROJECT_FILE}", revision.name));
        let file = checkout.project().join(PROJECT_FILE);
        let mut services = if file.is_file() {
            StackManifest::services(&shown, &toml_file::read(&file)?, checkout.project())?
        } else {
            Vec::new()
        };
        services.retain(|it| self.has(&it.id));
        if let Some(it) = services.iter().find(|it| it.site().is_some()) {
            let what =
                format!("`{}` is running already, at a url, and is started in this folder's file", it.id);
            return Err(PlanError::new(what, "name versions of which both start it").in_file(&shown));
        }
        if self.services.iter().any(|own| services.iter().all(|it| it.id != own.id)) {
            let here = PathBuf::from(format!("{PROJECT_FILE}, in {}", revision.name));
            let ours = StackManifest::services(&here, &self.text, checkout.project())?;
            let known: Vec<String> = services.iter().map(|it| it.id.clone()).collect();
            let is_new = |it: &StackManifest| self.has(&it.id) && !known.contains(&it.id);
            services.extend(ours.into_iter().filter(is_new));
        }
        Ok(services)
    }

    /// What the record says of the versions.
    fn named(&self, experiment: &Experiment, revisions: &[Revision; 2]) -> Versions {
        let takes_part = |id: &str| experiment.stacks().contains(&Version::After.id_of(id).as_str());
        let of = |revision: &Revision| RevisionName {
            name: revision.name.clone(),
            commit: revision.commit.clone(),
            subject: revision.subject.clone(),
            changed_files: revision.changed_files,
        };
        let [before, after] = revisions.each_ref().map(of);
        let services = self.services.iter().map(|it| it.id.clone()).filter(|id| takes_part(id)).collect();
        Versions { version: VERSIONS_VERSION, services, before, after }
    }
}

/// Where versions lie, and the working tree, which may be neither of them.
struct Places {
    tree: PathBuf,
    versions: PathBuf,
}

impl Places {
    /// An error where a version of a service is built or started from the working tree: the other one would be so, too, and both
    /// would be the same.
    fn are_apart(&self, service: &StackManifest) -> Result<(), PlanError> {
        let (build, run) = (service.build.as_ref(), service.run());
        let dirs = [build.map(|it| it.dir.clone()), run.and_then(|it| it.dir.clone())];
        let programs = [build.map(|it| &it.command[0]), run.map(|it| &it.command[0])];
        let programs = programs.into_iter().flatten().map(|it| PathBuf::from(it.as_str()));
        let programs = programs.filter(|it| it.is_absolute()).map(|it| whole(&it));
        let is_shared = |it: &PathBuf| it.starts_with(&self.tree) && !it.starts_with(&self.versions);
        let Some(path) = dirs.into_iter().flatten().chain(programs).find(is_shared) else { return Ok(()) };
        let what = format!(
            "`{}` is built or started from {}, in the working tree: both versions would be that",
            service.id,
            path.display()
        );
        let help = "write paths from this file's folder on, or from {build_dir} or {stack_dir} on";
        Err(PlanError::new(what, help).in_file(&service.file))
    }
}

/// A path without links.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// What the version after must keep to.
struct Asked {
    fail_if: Vec<Condition>,
    max_loss: Share,
}

/// The experiment on both versions, and what of it one of them does not have, with the reason.
struct Compared {
    experiment: Experiment,
    missing: BTreeMap<String, String>,
}

impl Asked {
    /// The conditions of the project's gate and those of the command line; of baselines, only the loss that is allowed: the
    /// version before is the baseline.
    fn of(arguments: &Diff, project: &Project) -> Self {
        let written = project.gate.clone().unwrap_or_default();
        let mut fail_if = written.fail_if;
        fail_if.extend(arguments.gate.fail_if.iter().copied());
        let max_loss = arguments.max_loss.or(written.max_loss).unwrap_or_else(Baseline::max_loss_default);
        Self { fail_if, max_loss }
    }
}

/// The experiment of this folder on both versions, in as many blocks as it takes to tell something.
fn compared(
    arguments: &Diff,
    project: &Project,
    versions: &Catalogue,
    asked: &Asked,
) -> Result<Compared, PlanError> {
    let pace = if arguments.quick { Pace::Quick } else { Pace::Full };
    let mut experiment = Experiment::parse(Path::new(PROJECT_FILE), &project.text, &project.catalogue, pace)?;
    if !arguments.only.is_empty() {
        experiment.keep_only(&arguments.only)?;
    }
    let left_out = experiment.compare_versions(versions, |id| project.has(id))?;
    for words in left_out.words() {
        say(format_args!("proofload: {words}"));
    }
    let cells = experiment.rounds.iter().flat_map(|it| &it.cells);
    let pairs = cells.filter(|it| it.role == Role::Stack).count() / Version::BOTH.len();
    let of_gate = blocks_needed(intervals_of_versions(&asked.fail_if, pairs));
    let least = u32::try_from(of_gate.max(blocks_of_versions(pairs))).unwrap_or(u32::MAX);
    experiment.go_on(Until { precision: arguments.until, has_budget: arguments.budget.is_some() }, least);
    // The gate of a file is for its full loads; a quick look has shorter ones, of which only what is typed is asked.
    let held = if experiment.pace == Pace::Full { &asked.fail_if } else { &arguments.gate.fail_if };
    can_hold(held, experiment.requests_max())?;
    Ok(Compared { experiment, missing: left_out.missing })
}

/// Says how long it takes before it begins, as far as that can be known.
fn ahead(arguments: &Diff, experiment: &Experiment, checkouts: &[Checkout; 2]) {
    let (trials, length) = experiment.block_guess();
    let of = |blocks: u32| length_words(length * u64::from(blocks));
    let (least, most) = (experiment.procedure.blocks, experiment.procedure.blocks_max);
    let at_most = match arguments.budget {
        Some(budget) => format!("; on for {} in all at most, builds included", length_words(budget)),
        None if most > least => format!("; {most} blocks at most, about {}", of(most)),
        None => String::new(),
    };
    let plural = if least == 1 { "block" } else { "blocks" };
    say(format_args!(
        "proofload: {least} {plural} of {trials} trials, about {} beside the builds{at_most}",
        of(least)
    ));
    if arguments.budget.is_some_and(|budget| budget < length * u64::from(least)) {
        say(
            "proofload: the budget is shorter than that: little can be told; give more, or make the loads shorter",
        );
    }
    if checkouts.iter().any(Checkout::has_submodules) {
        say("proofload: the repository has submodules, which are not checked out; have the build fetch them");
    }
}

/// The rounds of answer times at a shared rate that the budget ended before, and why.
fn unreached(rounds: &[Round], is_measured: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, String)> {
    let names = rounds.iter().flat_map(Round::names_at_shares);
    names
        .filter(move |name| !is_measured(name))
        .map(|name| (name, "the budget was used up before it".to_owned()))
}

/// Says what changed, and holds it against what is asked, and what of it is missing against passing. What is not whole is no
/// evidence, and nobody is to find it for an answer.
fn judge(
    arguments: &Diff,
    asked: &Asked,
    of_both: &Compared,
    ended: &Ended,
    versions: &Versions,
) -> Result<Option<GateAnswer>, Failure> {
    let dir = &ended.dir;
    let (manifest, trials) = recorded::read(dir)?;
    let compared = compare_versions(&trials, &versions.services);
    let mut missing = of_both.missing.clone();
    if ended.out_of_time {
        missing
            .extend(unreached(&of_both.experiment.rounds, |name| trials.iter().any(|it| it.round == name)));
    }
    let judge =
        || gate_without(gate_versions(&asked.fail_if, asked.max_loss, &trials, &versions.services), &missing);
    let judged = (!ended.interrupted).then(judge);
    if arguments.json {
        let json = serde_json::json!({
            "version": DIFF_VERSION,
            "run": dir.display().to_string(),
            "before": versions.before,
            "after": versions.after,
            "confidence": compared.confidence,
            "services": compared.services,
            "gate": judged,
        });
        print_json(&serde_json::to_string_pretty(&json).expect("it is plain data"))?;
    } else {
        print(&versions_text(versions, &compared))?;
    }
    let Some(judged) = judged else { return Ok(None) };
    if !arguments.json {
        print(&format!("\n{}", gate_text(&judged)))?;
    }
    gate::leave(&arguments.gate, dir, &manifest.title, &judged, &versions_markdown(versions, &compared))?;
    if let Some(until) = arguments.until.filter(|_| !ended.out_of_time) {
        let most = of_both.experiment.procedure.blocks_max;
        for wide in wider_than(&trials, &versions.services, until.get()) {
            say(format_args!(
                "proofload: {wide}: not within {until} after {most} blocks, which are the most; make the loads longer, or the \
                 machine quieter"
            ));
        }
    }
    Ok(Some(judged.answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_version_before_is_not_in_the_exit_code_of_a_gate_that_passed() {
        let ended = Ended {
            dir: PathBuf::new(),
            interrupted: false,
            failed: 1,
            out_of_time: false,
            left_out: BTreeMap::new(),
        };
        let told = [GateAnswer::Passed, GateAnswer::CouldNotTell, GateAnswer::Failed];
        let due = [exit::OK, exit::COULD_NOT_TELL, exit::SERVICE];
        assert_eq!(told.map(|answer| code_of(Some(answer), &ended)), due);
        assert_eq!(code_of(None, &ended), exit::SERVICE);
    }

    #[test]
    fn answer_times_that_the_budget_did_not_reach_are_missing() {
        let of = |name: &str, latency: &[&str]| Round {
            name: name.into(),
            cells: Vec::new(),
            latency: latency.iter().map(|share| share.parse().unwrap()).collect(),
            twin: false,
            control: false,
        };
        let rounds = [of("cart", &["50%", "80%"]), of("list", &[])];
        let measured = "cart, latency at 50% of the slowest";
        let missing: Vec<String> = unreached(&rounds, |name| name == measured).map(|it| it.0).collect();
        assert_eq!(missing, ["cart, latency at 80% of the slowest"]);
    }
}
