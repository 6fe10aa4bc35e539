//! Why bytes are not a response.

use core::fmt;

/// One table, so that a variant cannot lack its name, its term or its place in `ALL`.
macro_rules! malformed {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $term:literal;)*) => {
        /// Why bytes are not a response this parser accepts. `Display` is a short standard term.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Malformed {
            $($(#[$doc])* $variant,)*
        }

        impl Malformed {
            /// Every variant, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name that records use; it stays the same from version to version.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            const fn term(self) -> &'static str {
                match self {
                    $(Self::$variant => $term,)*
                }
            }
        }
    };
}

malformed! {
    /// Bytes arrived while no response was expected: before the first `begin`, or after a complete one.
    Unsolicited = "unsolicited", "unsolicited response";
    /// More empty lines before the status line than [`crate::LEADING_EMPTY_BYTES_MAX`] bytes.
    EmptyLines = "empty_lines", "too many empty lines before the status line";
    /// The first line is not a status line, or its code is not 100 to 999.
    StatusLine = "status_line", "invalid status line";
    /// The version is neither HTTP/1.0 nor HTTP/1.1.
    Version = "version", "unsupported HTTP version";
    /// A field name is empty, or holds or is followed by a byte that no name may have.
    HeaderName = "header_name", "invalid header name";
    /// A field value holds a control character, NUL or a CR without LF.
    HeaderValue = "header_value", "invalid header value";
    /// A CR without its LF where a line of the head or of a chunk ends.
    LineEnd = "line_end", "invalid line end";
    /// No end of the head within `head_bytes_max`.
    HeadTooLarge = "head_too_large", "head too large";
    /// More fields than `headers_max`.
    TooManyHeaders = "too_many_headers", "too many headers";
    /// The length is not a decimal number below 2^64, or two of them differ.
    ContentLength = "content_length", "invalid content-length";
    /// The list of codings is empty or not a list, or `chunked` is in it twice or with parameters.
    TransferEncoding = "transfer_encoding", "invalid transfer-encoding";
    /// The chunk size is not a hexadecimal number below 2^64.
    ChunkSize = "chunk_size", "invalid chunk size";
    /// A chunk extension holds a control character.
    ChunkExtension = "chunk_extension", "invalid chunk extension";
    /// No end of the chunk-size line within `chunk_line_bytes_max`.
    ChunkExtensionTooLarge = "chunk_extension_too_large", "chunk extension too large";
    /// The bytes after a chunk's data are not a line end.
    ChunkTerminator = "chunk_terminator", "chunk data not followed by a line end";
    /// A trailer is not a field line.
    Trailer = "trailer", "invalid trailer";
    /// The trailers are longer than `trailer_bytes_max`.
    TrailerTooLarge = "trailer_too_large", "trailers too large";
    /// More 1xx responses than `interim_responses_max`.
    TooManyInterimResponses = "too_many_interim_responses", "too many interim responses";
    /// HTTP/2: what came first was not the SETTINGS of a server.
    NotHttp2 = "no_settings", "not HTTP/2";
    /// HTTP/2: a frame is longer than was allowed, or not as long as its type is.
    FrameSize = "frame_size", "invalid frame size";
    /// HTTP/2: a frame that may not come here, or on this stream.
    UnexpectedFrame = "unexpected_frame", "unexpected frame";
    /// HTTP/2: there is more padding than frame.
    Padding = "padding", "invalid padding";
    /// HTTP/2: a setting that no server may make.
    Settings = "settings", "invalid settings";
    /// HTTP/2: more was sent than a window allows, or a window was changed by nothing or beyond its bound.
    FlowControl = "flow_control", "flow control violated";
    /// HTTP/2: a header block can't be decoded.
    HeaderCompression = "header_compression", "invalid header compression";
    /// HTTP/2: the status is missing, not alone, or not in its place.
    PseudoHeader = "pseudo_header", "invalid pseudo-header";
    /// HTTP/2: a field that HTTP/1.1 alone has, such as `Connection`.
    ConnectionField = "connection_field", "connection-specific header";
    /// HTTP/2: the body is not as long as `content-length` says.
    BodyLength = "body_length", "body of another length than its content-length";
    /// HTTP/2: more frames in a row than `IDLE_FRAMES_MAX` that bring no request nearer to its end.
    Flood = "flood", "flood of frames that bring nothing";
    /// HTTP/2: the server does not read what it is sent, and more than `UNREAD_BYTES_MAX` bytes wait for that.
    Unread = "unread", "nothing read of what was sent";
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.term())
    }
}

impl core::error::Error for Malformed {}
