//! What the connections of a load have in common: settings put into effect, and the servers they reach.

use std::fmt;
use std::sync::Arc;

use engine::TlsFailure;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, ClientConfig, CommonState, Error, KeyLogFile, PeerMisbehaved, RootCertStore,
    SupportedProtocolVersion, version,
};
use units::Share;

use crate::error::TlsError;
use crate::names;
use crate::pem;
use crate::report::Agreed;
use crate::settings::{HTTP_1_1, Settings, Version};
use crate::tunnel::Tunnel;
use crate::verify::{Trust, Verifier};

/// Sessions that are kept to be resumed.
const SESSIONS_MAX: usize = 4096;

/// Settings put into effect. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    pub(crate) config: Arc<ClientConfig>,
    /// The same without sessions, for so many of the connections.
    full: Option<(Arc<ClientConfig>, Share)>,
    /// The name to use in place of the URL's.
    name: Option<String>,
    verifies: bool,
    /// Whether a server may choose no protocol.
    pub(crate) takes_silence: bool,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("name", &self.name)
            .field("verifies", &self.verifies)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Reads what `settings` name and checks it.
    ///
    /// Where the environment has `SSLKEYLOGFILE`, keys are written there.
    pub fn new(settings: &Settings) -> Result<Self, TlsError> {
        if settings.version_min > settings.version_max {
            let what = "no version of TLS is left between the oldest and the newest that are asked for";
            return Err(TlsError::setting(what, "raise --tls-max, or leave --tlsv1.3 out"));
        }
        let provider = Arc::new(names::chosen(aws_lc_rs::default_provider(), settings)?);
        let verifier = Verifier {
            trust: trust(settings, &provider)?,
            algorithms: provider.signature_verification_algorithms,
        };
        let unusable = |error: Error| {
            let help = "give suites for the versions that are spoken";
            TlsError::setting(format!("these settings can't be used ({error})"), help)
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions(settings))
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &settings.certificate {
            None if settings.key.is_some() => {
                return Err(TlsError::setting("--key goes with a certificate", "add --cert FILE"));
            }
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain = pem::certificates(own, "--cert")?;
                let key = pem::key(settings.key.as_ref().unwrap_or(own), "--key")?;
                builder.with_client_auth_cert(chain, key).map_err(|error| {
                    let help = "give the key of this very certificate";
                    TlsError::setting(format!("--cert and --key can't be used together ({error})"), help)
                })?
            }
        };
        config.alpn_protocols = settings.protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        config.resumption = if settings.resume {
            Resumption::in_memory_sessions(SESSIONS_MAX)
        } else {
            Resumption::disabled()
        };
        config.key_log = Arc::new(KeyLogFile::new());
        let full = settings.full_handshakes.filter(|_| settings.resume).map(|share| {
            let mut alone = config.clone();
            alone.resumption = Resumption::disabled();
            (Arc::new(alone), share)
        });
        Ok(Self {
            config: Arc::new(config),
            full,
            name: settings.name.clone(),
            verifies: !settings.insecure,
            takes_silence: settings.protocols.iter().any(|it| it == HTTP_1_1),
        })
    }

    /// Whether servers' certificates are checked: chain and name.
    pub fn verifies(&self) -> bool {
        self.verifies
    }

    /// What the connection of this number is made with, counted from 0.
    pub(crate) fn config_of(&self, number: u64) -> &Arc<ClientConfig> {
        match &self.full {
            Some((config, share)) if is_full(*share, number) => config,
            _ => &self.config,
        }
    }

    /// The protocols that servers choose from, for people.
    pub(crate) fn offered(&self) -> String {
        let names = self.config.alpn_protocols.iter().map(|it| String::from_utf8_lossy(it));
        names.collect::<Vec<_>>().join(" or ")
    }

    /// The one server of a load: all its connections are secured under `host`, or the name that the settings have.
    pub fn peer(&self, host: &str) -> Result<Peers, TlsError> {
        self.peers(&[Some(host)])
    }

    /// The servers of a load, by number; those without a name are not secured.
    pub fn peers(&self, hosts: &[Option<&str>]) -> Result<Peers, TlsError> {
        let names = hosts.iter().map(|host| host.map(|host| self.server_name(host)).transpose());
        Ok(Peers { client: self.clone(), names: names.collect::<Result<_, _>>()?, tunnel: None })
    }

    fn server_name(&self, host: &str) -> Result<ServerName<'static>, TlsError> {
        let host = self.name.as_deref().unwrap_or(host);
        ServerName::try_from(host.to_owned()).map_err(|_| {
            TlsError::setting(
                format!("`{host}` is no name that a certificate could be for"),
                "give one with --sni, such as example.com",
            )
        })
    }
}

