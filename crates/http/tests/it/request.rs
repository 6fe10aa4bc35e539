//! The request encoder.

use http::{InvalidRequest, RequestSpec, encode, named};

const GET: RequestSpec<'_> =
    RequestSpec { method: "GET", target: "/", host: "example.com", headers: &[], body: b"", close: false };

#[track_caller]
fn encodes(spec: &RequestSpec<'_>, wire: &str) {
    let encoded = encode(spec).expect("a valid request");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(String::from_utf8_lossy(&encoded), wire.replace("VERSION", version));
}

/// Refused, with a message that says what to do.
#[track_caller]
fn refuses(spec: &RequestSpec<'_>, reason: &InvalidRequest) {
    let refused = encode(spec).expect_err("an invalid request");
    assert_eq!(&refused, reason);
    let text = refused.to_string();
    let says_what_to_do =
        ["write", "remove", "use", "percent-encode", "start"].iter().any(|verb| text.contains(verb));
    assert!(says_what_to_do, "{text}");
    assert!(!text.contains(['\r', '\n', '\0']), "{text:?}");
}

#[test]
fn the_least() {
    encodes(&GET, "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: proofload/VERSION\r\n\r\n");
}

#[test]
fn everything() {
    encodes(
        &RequestSpec {
            method: "PATCH",
            target: "/a%20b?c=d&e",
            host: "[::1]:8080",
            headers: &[("Accept", "text/html"), ("X-Empty", ""), ("X-Text", "příklad\t1")],
            body: b"\0\xff",
            close: true,
        },
        "PATCH /a%20b?c=d&e HTTP/1.1\r\nHost: [::1]:8080\r\nUser-Agent: proofload/VERSION\r\n\
         Accept: text/html\r\nX-Empty: \r\nX-Text: příklad\t1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n\0\u{fffd}",
    );
}

#[test]
fn given_host_and_user_agent_replace_ours() {
    let headers = &[("a", "b"), ("HOST", "other"), ("user-agent", "me")];
    encodes(
        &RequestSpec { headers, ..GET },
        "GET / HTTP/1.1\r\nHost: other\r\na: b\r\nuser-agent: me\r\n\r\n",
    );
    let headers = &[("Host", "a b"), ("User-Agent", "")];
    encodes(&RequestSpec { headers, host: "", ..GET }, "GET / HTTP/1.1\r\nHost: a b\r\nUser-Agent: \r\n\r\n");
}

#[test]
fn content_length_is_there_when_a_body_is_or_may_be_expected() {
    for (method, body, expected) in [
        ("GET", "", None),
        ("DELETE", "", None),
        ("post", "", None),
        ("POST", "", Some("Content-Length: 0\r\n")),
        ("PUT", "", Some("Content-Length: 0\r\n")),
        ("PATCH", "", Some("Content-Length: 0\r\n")),
        ("POST", "abc", Some("Content-Length: 3\r\n")),
        ("GET", "abc", Some("Content-Length: 3\r\n")),
    ] {
        let encoded = encode(&RequestSpec { method, body: body.as_bytes(), ..GET }).expect("a valid request");
        let text = String::from_utf8(encoded).expect("text");
        assert_eq!(text.contains("Content-Length"), expected.is_some(), "{text}");
        assert!(
            text.contains(expected.unwrap_or_default()) && text.ends_with(&format!("\r\n\r\n{body}")),
            "{text}"
        );
    }
}

#[test]
fn connection() {
    let start = "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: proofload/VERSION\r\n";
    encodes(&RequestSpec { close: true, ..GET }, &format!("{start}Connection: close\r\n\r\n"));
    let headers = &[("connection", "keep-alive")];
    encodes(&RequestSpec { headers, ..GET }, &format!("{start}connection: keep-alive\r\n\r\n"));
    refuses(&RequestSpec { headers, close: true, ..GET }, &InvalidRequest::Connection);
    let headers = &[("Connection", "TE, Close")];
    encodes(&RequestSpec { headers, close: true, ..GET }, &format!("{start}Connection: TE, Close\r\n\r\n"));
}

#[test]
fn request_lines() {
    encodes(
        &RequestSpec { method: "OPTIONS", target: "*", ..GET },
        "OPTIONS * HTTP/1.1\r\nHost: example.com\r\nUser-Agent: proofload/VERSION\r\n\r\n",
    );
    for method in ["", "GE T", "GET\r\n", "GET:", "GÉT"] {
        refuses(&RequestSpec { method, ..GET }, &InvalidRequest::Method(method.into()));
    }
    refuses(&RequestSpec { method: "CONNECT", ..GET }, &InvalidRequest::Connect);
    for target in ["", "*", "a", "http://example.com/", "?a"] {
        refuses(&RequestSpec { target, ..GET }, &InvalidRequest::TargetForm(target.into()));
    }
    for target in ["/a b", "/a\r\nX: y", "/\n", "/\0", "/\t", "/ž", "/a#b", "/\x7f"] {
        refuses(&RequestSpec { target, ..GET }, &InvalidRequest::TargetByte(target.into()));
    }
}

#[test]
fn hosts() {
    for host in ["", "a b", "http://a", "a/b", "a\r\n", "user@a", "a,b", "ž"] {
        refuses(&RequestSpec { host, ..GET }, &InvalidRequest::Host(host.into()));
    }
    refuses(&RequestSpec { headers: &[("Host", "a"), ("host", "a")], ..GET }, &InvalidRequest::SecondHost);
}

#[test]
fn header_fields() {
    for name in ["", "a b", "a:", "a\r\nb", "ž"] {
        refuses(&RequestSpec { headers: &[(name, "x")], ..GET }, &InvalidRequest::HeaderName(name.into()));
    }
    for value in ["a\r\nX: y", "\n", "\r", "a\0", "\x1b[1m", "\x7f"] {
        refuses(&RequestSpec { headers: &[("A", value)], ..GET }, &InvalidRequest::HeaderValue("A".into()));
    }
    for name in ["Content-Length", "content-length", "Transfer-Encoding"] {
        refuses(&RequestSpec { headers: &[(name, "0")], ..GET }, &InvalidRequest::Computed(name.into()));
    }
}

#[test]
fn of_an_encoded_request_method_names_and_the_length_of_its_body_can_be_told() {
    let headers = &[("Authorization", "Bearer a:b"), ("X-Empty", "")];
    let spec = RequestSpec { method: "PUT", headers, body: b"a: b\r\n\r\nc", ..GET };
    let encoded = encode(&spec).expect("a valid request");
    let mut names = Vec::new();
    let told = named(&encoded, |name| names.push(String::from_utf8_lossy(name).into_owned()));
    assert_eq!(told, Some((&b"PUT"[..], 9)));
    assert_eq!(names, ["Host", "User-Agent", "Authorization", "X-Empty", "Content-Length"]);
    assert_eq!(named(b"", |_| ()), None);
}
