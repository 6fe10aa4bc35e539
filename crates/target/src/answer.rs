//! The answers, built once before the first request.

use bytes::Bytes as Shared;
use units::Bytes;

/// The statuses this server answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    HeadTooLarge,
    ServerError,
    NotImplemented,
}

impl Status {
    pub(crate) const ALL: [Self; 6] = [
        Self::Ok,
        Self::BadRequest,
        Self::NotFound,
        Self::HeadTooLarge,
        Self::ServerError,
        Self::NotImplemented,
    ];

    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Ok => 200,
            Self::BadRequest => 400,
            Self::NotFound => 404,
            Self::HeadTooLarge => 431,
            Self::ServerError => 500,
            Self::NotImplemented => 501,
        }
    }

    const fn reason(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::BadRequest => "Bad Request",
            Self::NotFound => "Not Found",
            Self::HeadTooLarge => "Request Header Fields Too Large",
            Self::ServerError => "Internal Server Error",
            Self::NotImplemented => "Not Implemented",
        }
    }
}

/// One answer as it goes onto the wire.
#[derive(Debug)]
struct Wire {
    bytes: Shared,
    head_bytes: usize,
}

impl Wire {
    fn new(status: Status, close: bool, body: &[u8]) -> Self {
        let close = if close { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n{close}\r\n",
            status.code(),
            status.reason(),
            body.len(),
        );
        let head_bytes = head.len();
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        Self { bytes: bytes.into(), head_bytes }
    }
}

/// Every answer the server can give: by status, with and without `Connection: close`.
#[derive(Debug)]
pub(crate) struct Answers {
    keep: [Wire; Status::ALL.len()],
    close: [Wire; Status::ALL.len()],
}

impl Answers {
    /// 200 has `body_bytes` of body, by default one `hello`; the others have their reason.
    pub(crate) fn new(body_bytes: Option<Bytes>) -> Self {
        let length = body_bytes.map_or(5, |bytes| bytes.0 as usize);
        let hello: Vec<u8> = b"hello".iter().copied().cycle().take(length).collect();
        let body = |status: Status| match status {
            Status::Ok => hello.as_slice(),
            other => other.reason().as_bytes(),
        };
        Self {
            keep: Status::ALL.map(|status| Wire::new(status, false, body(status))),
            close: Status::ALL.map(|status| Wire::new(status, true, body(status))),
        }
    }

    /// The bytes of one answer; without its body for a `HEAD` request.
    pub(crate) fn bytes(&self, status: Status, close: bool, head_only: bool) -> &[u8] {
        let wire = self.wire(status, close);
        if head_only { &wire.bytes[..wire.head_bytes] } else { &wire.bytes }
    }

    /// How many of the bytes of one answer are its head.
    pub(crate) fn head_bytes(&self, status: Status, close: bool) -> usize {
        self.wire(status, close).head_bytes
    }

    /// The body of an answer alone, which is not copied.
    pub(crate) fn body(&self, status: Status) -> Shared {
        let wire = self.wire(status, false);
        wire.bytes.slice(wire.head_bytes..)
    }

    fn wire(&self, status: Status, close: bool) -> &Wire {
        let set = if close { &self.close } else { &self.keep };
        &set[status as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_exact_to_the_byte() {
        let answers = Answers::new(None);
        assert_eq!(
            answers.bytes(Status::Ok, false, false),
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
        );
        let close = answers.bytes(Status::ServerError, true, true);
        assert!(close.ends_with(b"Content-Length: 21\r\nConnection: close\r\n\r\n"));
    }

    #[test]
    fn each_status_has_its_own_place() {
        for (index, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, index);
        }
    }

    #[test]
    fn a_body_is_hello_over_and_over() {
        let answers = Answers::new(Some(Bytes(7)));
        assert!(answers.bytes(Status::Ok, false, false).ends_with(b"\r\n\r\nhellohe"));
        assert_eq!(answers.body(Status::Ok), &b"hellohe"[..]);
    }
}
