//! What keeps connections from being secured, told before a load begins.

use std::fmt;

/// Why there is no TLS, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsError {
    what: String,
    help: String,
    of_server: bool,
}

impl TlsError {
    /// What was asked for can't be.
    pub fn setting(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into(), of_server: false }
    }

    /// The server and this client don't come together.
    pub fn server(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into(), of_server: true }
    }

    /// Whether it is about the server, and not about what was asked for.
    pub fn is_of_server(&self) -> bool {
        self.of_server
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.help)
    }
}

impl std::error::Error for TlsError {}
