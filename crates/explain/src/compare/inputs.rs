//! In what two runs are not of the same.

use std::collections::{BTreeMap, BTreeSet};

use record::{CellName, Load, StackManifest};

use super::{RecordedRun, RunDifference, Side};
use crate::agents::LoadedFrom;

/// Stands for what one of the runs has not.
const NONE: &str = "not there";
/// What stacks were started with beside what they were built from, before the name of one.
const STARTED_WITH: &str = "stack file and templates of";
/// Characters of a line of an experiment that are shown.
const LINE_CHARS_MAX: usize = 80;

/// Facts by name, to be compared with those of another run.
type Facts = BTreeMap<String, String>;

/// What the manifests and experiments differ in.
pub(super) fn differences(a: RecordedRun<'_>, b: RecordedRun<'_>) -> Vec<RunDifference> {
    let mut all = differing(&facts(a), &facts(b));
    // Records of earlier versions do not say it.
    all.retain(|it| !(it.what.starts_with(STARTED_WITH) && (it.a == NONE || it.b == NONE)));
    if a.experiment != b.experiment {
        all.push(experiments(a.experiment, b.experiment));
    }
    all
}

/// What the loads of common cells differ in, once for each kind of difference.
pub(super) fn loads(cells: &[&CellName], sides: &[[Side<'_>; 2]]) -> Vec<RunDifference> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (cell, [a, b]) in cells.iter().zip(sides) {
        let (Some(a), Some(b)) = (a.measured.first(), b.measured.first()) else { continue };
        for difference in differing(&load_facts(&a.load.load), &load_facts(&b.load.load)) {
            if seen.insert((difference.what.clone(), difference.a.clone(), difference.b.clone())) {
                let what = format!("{} of {}, {}", difference.what, cell.round, cell.load);
                all.push(RunDifference { what, ..difference });
            }
        }
    }
    all
}

fn differing(a: &Facts, b: &Facts) -> Vec<RunDifference> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let of = |facts: &Facts, name: &String| facts.get(name).cloned().unwrap_or_else(|| NONE.into());
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| RunDifference { what: name.clone(), a: of(a, name), b: of(b, name) })
        .collect()
}

fn facts(run: RecordedRun<'_>) -> Facts {
    let manifest = run.manifest;
    let machine = &manifest.machine;
    let mut facts = Facts::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    fact("version of Proofload", Some(manifest.proofload.clone()));
    fact("title", Some(manifest.title.clone()));
    fact("seed", Some(manifest.seed.to_string()));
    fact("blocks", Some(manifest.blocks.to_string()));
    fact("quick", Some(manifest.quick.to_string()));
    fact("pace", Some(manifest.pace.clone()).filter(|it| !it.is_empty()));
    fact("client and servers on cores", Some(manifest.placement.clone()).filter(|it| !it.is_empty()));
    fact("loads came from", LoadedFrom::of(run.trials).map(|it| it.names().join(", ")));
    fact("processes of stacks", Some(manifest.processes.clone()).filter(|it| !it.is_empty()));
    fact("cells selected", manifest.selection.as_ref().map(|it| it.len().to_string()));
    fact("kernel", machine.kernel.clone());
    fact("CPU", machine.cpu.clone());
    fact("cores", Some(machine.cores.to_string()));
    fact("memory, bytes", machine.memory_bytes.map(|it| it.to_string()));
    fact("open files", machine.open_files.map(|it| it.to_string()));
    for (name, value) in &machine.sysctls {
        fact(name, Some(value.clone()));
    }
    for (name, value) in &manifest.tools {
        fact(&format!("tool {name}"), Some(value.clone()));
    }
    for (name, why) in &manifest.left_out {
        fact(&format!("{name} left out"), Some(why.clone()));
    }
    for (name, stack) in &manifest.stacks {
        stack_facts(&mut fact, name, stack);
    }
    facts
}

fn stack_facts(fact: &mut impl FnMut(&str, Option<String>), name: &str, stack: &StackManifest) {
    let inputs = stack.inputs.clone().unwrap_or_else(|| "nothing built".into());
    fact(&format!("inputs of {name}"), Some(inputs));
    fact(&format!("JDK of {name}"), stack.jdk.clone());
    fact(&format!("{STARTED_WITH} {name}"), stack.settings.clone());
    for (upstream, behind) in &stack.upstreams {
        let name = format!("{upstream} behind {name}");
        fact(&format!("inputs of {name}"), behind.inputs.clone());
        fact(&format!("{STARTED_WITH} {name}"), behind.settings.clone());
        fact(&format!("JDK of {name}"), behind.jdk.clone());
    }
}

fn load_facts(load: &Load) -> Facts {
    let mut facts = Facts::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    fact("warm-up, s", Some(load.warm_up_s.to_string()));
    fact("window, s", load.duration_s.map(|it| it.to_string()));
    fact("timeout, s", Some(load.timeout_s.to_string()));
    fact("load threads", Some(load.threads.to_string()));
    fact("connections used again", Some(load.keep_alive.to_string()));
    fact("load carried by", Some(load.io.clone()));
    facts
}

/// The first line in which two experiments differ.
fn experiments(a: &str, b: &str) -> RunDifference {
    let (mut of_a, mut of_b) = (a.lines(), b.lines());
    let mut line = 0_usize;
    let shown = |text: Option<&str>| {
        text.map_or_else(|| NONE.into(), |text| text.trim().chars().take(LINE_CHARS_MAX).collect())
    };
    loop {
        line += 1;
        match (of_a.next(), of_b.next()) {
            (None, None) => {
                let what = "experiment, line ends only".into();
                return RunDifference { what, a: NONE.into(), b: NONE.into() };
            }
            (a, b) if a == b => {}
            (a, b) => {
                let what = format!("experiment, from line {line} on");
                return RunDifference { what, a: shown(a), b: shown(b) };
            }
        }
    }
}
