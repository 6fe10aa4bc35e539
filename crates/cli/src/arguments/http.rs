//! Which version of HTTP a load speaks, as typed.

use clap::{Args, ValueEnum};
use plan::{CopiedVersion, Http2Arguments, PlanError};
use units::whole;

/// Options of the version.
#[derive(Debug, Args)]
pub struct Http {
    /// HTTP version [default: 1.1]
    #[arg(id = "http_version", long = "http-version", value_name = "VERSION")]
    pub version: Option<Version>,
    /// Use HTTP/2, as --http-version 2; over TLS the server must agree to it, or the load does not begin
    #[arg(id = "http2", long = "http2", conflicts_with = "http_version")]
    pub two: bool,
    /// Use HTTP/2 also without TLS (h2c); the server must be known to speak it
    #[arg(long = "http2-prior-knowledge")]
    pub prior_knowledge: bool,
    /// With HTTP/2: requests that share a connection at the same time; in the closed model each is a user [default: 1]
    #[arg(long, visible_alias = "max-concurrent-streams", value_name = "STREAMS", value_parser = whole::<u32>)]
    pub streams: Option<u32>,
    /// With HTTP/2: the receive window of a stream, 2^BITS − 1 bytes [default: 30]
    #[arg(long, value_name = "BITS", value_parser = whole::<u32>)]
    pub window_bits: Option<u32>,
    /// With HTTP/2: the receive window of a connection, 2^BITS − 1 bytes [default: 30]
    #[arg(long, value_name = "BITS", value_parser = whole::<u32>)]
    pub connection_window_bits: Option<u32>,
}

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Version {
    /// HTTP/1.1
    #[value(name = "1.1")]
    Http1,
    /// HTTP/2
    #[value(name = "2")]
    Http2,
}

impl Http {
    /// HTTP/2, where it is asked for: by an option, or else by the command that the request was copied from.
    pub fn http2(&self, copied: Option<CopiedVersion>) -> Result<Option<Http2Arguments>, PlanError> {
        let is_said = self.two || self.prior_knowledge || self.version.is_some();
        let copied = copied.filter(|_| !is_said);
        let is_known = copied == Some(CopiedVersion::Http2PriorKnowledge);
        let is_copied = is_known || copied == Some(CopiedVersion::Http2);
        let is_asked_for =
            is_copied || self.two || self.prior_knowledge || self.version == Some(Version::Http2);
        if self.prior_knowledge && self.version == Some(Version::Http1) {
            let what = "--http2-prior-knowledge is HTTP/2, and --http-version 1.1 is not";
            return Err(PlanError::new(what, "leave one of them out"));
        }
        if is_asked_for {
            let Self { streams, window_bits, connection_window_bits, prior_knowledge, .. } = *self;
            return Ok(Some(Http2Arguments {
                streams,
                window_bits,
                connection_window_bits,
                prior_knowledge: prior_knowledge || is_known,
            }));
        }
        match self.only_http2_has() {
            None => Ok(None),
            Some(option) => {
                let help = "add --http2 (without TLS --http2-prior-knowledge), or leave it out";
                Err(PlanError::new(format!("{option} is of HTTP/2 alone"), help))
            }
        }
    }

    fn only_http2_has(&self) -> Option<&'static str> {
        let numbers = [
            (self.streams, "--streams"),
            (self.window_bits, "--window-bits"),
            (self.connection_window_bits, "--connection-window-bits"),
        ];
        numbers.into_iter().find(|(given, _)| given.is_some()).map(|(_, name)| name)
    }
}
