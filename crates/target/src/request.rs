//! Requests out of the bytes of a connection.

use std::os::fd::AsFd;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use units::Instant;

use crate::answer::Status;
use crate::clock;

/// The longest request head that is read; a longer one is answered 431.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
const READ_BYTES: usize = 4 * 1024;
const HEADERS_MAX: usize = 128;

/// A request whose head was read; of its body nothing is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// When the last byte of its head was read.
    pub(crate) arrived: Instant,
    /// Which of the server's paths it asks for.
    pub(crate) route: Option<usize>,
    /// A `HEAD` request: its answer has no body.
    pub(crate) head_only: bool,
    /// The client wants the connection closed after the answer.
    pub(crate) close: bool,
}

/// What the bytes read so far hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// No whole request yet.
    NeedMore,
    /// A request, body and all.
    Request(Request),
    /// Something that is refused with this status; the connection is of no use after that.
    Refused(Status),
}

/// What one read of the socket brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Bytes; `drained` when the socket gave fewer than there was room for.
    Data { drained: bool },
    /// Nothing now.
    Empty,
    /// The peer sent its last byte, or the connection broke.
    Closed,
}

/// The unread bytes of one connection. Holds at most [`HEAD_BYTES_MAX`] and one read.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// A request whose body is still being dropped, and how much of it is left.
    dropping_body: Option<(Request, u64)>,
}

impl Inbox {
    /// Reads once.
    pub(crate) fn fill(&mut self, socket: impl AsFd) -> Fill {
        self.bytes.reserve(READ_BYTES);
        let room = self.bytes.capacity() - self.bytes.len();
        match rustix::io::read(socket, spare_capacity(&mut self.bytes)) {
            Ok(0) => Fill::Closed,
            Ok(count) => Fill::Data { drained: count < room },
            Err(Errno::AGAIN | Errno::INTR) => Fill::Empty,
            Err(_) => Fill::Closed,
        }
    }

    /// Takes in what was received in another way.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Has `receive` append bytes.
    pub(crate) fn receive<T>(&mut self, receive: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        receive(&mut self.bytes)
    }

    /// Whether nothing is unread.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Hands over all that is unread.
    pub(crate) fn move_to(&mut self, other: &mut Vec<u8>) {
        other.append(&mut self.bytes);
    }

    /// Whether what is unread begins with `start`; `None` while it may yet.
    pub(crate) fn begins_with(&self, start: &[u8]) -> Option<bool> {
        let is_begun = !self.bytes.starts_with(start) && start.starts_with(&self.bytes);
        (!is_begun).then(|| self.bytes.starts_with(start))
    }

    /// Takes the next request out. `route` tells which of the server's paths a request asks for.
    pub(crate) fn next(&mut self, route: impl Fn(&str) -> Option<usize>) -> Next {
        if self.dropping_body.is_none() {
            match parse(&self.bytes, route) {
                Err(status) => return Next::Refused(status),
                Ok(None) => return Next::NeedMore,
                Ok(Some(head)) => {
                    self.bytes.drain(..head.bytes);
                    self.dropping_body = Some((head.request, head.body_bytes));
                }
            }
        }
        let Some((request, left)) = self.dropping_body.take() else { return Next::NeedMore };
        let here = left.min(self.bytes.len() as u64);
        self.bytes.drain(..here as usize);
        if left > here {
            self.dropping_body = Some((request, left - here));
            return Next::NeedMore;
        }
        Next::Request(request)
    }
}

struct Head {
    request: Request,
    bytes: usize,
    body_bytes: u64,
}

