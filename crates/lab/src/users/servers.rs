//! The servers that a scenario names, known before the load begins: names are not looked up while it runs.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use std::sync::Arc;

use scenario::Prepared;
use url::Url;

use super::Setting;
use crate::error::LabError;
use crate::load::resolve;

/// Servers by number.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// `host:port` of each.
    names: Vec<String>,
    addresses: Vec<SocketAddr>,
}

impl Servers {
    /// Resolves the servers that the scenario's URLs name, and `others` (`host:port`), which its variables may.
    pub fn resolve(
        prepared: &Arc<Prepared>,
        setting: &Setting<'_>,
        others: &[String],
    ) -> Result<Self, LabError> {
        let mut wanted: BTreeSet<String> = prepared.servers(&setting.world());
        wanted.extend(others.iter().cloned());
        let mut servers = Self::default();
        for name in wanted {
            let (host, port) = name.rsplit_once(':').unwrap_or((&name, "80"));
            let port = port.parse().map_err(|_| LabError::NoAddress {
                host: name.clone(),
                why: format!("`{port}` is no port"),
            })?;
            let found = resolve(host.trim_matches(['[', ']']), port)?;
            servers.names.push(name);
            servers.addresses.extend(found.first());
        }
        Ok(servers)
    }

    /// Host and port of each, by number.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, u16)> {
        let ports = self.addresses.iter().map(SocketAddr::port);
        let host = |name| str::rsplit_once(name, ':').map_or(name, |(host, _)| host);
        self.names.iter().map(move |name| host(name.as_str())).zip(ports)
    }

    /// Their addresses, by number.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The number of the server of `url`.
    pub(crate) fn number(&self, url: &Url) -> Option<u32> {
        let host = url.host_str()?;
        let port = url.port_or_known_default()?;
        let is = |name: &String| {
            name.rsplit_once(':').is_some_and(|(it, at)| it == host && at.parse() == Ok(port))
        };
        self.names.iter().position(is).map(|index| index as u32)
    }
}
