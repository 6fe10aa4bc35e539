//! The request encoder: run once for each request of a plan, not once for each one sent.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::fields::{Connection, is_token, is_value_byte};

/// What a request says of whoever makes it, unless its own headers do.
pub const USER_AGENT: &str = concat!("proofload/", env!("CARGO_PKG_VERSION"));

/// What stands between the fields of a request and its body.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// One request, to be encoded by [`encode`].
#[derive(Debug, Clone, Copy)]
pub struct RequestSpec<'a> {
    /// The method, as it goes on the wire: `GET`.
    pub method: &'a str,
    /// The target in origin form: a path and perhaps a query, percent-encoded; or `*` with OPTIONS.
    pub target: &'a str,
    /// The value of the Host field, unless `headers` has one.
    pub host: &'a str,
    /// Field names and values, sent in this order.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body; may be empty.
    pub body: &'a [u8],
    /// Ask the server to close the connection after its answer.
    pub close: bool,
}

/// Why a request can't be encoded. `Display` says what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidRequest {
    /// The method is not a token.
    Method(String),
    /// The method is CONNECT, whose answer is not a response body but a tunnel.
    Connect,
    /// The target is not in origin form.
    TargetForm(String),
    /// The target has a byte that must be percent-encoded.
    TargetByte(String),
    /// The host is empty or no `host[:port]`.
    Host(String),
    /// A field name is not a token.
    HeaderName(String),
    /// A field value has a control character; holds the field's name.
    HeaderValue(String),
    /// `Content-Length` or `Transfer-Encoding`, which follow from the body; holds the name as given.
    Computed(String),
    /// `Host` was given twice.
    SecondHost,
    /// `close` was asked for beside a `Connection` field that does not say so.
    Connection,
    /// HTTP/2 has no place for this field; holds its name.
    ConnectionField(String),
}

impl fmt::Display for InvalidRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => write!(f, "{method:?} is not a method; write one like GET"),
            Self::Connect => f.write_str("CONNECT opens a tunnel and is not supported; use another method"),
            Self::TargetForm(target) => {
                write!(f, "the target {target:?} is not a path; start it with / (or write * with OPTIONS)")
            }
            Self::TargetByte(target) => write!(
                f,
                "the target {target:?} has a space, #, control or non-ASCII character; percent-encode it"
            ),
            Self::Host(host) => write!(f, "{host:?} is not a host; write one like example.com:8080"),
            Self::HeaderName(name) => write!(f, "{name:?} is not a header name; write one like Accept"),
            Self::HeaderValue(name) => write!(
                f,
                "the value of header {name} has a line end, NUL or other control character; remove it"
            ),
            Self::Computed(name) => {
                write!(f, "header {name} follows from the body and can't be given; remove it")
            }
            Self::SecondHost => f.write_str("header Host is given twice; remove one"),
            Self::Connection => {
                f.write_str("header Connection contradicts closing after each answer; remove one of the two")
            }
            Self::ConnectionField(name) => {
                write!(f, "header {name} is of HTTP/1.1 and has no place in HTTP/2; remove it")
            }
        }
    }
}

impl core::error::Error for InvalidRequest {}

/// The bytes of `spec` as HTTP/1.1.
///
/// A given `Host` replaces `spec.host`, a given `User-Agent` replaces ours, a given `Connection` goes out
/// as it is. `Content-Length` is written for a body, and without one where a body is expected (POST, PUT
/// and PATCH, RFC 9110 8.6).
pub fn encode(spec: &RequestSpec<'_>) -> Result<Vec<u8>, InvalidRequest> {
    check(spec)?;
    let mut out = Vec::new();
    put(spec, &mut out);
    Ok(out)
}

