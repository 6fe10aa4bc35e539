//! One head: where it ends and what it says about the body.

use core::mem::MaybeUninit;

use crate::fields::{Connection, ContentLength, TransferEncoding};
use crate::{Framing, HEADERS_CAP, Malformed, RequestKind};

/// What is kept of a head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// Its length, the empty line included.
    pub bytes: usize,
    pub status: u16,
    pub keep_alive: bool,
    pub body: Body,
}

/// The head of an answer, as it is told to whoever listens.
#[derive(Debug, Clone, Copy)]
pub struct AnswerHead<'a> {
    /// The status.
    pub status: u16,
    /// What stands behind it; may be empty, and is where it is not text.
    pub reason: &'a str,
    fields: &'a [httparse::Header<'a>],
}

impl<'a> AnswerHead<'a> {
    /// Of these parts.
    pub const fn new(status: u16, reason: &'a str, fields: &'a [httparse::Header<'a>]) -> Self {
        Self { status, reason, fields }
    }

    /// Names and values of its fields, in order and as they were sent.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        self.fields.iter().map(|field| (field.name, field.value))
    }
}

/// What follows a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// Another head: this one was interim.
    Interim,
    /// Nothing, by definition.
    None,
    /// So many bytes.
    Length(u64),
    Chunked,
    UntilClose,
}

impl Body {
    pub(crate) const fn framing(self) -> Framing {
        match self {
            Self::Interim | Self::None => Framing::None,
            Self::Length(_) => Framing::ContentLength,
            Self::Chunked => Framing::Chunked,
            Self::UntilClose => Framing::CloseDelimited,
        }
    }
}

const _: () =
    assert!(size_of::<httparse::Header<'_>>() * (HEADERS_CAP as usize) <= 4096, "one page of stack");

/// Parses the head that `window` starts with; `None` while its end is not in `window`.
///
/// An error may be found before the end of the head is in `window`: see [`has_end`] for why the caller holds
/// it back until then. `tell` is called with a final head, and not with an interim one.
pub(crate) fn parse(
    window: &[u8],
    kind: RequestKind,
    headers_max: u16,
    tell: impl FnOnce(&AnswerHead<'_>),
) -> Result<Option<Head>, Malformed> {
    let mut slots = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; HEADERS_CAP as usize];
    let slots = &mut slots[..usize::from(headers_max.min(HEADERS_CAP))];
    let mut parsed = httparse::Response::new(&mut []);
    let mut config = httparse::ParserConfig::default();
    // RFC 9112 5.2: a user agent reads a folded line as one with a space in place of the fold.
    config.allow_obsolete_multiline_headers_in_responses(true);
    let bytes = match config.parse_response_with_uninit_headers(&mut parsed, window, slots) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(verdict(error)),
    };
    let (Some(status), Some(minor_version)) = (parsed.code, parsed.version) else {
        return Err(Malformed::StatusLine);
    };
    if status < 100 {
        return Err(Malformed::StatusLine);
    }
    let fields = Fields::read(parsed.headers);
    let body = fields.body(status, kind)?;
    let keep_alive = match body {
        Body::UntilClose => false,
        // RFC 9112 6.1: both may be an attempt at smuggling, and so ends the connection.
        Body::Chunked if minor_version == 0 || fields.content_length != ContentLength::Absent => false,
        _ => status != 101 && fields.connection.persists(minor_version),
    };
    if body != Body::Interim {
        tell(&AnswerHead { status, reason: parsed.reason.unwrap_or_default(), fields: parsed.headers });
    }
    Ok(Some(Head { bytes, status, keep_alive, body }))
}

const fn verdict(error: httparse::Error) -> Malformed {
    match error {
        httparse::Error::HeaderName => Malformed::HeaderName,
        httparse::Error::HeaderValue => Malformed::HeaderValue,
        httparse::Error::NewLine => Malformed::LineEnd,
        httparse::Error::Status | httparse::Error::Token => Malformed::StatusLine,
        httparse::Error::TooManyHeaders => Malformed::TooManyHeaders,
        httparse::Error::Version => Malformed::Version,
    }
}

/// The fields that matter, read in one pass.
struct Fields {
    content_length: ContentLength,
    transfer_encoding: TransferEncoding,
    connection: Connection,
}

impl Fields {
    fn read(headers: &[httparse::Header<'_>]) -> Self {
        let mut fields = Self {
            content_length: ContentLength::Absent,
            transfer_encoding: TransferEncoding::Absent,
            connection: Connection::default(),
        };
        for header in headers {
            // By length first: most fields are none of the three, and this loop is on the hot path.
            match header.name.len() {
                10 if header.name.eq_ignore_ascii_case("connection") => fields.connection.add(header.value),
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    fields.content_length.add(header.value);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    fields.transfer_encoding.add(header.value);
                }
                _ => {}
            }
        }
        fields
    }

    /// RFC 9112 6.3, rule by rule and in its order.
    fn body(&self, status: u16, kind: RequestKind) -> Result<Body, Malformed> {
        match (status, kind) {
            (101, _) => return Ok(Body::None),
            (100..=199, _) => return Ok(Body::Interim),
            (204 | 304, _) | (_, RequestKind::Head) => return Ok(Body::None),
            _ => {}
        }
        match self.transfer_encoding {
            TransferEncoding::Absent => {}
            TransferEncoding::Chunked => return Ok(Body::Chunked),
            TransferEncoding::Other | TransferEncoding::ChunkedInside => return Ok(Body::UntilClose),
            TransferEncoding::Empty | TransferEncoding::Invalid => return Err(Malformed::TransferEncoding),
        }
        match self.content_length {
            ContentLength::Absent => Ok(Body::UntilClose),
            ContentLength::Bytes(bytes) => Ok(Body::Length(bytes)),
            ContentLength::Invalid => Err(Malformed::ContentLength),
        }
    }
}

/// Refuses what can't become a status line as soon as it shows: a server that speaks TLS or HTTP/2 may
/// never send an empty line, and its answer is malformed, not late.
pub(crate) fn check_start(window: &[u8]) -> Result<(), Malformed> {
    const START: &[u8] = b"HTTP/1.";
    const NAME_BYTES: usize = "HTTP/".len();
    match window.iter().zip(START).position(|(seen, wanted)| seen != wanted) {
        None => Ok(()),
        Some(at) if at < NAME_BYTES => Err(Malformed::StatusLine),
        Some(_) => Err(Malformed::Version),
    }
}

/// Whether the end of a head, an empty line, is in `window`.
///
/// Apart from its first bytes, a head gets its verdict when its end is there and not before, so that the
/// verdict does not depend on where reads were cut.
pub(crate) fn has_end(window: &[u8]) -> bool {
    window.split_inclusive(|byte| *byte == b'\n').skip(1).any(|line| matches!(line, b"\n" | b"\r\n"))
}

/// Whether `gathered` ends with an empty line.
pub(crate) fn ends_here(gathered: &[u8]) -> bool {
    gathered.ends_with(b"\n\n") || gathered.ends_with(b"\n\r\n")
}
