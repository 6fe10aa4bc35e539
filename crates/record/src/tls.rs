//! How the connections of a load were secured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;

/// TLS over the whole load, warm-up included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Tls {
    /// What the first connection agreed on; absent where no handshake succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Agreed>,
    /// Connections that agreed on something else than the first.
    pub agreed_otherwise: u64,
    /// Whether servers' certificates were checked: chain and name.
    pub verified: bool,
    /// Handshakes with keys of their own.
    pub full_handshakes: u64,
    /// Handshakes that went on with the keys of an earlier connection.
    pub resumed_handshakes: u64,
    /// Handshakes that failed, by kind; those of the opening included, and those that were given up not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_handshakes: BTreeMap<String, u64>,
    /// Connections that a fatal alert or a broken record ended after their handshake, by kind; as `record_limit` those that we
    /// ended, since keys of TLS 1.2 are good for so many records and no more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub broken: BTreeMap<String, u64>,
    /// From the first packet until a connection was there, where it was to be secured.
    pub connect_us: Distribution,
    /// From there until data might be sent.
    pub handshake_us: Distribution,
}

/// What client and server agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Agreed {
    /// `TLS 1.3` or `TLS 1.2`.
    pub version: String,
    /// By its name at IANA: `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// Of the key exchange: `X25519`. Absent where a connection was resumed without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The protocol that the server chose of those offered (ALPN); absent where it chose none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpn: Option<String>,
}
