//! An experiment: build, then trial after trial in random blocks, each written down before the next.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use events::{Ahead, Event};
use plan::stack::Catalogue;
use plan::{Drivers, Ends, Experiment, Pace, Placement, Processes};
use record::{MANIFEST_VERSION, Manifest, RunDir, StackManifest, Trial, TrialResult};
use stack::{BuildOptions, Cpus, Interrupt, PhysicalCores, Shared, StackError};

pub use crate::bench::{Bench, Ended};
use crate::clock::now;
use crate::course::Course;
use crate::error::LabError;
use crate::foreign::Programs;
use crate::hosts::{Hosts, is_mixed};
use crate::machine;
use crate::phase::{Phase, blocks_of};
use crate::tools::{self, State};
use crate::trial::placed_otherwise;

/// What carrying `experiment` out comes to, at any rate and at most, builds left out. By what is asked for alone: nothing is
/// known of the machine, nor of what fails.
pub fn ahead(experiment: &Experiment) -> Ahead {
    let capacity = Phase::of_capacity(experiment);
    let (first, next) = (experiment.block_guess(), experiment.next_block_guess());
    let of = |blocks: u32| {
        let more = blocks.saturating_sub(1);
        let (trials, length) = capacity.behind;
        (first.0 + next.0 * more + trials, first.1 + next.1 * u64::from(more) + length)
    };
    let (trials, left) = of(capacity.blocks);
    let (trials_max, left_max) = of(experiment.procedure.blocks_max.max(capacity.blocks));
    Ahead { trials, left, trials_max, left_max }
}

/// Carries `experiment` out into the new directory `dir`.
pub fn carry_out(
    experiment: &Experiment,
    dir: &Path,
    bench: &Bench<'_>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Ended, LabError> {
    bench.can_carry(experiment)?;
    let programs = Programs::find(&experiment.drivers, bench.catalogue.dir())?;
    let run = RunDir::create(dir, &experiment.source)?;
    observe(Event::Begun { title: &experiment.title, dir });
    let mut left_out = without_needs(experiment, bench.catalogue)?;
    // What a project's own services need is theirs, and where these are there need be no checkout.
    let is_of_ours = |id: &String| bench.catalogue.get(id).is_ok_and(|it| !it.is_service());
    let is_set_up = left_out.keys().any(is_of_ours);
    let help = if is_set_up { "; in Proofload's checkout `make setup` installs what is missing" } else { "" };
    let mut build = || {
        build_programs(&programs, dir, bench, observe)?;
        build_all(experiment, dir, bench, &mut left_out, observe)
    };
    let built = build().inspect_err(|error| {
        // Without a manifest there is nothing to resume, and an empty run only puzzles. A build that failed names its log there.
        if !matches!(error, LabError::Stack(_)) {
            let _ = std::fs::remove_dir_all(dir);
        }
    })?;
    for (stack, why) in &left_out {
        observe(Event::LeftOut { stack, why });
    }
    let stacks = experiment.stacks();
    let is_left_out = |stack: &&str| left_out.contains_key(*stack);
    if stacks.iter().all(is_left_out) || bench.takes_all && stacks.iter().any(is_left_out) {
        let why: Vec<String> = left_out.iter().map(|(stack, why)| format!("{stack}: {why}")).collect();
        return Err(LabError::NothingToRun { why: why.join("; "), help });
    }
    run.write_manifest(&manifest(experiment, bench, &programs, built, left_out.clone()))?;
    Course::new(experiment, bench, &programs, run, left_out, &[]).finish(observe)
}

