//! What keeps the lab from working.

use std::net::SocketAddr;
use std::path::PathBuf;

use plan::PlanError;
use record::RecordError;
use stack::StackError;

/// Why a load or an experiment could not be carried out. A stack that fails within an experiment is a
/// record, not an error.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// What was asked for cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A stack failed.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// io_uring was asked for and can't be had.
    #[error("io_uring can't be used: {0}; leave --io out (io in a file), and epoll is used")]
    NoUring(driver::UringRefused),
    /// The user interrupted while stacks were built.
    #[error("interrupted while stacks were built, before a trial began; give the same command again")]
    InterruptedEarly,
    /// The name has no address.
    #[error("`{host}` does not resolve ({why}); check the spelling, or give an address")]
    NoAddress {
        /// The name.
        host: String,
        /// What the resolver said.
        why: String,
    },
    /// There is no TLS as it was asked for, or not with this server.
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
    /// Nobody listens.
    #[error("cannot connect to {address} ({why}); start the server, or check host and port")]
    Unreachable {
        /// The first address that the name resolved to.
        address: SocketAddr,
        /// What the kernel said.
        why: std::io::Error,
    },
    /// A server without TLS is asked for HTTP/2, and answers in something else.
    #[error(
        "the server at {address} speaks no HTTP/2 without TLS; leave --http2-prior-knowledge out, or check \
         the port"
    )]
    NoHttp2 {
        /// Where it is.
        address: SocketAddr,
    },
    /// Nobody takes connections of a socket of this machine.
    #[error("cannot connect to the socket {} ({why}); start the server, or check the path", path.display())]
    NoSocket {
        /// Where it is.
        path: PathBuf,
        /// What the kernel said.
        why: std::io::Error,
    },
    /// More connections than descriptors.
    #[error(
        "{connections} connections need {needed} open files and the limit is {limit}; raise it with \
         `ulimit -n {needed}`, or use fewer connections"
    )]
    TooFewFiles {
        /// Connections asked for.
        connections: u32,
        /// Descriptors needed.
        needed: u64,
        /// Descriptors allowed.
        limit: u64,
    },
    /// A scenario that can't be carried out to its end.
    #[error("{0}")]
    Scenario(String),
    /// The machines of a load can't carry it together.
    #[error("{0}")]
    Agents(String),
    /// One of them did not carry its share of a trial's load to the end, nor when the trial was made again.
    #[error("{0}; see to that machine, and go on with `proofload run --resume`")]
    AgentLost(String),
    /// Another load generator is asked for and can't be had.
    #[error("the driver {driver} needs {what}, which is not here: {install}")]
    DriverMissing {
        /// By its name in records: `wrk`, `jmeter`.
        driver: &'static str,
        /// What it needs.
        what: String,
        /// How to get that.
        install: String,
    },
    /// Client and servers can't have cores of their own.
    #[error("client and servers can't be split over fewer than two cores; write placement = \"shared\"")]
    OneCore,
    /// The kernel refused the driver something.
    #[error(transparent)]
    Drive(#[from] driver::DriveError),
    /// The resumed run was made by another version or for another experiment.
    #[error("{run} cannot be resumed: {why}; start a new run instead")]
    NotResumable {
        /// Which run.
        run: String,
        /// What differs.
        why: String,
    },
    /// A load whose conductor is gone can't be taken over here.
    #[error("{dir} cannot be taken over: {why}")]
    NotTakenOver {
        /// Where its ledger is.
        dir: String,
        /// Why not.
        why: String,
    },
    /// Not one stack of the experiment can run here.
    #[error("no stack of this experiment can run here: {why}{help}")]
    NothingToRun {
        /// What each stack lacks, or how it failed.
        why: String,
        /// How to get what is missing, where something is: the rest of the sentence.
        help: &'static str,
    },
    /// The system refused something else.
    #[error("cannot {what} ({why}); `proofload doctor` shows the limits of this machine")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        why: std::io::Error,
    },
}

/// Why there is no measurement.
pub(crate) enum NotMeasured {
    /// The stack failed; others may do better.
    Stack(String),
    /// The user interrupted.
    Interrupted,
    /// Nothing can be measured here.
    Lab(LabError),
}

impl<E: Into<LabError>> From<E> for NotMeasured {
    fn from(error: E) -> Self {
        match error.into() {
            LabError::Stack(error) => Self::Stack(error.to_string()),
            error => Self::Lab(error),
        }
    }
}
