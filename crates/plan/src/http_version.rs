//! Which version of HTTP a load speaks.

use http::RequestSpec;

use crate::error::PlanError;

/// What a load speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpVersion {
    /// HTTP/1.1: an exchange at a time on each connection.
    #[default]
    Http1,
    /// HTTP/2: several, as streams.
    Http2 {
        /// What its connections are asked to be.
        settings: h2::Settings,
        /// Whether the server is known to speak it where nothing is agreed on: without TLS. Over TLS it is agreed on in any
        /// case.
        prior_knowledge: bool,
    },
}

/// The version that a copied command asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedVersion {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, agreed on.
    Http2,
    /// HTTP/2 on a server that is known to speak it.
    Http2PriorKnowledge,
}

impl HttpVersion {
    /// HTTP/2 where it is asked for, else HTTP/1.1.
    ///
    /// # Errors
    /// Streams or windows that no connection can have.
    pub fn asked_for(http2: Option<Http2Arguments>) -> Result<Self, PlanError> {
        let Some(http2) = http2 else { return Ok(Self::Http1) };
        Ok(Self::Http2 { settings: http2.settings()?, prior_knowledge: http2.prior_knowledge })
    }

    /// Exchanges that share a connection at most.
    pub const fn streams(self) -> u32 {
        match self {
            Self::Http1 => 1,
            Self::Http2 { settings, .. } => settings.streams,
        }
    }

    /// The name in records, where it is not HTTP/1.1.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Http1 => None,
            Self::Http2 { .. } => Some("http/2"),
        }
    }

    /// Whether a request may have this field: HTTP/2 has no place for those of one connection alone.
    pub fn has_place_for(self, name: &str, value: &str) -> bool {
        self == Self::Http1 || !h2::is_of_http1(name, value)
    }

    /// The name under which it is agreed on within TLS.
    pub const fn alpn(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::Http2 { .. } => "h2",
        }
    }

    /// Refuses a version that nobody can agree on at `url`.
    ///
    /// # Errors
    /// HTTP/2 without TLS, unless the server is known to speak it.
    pub fn check_for(self, url: &str, is_secured: bool) -> Result<(), PlanError> {
        match self {
            Self::Http2 { prior_knowledge: false, .. } if !is_secured => {
                let what = format!("HTTP/2 is agreed on within TLS, and `{url}` is reached without it");
                let help = "write https:// for http://, or add --http2-prior-knowledge where the server is known to speak it";
                Err(PlanError::new(what, help))
            }
            Self::Http1 | Self::Http2 { .. } => Ok(()),
        }
    }

    /// A request as it is given to this version's protocol, for a server that is reached over TLS or not.
    pub(crate) fn encode(self, spec: &RequestSpec<'_>, is_secured: bool) -> Result<Vec<u8>, PlanError> {
        let encoded = match self {
            Self::Http1 => http::encode(spec),
            Self::Http2 { .. } if is_secured => h2::encode(spec, h2::Scheme::Https),
            Self::Http2 { .. } => h2::encode(spec, h2::Scheme::Http),
        };
        encoded.map_err(|error| PlanError::of_request(&error))
    }
}

/// HTTP/2 as the user asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Http2Arguments {
    /// Streams a connection; one if not given.
    pub streams: Option<u32>,
    /// Bits of a stream's window.
    pub window_bits: Option<u32>,
    /// Bits of a connection's window.
    pub connection_window_bits: Option<u32>,
    /// Whether it is spoken without TLS, too.
    pub prior_knowledge: bool,
}

impl Http2Arguments {
    /// Checks them.
    pub fn settings(self) -> Result<h2::Settings, PlanError> {
        let default = h2::Settings::default();
        let streams = self.streams.unwrap_or(default.streams);
        if streams == 0 {
            return Err(PlanError::new("zero streams", "give at least one, as in 32"));
        }
        if streams > h2::STREAMS_MAX {
            let what = format!("{streams} streams are more than {} a connection", h2::STREAMS_MAX);
            return Err(PlanError::new(what, "share them among several connections"));
        }
        Ok(h2::Settings {
            streams,
            window_bits: bits("a window", self.window_bits, default.window_bits)?,
            connection_window_bits: bits(
                "the window of a connection",
                self.connection_window_bits,
                default.connection_window_bits,
            )?,
            ..default
        })
    }
}

fn bits(of: &str, given: Option<u32>, default: u32) -> Result<u32, PlanError> {
    let (least, most) = (h2::WINDOW_BITS_MIN, h2::WINDOW_BITS_MAX);
    match given {
        Some(bits) if !(least..=most).contains(&bits) => Err(PlanError::new(
            format!("{of} of 2^{bits} − 1 bytes"),
            format!("give from {least} to {most} bits; {default} never limits"),
        )),
        given => Ok(given.unwrap_or(default)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_connection_can_be_is_refused() {
        let base = Http2Arguments::default;
        for (arguments, part) in [
            (Http2Arguments { streams: Some(0), ..base() }, "zero streams"),
            (Http2Arguments { streams: Some(1_000_000), ..base() }, "more than 100000 a connection"),
            (Http2Arguments { window_bits: Some(31), ..base() }, "a window of 2^31 − 1 bytes"),
            (Http2Arguments { connection_window_bits: Some(9), ..base() }, "from 10 to 30 bits"),
        ] {
            let error = arguments.settings().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let settings = Http2Arguments { streams: Some(32), ..base() }.settings().unwrap();
        assert_eq!(settings, h2::Settings { streams: 32, ..h2::Settings::default() });
    }
}
