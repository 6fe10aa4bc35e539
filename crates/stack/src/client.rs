//! A plain blocking client for single requests: is it up, and what exactly does it answer. Never for load.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use units::Bytes;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 64 << 20;
const HEADERS_MAX: usize = 100;
const READ_BYTES: usize = 16 * 1024;

/// How an answer says where its body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By `Content-Length`.
    ContentLength,
    /// By chunks.
    Chunked,
    /// By closing the connection.
    UntilClose,
    /// By its status: there is no body.
    NoBody,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// From the status line to the empty line, as sent.
    pub(crate) head: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) framing: Framing,
    pub(crate) body: Vec<u8>,
    /// Head and body with its framing.
    pub(crate) wire_bytes: Bytes,
    /// It says that the connection will be closed.
    pub(crate) says_close: bool,
}

/// Why there is no whole answer; reads on after "GET http://…".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    Refused,
    /// The connection ended before the answer did.
    Ended {
        received: Bytes,
    },
    TimedOut {
        received: Bytes,
    },
    Malformed(&'static str),
    Io(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => write!(f, "was refused: nothing listens there"),
            Self::Ended { received } => write!(f, "was cut off after {received}"),
            Self::TimedOut { received } => write!(f, "was not answered in time ({received} received)"),
            Self::Malformed(why) => write!(f, "was answered with something that is not HTTP ({why})"),
            Self::Io(error) => write!(f, "failed ({error})"),
        }
    }
}

/// A connection to ask one thing after the other on.
pub(crate) struct Client {
    addr: SocketAddr,
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(addr: SocketAddr, deadline: Instant) -> Result<Self, Failure> {
        let stream =
            TcpStream::connect_timeout(&addr, left(deadline)).map_err(|error| match error.kind() {
                ErrorKind::ConnectionRefused => Failure::Refused,
                ErrorKind::TimedOut => Failure::TimedOut { received: Bytes(0) },
                _ => Failure::Io(error.to_string()),
            })?;
        stream.set_nodelay(true).map_err(|error| Failure::Io(error.to_string()))?;
        Ok(Self { addr, stream, unread: Vec::new() })
    }

    /// GETs `path` and reads one whole answer.
    pub(crate) fn get(&mut self, path: &str, deadline: Instant) -> Result<Answer, Failure> {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: proofload-check\r\n\r\n", self.addr);
        // A server that answers and closes without reading makes this fail; its answer may be there.
        let _ = self.stream.write_all(request.as_bytes());
        let mut ended = false;
        loop {
            if let Some(answer) = take_answer(&mut self.unread, ended)? {
                return Ok(answer);
            }
            if ended {
                return Err(Failure::Ended { received: Bytes(self.unread.len() as u64) });
            }
            ended = self.read(deadline)?;
        }
    }

    /// Reads once; whether that was the end.
    fn read(&mut self, deadline: Instant) -> Result<bool, Failure> {
        let received = Bytes(self.unread.len() as u64);
        let wait = left(deadline);
        self.stream.set_read_timeout(Some(wait)).map_err(|error| Failure::Io(error.to_string()))?;
        let start = self.unread.len();
        self.unread.resize(start + READ_BYTES, 0);
        let result = self.stream.read(&mut self.unread[start..]);
        self.unread.truncate(start + *result.as_ref().unwrap_or(&0));
        match result {
            Ok(count) => Ok(count == 0),
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(false),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(Failure::TimedOut { received }),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Err(Failure::Ended { received }),
                _ => Err(Failure::Io(error.to_string())),
            },
        }
    }
}

/// What is left until `deadline`; never zero, which a socket would take for no limit at all.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// Takes a whole answer off the front of `bytes`; `None` when more is needed. `ended` when no more will come.
fn take_answer(bytes: &mut Vec<u8>, ended: bool) -> Result<Option<Answer>, Failure> {
    let Some((mut answer, head_bytes, length)) = parse_head(bytes)? else { return Ok(None) };
    if (100..200).contains(&answer.status) {
        // An interim answer; the one that counts follows.
        bytes.drain(..head_bytes);
        return take_answer(bytes, ended);
    }
    let rest = &bytes[head_bytes..];
    let body_bytes = match answer.framing {
        Framing::NoBody => 0,
        Framing::ContentLength if rest.len() >= length => {
            answer.body = rest[..length].to_vec();
            length
        }
        Framing::Chunked => match decode_chunks(rest)? {
            Some((body, taken)) => {
                answer.body = body;
                taken
            }
            None => return Ok(None),
        },
        Framing::UntilClose if ended => {
            answer.body = rest.to_vec();
            rest.len()
        }
        Framing::ContentLength | Framing::UntilClose if rest.len() > BODY_BYTES_MAX => {
            return Err(Failure::Malformed("a body beyond 64 MiB"));
        }
        Framing::ContentLength | Framing::UntilClose => return Ok(None),
    };
    answer.wire_bytes = Bytes((head_bytes + body_bytes) as u64);
    bytes.drain(..head_bytes + body_bytes);
    Ok(Some(answer))
}

