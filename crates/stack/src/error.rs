//! The one error of this crate: what went wrong, where, and what to do.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use units::Duration;

/// Addresses that are named at most where a stack listens elsewhere.
const LISTENING_SHOWN_MAX: usize = 8;

/// Why a stack could not be built, booted, asked or stopped.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The system refused something.
    #[error("cannot {what} {} ({source}); {help}", path.display())]
    Io {
        /// What was tried, as in `cannot … <path>`.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do.
        help: &'static str,
    },
    /// The template of a file that is written for it can't be read, or is longer than anybody writes one.
    #[error(transparent)]
    Template(#[from] plan::PlanError),
    /// The build's command failed, took too long or did not make what it should.
    #[error(
        "cannot build stack `{stack}`: {why}; run it by hand: cd {} && {command}\n{}",
        plan::shell::quoted_path(dir),
        log
    )]
    Build {
        /// The stack.
        stack: String,
        /// What happened.
        why: String,
        /// Where the command ran.
        dir: PathBuf,
        /// The command, as a shell takes it.
        command: String,
        /// The end of what it printed.
        log: Box<LogEnd>,
    },
    /// The process ended before it answered.
    #[error(
        "stack `{stack}` ended with {status} before it was ready; {help}, or run it by hand: {command}\n{}",
        log
    )]
    Died {
        /// The stack.
        stack: String,
        /// How it ended.
        status: String,
        /// What to do.
        help: &'static str,
        /// What was run, as a shell takes it.
        command: String,
        /// The end of what it printed.
        log: Box<LogEnd>,
    },
    /// It speaks TLS, and has no certificate.
    #[error("stack `{stack}` speaks TLS, and {why}")]
    NoCertificate {
        /// The stack.
        stack: String,
        /// Why none could be made for it, and what to do.
        why: String,
    },
    /// The process lives, and does not answer as it should.
    #[error("stack `{stack}` was not ready within {timeout}: {asked} {last}{}\n{}", listening, log)]
    NotReady {
        /// The stack.
        stack: String,
        /// How long it had.
        timeout: Duration,
        /// What was tried: `GET http://…`, or a connection.
        asked: String,
        /// How the last try ended.
        last: String,
        /// Where its processes listen instead, and what to do.
        listening: Listening,
        /// The end of what it printed.
        log: Box<LogEnd>,
    },
    /// What should be running already does not answer as it should.
    #[error(
        "`{stack}` is not ready at {url}: {asked} {last}, tried for {timeout}; start it, or correct its url, its [ready] or its \
        first [[endpoint]]"
    )]
    NotThere {
        /// The stack.
        stack: String,
        /// Where it should be.
        url: String,
        /// How long it had.
        timeout: Duration,
        /// What was tried: `GET http://…`, or a connection.
        asked: String,
        /// How the last try ended.
        last: String,
    },
    /// The host of what should be running already has no address.
    #[error(
        "`{host}`, the host of `{stack}`, does not resolve ({why}); check the spelling of its url, or give an address"
    )]
    NoAddress {
        /// The stack.
        stack: String,
        /// The name.
        host: String,
        /// What the resolver said.
        why: String,
    },
    /// The user wanted it to end.
    #[error("stack `{stack}` was interrupted while it was {doing}; begin again")]
    Interrupted {
        /// The stack.
        stack: String,
        /// What went on: `built`, `booted`, or `asked whether it is up`.
        doing: &'static str,
    },
    /// Of the ports a stack may have, none is free.
    #[error("there is no free port for stack `{stack}`; stop some of what listens on ports 20000 to 32000")]
    NoPort {
        /// The stack.
        stack: String,
    },
    /// It listens at one port alone, and something else has that.
    #[error(
        "stack `{stack}` can listen on port {port} only, and another process uses that port; stop it \
         (ss -ltnp 'sport = :{port}' shows which one), or let the stack listen on {{port}}"
    )]
    PortHeld {
        /// The stack.
        stack: String,
        /// Its port.
        port: u16,
    },
    /// Each port that the stack was given was taken before it could listen on it.
    #[error(
        "the port of stack `{stack}` was in use on each of {tries} starts; check that it listens on {{port}} only, not \
        on a port of its own choice, and in a process that it starts itself, which a container is not\n{log}"
    )]
    PortTaken {
        /// The stack.
        stack: String,
        /// How often it was started.
        tries: u32,
        /// The end of what it printed.
        log: Box<LogEnd>,
    },
    /// An endpoint gave no whole answer.
    #[error("GET {url} {why}; check that the stack is up and serves that path")]
    Unanswered {
        /// What was asked for.
        url: String,
        /// What came instead.
        why: String,
    },
    /// A limit that the stack's manifest asks for can't be set.
    #[error("cannot give stack `{stack}` {what} ({source}); {help}")]
    Limit {
        /// The stack.
        stack: String,
        /// The limit.
        what: String,
        /// What the system said.
        source: io::Error,
        /// What to do.
        help: &'static str,
    },
    /// Something survived the stop.
    #[error("stack `{stack}` was stopped, but {what}; end it by hand before anything is measured")]
    Survived {
        /// The stack.
        stack: String,
        /// What is left.
        what: String,
    },
}

impl StackError {
    pub(crate) fn io(what: &'static str, path: &Path, help: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source, help }
    }
}

/// Where the processes of a stack that did not get ready listen; reads on after how the last try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listening {
    /// Where they should, or nobody can tell.
    AsTold,
    /// Nowhere yet.
    Nowhere,
    /// At these addresses, which is not where they should.
    Elsewhere(Vec<SocketAddr>),
}

impl Listening {
    /// What `addresses` are to a stack that was told to listen on `told`; `None` of them where they can't be known.
    pub(crate) fn of(told: SocketAddr, addresses: Option<Vec<SocketAddr>>) -> Self {
        let reaches =
            |at: &SocketAddr| at.port() == told.port() && (at.ip() == told.ip() || at.ip().is_unspecified());
        match addresses {
            None => Self::AsTold,
            Some(none) if none.is_empty() => Self::Nowhere,
            Some(all) if all.iter().any(reaches) => Self::AsTold,
            Some(all) => Self::Elsewhere(all),
        }
    }
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raise = "fix the stack, or raise `timeout` in its [ready]";
        match self {
            Self::AsTold => write!(f, "; {raise}"),
            Self::Nowhere => write!(f, ", and its processes listen on no port; {raise}"),
            Self::Elsewhere(all) => {
                let shown: Vec<String> =
                    all.iter().take(LISTENING_SHOWN_MAX).map(ToString::to_string).collect();
                let more = if all.len() > shown.len() { ", \u{2026}" } else { "" };
                let all = shown.join(", ");
                write!(f, ", and its processes listen on {all}{more}; have it listen on 127.0.0.1:{{port}}")
            }
        }
    }
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEnd {
    /// The whole of it.
    pub file: PathBuf,
    /// Its last lines.
    pub tail: String,
}

impl fmt::Display for LogEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tail.trim().is_empty() {
            return write!(f, "  (it printed nothing; log: {})", self.file.display());
        }
        write!(f, "  last lines of {}:", self.file.display())?;
        self.tail.lines().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}
