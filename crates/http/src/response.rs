//! What the response parser is told and what it tells.

/// What was asked, as far as it decides the length of the answer (RFC 9112 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// Any method but HEAD and CONNECT.
    Ordinary,
    /// HEAD: the answer ends with its head, whatever its fields say.
    Head,
}

/// How the end of a body was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body by definition: the answer to HEAD, 101, 204 or 304.
    None,
    /// `Content-Length`.
    ContentLength,
    /// `Transfer-Encoding` that ends in `chunked`.
    Chunked,
    /// The body ends where the connection does.
    CloseDelimited,
    /// The body ends where its stream does (HTTP/2), and nothing said how long it would be.
    EndOfStream,
}

impl Framing {
    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ContentLength => "content_length",
            Self::Chunked => "chunked",
            Self::CloseDelimited => "close_delimited",
            Self::EndOfStream => "end_of_stream",
        }
    }
}

/// One final response, complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// 100 to 999; of the 1xx only 101, the others are interim and skipped.
    pub status: u16,
    /// The server is ready for another request on this connection. Never after a close-delimited body,
    /// 101, or chunks whose framing RFC 9112 6.1 distrusts (`Content-Length` beside them, or HTTP/1.0).
    pub keep_alive: bool,
    /// How the end of the body was known.
    pub framing: Framing,
    /// Bytes of the final head, its empty line included; in HTTP/2 of its frames.
    pub head_bytes: u32,
    /// Bytes of the body as `on_body` saw it: chunk framing and trailers are not in it.
    pub body_bytes: u64,
    /// Bytes on the wire since `begin`: empty lines, interim responses, head, body, chunk framing and
    /// trailers. In HTTP/2 those of the frames of its stream.
    pub wire_bytes: u64,
}

/// What a push came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The whole input was taken and the response is not complete yet.
    NeedMore,
    /// The response is complete.
    Complete {
        /// How many bytes of the input belong to it; the rest was not looked at.
        consumed: usize,
        /// Its status and its sizes.
        response: Response,
    },
}

/// What the peer's close means for the response that was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOfStream {
    /// Not a byte of a response was seen, but for empty lines.
    Untouched,
    /// The close was the end of a close-delimited body.
    Complete(Response),
    /// The response was cut in its head or body, had sent only interim heads, or was malformed before.
    Truncated,
}
