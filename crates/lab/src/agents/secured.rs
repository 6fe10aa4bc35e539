//! TLS of a load on several machines.

use agent::Assign;
use plan::{HttpTarget, HttpVersion};
use tls::{Peers, Settings};

use crate::error::LabError;
use crate::secured::peers_of;

/// How the connections of a load on several machines are secured. Each machine makes a handshake before the load, so that
/// what keeps it from the server is told of at once and in words.
#[derive(Debug)]
pub struct Secured {
    host: String,
    /// Without files.
    settings: Settings,
    peers: Peers,
}

impl Secured {
    /// TLS to `target`; `None` where its URL asks for none. Certificates and keys in files are read here: the machines that
    /// carry the load have no such files. Whom to trust where none are named is what each machine has.
    ///
    /// # Errors
    /// If `settings` can't be, or a file of theirs can't be read.
    pub fn new(
        target: &HttpTarget,
        version: HttpVersion,
        settings: &Settings,
    ) -> Result<Option<Self>, LabError> {
        if !target.is_secured {
            return Ok(None);
        }
        let settings = settings.with_files_read()?;
        Self::of(&target.host, version, settings).map(Some)
    }

    /// As agents are told it; `None` where they are told of none.
    pub(super) fn told(assign: &Assign, version: HttpVersion) -> Result<Option<Self>, LabError> {
        let tls = assign.tls().map_err(|why| LabError::Agents(why.to_string()))?;
        tls.map(|(host, settings)| Self::of(host, version, settings)).transpose()
    }

    fn of(host: &str, version: HttpVersion, settings: Settings) -> Result<Self, LabError> {
        let peers = peers_of(host, version, &settings)?;
        Ok(Self { host: host.to_owned(), settings, peers })
    }

    /// The URL's host, and what is asked for.
    pub(super) fn settings(&self) -> (&str, &Settings) {
        (&self.host, &self.settings)
    }

    /// Whom connections are secured to.
    pub(super) fn peers(&self) -> &Peers {
        &self.peers
    }
}
