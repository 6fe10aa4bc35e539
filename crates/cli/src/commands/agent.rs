//! `proofload agent`: a share of a load, for a conductor at the other end of standard input and output.

use std::io::{IsTerminal, stdin};
use std::process::ExitCode;

use agent::Leave;

use crate::exit::{self, Failure};
use crate::output::to_program;

/// Serves one conductor to its end.
pub fn run() -> Result<ExitCode, Failure> {
    let Some(output) = to_program().filter(|_| !stdin().is_terminal()) else {
        return Err(Failure::usage(
            "an agent is spoken to by a program; give `proofload hit --hosts` the names of machines",
        ));
    };
    match lab::carrier::serve(env!("PROOFLOAD_VERSION"), stdin(), output) {
        Leave::Done => Ok(ExitCode::from(exit::OK)),
        Leave::Orphaned => Ok(ExitCode::from(exit::UNREACHABLE)),
    }
}
