//! Where the runs of an experiment are kept, and which of them: the table `[runs]`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::error::PlanError;
use crate::gate::{Gate, LAST_RUNS};
use crate::toml_file;

/// Where runs are if nobody says.
pub const RUNS: &str = "runs";
/// The longest that a run can be kept by its age, days: a hundred years, beyond which a number is a slip.
const DAYS_MAX: u32 = 36_500;

/// Where runs are kept, and which of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptRuns {
    /// From the folder of the experiment's file on; `None` where the file says nothing.
    dir: Option<PathBuf>,
    /// So many of the newest; all without.
    pub newest: Option<NonZeroU32>,
    /// Those that are no older, days; of any age without.
    pub days: Option<NonZeroU32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsTable {
    dir: Option<Spanned<PathBuf>>,
    keep: Option<Spanned<u32>>,
    keep_days: Option<Spanned<u32>>,
}

/// All that is looked at of an experiment.
#[derive(Deserialize)]
struct RunsOnly {
    #[serde(default)]
    runs: RunsTable,
}

impl KeptRuns {
    /// Of the experiment in `text`, the content of `path`.
    pub fn of_experiment(path: &Path, text: &str) -> Result<Self, PlanError> {
        let RunsOnly { runs } = toml_file::parse(path, text, "docs/experiments.md")?;
        let wrong =
            |at: usize, what: String, help: &str| PlanError::new(what, help).at_offset(path, text, at);
        let positive = |number: Option<Spanned<u32>>, max: u32| {
            let checked = number.map(|number| {
                let within = NonZeroU32::new(*number.get_ref()).filter(|it| it.get() <= max);
                let what = || format!("{} is no number of runs or days to keep", number.get_ref());
                let help = "write a whole number from 1, or leave it out to keep all";
                within.ok_or_else(|| wrong(number.span().start, what(), help))
            });
            checked.transpose()
        };
        let dir = runs.dir.map(|dir| {
            if dir.get_ref().as_os_str().is_empty() {
                let what = "the folder of runs has no name".to_owned();
                return Err(wrong(dir.span().start, what, "write dir = \"runs\""));
            }
            Ok(dir.into_inner())
        });
        Ok(Self {
            dir: dir.transpose()?,
            newest: positive(runs.keep, u32::MAX)?,
            days: positive(runs.keep_days, DAYS_MAX)?,
        })
    }

    /// Where runs are, if the experiment's file is in `folder`. Where it says nothing they are where the command is given.
    pub fn folder(&self, folder: &Path) -> PathBuf {
        self.dir.as_ref().map_or_else(|| RUNS.into(), |dir| folder.join(dir))
    }

    /// An error where so few are kept that a run can't be held against those before it. One more is needed than it takes: of one that
    /// is kept no trial may be of use.
    pub fn keeps_enough_for(&self, gate: &Gate) -> Result<(), PlanError> {
        let least = LAST_RUNS.start() + 1;
        let Some((last_runs, keep)) = gate.last_runs.zip(self.newest) else { return Ok(()) };
        if keep.get() >= least {
            return Ok(());
        }
        let what = format!(
            "of the last {} runs that a run is held against, [runs] keeps {keep}: it takes {} with figures that stand, and not every \
             run has some",
            last_runs.count,
            LAST_RUNS.start()
        );
        let help =
            format!("write keep = {} or more, or leave it out to keep all", least.max(last_runs.count));
        Err(PlanError::new(what, help))
    }

    /// Whether all runs are kept.
    pub const fn keeps_all(&self) -> bool {
        self.newest.is_none() && self.days.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<KeptRuns, String> {
        KeptRuns::of_experiment(Path::new("x.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_is_the_files_and_nothing_said_keeps_all() {
        let said = of("title = \"t\"\n[runs]\ndir = \"perf/runs\"\nkeep = 50\nkeep_days = 90\n").unwrap();
        assert_eq!(said.folder(Path::new("services/cart")), Path::new("services/cart/perf/runs"));
        assert_eq!((said.newest, said.days), (NonZeroU32::new(50), NonZeroU32::new(90)));
        let nothing = of("title = \"t\"\n").unwrap();
        assert!(nothing.keeps_all());
        assert_eq!(nothing.folder(Path::new("services/cart")), Path::new("runs"));
    }

    #[test]
    fn as_many_are_kept_as_a_run_is_held_against() {
        let told = |runs: &str, gate: &str| {
            let text = format!("[runs]\n{runs}\n[gate]\n{gate}\n");
            let gate = Gate::of_experiment(Path::new("x.toml"), &text).unwrap().unwrap();
            of(&text).unwrap().keeps_enough_for(&gate).map_err(|error| error.to_string())
        };
        let (last_ten, last_six) = ("last_runs = 10", "last_runs = 6");
        let few = told("keep = 6", last_ten).unwrap_err();
        assert!(few.contains("of the last 10 runs that a run is held against, [runs] keeps 6"), "{few}");
        assert!(few.contains("write keep = 10 or more"), "{few}");
        assert!(told("keep = 1", last_six).unwrap_err().contains("write keep = 7 or more"));
        for (runs, gate) in [
            ("keep = 7", last_ten),
            ("keep = 7", last_six),
            ("keep_days = 90", last_ten),
            ("keep = 1", "fail_if = [\"p99>50ms\"]"),
        ] {
            assert_eq!(told(runs, gate), Ok(()), "{runs}, {gate}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_told_with_its_line() {
        for (text, said) in [
            ("[runs]\nkeep = 0", "x.toml:2:8: 0 is no number of runs or days to keep"),
            ("[runs]\nkeep_days = 40000", "x.toml:2:13: 40000 is no number"),
            ("[runs]\nkeeps = 5", "unknown key `keeps`; did you mean keep?"),
            ("[runs]\ndir = \"\"", "x.toml:2:7: the folder of runs has no name"),
        ] {
            let told = of(text).unwrap_err();
            assert!(told.contains(said), "{text}: {told}");
        }
    }
}
