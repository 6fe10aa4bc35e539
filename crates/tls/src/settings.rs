//! What is asked of TLS, as it was typed.

use std::path::PathBuf;
use std::str::FromStr;

use units::Share;

use crate::error::TlsError;

/// The name of HTTP/1.1 among protocols to choose from (ALPN).
pub const HTTP_1_1: &str = "http/1.1";
/// The name of HTTP/2 among them.
pub const HTTP_2: &str = "h2";

/// How connections are to be secured.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Take any certificate: its chain and its name are not looked at. That the server has its key is checked all the same.
    pub insecure: bool,
    /// Certificates to trust in place of the system's: authorities, and servers' own (PEM).
    pub trusted: Option<PathBuf>,
    /// The client's certificate and those between it and its authority (PEM).
    pub certificate: Option<PathBuf>,
    /// Its key (PEM); in the certificate's file if not given.
    pub key: Option<PathBuf>,
    /// The name that servers are asked for and have to prove, in place of that of the URL.
    pub name: Option<String>,
    /// The oldest version that is spoken.
    pub version_min: Version,
    /// The newest version that is spoken.
    pub version_max: Version,
    /// Cipher suites of TLS 1.2 by OpenSSL's names, the best first, between colons; all if not given.
    pub ciphers: Option<String>,
    /// Cipher suites of TLS 1.3, likewise.
    pub tls13_ciphers: Option<String>,
    /// Groups for the exchange of keys, likewise.
    pub groups: Option<String>,
    /// Go on with the keys of earlier connections where the server lets.
    pub resume: bool,
    /// The share of the connections that have keys of their own all the same, where sessions are resumed. More have them where
    /// the server gives no session to go on with.
    pub full_handshakes: Option<Share>,
    /// The protocols that servers choose from (ALPN), the best first. A server may choose none where HTTP/1.1 is among them.
    pub protocols: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            insecure: false,
            trusted: None,
            certificate: None,
            key: None,
            name: None,
            version_min: Version::Tls12,
            version_max: Version::Tls13,
            ciphers: None,
            tls13_ciphers: None,
            groups: None,
            resume: false,
            full_handshakes: None,
            protocols: vec![HTTP_1_1.to_owned()],
        }
    }
}

/// A version of TLS that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// RFC 5246.
    Tls12,
    /// RFC 8446.
    Tls13,
}

impl FromStr for Version {
    type Err = TlsError;

    fn from_str(text: &str) -> Result<Self, TlsError> {
        match text {
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            _ => Err(TlsError::setting(
                format!("`{text}` is no version of TLS that is spoken"),
                "write 1.2 or 1.3",
            )),
        }
    }
}
