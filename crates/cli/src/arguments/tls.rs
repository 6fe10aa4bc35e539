//! How connections are secured, where a URL begins with https.

use std::path::PathBuf;

use clap::Args;
use tls::{Settings, Version};
use units::Share;

/// Options for https.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "TLS (https; docs/tls.md)")]
pub struct Tls {
    /// Accept any certificate: neither its chain nor its name is checked
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Certificates to trust instead of the system's: of authorities, or the server's own (PEM)
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub cacert: Option<PathBuf>,
    /// The client's certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of --cert (PEM) [default: in the file of --cert]
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Server name to send (SNI), which the certificate has to match [default: the URL's host]
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// The newest TLS version to use: 1.2 or 1.3
    #[arg(long = "tls-max", value_name = "VERSION")]
    pub newest: Option<Version>,
    /// Use TLS 1.3 only
    #[arg(long = "tlsv1.3")]
    pub tls13: bool,
    /// Cipher suites of TLS 1.2, the best first: ECDHE-RSA-AES128-GCM-SHA256:…
    #[arg(long, value_name = "LIST")]
    pub ciphers: Option<String>,
    /// Cipher suites of TLS 1.3: TLS_AES_128_GCM_SHA256:…
    #[arg(long, value_name = "LIST")]
    pub tls13_ciphers: Option<String>,
    /// Key exchange groups: X25519:P-256:P-384:X25519MLKEM768
    #[arg(long, value_name = "LIST")]
    pub groups: Option<String>,
    /// Resume sessions where the server allows it [default: each connection is a new user's, with a full handshake]
    #[arg(long = "tls-resume")]
    pub resume: bool,
    /// With --tls-resume: the share of new connections that make a full handshake nevertheless: 10%
    #[arg(long, value_name = "SHARE", requires = "resume")]
    pub full_handshakes: Option<Share>,
}

impl Tls {
    /// What is asked for.
    pub fn settings(&self) -> Settings {
        let default = Settings::default();
        Settings {
            insecure: self.insecure,
            trusted: self.cacert.clone().map(Into::into),
            certificate: self.cert.clone().map(Into::into),
            key: self.key.clone().map(Into::into),
            name: self.sni.clone(),
            version_min: if self.tls13 { Version::Tls13 } else { default.version_min },
            version_max: self.newest.unwrap_or(default.version_max),
            ciphers: self.ciphers.clone(),
            tls13_ciphers: self.tls13_ciphers.clone(),
            groups: self.groups.clone(),
            resume: self.resume,
            full_handshakes: self.full_handshakes,
            protocols: default.protocols,
        }
    }

    /// The name of an option that was given, if one was.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--insecure", self.insecure),
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--sni", self.sni.is_some()),
            ("--tls-max", self.newest.is_some()),
            ("--tlsv1.3", self.tls13),
            ("--ciphers", self.ciphers.is_some()),
            ("--tls13-ciphers", self.tls13_ciphers.is_some()),
            ("--groups", self.groups.is_some()),
            ("--tls-resume", self.resume),
            ("--full-handshakes", self.full_handshakes.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}
