//! What is asked of TLS, as it was typed.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

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
    pub trusted: Option<Pem>,
    /// The client's certificate and those between it and its authority (PEM).
    pub certificate: Option<Pem>,
    /// Its key (PEM); in the certificate's file if not given.
    pub key: Option<Pem>,
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

impl Settings {
    /// The same with what is in its files in place of their names, so that other machines can be told of it.
    ///
    /// # Errors
    /// If a file can't be read, or holds more than is told.
    pub fn with_files_read(&self) -> Result<Self, TlsError> {
        let read = |pem: &Option<Pem>, option: &str| pem.as_ref().map(|pem| pem.to_text(option)).transpose();
        Ok(Self {
            trusted: read(&self.trusted, "--cacert")?,
            certificate: read(&self.certificate, "--cert")?,
            key: read(&self.key, "--key")?,
            ..self.clone()
        })
    }
}

/// The most of a file that other machines are told, bytes.
const TOLD_BYTES_MAX: usize = 1 << 20;

/// The longest file of certificates or keys that is read, bytes: a system's whole store is some 250 kB.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Certificates, or a key, in PEM form.
#[derive(Clone, PartialEq, Eq)]
pub enum Pem {
    /// In this file.
    File(PathBuf),
    /// What was in a file of another machine.
    Text(Arc<[u8]>),
}

impl Pem {
    /// What is in it; `option` named it.
    ///
    /// # Errors
    /// If its file can't be read, or is longer than any of certificates.
    pub fn read(&self, option: &str) -> Result<Vec<u8>, TlsError> {
        let path = match self {
            Self::File(path) => path,
            Self::Text(text) => return Ok(text.to_vec()),
        };
        let unreadable = |why: String| {
            TlsError::setting(format!("{self} can't be read ({why})"), format!("check {option}"))
        };
        // A device has no length beforehand, and may have no end.
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text));
        read.map_err(|error| unreadable(error.to_string()))?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(unreadable(format!("it is longer than {FILE_BYTES_MAX} bytes")));
        }
        Ok(text)
    }

    fn to_text(&self, option: &str) -> Result<Self, TlsError> {
        let text = self.read(option)?;
        if text.len() > TOLD_BYTES_MAX {
            return Err(TlsError::setting(
                format!("{self} has more than the {TOLD_BYTES_MAX} bytes that other machines are told"),
                format!("give {option} a file of what this load needs"),
            ));
        }
        Ok(Self::Text(text.into()))
    }
}

impl From<PathBuf> for Pem {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl fmt::Display for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Text(text) => write!(f, "the text of {} bytes", text.len()),
        }
    }
}

/// A key is a secret.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read_to_it() {
        let told = Pem::File("/dev/zero".into()).read("--cacert").unwrap_err().to_string();
        assert!(told.contains("/dev/zero can't be read (it is longer than 16777216 bytes)"), "{told}");
        assert!(told.contains("check --cacert"), "{told}");
    }
}