/// Goes on with the run in `dir`: the same cells in the same order, without those already measured.
pub fn resume(dir: &Path, bench: &Bench<'_>, observe: &mut dyn FnMut(Event<'_>)) -> Result<Ended, LabError> {
    let (run, manifest, trials) = RunDir::resume(dir)?;
    let not_resumable = |why: String| LabError::NotResumable { run: dir.display().to_string(), why };
    can_be_resumed(&manifest, bench.version).map_err(not_resumable)?;
    is_mixed(&trials, bench.hosts).map_or(Ok(()), |why| Err(not_resumable(why)))?;
    is_placed_as_before(&manifest, &trials).map_err(not_resumable)?;
    let pace = if manifest.quick { Pace::Quick } else { Pace::named(&manifest.pace) };
    let drivers = drivers_of(&manifest).map_err(not_resumable)?;
    let path = RunDir::experiment_path(dir);
    let mut experiment = Experiment::read_driven(&path, bench.catalogue, pace, drivers.as_ref())?;
    if let Some(selection) = &manifest.selection {
        if !manifest.looks.is_empty() && bench.claims.is_empty() {
            let why = "it goes on until claims are decided; go on with `proofload replicate`".to_owned();
            return Err(not_resumable(why));
        }
        experiment.decide(&selection.iter().cloned().collect(), &manifest.looks)?;
    }
    bench.can_carry(&experiment)?;
    let programs = Programs::find(&experiment.drivers, bench.catalogue.dir())?;
    observe(Event::Begun { title: &experiment.title, dir });
    build_programs(&programs, dir, bench, observe)?;
    let mut left_out = manifest.left_out.clone();
    let built = build_all(&experiment, dir, bench, &mut left_out, observe)?;
    // What was there when it began is not to be missing from a run that ends as a whole one.
    if let Some((id, why)) = left_out.iter().find(|(id, _)| !manifest.left_out.contains_key(*id)) {
        return Err(not_resumable(format!(
            "`{id}` can't be measured any more: {why} (it can, once that is mended)"
        )));
    }
    let is_as_it_was =
        |id: &String, now: &StackManifest| manifest.stacks.get(id).is_some_and(|then| now.is_as(then));
    if let Some((id, _)) = built.iter().find(|(id, now)| !is_as_it_was(id, now)) {
        let why = format!(
            "`{id}` is made from other sources, started otherwise, or has another JDK, than when it began"
        );
        return Err(not_resumable(why));
    }
    let now = tools_of(bench, &programs, built.keys());
    if let Some((tool, was, is)) = other_version(&manifest.tools, &now) {
        return Err(not_resumable(format!("{tool} was {was} when it began, and is {is}")));
    }
    Course::new(&experiment, bench, &programs, run, left_out, &trials).finish(observe)
}

/// What measured the cells of a run; `None` where its experiment says so.
fn drivers_of(manifest: &Manifest) -> Result<Option<Drivers>, String> {
    if manifest.drivers.is_empty() {
        return Ok(None);
    }
    let known = manifest.drivers.join(",").parse::<Drivers>();
    known.map(Some).map_err(|error| error.to_string())
}

/// Builds the other programs that make loads.
fn build_programs(
    programs: &Programs,
    dir: &Path,
    bench: &Bench<'_>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), LabError> {
    let Some(program) = programs.to_build() else { return Ok(()) };
    observe(Event::Building { stack: &program.id });
    let interrupt = Interrupt::when(bench.interrupt.flag());
    let log = dir.join("build.log");
    let options = BuildOptions { proofload_exe: bench.proofload_exe, log: &log, interrupt };
    let built = programs.build(&options, &mut |waits| observe(building(&program.id, waits)));
    built.map_err(|error| match error {
        StackError::Interrupted { .. } => LabError::InterruptedEarly,
        error => error.into(),
    })
}

/// What is told of a build that waits, or waits no more.
fn building(stack: &str, waits: Option<Shared>) -> Event<'_> {
    match waits {
        Some(shared) => Event::Waiting { stack, for_what: shared.holder() },
        None => Event::Building { stack },
    }
}

/// Whether a run can be gone on with here; else why not. Trials of two machines, or of two versions of what measures
/// them, make no blocks.
pub fn can_be_resumed(manifest: &Manifest, version: &str) -> Result<(), String> {
    if manifest.proofload != version {
        return Err(format!("it was made by version {}, this is {version}", manifest.proofload));
    }
    if let Some(why) = other_twins(manifest) {
        return Err(why.to_owned());
    }
    let here = machine::machine();
    let there = &manifest.machine;
    if (&there.cpu, there.cores) != (&here.cpu, here.cores) {
        let words = |it: &record::Machine| {
            format!("{} cores of {}", it.cores, it.cpu.as_deref().unwrap_or("an unknown CPU"))
        };
        return Err(format!("it was made on {}, and this machine has {}", words(there), words(&here)));
    }
    let sides = if manifest.placement == Placement::Split.name() { sides_here() } else { None };
    if manifest.sides == sides {
        return Ok(());
    }
    let [there, here] =
        [&manifest.sides, &sides].map(|it| it.as_deref().unwrap_or("cores that were split by number"));
    Err(format!("it had {there}, and would have {here} here"))
}