/// An answer without its body, the length of its head, and the value of `Content-Length`.
fn parse_head(bytes: &[u8]) -> Result<Option<(Answer, usize, usize)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut headers);
    let head_bytes = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(Failure::Malformed("a head beyond 64 KiB")),
        Err(_) => return Err(Failure::Malformed("its head cannot be parsed")),
    };
    let headers: Vec<(String, String)> = head
        .headers
        .iter()
        .map(|header| (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned()))
        .collect();
    let status = head.code.unwrap_or_default();
    let all_of = |wanted: &str| {
        let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        values.map(|(_, value)| value.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    let length = all_of("content-length");
    let bad_length = || Failure::Malformed("its Content-Length is not one number");
    let (framing, length) = if status < 200 || status == 204 || status == 304 {
        (Framing::NoBody, 0)
    } else if all_of("transfer-encoding").iter().any(|value| value.contains("chunked")) {
        (Framing::Chunked, 0)
    } else if let Some(first) = length.first() {
        let value = first.parse().ok().filter(|_| length.iter().all(|other| other == first));
        (Framing::ContentLength, value.ok_or_else(bad_length)?)
    } else {
        (Framing::UntilClose, 0)
    };
    if length > BODY_BYTES_MAX {
        return Err(Failure::Malformed("a body beyond 64 MiB"));
    }
    let connection = all_of("connection");
    let closes = connection.iter().any(|value| value.contains("close"));
    let keeps = connection.iter().any(|value| value.contains("keep-alive"));
    let answer = Answer {
        status,
        head: bytes[..head_bytes].to_vec(),
        framing,
        body: Vec::new(),
        wire_bytes: Bytes(0),
        says_close: closes || (head.version == Some(0) && !keeps),
        headers,
    };
    Ok(Some((answer, head_bytes, length)))
}

/// The body in `bytes` and how many bytes its chunks and trailers take; `None` when they are not all there.
fn decode_chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Failure> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let (line, size) = match httparse::parse_chunk_size(&bytes[at..]) {
            Ok(httparse::Status::Complete(parsed)) => parsed,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Failure::Malformed("the size of a chunk is no number")),
        };
        at += line;
        if size == 0 {
            break;
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > BODY_BYTES_MAX || body.len() + size > BODY_BYTES_MAX {
            return Err(Failure::Malformed("a body beyond 64 MiB"));
        }
        let Some(chunk) = bytes.get(at..at + size + 2) else { return Ok(None) };
        if !chunk.ends_with(b"\r\n") {
            return Err(Failure::Malformed("a chunk is longer than it says"));
        }
        body.extend_from_slice(&chunk[..size]);
        at += size + 2;
    }
    // Trailers, if any, end with an empty line.
    loop {
        let Some(line) = bytes[at..].iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let empty = bytes[at..at + line].iter().all(|byte| *byte == b'\r');
        at += line + 1;
        if empty {
            return Ok(Some((body, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer in `text`, which must also be found when it comes byte by byte.
    fn answer(text: &str) -> Answer {
        let mut all = text.as_bytes().to_vec();
        let whole = take_answer(&mut all, true).unwrap().unwrap();
        assert!(all.is_empty());
        if whole.framing != Framing::UntilClose {
            for cut in 0..text.len() {
                let mut part = text.as_bytes()[..cut].to_vec();
                assert_eq!(take_answer(&mut part, false), Ok(None), "{cut}");
            }
        }
        whole
    }

    #[test]
    fn reads_every_framing() {
        let length = answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!((length.framing, length.wire_bytes), (Framing::ContentLength, Bytes(43)));
        assert_eq!((length.status, length.body.as_slice()), (200, b"hello".as_slice()));
        let chunked = answer(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nA: b\r\n\r\n",
        );
        assert_eq!((chunked.framing, chunked.body.as_slice()), (Framing::Chunked, b"hello".as_slice()));
        let close = answer("HTTP/1.0 200 OK\r\n\r\nhello");
        assert_eq!((close.framing, close.body.len(), close.says_close), (Framing::UntilClose, 5, true));
        assert_eq!(answer("HTTP/1.1 204 No Content\r\n\r\n").framing, Framing::NoBody);
    }

    #[test]
    fn reads_heads_that_end_their_lines_with_line_feeds_alone() {
        let text = "HTTP/1.1 200 OK\nContent-Type:text/html;charset=utf-8\nContent-Length:10\n\nhello,nio1";
        let answer = answer(text);
        assert_eq!((answer.wire_bytes, answer.body.as_slice()), (Bytes(82), b"hello,nio1".as_slice()));
    }

    #[test]
    fn an_interim_answer_is_skipped() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        let mut bytes = text.as_bytes().to_vec();
        assert_eq!(take_answer(&mut bytes, false).unwrap().unwrap().status, 200);
    }

    #[test]
    fn what_is_not_http_is_told_apart() {
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        ] {
            let result = take_answer(&mut text.as_bytes().to_vec(), false);
            assert!(matches!(result, Err(Failure::Malformed(_))), "{text}: {result:?}");
        }
    }
}