/// Appends `spec`, which [`check`] has let pass, to `out`, as [`encode`] writes it.
pub fn put(spec: &RequestSpec<'_>, out: &mut Vec<u8>) {
    for part in [spec.method, " ", spec.target, " HTTP/1.1\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    field(out, "Host", spec.given("host").unwrap_or(spec.host));
    if spec.given("user-agent").is_none() {
        field(out, "User-Agent", USER_AGENT);
    }
    for (name, value) in spec.headers {
        if !name.eq_ignore_ascii_case("host") {
            field(out, name, value);
        }
    }
    if spec.says_length() {
        field(out, "Content-Length", &spec.body.len().to_string());
    }
    if spec.close && spec.given("connection").is_none() {
        field(out, "Connection", "close");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(spec.body);
}

impl<'a> RequestSpec<'a> {
    /// The value of the first field of this name, in whatever case.
    pub fn given(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    /// Whether it asks the server to close the connection after its answer: nothing is to be sent on that any more (RFC 9112 9.6).
    pub fn asks_to_close(&self) -> bool {
        let mut connection = Connection::default();
        let of_connection = |name: &str| name.eq_ignore_ascii_case("connection");
        for (_, value) in self.headers.iter().filter(|(name, _)| of_connection(name)) {
            connection.add(value.as_bytes());
        }
        self.close || connection.closes()
    }

    /// Whether it goes out with the length of its body: where it has one, or where one is expected.
    pub fn says_length(&self) -> bool {
        !self.body.is_empty() || matches!(self.method, "POST" | "PUT" | "PATCH")
    }
}

/// Whether `spec` can be encoded, in whatever version.
pub fn check(spec: &RequestSpec<'_>) -> Result<(), InvalidRequest> {
    check_request_line(spec)?;
    let given = Given::check(spec.headers)?;
    if !given.host && !is_host(spec.host) {
        return Err(InvalidRequest::Host(spec.host.to_string()));
    }
    if spec.close && given.connection.is_some_and(|connection| !connection.closes()) {
        return Err(InvalidRequest::Connection);
    }
    Ok(())
}

/// Whether a request, as [`encode`] wrote it, asks the server to close the connection after its answer.
pub fn asks_to_close(request: &[u8]) -> bool {
    let mut connection = Connection::default();
    let lines = request.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii);
    for line in lines.take_while(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        if line[..colon].eq_ignore_ascii_case(b"connection") {
            connection.add(&line[line.len().min(colon + 1)..]);
        }
    }
    connection.closes()
}

/// Tells `each` the name of every field of a request, as [`encode`] wrote it, and gives its method and the length of its body.
/// `None` where it is no such request.
pub fn named(request: &[u8], each: impl FnMut(&[u8])) -> Option<(&[u8], usize)> {
    let end = request.windows(HEAD_END.len()).position(|it| it == HEAD_END)?;
    let mut lines = request[..end].split(|byte| *byte == b'\n');
    let method = lines.next()?.split(|byte| *byte == b' ').next()?;
    lines.filter_map(|line| line.split(|byte| *byte == b':').next()).for_each(each);
    Some((method, request.len() - end - HEAD_END.len()))
}

fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    for part in [name, ": ", value, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

fn check_request_line(spec: &RequestSpec<'_>) -> Result<(), InvalidRequest> {
    if !is_token(spec.method.as_bytes()) {
        return Err(InvalidRequest::Method(spec.method.to_string()));
    }
    if spec.method == "CONNECT" {
        return Err(InvalidRequest::Connect);
    }
    if !(spec.target.starts_with('/') || (spec.target == "*" && spec.method == "OPTIONS")) {
        return Err(InvalidRequest::TargetForm(spec.target.to_string()));
    }
    if !spec.target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(InvalidRequest::TargetByte(spec.target.to_string()));
    }
    Ok(())
}

/// Enough to catch a URL or a typing slip; who wants a stranger Host gives it as a header.
fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#@\\,".contains(&byte))
}

/// What the caller's fields say that bears on others.
#[derive(Default)]
struct Given {
    host: bool,
    connection: Option<Connection>,
}

impl Given {
    fn check(headers: &[(&str, &str)]) -> Result<Self, InvalidRequest> {
        let mut given = Self::default();
        for &(name, value) in headers {
            if !is_token(name.as_bytes()) {
                return Err(InvalidRequest::HeaderName(name.to_string()));
            }
            if !value.bytes().all(is_value_byte) {
                return Err(InvalidRequest::HeaderValue(name.to_string()));
            }
            match name.to_ascii_lowercase().as_str() {
                "host" if given.host => return Err(InvalidRequest::SecondHost),
                "host" => given.host = true,
                "connection" => given.connection.get_or_insert_default().add(value.as_bytes()),
                "content-length" | "transfer-encoding" => {
                    return Err(InvalidRequest::Computed(name.to_string()));
                }
                _ => {}
            }
        }
        Ok(given)
    }
}
