//! What the fields of a header block say (RFC 9113 8.2, 8.3).

use alloc::vec::Vec;
use core::ops::Range;

use http::{AnswerHead, ContentLength, Field, HEADERS_CAP, Limits, Malformed, RequestKind};

/// What a field counts for beside its name and value (RFC 9113 6.5.2).
const FIELD_BYTES: usize = 32;

/// Fields of one connection alone, which have no place here (RFC 9113 8.2.2).
pub(crate) const CONNECTION_FIELDS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// What a head says of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// How long the body is, where that is said.
    pub(crate) content_length: Option<u64>,
}

impl Head {
    pub(crate) fn is_interim(self) -> bool {
        self.status < 200
    }

    /// Whether an answer to anything but HEAD has a body with such a head.
    pub(crate) const fn has_body(self) -> bool {
        !matches!(self.status, 204 | 304)
    }

    /// How long the body must be, where that is known from the head.
    pub(crate) fn body_bytes(self, kind: RequestKind) -> Option<u64> {
        match self.status {
            _ if kind == RequestKind::Head => Some(0),
            204 | 304 => Some(0),
            _ => self.content_length,
        }
    }
}

/// Takes in the fields of a block, one after another.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    limits: &'a Limits,
    status: Option<u16>,
    content_length: ContentLength,
    fields: u16,
    bytes: usize,
    fault: Option<Malformed>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Self {
        Self { limits, status: None, content_length: ContentLength::Absent, fields: 0, bytes: 0, fault: None }
    }

    /// Takes in a field. The first fault counts; those behind it are not looked at.
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        if self.fault.is_none() {
            self.fault = self.look_at(name, value).err();
        }
    }

    fn look_at(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        self.bytes = self.bytes.saturating_add(name.len() + value.len() + FIELD_BYTES);
        if self.bytes > self.limits.head_bytes_max as usize {
            return Err(Malformed::HeadTooLarge);
        }
        if name.first() == Some(&b':') {
            // The only one of an answer, before all other fields, and once.
            let is_first = self.status.is_none() && self.fields == 0;
            self.status = Some(
                status(value).filter(|_| is_first && name == b":status").ok_or(Malformed::PseudoHeader)?,
            );
            return Ok(());
        }
        self.fields += 1;
        if self.fields > self.limits.headers_max.min(HEADERS_CAP) {
            return Err(Malformed::TooManyHeaders);
        }
        check_field(name, value)?;
        if name == b"content-length" {
            self.content_length.add(value);
        }
        Ok(())
    }

    /// What all of them said.
    pub(crate) fn head(&self) -> Result<Head, Malformed> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let content_length = match self.content_length {
            ContentLength::Absent => None,
            ContentLength::Bytes(bytes) => Some(bytes),
            ContentLength::Invalid => return Err(Malformed::ContentLength),
        };
        Ok(Head { status: self.status.ok_or(Malformed::PseudoHeader)?, content_length })
    }

    /// What they said as trailers.
    pub(crate) fn trailers(&self) -> Result<(), Malformed> {
        match (self.fault, self.status) {
            (Some(_), _) | (None, Some(_)) => Err(Malformed::Trailer),
            (None, None) => Ok(()),
        }
    }
}

/// Three digits, and no switch of protocols: there is none (RFC 9113 8.6).
fn status(value: &[u8]) -> Option<u16> {
    let [hundreds @ b'1'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = *value else { return None };
    let digit = |byte: u8| u16::from(byte - b'0');
    Some(digit(hundreds) * 100 + digit(tens) * 10 + digit(ones)).filter(|status| *status != 101)
}

fn check_field(name: &[u8], value: &[u8]) -> Result<(), Malformed> {
    let is_name_byte = |byte: &u8| http::is_token_byte(*byte) && !byte.is_ascii_uppercase();
    if name.is_empty() || !name.iter().all(is_name_byte) {
        return Err(Malformed::HeaderName);
    }
    if !value.iter().all(|byte| http::is_value_byte(*byte)) {
        return Err(Malformed::HeaderValue);
    }
    if CONNECTION_FIELDS.contains(&name) {
        return Err(Malformed::ConnectionField);
    }
    Ok(())
}

/// The fields of a head, kept until it is told. One for all connections.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    fields: Vec<(Range<usize>, Range<usize>)>,
}

impl Kept {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    /// Keeps a field; beyond what the limits allow none is told, and so none is kept.
    pub(crate) fn add(&mut self, limits: &Limits, name: &[u8], value: &[u8]) {
        let room = (limits.head_bytes_max as usize).saturating_sub(self.bytes.len());
        if name.first() == Some(&b':')
            || self.fields.len() >= usize::from(HEADERS_CAP)
            || name.len() + value.len() > room
        {
            return;
        }
        let mut put = |text: &[u8]| {
            let from = self.bytes.len();
            self.bytes.extend_from_slice(text);
            from..self.bytes.len()
        };
        self.fields.push((put(name), put(value)));
    }

    /// Has `tell` see the head, which said `status`.
    pub(crate) fn tell(&self, status: u16, tell: impl FnOnce(&AnswerHead<'_>)) {
        let mut fields = [Field { name: "", value: &[] }; HEADERS_CAP as usize];
        for ((name, value), field) in self.fields.iter().zip(&mut fields) {
            let name = core::str::from_utf8(&self.bytes[name.clone()]).unwrap_or_default();
            *field = Field { name, value: &self.bytes[value.clone()] };
        }
        tell(&AnswerHead::new(status, "", &fields[..self.fields.len()]));
    }
}
