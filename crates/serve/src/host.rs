//! Whom a request was meant for.

use std::net::{IpAddr, Ipv6Addr};

/// Whether a `Host` header names a machine in a way that nobody else can turn: `localhost`, or an address. A page from
/// elsewhere whose name was made to lead here (DNS rebinding) sends that name.
pub(crate) fn is_ours(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        return address.parse::<Ipv6Addr>().is_ok() && (port.is_empty() || is_port(port));
    }
    let (name, is_good) = match host.find(':') {
        Some(at) => (&host[..at], is_port(&host[at..])),
        None => (host, true),
    };
    is_good && (name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok())
}

/// `:80`.
fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| digits.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_localhost_are_ours_and_names_are_not() {
        for host in
            ["127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]", "[::1]:80", "192.168.1.7:9"]
        {
            assert!(is_ours(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "127.0.0.1:80:80",
            "127.0.0.1:",
            "127.0.0.1:port",
            "[::1",
            "[::1]x",
            "[evil]:80",
            "",
            "user@127.0.0.1",
        ] {
            assert!(!is_ours(host), "{host}");
        }
    }
}
