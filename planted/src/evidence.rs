//! What a run measured, as `explain` reads it: kept with the run, so that what follows from it can be said anew by today's rules.

use std::path::Path;

use explain::explain_cells;
use record::{RunDir, Trial, TrialResult};
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// The trials of a run, and what of its manifest their reasons follow from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// Cores of the machine.
    pub(crate) cores: usize,
    pub(crate) trials: Vec<Trial>,
}

impl Evidence {
    /// That of the run in folder `run`, without what tells of this machine and bears on no verdict.
    pub(crate) fn read(run: &Path) -> Result<Self, String> {
        let why = |error: record::RecordError| error.to_string();
        let cores = RunDir::read_manifest(run).map_err(why)?.machine.cores;
        let mut trials = RunDir::read_trials(run).map_err(why)?;
        trials.iter_mut().for_each(forget_machine);
        Ok(Self { cores, trials })
    }

    /// What is named first of `stack` by today's rules.
    pub(crate) fn first(&self, stack: &str) -> Result<Verdict, String> {
        let cells = explain_cells(&self.trials, self.cores);
        let cell = cells.iter().find(|cell| cell.stack == stack);
        let cell = cell.ok_or_else(|| format!("no trial of {stack} was measured"))?;
        Ok(Verdict::of(cell.explanation.first()))
    }

    /// The day on which it was measured, `2026-01-31`.
    pub(crate) fn day(&self) -> Option<&str> {
        self.trials.first()?.started.split_once('T').map(|(day, _)| day)
    }
}

/// Leaves out where programs lie on this machine and what else ran on it by name.
fn forget_machine(trial: &mut Trial) {
    let TrialResult::Measured(measured) = &mut trial.result else { return };
    let behind = measured.upstreams.iter_mut().map(|it| &mut it.server);
    for server in std::iter::once(&mut measured.server).chain(behind) {
        server.command.clear();
        server.jvm_flags.clear();
    }
    if let Some(host) = &mut measured.host {
        host.others.clear();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A trial of a limiter at 500/s, with a path in its command.
    const SAMPLE: &str = include_str!("../tests/trial.json");

    pub(crate) fn sample() -> Evidence {
        Evidence { cores: 2, trials: vec![serde_json::from_str(SAMPLE).unwrap()] }
    }

    #[test]
    fn what_was_measured_is_explained_anew() {
        let verdict = sample().first("planted").unwrap();
        assert_eq!(verdict.kind, "rate_limiter");
        assert_eq!(verdict.phrase, "limiter at 500/s");
        assert_eq!(sample().day(), Some("2026-11-23"));
        assert!(sample().first("gin").unwrap_err().contains("no trial of gin"));
    }

    #[test]
    fn where_programs_lie_is_left_out_and_changes_nothing() {
        let mut told = sample();
        told.trials.iter_mut().for_each(forget_machine);
        let text = serde_json::to_string(&told).unwrap();
        assert!(SAMPLE.contains("/srv/planted") && !text.contains("/srv/planted"), "{text}");
        assert!(SAMPLE.contains("compiler") && !text.contains("compiler"), "{text}");
        assert_eq!(told.first("planted"), sample().first("planted"));
        let again: Evidence = serde_json::from_str(&text).unwrap();
        assert_eq!(again.first("planted"), told.first("planted"));
    }
}