/// Why the blocks of a run are of another kind than those that would come behind them, where they are: twins did not serve what
/// their stacks did.
fn other_twins(manifest: &Manifest) -> Option<&'static str> {
    if manifest.same_loads {
        return None;
    }
    if manifest.processes == Processes::Block.name() {
        return Some(
            "it was begun by another version, by which each process of a block went through its loads in an order of its own, \
             and a twin did not serve all that its stack did",
        );
    }
    (manifest.processes == Processes::Kept.name())
        .then_some("it was begun by another version, by which a twin did not serve all that its stack did")
}

/// Whether the next trials of a run would be where those are that it has, of a run with cores of their own for client and servers;
/// else why not. Blocks of two placements compare nothing.
pub fn is_placed_as_before(manifest: &Manifest, trials: &[Trial]) -> Result<(), String> {
    if manifest.placement != Placement::Split.name() {
        return Ok(());
    }
    let surroundings = trials.iter().filter_map(|trial| match &trial.result {
        TrialResult::Measured(it) => Some(&it.surroundings),
        TrialResult::Failed { .. } => None,
    });
    placed_otherwise(surroundings).map_or(Ok(()), Err)
}

/// Stacks for which something is missing, themselves or behind them, and how to get it.
fn without_needs(
    experiment: &Experiment,
    catalogue: &Catalogue,
) -> Result<BTreeMap<String, String>, LabError> {
    let mut left_out = BTreeMap::new();
    for id in experiment.stacks() {
        let missing: Vec<_> = catalogue.chain(id)?.into_iter().flat_map(stack::missing).collect();
        if !missing.is_empty() {
            let why: Vec<String> =
                missing.iter().map(|it| format!("{} is missing: {}", it.name, it.install)).collect();
            left_out.insert(id.to_owned(), why.join(", "));
        }
    }
    Ok(left_out)
}

