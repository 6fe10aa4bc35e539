//! `proofload calibrate`: our own figures against the truth.

use std::num::NonZeroU32;
use std::process::ExitCode;

use explain::{CaseOutcome, judge_case};
use lab::calibrate::{Agents, Bench, Spoken, carry_out, choose};
use report::CalibrationReport;

use crate::arguments::Calibrate;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{print, print_json};
use crate::progress::CalibrationProgress;
use crate::scratch::Scratch;
use crate::workbench::own_binary;

/// Runs the command.
pub fn run(arguments: &Calibrate) -> Result<ExitCode, Failure> {
    let spoken = Spoken { tls: arguments.tls, http2: arguments.http2 };
    let cases = choose(arguments.quick, &arguments.cases, spoken, arguments.agents.unwrap_or(1))?;
    let exe = own_binary()?;
    let control = interrupt::on_signals()?;
    let scratch = Scratch::new("calibrate")?;
    let bench = Bench {
        proofload_exe: &exe,
        version: env!("CARGO_PKG_VERSION"),
        dir: scratch.path(),
        quick: arguments.quick,
        peers: arguments.peers,
        spoken,
        io: arguments.io,
        agents: arguments
            .agents
            .and_then(NonZeroU32::new)
            .map(|count| Agents { count, version: env!("PROOFLOAD_VERSION") }),
        try_again: &|case| judge_case(case).outcome == CaseOutcome::OutOfBounds,
        interrupt: &control,
    };
    let mut progress = CalibrationProgress::new(arguments.quiet);
    let calibration = carry_out(&cases, &bench, &mut |event| progress.observe(&event));
    progress.finish();
    let report = CalibrationReport::new(calibration);
    if report.calibration.cases.iter().any(|case| case.failed.is_some()) {
        // What failed names its log, which stays.
        scratch.keep();
    }
    let printed = if arguments.json { print_json(&report.json()) } else { print(&report.text()) };
    printed?;
    Ok(ExitCode::from(match (report.calibration.interrupted, report.all_in_bounds()) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::OK,
        (false, false) => exit::SERVICE,
    }))
}
