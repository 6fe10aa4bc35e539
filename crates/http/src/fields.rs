//! The three fields that decide how long a response is and whether another may follow it.

/// `Content-Length`, over all its lines (RFC 9110 8.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentLength {
    /// There is none.
    Absent,
    /// So many.
    Bytes(u64),
    /// Not a number, or several that differ.
    Invalid,
}

impl ContentLength {
    /// Takes in one more field line. Repeated equal values are one value, in a list or over lines
    /// (RFC 9112 6.3 rule 5).
    pub fn add(&mut self, value: &[u8]) {
        for element in elements(value) {
            *self = match (*self, decimal(element)) {
                (Self::Absent, Some(bytes)) => Self::Bytes(bytes),
                (Self::Bytes(known), Some(bytes)) if known == bytes => Self::Bytes(bytes),
                _ => Self::Invalid,
            };
        }
    }
}

/// Digits and nothing else: no sign, no space, no fraction, below 2^64.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// `Transfer-Encoding`, over all its lines (RFC 9112 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransferEncoding {
    Absent,
    /// Lines, but no coding in them yet.
    Empty,
    /// The last coding is `chunked`.
    Chunked,
    /// There are codings, and none is `chunked`.
    Other,
    /// `chunked` is among the codings and not the last.
    ChunkedInside,
    /// Not a list of codings, or `chunked` twice or with parameters.
    Invalid,
}

impl TransferEncoding {
    /// Takes in one more field line.
    pub(crate) fn add(&mut self, value: &[u8]) {
        if *self == Self::Absent {
            *self = Self::Empty;
        }
        // A comma within a quoted parameter splits here too, and is then refused: no such coding exists.
        for element in elements(value).filter(|element| !element.is_empty()) {
            let mut parts = element.splitn(2, |byte| *byte == b';');
            let name = parts.next().unwrap_or_default().trim_ascii_end();
            let has_parameters = parts.next().is_some();
            let is_chunked = name.eq_ignore_ascii_case(b"chunked");
            *self = match *self {
                _ if !is_token(name) || (is_chunked && has_parameters) => Self::Invalid,
                Self::Invalid => Self::Invalid,
                Self::Chunked | Self::ChunkedInside if is_chunked => Self::Invalid,
                Self::Chunked | Self::ChunkedInside => Self::ChunkedInside,
                _ if is_chunked => Self::Chunked,
                _ => Self::Other,
            };
        }
    }
}

/// The `Connection` options that decide about reuse, over all lines (RFC 9112 9.3).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Connection {
    close: bool,
    keep_alive: bool,
}

impl Connection {
    /// Takes in one more field line.
    pub(crate) fn add(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Whether the connection persists: by default since HTTP/1.1, by request before it.
    pub(crate) fn persists(self, minor_version: u8) -> bool {
        !self.close && (minor_version >= 1 || self.keep_alive)
    }

    /// Whether the `close` option was there.
    pub(crate) fn closes(self) -> bool {
        self.close
    }
}

/// The elements of a comma-separated list, without the white space around them. A folded line's CR and
/// LF count as the space that RFC 9112 5.2 puts in their place.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// A non-empty run of [`is_token_byte`].
pub(crate) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| is_token_byte(*byte))
}

/// `tchar` of RFC 9110 5.6.2: what methods, field names and codings are made of.
pub const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

/// What a field value is made of (RFC 9110 5.5): anything but control characters; a tab is none.
pub const fn is_value_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