/// Builds what takes part, and asks what is running already whether it is up; a stack that does not build, or is not up, is left
/// out. Gives each stack's manifest.
fn build_all(
    experiment: &Experiment,
    dir: &Path,
    bench: &Bench<'_>,
    left_out: &mut BTreeMap<String, String>,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<BTreeMap<String, StackManifest>, LabError> {
    let mut built = BTreeMap::new();
    let log = dir.join("build.log");
    for id in experiment.stacks() {
        if left_out.contains_key(id) {
            continue;
        }
        let chain = bench.catalogue.chain(id)?;
        // Of what is running already nothing is built.
        if chain.iter().any(|stack| stack.site().is_none()) {
            observe(Event::Building { stack: id });
        }
        match build_chain(&chain, bench, &log, observe) {
            Err(StackError::Interrupted { .. }) => return Err(LabError::InterruptedEarly),
            Ok(entry) => {
                built.insert(id.to_owned(), entry);
            }
            Err(error) => {
                left_out.insert(id.to_owned(), error.to_string());
            }
        }
    }
    Ok(built)
}

/// Builds a stack and what stands behind it, or sees that it is up. Gives what is known of it then.
fn build_chain(
    chain: &[&plan::stack::StackManifest],
    bench: &Bench<'_>,
    log: &Path,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<StackManifest, StackError> {
    let interrupt = Interrupt::when(bench.interrupt.flag());
    let options = BuildOptions { proofload_exe: bench.proofload_exe, log, interrupt };
    let mut entries = BTreeMap::new();
    let mut front = StackManifest::default();
    for stack in chain {
        let mut tell = |waits| observe(building(&stack.id, waits));
        let inputs = stack::build(stack, &options, &mut tell)?.inputs;
        stack::reach(stack, interrupt)?;
        front = StackManifest {
            title: stack.title.clone(),
            inputs,
            settings: stack.settings().ok().map(|text| stack::fingerprint(&text)),
            url: stack.site().map(|site| site.url.clone()),
            jdk: stack::java_version(stack),
            upstreams: entries.clone(),
        };
        entries.insert(stack.id.clone(), StackManifest { upstreams: BTreeMap::new(), ..front.clone() });
    }
    Ok(front)
}

fn manifest(
    experiment: &Experiment,
    bench: &Bench<'_>,
    programs: &Programs,
    stacks: BTreeMap<String, StackManifest>,
    left_out: BTreeMap<String, String>,
) -> Manifest {
    let tools = tools_of(bench, programs, stacks.keys());
    let procedure = &experiment.procedure;
    let cells: usize = experiment.rounds.iter().map(|round| round.cells.len()).sum();
    let blocks = blocks_of(experiment, &experiment.rounds);
    Manifest {
        version: MANIFEST_VERSION,
        proofload: bench.version.to_owned(),
        commit: bench.commit.map(str::to_owned),
        argv: bench.argv.to_vec(),
        title: experiment.title.clone(),
        started: now(),
        seed: experiment.seed.0,
        blocks,
        blocks_max: procedure.blocks_max,
        precision: (procedure.ends == Ends::Precise).then_some(procedure.precision.get()),
        looks: match procedure.ends {
            Ends::Precise => Vec::new(),
            Ends::Decided => stats::LOOKS.map(|look| look as u32).into(),
        },
        placement: match bench.hosts {
            // There is nothing to place: the client is on other machines.
            Some(hosts) if hosts.are_elsewhere() => String::new(),
            _ => procedure.placement.name().into(),
        },
        sides: sides(bench, procedure.placement),
        processes: match procedure.processes {
            Processes::Fresh => String::new(),
            longer @ (Processes::Kept | Processes::Block) => longer.name().into(),
        },
        same_loads: procedure.processes != Processes::Fresh,
        drivers: experiment.drivers.iter().map(|driver| driver.key().to_owned()).collect(),
        selection: experiment.selection.as_ref().map(|cells| cells.iter().cloned().collect()),
        quick: experiment.pace == Pace::Quick,
        pace: experiment.pace.name().into(),
        trials: cells as u32 * blocks,
        complete: Some(false),
        stacks,
        left_out,
        tools,
        machine: machine::machine(),
    }
}

/// Which cores servers and client have, where they are split and not all alike.
fn sides(bench: &Bench<'_>, placement: Placement) -> Option<String> {
    let is_elsewhere = bench.hosts.is_some_and(Hosts::are_elsewhere);
    if placement == Placement::Split && !is_elsewhere { sides_here() } else { None }
}

/// The same of a split of the cores that this process may run on.
fn sides_here() -> Option<String> {
    Some(PhysicalCores::of(&Cpus::of_this_thread()).unlike()?.sides)
}

/// The versions of what these stacks need, and of other programs that make loads.
fn tools_of<'a>(
    bench: &Bench<'_>,
    programs: &Programs,
    stacks: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, String> {
    let stacks = stacks.filter_map(|id| bench.catalogue.get(id).ok());
    let needed: BTreeSet<&str> =
        stacks.flat_map(|stack| stack.needs.tools.iter().map(String::as_str)).collect();
    versions(&needed.into_iter().collect::<Vec<_>>()).into_iter().chain(programs.versions()).collect()
}

/// The first tool that tells another version of itself: its name, the one before, and the one now.
fn other_version<'a>(
    then: &'a BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
) -> Option<(&'a str, &'a str, &'a str)> {
    then.iter().find_map(|(tool, was)| {
        let is = now.get(tool).filter(|is| *is != was)?;
        Some((tool.as_str(), was.as_str(), is.as_str()))
    })
}

/// The version that each of `tools` tells of itself.
fn versions(tools: &[&str]) -> BTreeMap<String, String> {
    let known = tools::look_for_all(tools).into_iter();
    known
        .filter_map(|(tool, state)| match state {
            State::Present { version } => Some((tool.to_owned(), version)),
            State::Missing | State::Broken { .. } => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its blocks would be of two kinds.
    #[test]
    fn a_run_whose_twins_served_other_loads_is_not_gone_on_with() {
        let told = |processes: &str, same_loads: bool| {
            let manifest = Manifest {
                proofload: "1".into(),
                machine: machine::machine(),
                processes: processes.into(),
                same_loads,
                ..Manifest::default()
            };
            can_be_resumed(&manifest, "1")
        };
        for processes in ["block", "kept"] {
            let why = told(processes, false).unwrap_err();
            assert!(why.starts_with("it was begun by another version, by which"), "{why}");
        }
        for goes_on in [told("block", true), told("kept", true), told("", false)] {
            assert_eq!(goes_on, Ok(()));
        }
    }

    #[test]
    fn a_run_whose_servers_had_other_cores_is_not_gone_on_with() {
        let told = |sides: Option<String>| {
            let (proofload, machine, placement) = ("1".into(), machine::machine(), "split".into());
            let manifest = Manifest { proofload, machine, placement, sides, ..Manifest::default() };
            can_be_resumed(&manifest, "1")
        };
        assert_eq!(told(sides_here()), Ok(()));
        let why = told(Some("servers on cores of the moon".into())).unwrap_err();
        assert!(why.starts_with("it had servers on cores of the moon, and would have "), "{why}");
    }
}
