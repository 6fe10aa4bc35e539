//! `proofload run`: an experiment.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::experiment::{Bench, Ended, carry_out, resume};
use plan::{Experiment, Pace, shell, toml_file};

use crate::arguments::Run;
use crate::commands::report;
use crate::commands::stacks::name_broken;
use crate::exit::{self, Failure};
use crate::output::say;
use crate::page::Sources;
use crate::progress::RunProgress;
use crate::recorded;
use crate::workbench::Workbench;

/// Runs the command.
pub fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.experiment {
        // Before the stacks: where there is no such file, nothing else is worth a word.
        toml_file::read(path)?;
    }
    let workbench = Workbench::open(&arguments.stacks.dir)?;
    let wait_for_quiet = arguments.wait_for_quiet.map_or(std::time::Duration::ZERO, Into::into);
    let (catalogue, bench) = (&workbench.catalogue, Bench { wait_for_quiet, ..workbench.bench(None) });
    if let Some(dir) = &arguments.resume {
        // Told apart here from what may go wrong with a run that is one.
        recorded::read(dir)?;
    }
    let mut progress = RunProgress::new(arguments.quiet, arguments.serve)?;
    let ended = match (&arguments.experiment, &arguments.resume) {
        (Some(path), _) => {
            let pace = if arguments.quick { Pace::Quick } else { Pace::Full };
            let mut experiment = Experiment::read_driven(path, catalogue, pace, arguments.driver.as_ref())?;
            if !arguments.only.is_empty() {
                experiment.keep_only(&arguments.only)?;
            }
            name_broken(catalogue);
            let name = path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
            let dir = run_dir(&arguments.runs, &name);
            carry_out(&experiment, &dir, &bench, &mut |event| progress.observe(&event))
        }
        (None, Some(dir)) => {
            name_broken(catalogue);
            resume(dir, &bench, &mut |event| progress.observe(&event))
        }
        (None, None) => unreachable!("clap requires one of them"),
    };
    progress.finish(&ended);
    let ended = ended?;
    report::print_ranking(&ended.dir)?;
    let sources = Sources { stacks: &arguments.stacks.dir, ..Sources::of_checkout() };
    report::leave_html(&ended.dir, &sources, arguments.quiet);
    if ended.interrupted {
        let dir = shell::quoted_path(&ended.dir);
        say(format_args!("proofload: interrupted; go on with: proofload run --resume {dir}"));
    }
    progress.linger(ended.dir.clone(), &workbench.control);
    Ok(ExitCode::from(code(&ended)))
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
