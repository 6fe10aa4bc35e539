//! The records of a run as they are kept with the documents: all that reports are made of, and little else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::{CellName, Manifest, Measured, RunDir, Server, Trial, TrialResult, cells, trials_of};

use crate::exit::Failure;
use crate::output::{say, write_into_run};
use crate::recorded;

/// Readings of a trial that are kept, of the whole load evenly.
const READINGS_MAX: usize = 8;

/// Copies the run in `from` into the new folder `to`. Of each cell the trial that stands for it keeps its histogram, some of
/// its readings and what its servers did; of the others only figures are kept.
pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let (manifest, trials) = recorded::read(from)?;
    let whole = of_cells(&trials);
    let experiment = RunDir::read_experiment(from).map_err(|error| recorded::unreadable(from, &error))?;
    let mut run = RunDir::create(to, &experiment)?;
    run.write_manifest(&without_paths(manifest))?;
    for trial in &trials {
        let kept = if whole.contains(&trial.index) { trial.clone() } else { figures_of(trial) };
        run.append(&without_paths_of(kept))?;
    }
    for index in &whole {
        let (there, here) = (RunDir::trial_path(from, *index), run.trial_dir(*index)?);
        let readings = record::read_signals(&there)?;
        record::write_signals(&here, &thinned(readings))?;
        // Somebody may have sent the run: what a link leads to is no part of it.
        if let Some(log) = record::interval_log_bytes(&there)? {
            write_into_run(&here.join("response_time.hlog"), &log)?;
        }
    }
    drop(run);
    // It kept others from writing here, and is no part of a record.
    let _ = std::fs::remove_file(to.join("lock"));
    say(format_args!("proofload: {} trials of {} are in {}", trials.len(), from.display(), to.display()));
    Ok(())
}

/// The trials that stand for their cells, and the first of each twin and control.
fn of_cells(trials: &[Trial]) -> BTreeSet<u32> {
    let measured = |trial: &&Trial| -> Option<Measured> {
        match &trial.result {
            TrialResult::Measured(measured) => Some((**measured).clone()),
            TrialResult::Failed { .. } => None,
        }
    };
    let typical = |cell: &CellName| {
        let of_cell: Vec<&Trial> = trials_of(trials, |trial| CellName::of(trial) == *cell).collect();
        let figures: Vec<Measured> = of_cell.iter().filter_map(measured).collect();
        let typical = explain::typical(&figures.iter().collect::<Vec<_>>())?;
        let is_it = |trial: &&&Trial| measured(trial).is_some_and(|it| it == *typical);
        of_cell.iter().find(is_it).map(|trial| trial.index)
    };
    cells(trials).iter().filter_map(typical).collect()
}

/// A trial without what was seen of its servers' threads, and without what all trials of a stack have in common.
fn figures_of(trial: &Trial) -> Trial {
    let mut kept = trial.clone();
    if let TrialResult::Measured(measured) = &mut kept.result {
        let upstreams = measured.upstreams.iter_mut().map(|it| &mut it.server);
        for server in std::iter::once(&mut measured.server).chain(upstreams) {
            let figures = std::mem::take(server);
            *server = Server {
                // What it compiled meanwhile says whose rate it was.
                jit_cores: figures.compilers_cores(),
                signals: None,
                usage: Vec::new(),
                thread_groups: BTreeMap::new(),
                command: Vec::new(),
                jvm_flags: Vec::new(),
                ..figures
            };
        }
    }
    kept
}

/// Where a program lay is of one machine alone.
fn without_paths(manifest: Manifest) -> Manifest {
    let argv = manifest.argv.iter().map(|it| last_part(it)).collect();
    Manifest { argv, ..manifest }
}

fn without_paths_of(mut trial: Trial) -> Trial {
    if let TrialResult::Measured(measured) = &mut trial.result {
        let upstreams = measured.upstreams.iter_mut().map(|it| &mut it.server);
        for server in std::iter::once(&mut measured.server).chain(upstreams) {
            server.command = server.command.iter().map(|it| last_part(it)).collect();
        }
    }
    trial
}

/// The last part of an absolute path, be it all of an argument or what one is set to; anything else as it is.
fn last_part(text: &str) -> String {
    let path = text.find("=/").map_or(0, |at| at + 1);
    let (option, path) = text.split_at(path);
    let name = path.rsplit('/').next().filter(|name| path.starts_with('/') && !name.is_empty());
    option.to_owned() + name.unwrap_or(path)
}

/// So many of them, evenly, the first and the last among them.
fn thinned<T>(readings: Vec<T>) -> Vec<T> {
    let last = readings.len().saturating_sub(1);
    let step = last.div_ceil(READINGS_MAX - 1).max(1);
    let is_kept = |index: usize| index.is_multiple_of(step) || index == last;
    readings.into_iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_something_lay_is_kept_of_no_argument() {
        assert_eq!(last_part("/opt/jdk/bin/java"), "java");
        assert_eq!(last_part("-Djava.io.tmpdir=/home/ann/runs/a/trials/0001/work"), "-Djava.io.tmpdir=work");
        for plain in ["-jar", "tomcat.jar", "--url=http://a/b", "a=b", "/", "--root=/"] {
            assert_eq!(last_part(plain), plain);
        }
    }
}
