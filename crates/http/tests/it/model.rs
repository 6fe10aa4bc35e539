//! Responses that a server may send, made from a description of them, with what a client must make of
//! each. The description is the oracle: nothing here parses.

use http::{Framing, RequestKind};
use proptest::prelude::*;

/// One response and its meaning.
#[derive(Debug, Clone)]
pub struct Model {
    pub wire: Vec<u8>,
    pub kind: RequestKind,
    pub status: u16,
    pub keep_alive: bool,
    pub framing: Framing,
    pub head_bytes: u32,
    pub body: Vec<u8>,
}

/// How the body is sent, if there is one.
#[derive(Debug, Clone)]
enum Sent {
    Length {
        repeats: usize,
    },
    /// Sizes of the chunks, over and over, and the fields after them.
    Chunks {
        sizes: Vec<usize>,
        extension: &'static str,
        trailers: usize,
        beside_length: bool,
    },
    UntilClose,
}

#[derive(Debug, Clone)]
struct Head {
    line_end: &'static str,
    colon: &'static str,
    minor_version: u8,
    connection: &'static str,
    others: usize,
    is_upper_case: bool,
}

/// Any response; one that ends with the connection only if `may_end_with_close`.
pub fn response(may_end_with_close: bool) -> impl Strategy<Value = Model> {
    let head = (
        prop::sample::select(&["\r\n", "\n"][..]),
        prop::sample::select(&[":", ": ", ":\t", ":  "][..]),
        0..=1_u8,
        prop::sample::select(&["", "close", "keep-alive", "Keep-Alive, foo", "foo,CLOSE"][..]),
        0..8_usize,
        any::<bool>(),
    )
        .prop_map(|(line_end, colon, minor_version, connection, others, is_upper_case)| Head {
            line_end,
            colon,
            minor_version,
            connection,
            others,
            is_upper_case,
        });
    let chunks = (
        prop::collection::vec(1..40_usize, 1..4),
        prop::sample::select(&["", ";a", ";a=b", " ; a=\"b;c\"", "  "][..]),
        0..3_usize,
        any::<bool>(),
    )
        .prop_map(|(sizes, extension, trailers, beside_length)| Sent::Chunks {
            sizes,
            extension,
            trailers,
            beside_length,
        });
    let until_close = u32::from(may_end_with_close);
    let sent = prop_oneof![
        3 => (1..3_usize).prop_map(|repeats| Sent::Length { repeats }),
        3 => chunks,
        until_close => Just(Sent::UntilClose),
    ];
    let kind = prop_oneof![4 => Just(RequestKind::Ordinary), 1 => Just(RequestKind::Head)];
    let status = prop::sample::select(&[101, 200, 200, 200, 204, 304, 404, 500, 777][..]);
    let body = prop::collection::vec(any::<u8>(), 0..200);
    (head, sent, kind, status, body, 0..3_usize, 0..3_usize).prop_map(
        |(head, sent, kind, status, body, empty_lines, interims)| {
            let mut model = build(&head, &sent, kind, status, &body);
            let before = [
                head.line_end.repeat(empty_lines),
                format!("HTTP/1.1 103 Early Hints{0}Link{1}</a>{0}{0}", head.line_end, head.colon)
                    .repeat(interims),
            ];
            model.wire.splice(0..0, before.concat().into_bytes());
            model
        },
    )
}

fn build(head: &Head, sent: &Sent, kind: RequestKind, status: u16, body: &[u8]) -> Model {
    let has_body = kind == RequestKind::Ordinary && ![101, 204, 304].contains(&status);
    let (fields, coded) = match sent {
        Sent::Length { repeats } => {
            (vec![("Content-Length", body.len().to_string()); *repeats], body.to_vec())
        }
        Sent::Chunks { sizes, extension, trailers, beside_length } => {
            let mut fields = vec![("Transfer-Encoding", "chunked".to_owned())];
            if *beside_length {
                fields.insert(0, ("Content-Length", "7".to_owned()));
            }
            (fields, chunk(head, body, sizes, extension, *trailers))
        }
        Sent::UntilClose => (vec![], body.to_vec()),
    };
    let mut wire = format!("HTTP/1.{} {status} Reason{}", head.minor_version, head.line_end);
    let connection = Some(("Connection", head.connection.to_owned())).filter(|(_, value)| !value.is_empty());
    let others = (0..head.others).map(|index| ("X-Other", format!("value {index}")));
    for (name, value) in others.chain(connection).chain(fields) {
        let name = if head.is_upper_case { name.to_uppercase() } else { name.to_owned() };
        wire += &[&name, head.colon, &value, head.line_end].concat();
    }
    wire += head.line_end;
    let head_bytes = wire.len() as u32;
    let mut wire = wire.into_bytes();
    if has_body {
        wire.extend(coded);
    }
    let framing = match sent {
        _ if !has_body => Framing::None,
        Sent::Length { .. } => Framing::ContentLength,
        Sent::Chunks { .. } => Framing::Chunked,
        Sent::UntilClose => Framing::CloseDelimited,
    };
    let persists = match head.connection {
        "close" | "foo,CLOSE" => false,
        "" => head.minor_version == 1,
        _ => true,
    };
    let is_distrusted = match sent {
        _ if !has_body => status == 101,
        Sent::Length { .. } => false,
        Sent::Chunks { beside_length, .. } => *beside_length || head.minor_version == 0,
        Sent::UntilClose => true,
    };
    let body = if has_body { body.to_vec() } else { vec![] };
    Model { wire, kind, status, keep_alive: persists && !is_distrusted, framing, head_bytes, body }
}

fn chunk(head: &Head, body: &[u8], sizes: &[usize], extension: &str, trailers: usize) -> Vec<u8> {
    let mut wire = Vec::new();
    let mut rest = body;
    for size in sizes.iter().cycle() {
        let (data, after) = rest.split_at((*size).min(rest.len()));
        rest = after;
        let size =
            if head.is_upper_case { format!("{:X}", data.len()) } else { format!("{:03x}", data.len()) };
        wire.extend([&size, extension, head.line_end].concat().into_bytes());
        if data.is_empty() {
            break;
        }
        wire.extend(data);
        wire.extend(head.line_end.as_bytes());
    }
    for index in 0..trailers {
        wire.extend(format!("X-Trailer{}{index}{}", head.colon, head.line_end).into_bytes());
    }
    wire.extend(head.line_end.as_bytes());
    wire
}
