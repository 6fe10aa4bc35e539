//! `proofload compare`: did it change from one run to another?

use std::process::ExitCode;

use explain::{ChangeVerdict, compare_runs};
use report::compare_text;
use stats::LEAST_EFFECT;
use units::Share;

use crate::arguments::compare::Compare;
use crate::exit::{self, Failure};
use crate::output::{print, print_json, write_whole};
use crate::recorded::Recorded;

/// Runs the command.
pub fn run(arguments: &Compare) -> Result<ExitCode, Failure> {
    let (a, b) = (Recorded::read(&arguments.a)?, Recorded::read(&arguments.b)?);
    let threshold = arguments.threshold.map_or(LEAST_EFFECT, Share::get);
    let compared = compare_runs(a.as_run(), b.as_run(), threshold);
    if compared.cells.is_empty() {
        let what = match (a.trials().len(), b.trials().len()) {
            (0, _) => format!("{} has no finished trial", a.dir()),
            (_, 0) => format!("{} has no finished trial", b.dir()),
            _ => format!("{} and {} have no cell in common", a.dir(), b.dir()),
        };
        let help = "compare two runs with trials of the same round, load and stack";
        return Err(Failure::usage(format!("{what}; {help}")));
    }
    if arguments.json {
        print_json(&serde_json::to_string_pretty(&compared).expect("it is plain data"))?;
    } else {
        print(compare_text(&compared).trim_end())?;
    }
    if let Some(path) = &arguments.junit {
        write_whole(path, report::compare_junit(&compared).as_bytes())?;
    }
    let code = if compared.count(ChangeVerdict::Worse) > 0 {
        exit::SERVICE
    } else if compared.open() > 0 {
        exit::COULD_NOT_TELL
    } else {
        exit::OK
    };
    Ok(ExitCode::from(code))
}
