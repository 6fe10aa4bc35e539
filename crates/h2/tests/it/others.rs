//! Requests that are others each time: whatever went before on their connection, the server is told what was asked for.

use std::cell::Cell;

use h2::{Kind, flag, hpack};
use http::{InvalidRequest, Protocol, RequestKind, RequestSpec};

use crate::hpack::decode;
use crate::support::{Client, settings};

/// The name of the setting of the table's size.
const TABLE: u16 = 1;

/// Numbers from a seed.
struct Draw(Cell<u64>);

impl Draw {
    fn below(&self, bound: u64) -> u64 {
        self.0.set(
            self.0.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407),
        );
        (self.0.get() >> 33) % bound
    }
}

/// A request's parts, drawn so that many are like earlier ones.
struct Asked {
    method: &'static str,
    target: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Asked {
    fn draw(draw: &Draw) -> Self {
        let names = ["Accept", "X-Token", "Cookie", "accept-encoding", "User-Agent", "Host", "x-long"];
        let mut headers: Vec<(&'static str, String)> = Vec::new();
        for name in names {
            let value = match draw.below(6) {
                0..=2 => continue,
                3 => "gzip, deflate".to_owned(),
                4 => format!("{name}-{}", draw.below(40)),
                // Too long for a table, or long enough to push others out of it.
                _ => "~".repeat(draw.below(6_000) as usize),
            };
            headers.push((name, value));
        }
        let body = vec![b'b'; [0, 0, 5, 3_000][draw.below(4) as usize]];
        let method = ["GET", "POST", "DELETE"][draw.below(3) as usize];
        Self { method, target: format!("/item/{}", draw.below(30)), headers, body }
    }

    /// What a server has to be told.
    fn fields(&self, scheme: &str) -> Vec<(String, String)> {
        let given = |name: &str| {
            self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|it| it.1.clone())
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut all = vec![
            pair(":method", self.method),
            pair(":scheme", scheme),
            pair(":authority", &given("host").unwrap_or_else(|| "a.test:80".into())),
            pair(":path", &self.target),
        ];
        if given("user-agent").is_none() {
            all.push(pair("user-agent", http::USER_AGENT));
        }
        let own = self.headers.iter().filter(|(name, _)| *name != "Host");
        all.extend(own.map(|(name, value)| pair(&name.to_ascii_lowercase(), value)));
        if !self.body.is_empty() || self.method == "POST" {
            all.push(pair("content-length", &self.body.len().to_string()));
        }
        all
    }

    fn ask(&self, client: &mut Client, place: u32, is_secured: bool) -> u64 {
        let headers: Vec<(&str, &str)> = self.headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let (method, target, host) = (self.method, &*self.target, "a.test:80");
        let spec = RequestSpec { method, target, host, headers: &headers, body: &self.body, close: false };
        h2::check(&spec).expect("a request");
        let bytes = client.http.ask_for(place, &spec, is_secured, &mut client.out);
        client.http.expect(place, RequestKind::Ordinary);
        bytes
    }
}

/// What a server reads of what was sent: the fields and the bytes of the body of each stream, in order.
fn read(client: &mut Client, server: &mut hpack::Decoder) -> Vec<(Vec<(String, String)>, usize)> {
    let mut all: Vec<(Vec<(String, String)>, usize)> = Vec::new();
    let mut block = Vec::new();
    for (head, payload) in client.sent() {
        match head.kind {
            Kind::Headers | Kind::Continuation => {
                block.extend(payload);
                if head.has(flag::END_HEADERS) {
                    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
                    let fields = decode(server, &std::mem::take(&mut block)).expect("a block");
                    let fields = fields.into_iter().map(|(name, value)| (text(name), text(value)));
                    all.push((fields.collect(), 0));
                }
            }
            Kind::Data => all.last_mut().expect("a head is first").1 += payload.len(),
            _ => {}
        }
    }
    all
}

#[test]
fn whatever_went_before_the_server_is_told_what_was_asked_for() {
    for seed in 0..300 {
        let draw = Draw(Cell::new(seed));
        let mut client = Client::greeted(1, &[]);
        let mut server = hpack::Decoder::new(4096);
        // Some servers make their table smaller within the load.
        let refuses_at = draw.below(40);
        for number in 0..20 {
            if number == refuses_at {
                client.feed(&settings(&[(TABLE, draw.below(4096) as u32)]));
                client.out.clear();
            }
            let (asked, is_secured) = (Asked::draw(&draw), draw.below(2) == 0);
            let bytes = asked.ask(&mut client, 0, is_secured);
            let out_bytes = client.out.len();
            let told = read(&mut client, &mut server);
            let scheme = if is_secured { "https" } else { "http" };
            assert_eq!(told, [(asked.fields(scheme), asked.body.len())], "seed {seed}, request {number}");
            let data_frame = if asked.body.is_empty() { 0 } else { h2::FRAME_HEAD_BYTES };
            assert_eq!(bytes as usize + data_frame, out_bytes, "seed {seed}: head and body");
            client.http.cancel(0, &mut client.out);
            client.out.clear();
        }
    }
}

#[test]
fn what_was_said_before_is_referred_to() {
    let mut client = Client::greeted(8, &[]);
    let headers =
        vec![("X-Token", "0123456789abcdef0123456789abcdef".to_owned()), ("Accept", "*/*".to_owned())];
    let bytes: Vec<u64> = (0..3)
        .map(|place| {
            let target = format!("/item/{place}");
            let asked = Asked { method: "GET", target, headers: headers.clone(), body: Vec::new() };
            asked.ask(&mut client, place, false)
        })
        .collect();
    assert!(bytes[1] < bytes[0] / 2 && bytes[2] == bytes[1], "{bytes:?}");
    let mut server = hpack::Decoder::new(4096);
    let told = read(&mut client, &mut server);
    assert!(told.iter().all(|(fields, _)| fields.iter().any(|(name, _)| name == "x-token")), "{told:?}");
}

#[test]
fn what_has_no_place_in_http_2_is_named() {
    for (name, value, is_refused) in [
        ("Connection", "keep-alive", true),
        ("Keep-Alive", "timeout=5", true),
        ("Upgrade", "h2c", true),
        ("TE", "gzip", true),
        ("TE", "trailers", false),
        ("X-Connection", "close", false),
    ] {
        let headers = [(name, value)];
        let spec =
            RequestSpec { method: "GET", target: "/", host: "a", headers: &headers, body: b"", close: false };
        let expected =
            if is_refused { Err(InvalidRequest::ConnectionField(name.to_ascii_lowercase())) } else { Ok(()) };
        assert_eq!(h2::check(&spec), expected, "{name}: {value}");
        assert_eq!(h2::encode(&spec, h2::Scheme::Http).map(drop), expected, "{name}: {value}");
    }
}