/// Parses a head at the start of `bytes`; `Ok(None)` when it is not all there.
fn parse(bytes: &[u8], route: impl Fn(&str) -> Option<usize>) -> Result<Option<Head>, Status> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let head_bytes = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD_BYTES_MAX => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadTooLarge),
        Err(_) => return Err(Status::BadRequest),
    };
    let arrived = clock::now();
    let mut body_bytes = None;
    let mut close = head.version == Some(0);
    for header in head.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let value = content_length(header.value)?;
            if body_bytes.is_some_and(|earlier| earlier != value) {
                return Err(Status::BadRequest);
            }
            body_bytes = Some(value);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Status::NotImplemented);
        } else if header.name.eq_ignore_ascii_case("connection") {
            close |= header.value.to_ascii_lowercase().windows(5).any(|word| word == b"close");
        }
    }
    let target = head.path.unwrap_or_default();
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let head_only = head.method == Some("HEAD");
    let request = Request { arrived, route: route(path), head_only, close };
    Ok(Some(Head { request, bytes: head_bytes, body_bytes: body_bytes.unwrap_or(0) }))
}

/// Digits alone: `+5`, which `u64` would read, is no length (RFC 9110, 8.6).
fn content_length(value: &[u8]) -> Result<u64, Status> {
    let text = str::from_utf8(value).unwrap_or_default();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(Status::BadRequest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(bytes: &[u8]) -> Inbox {
        Inbox { bytes: bytes.to_vec(), dropping_body: None }
    }

    fn next(inbox: &mut Inbox) -> Next {
        inbox.next(|path| (path == "/hello").then_some(0))
    }

    #[test]
    fn a_head_in_pieces_is_one_request() {
        let whole = b"GET /hello?x=1 HTTP/1.1\r\nHost: a\r\n\r\n";
        for cut in 0..whole.len() {
            let mut inbox = inbox(&whole[..cut]);
            assert_eq!(next(&mut inbox), Next::NeedMore, "{cut}");
            inbox.bytes.extend_from_slice(&whole[cut..]);
            let Next::Request(request) = next(&mut inbox) else { panic!("{cut}") };
            assert_eq!((request.route, request.close, request.head_only), (Some(0), false, false));
            assert_eq!(next(&mut inbox), Next::NeedMore);
        }
    }

    #[test]
    fn a_body_is_dropped_before_the_next_request() {
        let mut inbox = inbox(b"POST /x HTTP/1.1\r\nContent-Length: 10\r\n\r\n01234");
        assert_eq!(next(&mut inbox), Next::NeedMore);
        inbox.bytes.extend_from_slice(b"56789HEAD /hello HTTP/1.1\r\nConnection: Close\r\n\r\n");
        let Next::Request(first) = next(&mut inbox) else { panic!() };
        let Next::Request(second) = next(&mut inbox) else { panic!() };
        assert_eq!((first.route, first.close), (None, false));
        assert_eq!((second.route, second.close, second.head_only), (Some(0), true, true));
        assert!(inbox.bytes.is_empty());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, status) in [
            ("\x16\x03\x01 tls?\r\n\r\n", Status::BadRequest),
            ("GET /hello HTTP/1.1\r\nContent-Length: +5\r\n\r\n", Status::BadRequest),
            ("GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Status::BadRequest),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Status::NotImplemented),
        ] {
            assert_eq!(next(&mut inbox(text.as_bytes())), Next::Refused(status), "{text}");
        }
        let long = format!("GET /hello HTTP/1.1\r\nCookie: {}", "x".repeat(HEAD_BYTES_MAX));
        assert_eq!(next(&mut inbox(long.as_bytes())), Next::Refused(Status::HeadTooLarge));
    }

    #[test]
    fn a_beginning_is_known_once_it_is_there_or_can_not_be() {
        for (bytes, begins) in [("", None), ("PR", None), ("PRI *", Some(true)), ("POST", Some(false))] {
            assert_eq!(inbox(bytes.as_bytes()).begins_with(b"PRI "), begins, "{bytes}");
        }
    }

    #[test]
    fn http_1_0_is_one_request_a_connection() {
        let Next::Request(request) = next(&mut inbox(b"GET /hello HTTP/1.0\r\n\r\n")) else { panic!() };
        assert!(request.close);
    }
}
