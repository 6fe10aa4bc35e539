//! Requests as constant bytes: encoded once for each request of a plan, and not once for each one sent.
//!
//! A request has three header blocks that say the same. The first on a connection puts its fields into the server's table,
//! those behind it refer to them, and where the server allows no such table all of them are literal.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use http::{InvalidRequest, RequestSpec, USER_AGENT};

use crate::frame::{self, FRAME_HEAD_BYTES, Kind, TABLE_BYTES_START, flag};
use crate::head::CONNECTION_FIELDS;
use crate::hpack::{self, Decoder, FIXED, Scratch};

/// Under which the server was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// What an entry of a table counts for beside its name and value (RFC 7541 4.1).
const ENTRY_BYTES: usize = 32;
/// Where its three heads end, before them.
const ENDS_BYTES: usize = 3 * size_of::<u32>();

/// An encoded request, taken apart. Each head is the HEADERS frame that it goes out as, but for the number of its stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a>(&'a [u8]);

impl<'a> Request<'a> {
    /// What [`encode`] made.
    pub(crate) const fn new(encoded: &'a [u8]) -> Self {
        Self(encoded)
    }

    /// The head that fills the server's table; empty where that has too little room for it.
    pub(crate) fn first(self) -> &'a [u8] {
        &self.0[ENDS_BYTES..self.end(0)]
    }

    /// The one that refers to what the first has put there.
    pub(crate) fn again(self) -> &'a [u8] {
        &self.0[self.end(0)..self.end(1)]
    }

    /// The one that needs no table.
    pub(crate) fn literal(self) -> &'a [u8] {
        &self.0[self.end(1)..self.end(2)]
    }

    /// Where the body begins; it goes on to the end.
    pub(crate) fn body_at(self) -> usize {
        self.end(2)
    }

    /// Where a head ends.
    ///
    /// # Panics
    /// If it was made by something else than [`encode`]: then the load was put together wrongly.
    fn end(self, head: usize) -> usize {
        let (ends, _) = self.0.as_chunks();
        u32::from_le_bytes(ends[head]) as usize
    }
}

/// The request `spec`, for [`crate::H2`]. Names go out in lower case, and the host as `:authority`.
///
/// # Errors
/// Whatever [`http::encode`] refuses, and fields that HTTP/2 has no place for.
pub fn encode(spec: &RequestSpec<'_>, scheme: Scheme) -> Result<Vec<u8>, InvalidRequest> {
    check(spec)?;
    let mut blocks = Blocks::default();
    fields(
        spec,
        scheme,
        |name, value, is_kept| {
            if is_kept { blocks.kept(name, value) } else { blocks.always(name, value) }
        },
    );
    Ok(blocks.with(spec.body))
}

/// Tells `each` the name of every field of a request, as [`encode`] wrote it, and gives its method and the length of its body.
/// Those that begin with a colon are none of whoever makes it. `None` where it is no such request.
pub fn named(request: &[u8], mut each: impl FnMut(&[u8])) -> Option<(Vec<u8>, usize)> {
    let (ends, _) = request.as_chunks::<{ size_of::<u32>() }>();
    let end = |head: usize| ends.get(head).map(|it| u32::from_le_bytes(*it) as usize);
    let (literal_at, body_at) = (end(1)?, end(2)?);
    let block = request.get(literal_at..body_at)?.get(FRAME_HEAD_BYTES..)?;
    let mut method = Vec::new();
    let decoded = Decoder::new(0).decode(block, &mut Scratch::default(), |name, value| match name {
        b":method" => method.extend_from_slice(value),
        [b':', ..] => {}
        _ => each(name),
    });
    decoded.ok().map(|_| (method, request.len() - body_at))
}

/// Whether `spec` can be sent over HTTP/2.
///
/// # Errors
/// As [`encode`].
pub fn check(spec: &RequestSpec<'_>) -> Result<(), InvalidRequest> {
    http::check(spec)?;
    match spec.headers.iter().find(|(name, value)| is_of_http1(name, value)) {
        Some((name, _)) => Err(InvalidRequest::ConnectionField(name.to_ascii_lowercase())),
        None => Ok(()),
    }
}

