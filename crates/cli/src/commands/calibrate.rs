//! `proofload calibrate`: our own figures against the truth.

use std::process::ExitCode;

use explain::{CaseOutcome, judge_case};
use lab::calibrate::{Bench, carry_out, choose};
use report::CalibrationReport;

use crate::arguments::Calibrate;
use crate::commands::run::own_binary;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::print;
use crate::progress::CalibrationProgress;

/// Runs the command.
pub fn run(arguments: &Calibrate) -> Result<ExitCode, Failure> {
    let cases = choose(arguments.quick, &arguments.cases)?;
    let exe = own_binary()?;
    let control = interrupt::on_signals()?;
    let dir = std::env::temp_dir().join(format!("proofload-calibrate-{}", std::process::id()));
    let bench = Bench {
        proofload_exe: &exe,
        version: env!("CARGO_PKG_VERSION"),
        dir: &dir,
        quick: arguments.quick,
        peers: arguments.peers,
        io: arguments.io,
        try_again: &|case| judge_case(case).outcome == CaseOutcome::OutOfBounds,
        interrupt: &control,
    };
    let mut progress = CalibrationProgress::new(arguments.quiet);
    let calibration = carry_out(&cases, &bench, &mut |event| progress.observe(&event));
    progress.finish();
    let report = CalibrationReport::new(calibration);
    if report.calibration.cases.iter().all(|case| case.failed.is_none()) {
        // What failed names its log, which stays.
        let _ = std::fs::remove_dir_all(&dir);
    }
    print(&if arguments.json { report.json() } else { report.text() })?;
    Ok(ExitCode::from(match (report.calibration.interrupted, report.all_in_bounds()) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::OK,
        (false, false) => exit::SERVICE,
    }))
}
