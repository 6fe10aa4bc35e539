//! In what two runs are not of the same.

use std::collections::BTreeSet;

use record::StackManifest;

use super::{InBoth, RecordedRun};
use crate::agents::LoadedFrom;
use crate::conditions::{Facts, LOADS_MADE_BY, NONE, RunDifference, differing, of_load, of_run};

/// What stacks were started with beside what they were built from, before the name of one.
const STARTED_WITH: &str = "stack file and templates of";
/// Characters of a line of an experiment that are shown.
const LINE_CHARS_MAX: usize = 80;

/// What the manifests and experiments differ in.
pub(super) fn differences(a: RecordedRun<'_>, b: RecordedRun<'_>) -> Vec<RunDifference> {
    let mut all = differing(&facts(a), &facts(b));
    // Records of earlier versions do not say it, nor those without a measured trial.
    let may_be_unsaid = |what: &str| what.starts_with(STARTED_WITH) || what == LOADS_MADE_BY;
    all.retain(|it| !(may_be_unsaid(&it.what) && (it.a == NONE || it.b == NONE)));
    if a.experiment != b.experiment {
        all.push(experiments(a.experiment, b.experiment));
    }
    all
}

/// What the loads of common cells differ in, once for each kind of difference.
pub(super) fn loads(cells: &[InBoth<'_>]) -> Vec<RunDifference> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for InBoth { name: cell, sides: [a, b], .. } in cells {
        let (Some(a), Some(b)) = (a.measured.first(), b.measured.first()) else { continue };
        for difference in differing(&of_load(a), &of_load(b)) {
            if seen.insert((difference.what.clone(), difference.a.clone(), difference.b.clone())) {
                let what = format!("{} of {}, {}", difference.what, cell.round, cell.load);
                all.push(RunDifference { what, ..difference });
            }
        }
    }
    all
}

fn facts(run: RecordedRun<'_>) -> Facts {
    let manifest = run.manifest;
    let mut facts = of_run(manifest, run.trials);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    fact("title", Some(manifest.title.clone()));
    fact("seed", Some(manifest.seed.to_string()));
    fact("blocks", Some(manifest.blocks.to_string()));
    fact("loads came from", LoadedFrom::of(run.trials).map(|it| it.names().join(", ")));
    fact("cells selected", manifest.selection.as_ref().map(|it| it.len().to_string()));
    fact("open files", manifest.machine.open_files.map(|it| it.to_string()));
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
