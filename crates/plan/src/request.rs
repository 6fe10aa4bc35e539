//! Whom a load is sent to and what is sent.

use engine::Request;
use http::{RequestKind, RequestSpec};
use url::{Position, Url};

use crate::error::PlanError;
use crate::http_version::{CopiedVersion, HttpVersion};

/// A request as the user describes it.
#[derive(Debug, Clone, Default)]
pub struct RequestArguments {
    /// `http://host[:port]/path?query`, or `https://…`.
    pub url: String,
    /// The method; `None` means GET, or POST when there is a body.
    pub method: Option<String>,
    /// Headers as `Name: value`.
    pub headers: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether each request asks the server to close the connection.
    pub close: bool,
    /// Whether the server's certificate may be any.
    pub insecure: bool,
    /// The version that it was copied with, if that said one.
    pub version: Option<CopiedVersion>,
}

/// A request ready to be sent, and the host it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// The URL, normalised.
    pub url: String,
    /// Name or address to resolve, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Whether connections to it are secured: the URL begins with `https`.
    pub is_secured: bool,
    /// The request's method.
    pub method: String,
    /// Its path, without the query; `/` at least.
    pub path: String,
    /// The encoded request.
    pub request: Request,
}

impl HttpTarget {
    /// The same as a proxy of plain HTTP/1.1 wants it: with scheme, host and port before the path (RFC 9112, section 3.2.2).
    #[must_use]
    pub fn in_absolute_form(self) -> Self {
        // It was parsed before, and shown as it is.
        let origin =
            Url::parse(&self.url).map(|url| url[..Position::BeforePath].to_owned()).unwrap_or_default();
        let at = self.method.len() + 1;
        let (method, rest) = self.request.bytes.split_at(at.min(self.request.bytes.len()));
        let bytes = [method, origin.as_bytes(), rest].concat().into();
        Self { request: Request { bytes, ..self.request }, ..self }
    }

    /// Checks a request, and encodes it for HTTP/1.1.
    pub fn new(arguments: &RequestArguments) -> Result<Self, PlanError> {
        Self::over(HttpVersion::Http1, arguments)
    }

    /// The same for whichever version.
    pub fn over(version: HttpVersion, arguments: &RequestArguments) -> Result<Self, PlanError> {
        let url = parse_url(&arguments.url, "send it as a header: -H 'Authorization: Basic …'")?;
        let is_secured = url.scheme() == "https";
        version.check_for(&arguments.url, is_secured)?;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or(80);
        let default_method = if arguments.body.is_empty() { "GET" } else { "POST" };
        let method = arguments.method.as_deref().unwrap_or(default_method);
        let headers: Vec<(&str, &str)> =
            arguments.headers.iter().map(|line| split_header(line)).collect::<Result<_, _>>()?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let spec = RequestSpec {
            method,
            target: &target,
            host: &authority,
            headers: &headers,
            body: &arguments.body,
            close: arguments.close,
        };
        let bytes = version.encode(&spec, is_secured)?;
        let kind = if method == "HEAD" { RequestKind::Head } else { RequestKind::Ordinary };
        Ok(Self {
            url: url.to_string(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            is_secured,
            method: method.to_owned(),
            path: url.path().to_owned(),
            request: Request { bytes: bytes.into(), kind },
        })
    }
}

/// What is meant for a URL, as errors show it: they end up in logs of pipelines, and what stands before an `@` may be a password.
pub fn without_user(text: &str) -> String {
    text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, behind)| format!("…@{behind}"))
}

/// What is meant for a header, as errors show it: behind its name there may be a password.
pub fn without_value(line: &str) -> String {
    let end = line.find(|it: char| it == ':' || it.is_whitespace()).unwrap_or(line.len());
    let more = if end < line.len() { "…" } else { "" };
    format!("{}{more}", &line[..end])
}

/// `instead` is what to do where it carries a user name or a password.
pub(crate) fn parse_url(text: &str, instead: &str) -> Result<Url, PlanError> {
    let example = "write it like http://127.0.0.1:8080/path";
    let shown = without_user(text);
    let url = Url::parse(text)
        .map_err(|error| PlanError::new(format!("`{shown}` is not a URL ({error})"), example))?;
    match url.scheme() {
        "http" | "https" => {}
        scheme => {
            return Err(PlanError::new(format!("`{shown}` has the scheme `{scheme}`"), example));
        }
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(PlanError::new(format!("`{shown}` names no host"), example));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(PlanError::new(format!("`{shown}` carries a user name or password"), instead));
    }
    Ok(url)
}

fn split_header(line: &str) -> Result<(&str, &str), PlanError> {
    let (name, value) = line.split_once(':').ok_or_else(|| {
        let what = format!("the header `{}` has no colon", without_value(line));
        PlanError::new(what, "write it like 'Accept: text/html'")
    })?;
    Ok((name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<HttpTarget, PlanError> {
        HttpTarget::new(&RequestArguments { url: url.into(), ..RequestArguments::default() })
    }

    #[test]
    fn a_url_becomes_host_port_and_request() {
        let it = target("http://[::1]:8080/a?b=c").unwrap();
        assert_eq!((it.host.as_str(), it.port), ("::1", 8080));
        assert_eq!((it.method.as_str(), it.path.as_str()), ("GET", "/a"));
        let text = String::from_utf8(it.request.bytes.to_vec()).unwrap();
        assert!(text.starts_with("GET /a?b=c HTTP/1.1\r\nHost: [::1]:8080\r\n"), "{text}");
        assert_eq!(target("http://localhost").unwrap().port, 80);
        let secured = target("https://localhost/").unwrap();
        assert_eq!((secured.port, secured.is_secured, it.is_secured), (443, true, false));
        assert!(secured.request.bytes.starts_with(b"GET / HTTP/1.1\r\nHost: localhost\r\n"));
    }

    #[test]
    fn a_proxy_is_told_the_whole_url() {
        let line = |url: &str| {
            let bytes = target(url).unwrap().in_absolute_form().request.bytes;
            String::from_utf8(bytes.to_vec()).unwrap().lines().next().unwrap().to_owned()
        };
        assert_eq!(line("http://shop.test/a?b=c"), "GET http://shop.test/a?b=c HTTP/1.1");
        assert_eq!(line("http://[::1]:8080"), "GET http://[::1]:8080/ HTTP/1.1");
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_what_to_do() {
        for (url, part) in [
            ("127.0.0.1:80", "not a URL"),
            ("ftp://x/", "scheme"),
            ("http://u:secret@x/", "user name"),
            ("http://u:secret/word@x/", "not a URL"),
            ("u:secret@x:80", "scheme"),
            ("htp://u:secret@x/", "scheme"),
            ("http:///", "not a URL"),
        ] {
            let error = target(url).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{url}: {error}");
        }
        let mut arguments = RequestArguments { url: "http://x/".into(), ..RequestArguments::default() };
        arguments.headers.push("no colon".into());
        assert!(HttpTarget::new(&arguments).unwrap_err().to_string().contains("`no…` has no colon"));
        arguments.headers = vec!["Content-Length: 3".into()];
        assert_eq!(
            HttpTarget::new(&arguments).unwrap_err().to_string(),
            "the request is not valid: header Content-Length follows from the body and can't be given; remove it"
        );
    }
}
