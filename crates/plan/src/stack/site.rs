//! Where a service is running already.

use std::path::PathBuf;

use crate::error::PlanError;
use crate::request::parse_url;

/// What to do instead of a user name or a password: an endpoint has no header for them.
const NO_HEADERS: &str =
    "take it out; a run sends no headers of its own, and `proofload hit` does: -H 'Authorization: Basic …'";

/// Where a service is running already, and whom to take for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Its URL: `https://host:port/base`.
    pub url: String,
    /// Name or address to resolve, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// What requests name as the host: with the port, unless that is the scheme's own.
    pub authority: String,
    /// What each path begins with; empty where the URL ends behind host and port.
    pub base: String,
    /// Whether URLs of it begin with `https`.
    pub is_secured: bool,
    /// Whether its certificate may be any.
    pub insecure: bool,
    /// Certificates to trust in place of the system's (PEM).
    pub trusted: Option<PathBuf>,
}

impl Site {
    /// The place that a URL names. What comes behind its path belongs to a request, and is refused.
    pub(super) fn new(text: &str) -> Result<Self, PlanError> {
        let url = parse_url(text, NO_HEADERS)?;
        if url.query().is_some() || url.fragment().is_some() {
            let what = format!("`{text}` has more behind its path");
            return Err(PlanError::new(what, "write the query into the `path` of an endpoint"));
        }
        let host = url.host_str().unwrap_or_default();
        Ok(Self {
            url: url.as_str().trim_end_matches('/').to_owned(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            authority: url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            base: url.path().trim_end_matches('/').to_owned(),
            is_secured: url.scheme() == "https",
            insecure: false,
            trusted: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let of = |text: &str| {
            let it = Site::new(text).unwrap();
            (it.url, it.host, it.port, it.authority, it.base, it.is_secured)
        };
        let site = |url: &str, host: &str, port, authority: &str, base: &str, is_secured| {
            (url.to_owned(), host.to_owned(), port, authority.to_owned(), base.to_owned(), is_secured)
        };
        assert_eq!(
            of("http://127.0.0.1:8080"),
            site("http://127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080", "", false)
        );
        assert_eq!(
            of("https://Shop.test/api/v2/"),
            site("https://shop.test/api/v2", "shop.test", 443, "shop.test", "/api/v2", true)
        );
        assert_eq!(of("http://[::1]:81/"), site("http://[::1]:81", "::1", 81, "[::1]:81", "", false));
    }

    #[test]
    fn what_is_no_place_of_a_service_is_refused() {
        for (text, part) in [
            ("127.0.0.1:80", "is not a URL"),
            ("ftp://x/", "scheme"),
            ("http://u:p@x/", "carries a user name or password; take it out; a run sends no headers"),
            ("http://x/?a=b", "more behind its path"),
            ("http://x/#a", "more behind its path"),
        ] {
            let error = Site::new(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
