//! How much of a response is looked at before it is refused.

/// The most header fields that fit in the parser's stack array; [`Limits::headers_max`] above it counts
/// as this.
pub const HEADERS_CAP: u16 = 128;

/// Bytes of empty lines tolerated before the status lines of one response. Some servers end a body with
/// a CRLF that its length does not count; RFC 9112 2.2 has servers skip such lines, and so do we.
pub const LEADING_EMPTY_BYTES_MAX: u8 = 8;

/// Named bounds of the response parser. A response that reaches past one is [`crate::Malformed`] under
/// that bound's own name. Give every push of one response the same limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one head: its status line, fields and empty line.
    pub head_bytes_max: u32,
    /// Header fields of one head; at most [`HEADERS_CAP`].
    pub headers_max: u16,
    /// Bytes of one chunk-size line: the size, its extensions and the line end.
    pub chunk_line_bytes_max: u32,
    /// Bytes of all trailer field lines together; the empty line after them is free.
    pub trailer_bytes_max: u32,
    /// 1xx responses before the final one.
    pub interim_responses_max: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes_max: 64 * 1024,
            headers_max: 100,
            chunk_line_bytes_max: 4096,
            trailer_bytes_max: 16 * 1024,
            interim_responses_max: 16,
        }
    }
}
