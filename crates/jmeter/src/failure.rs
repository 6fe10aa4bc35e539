//! How JMeter writes down a request that got no answer: the class and the text of an exception.

use std::fmt;

use engine::{ConnectFailure, Outcome};

/// Why there was no answer. Hosts and addresses are as messages show them: `localhost:8080`, `127.0.0.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure<'a> {
    /// Nobody listens there.
    ConnectRefused {
        /// Host and port.
        server: &'a str,
        /// The address that the host's name stands for.
        address: &'a str,
    },
    /// There was no connection within the connect timeout.
    ConnectTimedOut {
        /// Host and port.
        server: &'a str,
        /// The address that the host's name stands for.
        address: &'a str,
    },
    /// There is no way to it.
    Unreachable {
        /// Host and port.
        server: &'a str,
        /// The address that the host's name stands for.
        address: &'a str,
    },
    /// The host's name stands for no address.
    UnknownHost {
        /// The host, without a port.
        host: &'a str,
    },
    /// The URL is none.
    BadUrl {
        /// As it came out.
        url: &'a str,
    },
    /// There was no answer, or not all of it, within the response timeout.
    ReadTimedOut,
    /// There was a connection, and its TLS handshake came to nothing.
    NotSecured {
        /// Why, as records name it.
        why: &'static str,
    },
    /// The connection was reset.
    Reset,
    /// The server closed the connection before it answered.
    NoAnswer {
        /// Host and port.
        server: &'a str,
    },
    /// The server closed the connection within its answer.
    CutOff,
    /// What came was no answer.
    Malformed,
    /// The run ended before the answer.
    Interrupted,
}

impl<'a> Failure<'a> {
    /// What JMeter makes of a request that was not answered: of `server`, which is host and port, at `address`.
    pub(crate) fn of(outcome: Outcome, server: &'a str, address: &'a str, received_bytes: u64) -> Self {
        match outcome {
            Outcome::ConnectFailed(ConnectFailure::Refused) => Self::ConnectRefused { server, address },
            Outcome::ConnectFailed(ConnectFailure::TimedOut) => Self::ConnectTimedOut { server, address },
            Outcome::ConnectFailed(ConnectFailure::Reset)
            | Outcome::Reset
            | Outcome::RefusedStream
            | Outcome::StreamReset(_)
            | Outcome::GoneAway => Self::Reset,
            Outcome::ConnectFailed(_) => Self::Unreachable { server, address },
            Outcome::TlsFailed(failure) => Self::NotSecured { why: failure.name() },
            Outcome::TimedOut => Self::ReadTimedOut,
            Outcome::ClosedEarly if received_bytes == 0 => Self::NoAnswer { server },
            Outcome::ClosedEarly => Self::CutOff,
            Outcome::Malformed(_) => Self::Malformed,
            Outcome::Unsent | Outcome::BacklogOverflow | Outcome::InFlight | Outcome::Answered { .. } => {
                Self::Interrupted
            }
        }
    }
}

impl Failure<'_> {
    /// What stands in the place of the status.
    pub fn code(self) -> String {
        format!("Non HTTP response code: {}", self.exception())
    }

    /// What stands in the place of the reason phrase.
    pub fn message(self) -> String {
        format!("Non HTTP response message: {}", Text(self))
    }

    fn exception(self) -> &'static str {
        match self {
            Self::ConnectRefused { .. } => "org.apache.http.conn.HttpHostConnectException",
            Self::ConnectTimedOut { .. } => "org.apache.http.conn.ConnectTimeoutException",
            Self::Unreachable { .. } => "java.net.NoRouteToHostException",
            Self::UnknownHost { .. } => "java.net.UnknownHostException",
            Self::BadUrl { .. } => "java.net.MalformedURLException",
            Self::NotSecured { .. } => "javax.net.ssl.SSLHandshakeException",
            Self::ReadTimedOut => "java.net.SocketTimeoutException",
            Self::Reset | Self::Interrupted => "java.net.SocketException",
            Self::NoAnswer { .. } => "org.apache.http.NoHttpResponseException",
            Self::CutOff => "org.apache.http.ConnectionClosedException",
            Self::Malformed => "org.apache.http.client.ClientProtocolException",
        }
    }
}

/// The exception's text.
struct Text<'a>(Failure<'a>);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut connect = |server: &str, address: &str, why: &str| {
            let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
            write!(f, "Connect to {server} [{host}/{address}] failed: {why}")
        };
        match self.0 {
            Failure::ConnectRefused { server, address } => connect(server, address, "Connection refused"),
            Failure::ConnectTimedOut { server, address } => connect(server, address, "Connect timed out"),
            Failure::Unreachable { .. } => f.write_str("No route to host"),
            Failure::UnknownHost { host } => write!(f, "{host}: Name or service not known"),
            Failure::BadUrl { url } => write!(f, "no such URL: {url}"),
            Failure::NotSecured { why } => write!(f, "TLS handshake failed: {}", why.replace('_', " ")),
            Failure::ReadTimedOut => f.write_str("Read timed out"),
            Failure::Reset => f.write_str("Connection reset"),
            Failure::NoAnswer { server } => write!(f, "{server} failed to respond"),
            Failure::CutOff => f.write_str("Premature end of message body"),
            Failure::Malformed => f.write_str("The server failed to respond with a valid HTTP response"),
            Failure::Interrupted => f.write_str("Socket closed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_read_as_jmeter_writes_them() {
        let refused = Failure::ConnectRefused { server: "localhost:8080", address: "127.0.0.1" };
        assert_eq!(
            refused.message(),
            "Non HTTP response message: Connect to localhost:8080 [localhost/127.0.0.1] failed: Connection refused"
        );
        assert_eq!(Failure::ReadTimedOut.code(), "Non HTTP response code: java.net.SocketTimeoutException");
        assert_eq!(Failure::ReadTimedOut.message(), "Non HTTP response message: Read timed out");
        let silent = Failure::NoAnswer { server: "h:1" };
        assert_eq!(silent.code(), "Non HTTP response code: org.apache.http.NoHttpResponseException");
        assert_eq!(silent.message(), "Non HTTP response message: h:1 failed to respond");
    }
}
