//! A proxy as curl's options name it.

use std::fmt;

use percent_encoding::percent_decode_str;
use plan::PlanError;
use url::Url;

use crate::options::basic_authorization;

/// Where curl looks for a proxy that names no port.
const PORT_DEFAULT: u16 = 1080;

/// What a proxy is spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// Plain HTTP/1.1.
    Http,
    /// SOCKS 5, which is told the server's address (`socks5`).
    Socks,
    /// SOCKS 5, which is told the server's name (`socks5h`).
    SocksByName,
}

/// A proxy that is spoken to without TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// What it speaks.
    pub speaks: Speaks,
    /// Name or address to resolve, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// As it is shown: without who asks.
    shown: String,
    /// Who asks it, with a password.
    user: Option<(String, String)>,
    /// The header by which somebody is known to it: one of HTTP.
    authorization: Option<String>,
}

impl Proxy {
    /// The proxy at `text`: `http://[user:password@]host[:port]`, the same with `socks5` or `socks5h`, or without a scheme. `user`
    /// is who asks it, and goes before what the URL says.
    pub fn new(text: &str, user: Option<&str>) -> Result<Self, PlanError> {
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let wrong = |why: String| {
            PlanError::new(format!("the proxy can't be used: {why}"), "write it like http://127.0.0.1:3128")
        };
        let url = Url::parse(&whole).map_err(|error| wrong(format!("its URL is none ({error})")))?;
        let speaks = match url.scheme() {
            "http" => Speaks::Http,
            "socks5" => Speaks::Socks,
            "socks5h" => Speaks::SocksByName,
            other => {
                let why =
                    format!("it is to be spoken to in {other}, and only plain http, socks5 and socks5h are");
                return Err(wrong(why));
            }
        };
        let has_more = !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some();
        let host = url.host_str().filter(|host| !host.is_empty() && !has_more);
        let host = host.ok_or_else(|| wrong("a host and a port are all there is to it".to_owned()))?;
        // 80 is the scheme's own port, which `Url` leaves out.
        let says_80 = whole.trim_end_matches('/').ends_with(":80");
        let port = url.port().unwrap_or(if says_80 { 80 } else { PORT_DEFAULT });
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let of_url = (!url.username().is_empty())
            .then(|| format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default())));
        let user = user.map(str::to_owned).or(of_url);
        let header = |user: &String| format!("Proxy-{}", basic_authorization(user));
        let parts = |user: &String| {
            let (name, password) = user.split_once(':').unwrap_or((user.as_str(), ""));
            (name.to_owned(), password.to_owned())
        };
        Ok(Self {
            speaks,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            shown: format!("{}://{host}:{port}", url.scheme()),
            user: user.as_ref().map(parts),
            authorization: user.as_ref().filter(|_| speaks == Speaks::Http).map(header),
        })
    }

    /// Who asks it, with a password, where somebody does.
    pub fn user(&self) -> Option<(&str, &str)> {
        self.user.as_ref().map(|(name, password)| (name.as_str(), password.as_str()))
    }

    /// The header by which somebody is known to it, where somebody asks and it speaks HTTP.
    pub fn header(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// What opens a tunnel through it to a host and port (RFC 9110, section 9.3.6).
    pub fn connect_request(&self, host: &str, port: u16) -> Vec<u8> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let authorization = self.header().map_or_else(String::new, |line| format!("{line}\r\n"));
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{authorization}\r\n").into_bytes()
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Without who asks: it may be a password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, u16, Option<String>) {
        let it = Proxy::new(text, None).unwrap();
        (it.host.clone(), it.port, it.header().map(str::to_owned))
    }

    #[test]
    fn a_proxy_is_read_as_curl_reads_it() {
        assert_eq!(of("http://127.0.0.1:3128"), ("127.0.0.1".into(), 3128, None));
        assert_eq!(of("proxy.test"), ("proxy.test".into(), 1080, None));
        assert_eq!(of("http://[::1]:80/"), ("::1".into(), 80, None));
        let header = "Proxy-Authorization: Basic YTpiOmM=".to_owned();
        assert_eq!(of("http://a:b%3Ac@proxy.test:81"), ("proxy.test".into(), 81, Some(header.clone())));
        let given = Proxy::new("http://x:y@proxy.test:81", Some("a:b:c")).unwrap();
        assert_eq!(given.header(), Some(header.as_str()), "the option goes first");
        assert_eq!(given.to_string(), "http://proxy.test:81");
        assert!(!format!("{given:?}").contains("YTp"), "{given:?}");
    }

    #[test]
    fn a_tunnel_is_asked_for_by_host_and_port() {
        let proxy = Proxy::new("http://u:p@proxy.test:81", None).unwrap();
        let request = String::from_utf8(proxy.connect_request("shop.test", 443)).unwrap();
        assert_eq!(
            request,
            "CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        );
        let plain = Proxy::new("proxy.test", None).unwrap().connect_request("::1", 8443);
        assert!(plain.starts_with(b"CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n"));
    }

    #[test]
    fn a_proxy_of_socks_is_told_a_name_or_an_address_and_no_header() {
        let by_name = Proxy::new("socks5h://a:b%3Ac@proxy.test", None).unwrap();
        assert_eq!((by_name.speaks, by_name.port, by_name.header()), (Speaks::SocksByName, 1080, None));
        assert_eq!(
            (by_name.user(), by_name.to_string().as_str()),
            (Some(("a", "b:c")), "socks5h://proxy.test:1080")
        );
        let by_address = Proxy::new("socks5://[::1]:9050", Some("me")).unwrap();
        assert_eq!((by_address.speaks, by_address.host.as_str()), (Speaks::Socks, "::1"));
        assert_eq!(
            (by_address.user(), by_address.to_string().as_str()),
            (Some(("me", "")), "socks5://[::1]:9050")
        );
        assert_eq!(Proxy::new("socks5://proxy.test:80", None).unwrap().port, 80);
    }

    #[test]
    fn what_is_no_such_proxy_is_refused_without_its_password() {
        for (text, part) in [
            ("socks4://127.0.0.1:1", "spoken to in socks4, and only plain http, socks5 and socks5h are"),
            ("https://u:secret@proxy.test", "spoken to in https"),
            ("socks5://u:secret@", "its URL is none"),
            ("socks5://u:secret@proxy.test/path", "a host and a port"),
            ("http://", "its URL is none"),
            ("http://u:secret@proxy.test/path", "a host and a port"),
        ] {
            let error = Proxy::new(text, None).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
