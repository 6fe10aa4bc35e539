//! The one error of this crate.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the server could not start, or could not keep its record. `Display` says what to do.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A setting that no server can keep.
    #[error("{what}; {help}")]
    Setting {
        /// What is wrong.
        what: String,
        /// What would be right.
        help: &'static str,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {addr} ({source}); choose a free port of this machine, or port 0 for any")]
    Listen {
        /// The address asked for.
        addr: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A thread, a poller or an event descriptor could not be made.
    #[error("cannot start {what} ({source}); raise the limits on threads and open files (ulimit -u, -n)")]
    Resource {
        /// What was to be made.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The truth file or its summary cannot be written.
    #[error("cannot write {} ({source}); choose a writable place for the truth file", file.display())]
    Truth {
        /// The file.
        file: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The log of requests cannot be written.
    #[error("cannot write {} ({source}); choose a writable place for the log, with room for 256MiB", file.display())]
    Log {
        /// The file.
        file: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

impl TargetError {
    pub(crate) fn setting(what: impl Into<String>, help: &'static str) -> Self {
        Self::Setting { what: what.into(), help }
    }
}
