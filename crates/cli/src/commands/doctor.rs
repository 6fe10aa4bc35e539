//! `proofload doctor`: what stands in the way.

use std::process::ExitCode;

use lab::doctor::{Level, Machine, judge};

use crate::arguments::Doctor;
use crate::exit::{self, Failure};
use crate::output::print;

/// Runs the command; it fails when something is bad enough to spoil a measurement.
pub fn run(arguments: &Doctor) -> Result<ExitCode, Failure> {
    let findings = judge(&Machine::read(), arguments.connections);
    for finding in &findings {
        let mark = match finding.level {
            Level::Good => "ok  ",
            Level::Note => "note",
            Level::Warn => "warn",
            Level::Bad => "BAD ",
        };
        print(&format!("{mark}  {:<18} {}", finding.topic, finding.found))?;
        if let Some(mend) = &finding.mend {
            print(&format!("      {:<18} {mend}", ""))?;
        }
    }
    let bad = findings.iter().any(|finding| finding.level == Level::Bad);
    Ok(ExitCode::from(if bad { exit::SYSTEM } else { exit::OK }))
}
