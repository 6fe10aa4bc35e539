//! The servers that a scenario names, known before the load begins: names are not looked up while it runs.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use std::sync::Arc;

use scenario::{Prepared, server_of};
use tls::{Client, Peers};
use url::Url;

use super::Setting;
use crate::error::LabError;
use crate::load::resolve;

/// What the name of a server begins with that is secured.
const SECURED: &str = "https://";

/// Servers by number.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// `host:port` of each, or `https://host:port`.
    names: Vec<String>,
    addresses: Vec<SocketAddr>,
    /// Which of them are secured, if any is.
    peers: Option<Peers>,
}

impl Servers {
    /// Resolves the servers that the scenario's URLs name, and `others` (`host:port` or `https://host:port`), which its
    /// variables may. Tries a handshake with each that is secured.
    ///
    /// # Errors
    /// Before anything is sent, what can't be said over the version that is spoken, and servers that can't be spoken to in it;
    /// then servers that are not there.
    pub fn resolve(
        prepared: &Arc<Prepared>,
        setting: &Setting<'_>,
        others: &[String],
    ) -> Result<Self, LabError> {
        let mut wanted: BTreeSet<String> = prepared.servers(&setting.world());
        wanted.extend(others.iter().cloned());
        setting.check_steps(prepared)?;
        for name in &wanted {
            let is_secured = name.starts_with(SECURED);
            let url = if is_secured { name.clone() } else { format!("http://{name}") };
            setting.http.check_for(&url, is_secured)?;
        }
        let mut servers = Self::default();
        for name in wanted {
            let (host, port) = host_and_port(&name);
            let port = port.parse().map_err(|_| LabError::NoAddress {
                host: name.clone(),
                why: format!("`{port}` is no port"),
            })?;
            let found = resolve(host.trim_matches(['[', ']']), port)?;
            servers.addresses.extend(found.first());
            let scheme = if name.starts_with(SECURED) { SECURED } else { "" };
            servers.names.push(format!("{scheme}{host}:{port}"));
        }
        let protocols = vec![setting.http.alpn().to_owned()];
        servers.secure(&tls::Settings { protocols, ..setting.tls.clone() })?;
        Ok(servers)
    }

    fn secure(&mut self, settings: &tls::Settings) -> Result<(), LabError> {
        let secured = |name: &String| name.starts_with(SECURED);
        if !self.names.iter().any(secured) {
            return Ok(());
        }
        let hosts = self
            .names
            .iter()
            .map(|name| secured(name).then(|| host_and_port(name).0.trim_matches(['[', ']'])));
        let peers = Client::new(settings)?.peers(&hosts.collect::<Vec<_>>())?;
        for (number, address) in (0..).zip(&self.addresses) {
            peers.try_handshake(number, *address)?;
        }
        self.peers = Some(peers);
        Ok(())
    }

    /// Of each, by number, whether it is secured, its host and its port.
    pub fn hosts(&self) -> impl Iterator<Item = (bool, &str, u16)> {
        let ports = self.addresses.iter().map(SocketAddr::port);
        self.names
            .iter()
            .zip(ports)
            .map(|(name, port)| (name.starts_with(SECURED), host_and_port(name).0, port))
    }

    /// Their addresses, by number.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Which of them are secured, if any is.
    pub fn peers(&self) -> Option<&Peers> {
        self.peers.as_ref()
    }

    /// The number of the server of `url`.
    pub(crate) fn number(&self, url: &Url) -> Option<u32> {
        let name = server_of(url)?;
        self.names.iter().position(|known| *known == name).map(|index| index as u32)
    }
}

/// Of a server's name.
fn host_and_port(name: &str) -> (&str, &str) {
    let (name, usual) = name.strip_prefix(SECURED).map_or((name, "80"), |rest| (rest, "443"));
    name.rsplit_once(':').unwrap_or((name, usual))
}