/// Whether a field is of HTTP/1.1 alone, and has no place in HTTP/2 (RFC 9113 8.2.2).
pub fn is_of_http1(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_trailers = value.trim().eq_ignore_ascii_case("trailers");
    CONNECTION_FIELDS.contains(&name.as_bytes()) || (name == "te" && !is_trailers)
}

/// The fields of `spec`, which was checked, in their order: name, value, and whether it is worth a place in the server's table.
pub(crate) fn fields(spec: &RequestSpec<'_>, scheme: Scheme, mut each: impl FnMut(&str, &str, bool)) {
    each(":method", spec.method, false);
    each(":scheme", scheme.name(), false);
    each(":authority", bare(spec.given("host").unwrap_or(spec.host)), true);
    each(":path", spec.target, false);
    if spec.given("user-agent").is_none() {
        each("user-agent", USER_AGENT, true);
    }
    for (name, value) in spec.headers {
        let name = name.to_ascii_lowercase();
        if name != "host" {
            each(&name, bare(value), true);
        }
    }
    if spec.says_length() {
        each("content-length", &spec.body.len().to_string(), false);
    }
}

/// A value without the white space around it. In a line of HTTP/1.1 that is none of the value; here it would be, and such a
/// field is malformed (RFC 9113 8.2.1).
fn bare(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// The three blocks in the making.
#[derive(Debug, Default)]
struct Blocks {
    first: Vec<u8>,
    literal: Vec<u8>,
    /// Fields, in order: those that go into the table are in it by their turn.
    again: Vec<Again>,
    /// How many go into the table, and what they count for there.
    kept: u32,
    kept_bytes: usize,
}

/// A field of the block that refers to the table.
#[derive(Debug)]
enum Again {
    /// Its bytes are those of the others.
    Same(Vec<u8>),
    /// The entry that was put there as this one.
    Entry(u32),
}

impl Blocks {
    /// A field that does not go into the table.
    fn always(&mut self, name: &str, value: &str) {
        let mut field = Vec::new();
        put(&mut field, name, value, false);
        self.first.extend_from_slice(&field);
        self.literal.extend_from_slice(&field);
        self.again.push(Again::Same(field));
    }

    /// A field that goes into the table, unless that has it from the start.
    fn kept(&mut self, name: &str, value: &str) {
        if hpack::find_fixed(name, value).0.is_some() {
            return self.always(name, value);
        }
        put(&mut self.first, name, value, true);
        put(&mut self.literal, name, value, false);
        self.again.push(Again::Entry(self.kept));
        self.kept += 1;
        self.kept_bytes += name.len() + value.len() + ENTRY_BYTES;
    }

    fn with(self, body: &[u8]) -> Vec<u8> {
        let fits = self.kept_bytes <= TABLE_BYTES_START as usize;
        let mut again = Vec::new();
        for field in &self.again {
            match field {
                Again::Same(bytes) => again.extend_from_slice(bytes),
                // The newest has the lowest index.
                Again::Entry(turn) => hpack::indexed(&mut again, FIXED.len() as u32 + self.kept - turn),
            }
        }
        let first = if fits { &self.first[..] } else { &[] };
        let again = if fits { &again[..] } else { &[] };
        let ends = if body.is_empty() { flag::END_STREAM } else { 0 };
        let mut out = vec![0; ENDS_BYTES];
        for (at, block) in [first, again, &self.literal].into_iter().enumerate() {
            if !block.is_empty() {
                frame::put(&mut out, Kind::Headers, flag::END_HEADERS | ends, 0, block);
            }
            let end = out.len() as u32;
            out[at * size_of_val(&end)..][..size_of_val(&end)].copy_from_slice(&end.to_le_bytes());
        }
        out.extend_from_slice(body);
        out
    }
}

/// Writes a field in the shortest way that there is.
fn put(out: &mut Vec<u8>, name: &str, value: &str, inserts: bool) {
    match hpack::find_fixed(name, value) {
        (Some(index), _) => hpack::indexed(out, index),
        (None, Some(index)) => hpack::literal_of(out, index, value, inserts),
        (None, None) => hpack::literal(out, name, value, inserts),
    }
}