/// Whether the connection of this number is one of those that have keys of their own: `share` of all, evenly.
fn is_full(share: Share, number: u64) -> bool {
    /// Products of shares may be a hair below a whole number.
    const EPSILON: f64 = 1e-9;
    let up_to = |count: u64| (count as f64 * share.get() + EPSILON).floor();
    up_to(number + 1) > up_to(number)
}

/// Who is trusted.
fn trust(settings: &Settings, provider: &Arc<CryptoProvider>) -> Result<Trust, TlsError> {
    if settings.insecure {
        return Ok(Trust::Nothing);
    }
    let named = match &settings.trusted {
        Some(named) => pem::certificates(named, "--cacert")?,
        None => Vec::new(),
    };
    let mut roots = RootCertStore::empty();
    if settings.trusted.is_some() {
        roots.add_parsable_certificates(named.iter().cloned());
    } else {
        // What of the system's can't be read is as if it were not there: a server that needs it is told of.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if roots.is_empty() {
        let (what, help) = match &settings.trusted {
            Some(pem) => (
                format!("no certificate in {pem} can be used"),
                "check --cacert, or skip the check with --insecure",
            ),
            None => (
                "this machine has no certificates of authorities".to_owned(),
                "install them (ca-certificates), name some with --cacert FILE, or skip the check with --insecure",
            ),
        };
        return Err(TlsError::setting(what, help));
    }
    let authorities =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build().map_err(
            |error| TlsError::setting(format!("authorities can't be used ({error})"), "check --cacert"),
        )?;
    Ok(Trust::Chain { authorities, named })
}

fn versions(settings: &Settings) -> Vec<&'static SupportedProtocolVersion> {
    [(Version::Tls13, &version::TLS13), (Version::Tls12, &version::TLS12)]
        .into_iter()
        .filter(|(it, _)| (settings.version_min..=settings.version_max).contains(it))
        .map(|(_, version)| version)
        .collect()
}

/// Which servers of a load are secured, and under which name. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Peers {
    pub(crate) client: Client,
    names: Arc<[Option<ServerName<'static>>]>,
    /// What opens a tunnel through a proxy, where connections go to one.
    pub(crate) tunnel: Option<Tunnel>,
}

impl Peers {
    /// The same behind a proxy: each connection goes to that, and is secured, where it is to be, once it leads through `tunnel`.
    #[must_use]
    pub fn through(self, tunnel: Tunnel) -> Self {
        Self { tunnel: Some(tunnel), ..self }
    }

    /// Whether any server is secured. Connections to one that is not may lead through a tunnel all the same.
    pub fn secures(&self) -> bool {
        self.names.iter().any(Option::is_some)
    }

    /// Under which name connections to the server of this number are secured.
    pub(crate) fn name(&self, target: Option<u32>) -> Option<&ServerName<'static>> {
        let index = target.unwrap_or(0) as usize % self.names.len().max(1);
        self.names.get(index)?.as_ref()
    }

    /// Whether servers' certificates are checked.
    pub fn verifies(&self) -> bool {
        self.client.verifies()
    }
}

/// What a connection whose handshake is over agreed on.
pub(crate) fn agreed(state: &CommonState) -> Agreed {
    Agreed {
        version: state.protocol_version().map_or("unknown", names::of_version).into(),
        cipher: state.negotiated_cipher_suite().map_or("unknown", |it| names::of_suite(it.suite())).into(),
        group: state.negotiated_key_exchange_group().map(|it| names::of_group(it.name()).into()),
        protocol: state.alpn_protocol().map(|it| String::from_utf8_lossy(it).into_owned()),
    }
}

/// What a failure is called.
pub(crate) fn failure(error: &Error) -> TlsFailure {
    match error {
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented => TlsFailure::Certificate,
        Error::NoApplicationProtocol
        | Error::AlertReceived(AlertDescription::NoApplicationProtocol)
        | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol) => TlsFailure::Alpn,
        Error::AlertReceived(alert) => TlsFailure::Alert(u8::from(*alert)),
        _ => TlsFailure::Protocol,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_connections_is_full_evenly() {
        let of = |percent: f64, count: u64| {
            let share = Share::percent(percent).expect("it is a share");
            (0..count).filter(|number| is_full(share, *number)).count()
        };
        assert_eq!(
            [of(29.0, 100), of(10.0, 100), of(100.0, 7), of(0.1, 999), of(0.1, 1000)],
            [29, 10, 7, 0, 1]
        );
        // Not all of them first.
        assert_eq!(of(50.0, 10), 5);
        assert_eq!([of(50.0, 1), of(50.0, 2), of(50.0, 3)], [0, 1, 1]);
    }
}
