//! What a stack speaks where it listens: one protocol, or several of which a load names one.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use crate::http_version::Http2Arguments;

/// What a stack speaks where it listens, to whoever asks: those who load it, and those who see whether it is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Speaks {
    /// TLS.
    pub is_secured: bool,
    /// HTTP/2, agreed on within TLS or known beforehand; else HTTP/1.1.
    pub http2: bool,
}

impl Speaks {
    /// What URLs of it begin with.
    pub const fn scheme(self) -> &'static str {
        if self.is_secured { "https" } else { "http" }
    }

    /// The protocol, as manifests and loads name it.
    pub(crate) const fn protocol(self) -> ProtocolName {
        match (self.http2, self.is_secured) {
            (false, _) => ProtocolName::Http1,
            (true, true) => ProtocolName::H2,
            (true, false) => ProtocolName::H2c,
        }
    }

    /// What is asked of a connection's `streams`, where it has any.
    pub(crate) fn http2(self, streams: Option<u32>) -> Option<Http2Arguments> {
        self.http2.then(|| Http2Arguments { streams, prior_knowledge: true, ..Http2Arguments::default() })
    }
}

/// All that a stack speaks where it listens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    first: Speaks,
    others: Vec<Speaks>,
}

impl Spoken {
    /// What is spoken with whoever names nothing else.
    pub const fn first(&self) -> Speaks {
        self.first
    }

    /// What is spoken by this name, where it is.
    pub(crate) fn by(&self, protocol: ProtocolName) -> Option<Speaks> {
        self.all().find(|it| it.protocol() == protocol)
    }

    /// All of it, the first first.
    pub(crate) fn all(&self) -> impl Iterator<Item = Speaks> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

/// A protocol as manifests and loads name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum ProtocolName {
    /// HTTP/1.1, within TLS or without.
    #[serde(rename = "http/1.1")]
    Http1,
    /// HTTP/2, agreed on within TLS.
    #[serde(rename = "h2")]
    H2,
    /// HTTP/2 without TLS.
    #[serde(rename = "h2c")]
    H2c,
}

impl ProtocolName {
    /// As it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::H2 => "h2",
            Self::H2c => "h2c",
        }
    }

    /// What is spoken by this name within TLS, or without.
    fn spoken(self, is_secured: bool) -> Result<Speaks, Wrong> {
        match (self, is_secured) {
            (Self::H2, false) => Err(Wrong {
                what: "h2 is agreed on within TLS",
                help: "add scheme = \"https\", or write h2c",
            }),
            (Self::H2c, true) => {
                Err(Wrong { what: "h2c is HTTP/2 without TLS", help: "write h2, or leave scheme out" })
            }
            (Self::Http1 | Self::H2 | Self::H2c, _) => Ok(Speaks { is_secured, http2: self != Self::Http1 }),
        }
    }
}

/// What is wrong with the protocols of a stack, and what to write instead.
pub(super) struct Wrong {
    pub(super) what: &'static str,
    pub(super) help: &'static str,
}

/// Protocols as a manifest names them: `"h2"`, or `["h2", "http/1.1"]`.
pub(super) struct Protocols(Vec<ProtocolName>);

impl Default for Protocols {
    fn default() -> Self {
        Self(vec![ProtocolName::Http1])
    }
}

impl Protocols {
    /// What they are within TLS, or without; the first is spoken with whoever names none.
    pub(super) fn spoken(self, is_secured: bool) -> Result<Spoken, Wrong> {
        let mut all: Vec<Speaks> = Vec::new();
        for name in self.0 {
            let speaks = name.spoken(is_secured)?;
            if all.contains(&speaks) {
                return Err(Wrong { what: "a protocol is named twice", help: "name each once" });
            }
            all.push(speaks);
        }
        let mut all = all.into_iter();
        let none = Wrong { what: "no protocol is named", help: "name one, or leave protocol out" };
        Ok(Spoken { first: all.next().ok_or(none)?, others: all.collect() })
    }
}

impl<'de> Deserialize<'de> for Protocols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProtocolsVisitor)
    }
}

struct ProtocolsVisitor;

impl<'de> Visitor<'de> for ProtocolsVisitor {
    type Value = Protocols;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a protocol, or a list of them such as [\"h2\", \"http/1.1\"]")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Protocols, E> {
        ProtocolName::deserialize(StrDeserializer::new(name)).map(|name| Protocols(vec![name]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Protocols, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Protocols)
    }
}
