//! Exit codes, and the errors that lead to them.

use std::fmt;
use std::process::ExitCode;

use lab::LabError;
use plan::PlanError;
use record::RecordError;
use stack::{CheckoutError, StackError};
use target::TargetError;

/// Everything went well.
pub const OK: u8 = 0;
/// Something of the system failed: a file, a descriptor, a port.
pub const SYSTEM: u8 = 1;
/// What was asked for is not valid.
pub const USAGE: u8 = 2;
/// There was nothing to measure or to send to: no address, nobody listens, nobody to be trusted, no stack came up, or
/// nothing to measure with.
pub const UNREACHABLE: u8 = 3;
/// It was measured, and the service did not do what was asked, or a load's figures are not valid, or our own figures
/// are not known to be the truth, or a cell of one run got worse in another, or a gate failed.
pub const SERVICE: u8 = 4;
/// It was measured, and a gate, or whether a cell got worse in another run, could not be told: what was measured is in
/// line with both.
pub const COULD_NOT_TELL: u8 = 5;
/// It was interrupted; what was measured is kept.
pub const INTERRUPTED: u8 = 130;

/// What `--help` says of exit codes.
pub const HELP: &str = "\
Exit codes:
  0    measured, and the service did what was asked
  1    the system refused something: a full disk, a missing permission, a port in use
  2    the input is not valid: an argument, a file, a URL
  3    nothing to measure or to connect to: the host name does not resolve, nothing listens there,
       its TLS certificate is not trusted, no stack started, or the program that should make the
       load is not installed
  4    measured, but more than 0.1 % of the requests failed or could not be sent, or percentiles
       are only lower bounds, or the verdict is not `valid` for another reason, or a stack of the
       experiment failed, or a calibration case is out of bounds, or a cell got worse from one
       compared run to the other, or an audit found what can't be true or can't be known, or a gate
       failed
  5    measured, but a gate (--fail-if, [gate]), or a comparison of two runs, could not tell: the
       output says what would decide it
  130  interrupted; what was measured is kept";

/// An error on its way to the user.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The system refused something.
    pub fn system(message: impl fmt::Display) -> Self {
        Self { code: SYSTEM, message: message.to_string() }
    }

    /// What was asked for is not valid.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { code: USAGE, message: message.to_string() }
    }

    /// Nobody is there.
    pub fn unreachable(message: impl fmt::Display) -> Self {
        Self { code: UNREACHABLE, message: message.to_string() }
    }

    /// The same as of `hit`, in the words of a tool that we stand in for: see [`told_by`].
    pub fn told_by(tool: &str, error: LabError) -> Self {
        Self { message: told_by(tool, &error), ..Self::from(error) }
    }

    /// The number of the exit code.
    pub const fn number(&self) -> u8 {
        self.code
    }

    /// The process's exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// An error of a load in the words of a tool that we stand in for. What helps against a server that TLS does not come to terms
/// with are options of `hit`, which such a tool has not.
pub fn told_by(tool: &str, error: &LabError) -> String {
    match error {
        LabError::Tls(why) if why.is_of_server() && why.to_string().contains("--") => {
            format!("{error} (options of `proofload hit`, which {tool} has not)")
        }
        _ => error.to_string(),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self { code: USAGE, message: error.to_string() }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self { code: code_of(&error), message: error.to_string() }
    }
}

/// What was named as a record and is none, is damaged, or is of a newer version, was not one to name.
fn code_of(error: &RecordError) -> u8 {
    match error {
        RecordError::Io { .. } => SYSTEM,
        RecordError::NoLedger { .. }
        | RecordError::NoRecord { .. }
        | RecordError::Malformed { .. }
        | RecordError::OutOfBounds { .. } => USAGE,
    }
}

impl From<StackError> for Failure {
    fn from(error: StackError) -> Self {
        Self { code: UNREACHABLE, message: error.to_string() }
    }
}

impl From<CheckoutError> for Failure {
    fn from(error: CheckoutError) -> Self {
        let code = match &error {
            CheckoutError::Interrupted => INTERRUPTED,
            CheckoutError::NoRepository { .. }
            | CheckoutError::UnknownRevision { .. }
            | CheckoutError::NoFolder { .. }
            | CheckoutError::ExcludesTooLong { .. } => USAGE,
            CheckoutError::NoGit { .. }
            | CheckoutError::Git { .. }
            | CheckoutError::TooLate { .. }
            | CheckoutError::FolderLeft { .. }
            | CheckoutError::NotForgotten { .. }
            | CheckoutError::Io { .. } => SYSTEM,
        };
        Self { code, message: error.to_string() }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        let code = if matches!(error, TargetError::Setting { .. }) { USAGE } else { SYSTEM };
        Self { code, message: error.to_string() }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let code = match &error {
            LabError::Tls(why) if why.is_of_server() => UNREACHABLE,
            LabError::InterruptedEarly => INTERRUPTED,
            LabError::Plan(_)
            | LabError::Tls(_)
            | LabError::Scenario(_)
            | LabError::NotResumable { .. }
            | LabError::NotTakenOver { .. } => USAGE,
            LabError::NoAddress { .. }
            | LabError::Unreachable { .. }
            | LabError::NoHttp2 { .. }
            | LabError::NoSocket { .. }
            | LabError::Stack(_)
            | LabError::Agents(_)
            | LabError::AgentLost(_)
            | LabError::DriverMissing { .. }
            | LabError::NothingToRun { .. } => UNREACHABLE,
            LabError::Record(error) => code_of(error),
            LabError::TooFewFiles { .. }
            | LabError::Drive(_)
            | LabError::NoUring(_)
            | LabError::OneCore
            | LabError::System { .. } => SYSTEM,
        };
        Self { code, message: error.to_string() }
    }
}
