//! The servers that a scenario names, known before the load begins: names are not looked up while it runs.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::sync::Arc;

use plan::PlanError;
use scenario::{Prepared, server_of};
use tls::{Client, Peers};
use url::Url;

use super::Setting;
use crate::error::LabError;
use crate::load::{greet, resolve};

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
    /// variables may: those are what `--host` names. Tries a handshake with each that is secured, and over HTTP/2 greets the others.
    ///
    /// # Errors
    /// Before anything is sent, what can't be said over the version that is spoken, and servers that can't be spoken to in it;
    /// then servers that are not there.
    pub fn resolve(
        prepared: &Arc<Prepared>,
        setting: &Setting<'_>,
        others: &[String],
    ) -> Result<Self, LabError> {
        others.iter().try_for_each(|name| is_named_whole(name))?;
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
            let is_secured = name.starts_with(SECURED);
            if !is_secured {
                found.iter().try_for_each(|address| greet(*address, setting.http))?;
            }
            let scheme = if is_secured { SECURED } else { "" };
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

/// Refuses the name of a server that lacks something: a port that nobody said would be looked for in vain.
fn is_named_whole(name: &str) -> Result<(), PlanError> {
    let (bare, usual) = name.strip_prefix(SECURED).map_or((name, 80), |rest| (rest, 443));
    if let Some(rest) = bare.strip_prefix("http://") {
        let what = format!("`{name}` in --host has a scheme, and only https:// stands before a server");
        return Err(PlanError::new(what, format!("write {rest}")));
    }
    // The colons of an address in brackets are its own.
    let port = bare.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
    let Some((host, port)) = port else {
        let what = format!("`{name}` in --host has no port");
        return Err(PlanError::new(what, format!("write it behind a colon, as in {name}:{usual}")));
    };
    if host.contains(':') && !host.starts_with('[') {
        let what = format!("`{name}` in --host has more than one colon");
        return Err(PlanError::new(
            what,
            format!("write an IPv6 address in brackets, as in [{bare}]:{usual}"),
        ));
    }
    if host.is_empty() {
        let what = format!("`{name}` in --host has no host before its port");
        return Err(PlanError::new(what, format!("write one, as in 127.0.0.1:{port}")));
    }
    if port.parse::<NonZeroU16>().is_err() {
        let what = format!("`{port}` in --host {name} is no port");
        return Err(PlanError::new(what, format!("write a number from 1 to 65535, as in {host}:{usual}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_named_by_half_is_told_what_is_missing() {
        for name in ["shop.test:8080", "https://shop.test:8443", "[::1]:80", "https://[::1]:443"] {
            assert_eq!(is_named_whole(name), Ok(()), "{name}");
        }
        for (name, said) in [
            ("shop.test", "`shop.test` in --host has no port; write it behind a colon, as in shop.test:80"),
            ("https://shop.test", "has no port; write it behind a colon, as in https://shop.test:443"),
            ("[::1]", "has no port; write it behind a colon, as in [::1]:80"),
            ("::1", "has more than one colon; write an IPv6 address in brackets, as in [::1]:80"),
            ("https://fe80::1", "in brackets, as in [fe80::1]:443"),
            (":8080", "has no host before its port; write one, as in 127.0.0.1:8080"),
            ("shop.test:", "`` in --host shop.test: is no port"),
            ("shop.test:http", "`http` in --host shop.test:http is no port"),
            ("shop.test:0", "write a number from 1 to 65535, as in shop.test:80"),
            ("http://shop.test:80", "only https:// stands before a server; write shop.test:80"),
        ] {
            let error = is_named_whole(name).unwrap_err().to_string();
            assert!(error.contains(said), "{name}: {error}");
        }
    }
}
