//! A blocking client for single requests: is it up, and what exactly does it answer. Never for load.

mod http2;

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use self::http2::{Came, Http2};
use http::{EndOfStream, Framing, HEADERS_CAP, Limits, Progress, RequestKind, Response, ResponseParser};
use plan::stack::{Site, Speaks};
use tls::{HTTP_1_1, HTTP_2, Settings};
use units::Bytes;

/// An answer is kept whole, so it has a bound.
const ANSWER_BYTES_MAX: usize = 64 << 20;
const READ_BYTES: usize = 16 * 1024;

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
    /// The connection ended before the answer did; by a reset, or in good order.
    Ended {
        received: Bytes,
        reset: bool,
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
            Self::Ended { received, .. } => write!(f, "was cut off after {received}"),
            Self::TimedOut { received } => write!(f, "was not answered in time ({received} received)"),
            Self::Malformed(why) => write!(f, "was answered with something that is not HTTP ({why})"),
            Self::Io(error) => write!(f, "failed ({error})"),
        }
    }
}

/// Where a server listens, and what it speaks there.
#[derive(Debug, Clone)]
pub(crate) struct At {
    pub(crate) addr: SocketAddr,
    pub(crate) speaks: Speaks,
    /// Of what is running already: under which name, and whom to take for it.
    pub(crate) site: Option<Site>,
}

impl At {
    /// A server of plain HTTP/1.1.
    pub(crate) fn plain(addr: SocketAddr) -> Self {
        Self { addr, speaks: Speaks::default(), site: None }
    }

    /// What requests name as the host.
    pub(crate) fn authority(&self) -> String {
        self.site.as_ref().map_or_else(|| self.addr.to_string(), |site| site.authority.clone())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.speaks.scheme(), self.authority())
    }

    /// Whom to take for it: anybody, where the certificate was made at its start and is nobody else's.
    pub(crate) fn trust(&self) -> Settings {
        match &self.site {
            Some(Site { insecure, trusted, .. }) => Settings {
                insecure: *insecure,
                trusted: trusted.clone().map(Into::into),
                ..Settings::default()
            },
            None => Settings { insecure: true, ..Settings::default() },
        }
    }

    /// The name that its certificate is for.
    fn host(&self) -> &str {
        self.site.as_ref().map_or("localhost", |site| &site.host)
    }
}

/// What a connection's bytes go through.
enum Wire {
    Plain(TcpStream),
    Secured(Box<tls::Stream>),
}

impl Wire {
    fn new(stream: TcpStream, at: &At) -> Result<Self, Failure> {
        if !at.speaks.is_secured {
            return Ok(Self::Plain(stream));
        }
        let protocol = if at.speaks.http2 { HTTP_2 } else { HTTP_1_1 };
        let settings = Settings { protocols: vec![protocol.to_owned()], ..at.trust() };
        let failed = |error: String| Failure::Io(format!("within the TLS handshake: {error}"));
        let peers = tls::Client::new(&settings).and_then(|client| client.peer(at.host()));
        let peers = peers.map_err(|error| failed(error.to_string()))?;
        let stream = peers.secure(0, stream).map_err(|error| failed(error.to_string()))?;
        Ok(Self::Secured(Box::new(stream)))
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Secured(stream) => stream.socket(),
        }
    }
}

impl Read for Wire {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(to),
            Self::Secured(stream) => stream.read(to),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Secured(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Secured(stream) => stream.flush(),
        }
    }
}

/// A connection to ask one thing after the other on.
pub(crate) struct Client {
    authority: String,
    wire: Wire,
    http2: Option<Box<Http2>>,
    unread: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(at: &At, deadline: Instant) -> Result<Self, Failure> {
        let speaks = at.speaks;
        let stream =
            TcpStream::connect_timeout(&at.addr, left(deadline)).map_err(|error| match error.kind() {
                ErrorKind::ConnectionRefused => Failure::Refused,
                ErrorKind::TimedOut => Failure::TimedOut { received: Bytes(0) },
                _ => Failure::Io(error.to_string()),
            })?;
        let io = |error: std::io::Error| Failure::Io(error.to_string());
        stream.set_nodelay(true).map_err(io)?;
        stream.set_read_timeout(Some(left(deadline))).map_err(io)?;
        let wire = Wire::new(stream, at)?;
        let http2 = speaks.http2.then(|| Box::new(Http2::new(speaks.is_secured)));
        let mut client = Self { authority: at.authority(), wire, http2, unread: Vec::new() };
        if speaks.http2 {
            client.until_told(deadline)?;
        }
        Ok(client)
    }

    /// Sends what there is to send, and reads until something is told of that is more than nothing.
    fn until_told(&mut self, deadline: Instant) -> Result<Came, Failure> {
        loop {
            let Some(http2) = &mut self.http2 else { return Ok(Came::Nothing) };
            let out = std::mem::take(&mut http2.out);
            // Whether it could be written shows when it is read.
            let _ = self.wire.write_all(&out).and_then(|()| self.wire.flush());
            let is_over = self.read(deadline)?;
            let received = Bytes(self.unread.len() as u64);
            let Some(http2) = &mut self.http2 else { return Ok(Came::Nothing) };
            match http2.take(&mut self.unread)? {
                Came::Nothing if is_over => return Err(Failure::Ended { received, reset: false }),
                Came::Nothing => {}
                told => return Ok(told),
            }
        }
    }

    /// GETs `path` and reads one whole answer.
    pub(crate) fn get(&mut self, path: &str, deadline: Instant) -> Result<Answer, Failure> {
        if let Some(http2) = &mut self.http2 {
            http2.ask(&self.authority, path)?;
            return match self.until_told(deadline)? {
                Came::Answer(answer) => Ok(answer),
                Came::Nothing | Came::Ready => Err(Failure::Malformed("no answer")),
            };
        }
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: proofload-check\r\n\r\n", self.authority);
        self.ask(request.as_bytes(), RequestKind::Ordinary, deadline)
    }

    /// Sends `request` and reads one whole answer to that kind of request.
    fn ask(&mut self, request: &[u8], kind: RequestKind, deadline: Instant) -> Result<Answer, Failure> {
        // A server that answers and closes without reading makes this fail; its answer may be there.
        let written = self.wire.write_all(request);
        // The kernel tells of a reset once, here or at the next read.
        let was_reset = written.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset);
        let mut reader = Reader::new(kind);
        loop {
            if let Some(answer) = reader.take(&mut self.unread)? {
                return Ok(answer);
            }
            if self.read(deadline)? {
                let received = Bytes(self.unread.len() as u64);
                return reader.end(&self.unread).ok_or(Failure::Ended { received, reset: was_reset });
            }
        }
    }

    /// Reads once; whether that was the end.
    fn read(&mut self, deadline: Instant) -> Result<bool, Failure> {
        let received = Bytes(self.unread.len() as u64);
        let wait = left(deadline);
        self.wire.socket().set_read_timeout(Some(wait)).map_err(|error| Failure::Io(error.to_string()))?;
        let start = self.unread.len();
        self.unread.resize(start + READ_BYTES, 0);
        let result = self.wire.read(&mut self.unread[start..]);
        self.unread.truncate(start + *result.as_ref().unwrap_or(&0));
        match result {
            Ok(count) => Ok(count == 0),
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(false),
                // Of TLS: without a word that this is the end.
                ErrorKind::UnexpectedEof => Ok(true),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(Failure::TimedOut { received }),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                    Err(Failure::Ended { received, reset: true })
                }
                _ => Err(Failure::Io(error.to_string())),
            },
        }
    }
}

/// What a server answered to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneAnswer {
    /// Its status.
    pub status: u16,
    /// From the status line to the empty line, as sent.
    pub head: Vec<u8>,
    /// The body, without its framing.
    pub body: Vec<u8>,
}

/// Sends the bytes of one request to `addr` on a connection of its own and reads the answer; the error says what became
/// of the request, and reads on after "the request …".
pub fn ask_once(
    addr: SocketAddr,
    request: &[u8],
    kind: RequestKind,
    timeout: Duration,
) -> Result<OneAnswer, String> {
    let deadline = Instant::now() + timeout;
    let answer = Client::connect(&At::plain(addr), deadline)
        .and_then(|mut client| client.ask(request, kind, deadline));
    let Answer { status, head, body, .. } = answer.map_err(|failure| failure.to_string())?;
    Ok(OneAnswer { status, head, body })
}

/// What is left until `deadline`; never zero, which a socket would take for no limit at all.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// Reads one answer with the parser that reads the answers under load, so that both mean the same by one.
struct Reader {
    parser: ResponseParser,
    body: Vec<u8>,
    /// How much of what was received the parser has seen.
    seen: usize,
}

impl Reader {
    fn new(kind: RequestKind) -> Self {
        let mut parser = ResponseParser::new();
        parser.begin(kind);
        Self { parser, body: Vec::new(), seen: 0 }
    }

    /// Takes a whole answer off the front of `received`, to which was only added since the last call; `None`
    /// when more is needed.
    fn take(&mut self, received: &mut Vec<u8>) -> Result<Option<Answer>, Failure> {
        let (new, body) = (&received[self.seen..], &mut self.body);
        let progress = self
            .parser
            .push(&Limits::default(), new, |piece| body.extend_from_slice(piece))
            .map_err(|kind| Failure::Malformed(kind.name()))?;
        match progress {
            Progress::Complete { consumed, response } => {
                let rest = received.split_off(self.seen + consumed);
                let whole = std::mem::replace(received, rest);
                Ok(Some(self.answer(&whole, response)))
            }
            Progress::NeedMore if received.len() > ANSWER_BYTES_MAX => {
                Err(Failure::Malformed("longer than 64 MiB"))
            }
            Progress::NeedMore => {
                self.seen = received.len();
                Ok(None)
            }
        }
    }

    /// The answer that ends with its connection, if it does.
    fn end(&mut self, received: &[u8]) -> Option<Answer> {
        match self.parser.end_of_stream() {
            EndOfStream::Complete(response) => Some(self.answer(received, response)),
            EndOfStream::Untouched | EndOfStream::Truncated => None,
        }
    }

    fn answer(&mut self, whole: &[u8], response: Response) -> Answer {
        let (head, headers) = final_head(whole);
        Answer {
            status: response.status,
            head,
            headers,
            framing: response.framing,
            body: std::mem::take(&mut self.body),
            wire_bytes: Bytes(response.wire_bytes),
            says_close: !response.keep_alive,
        }
    }
}

/// The head of an answer that was found whole, behind any interim ones, and its fields.
fn final_head(whole: &[u8]) -> (Vec<u8>, Vec<(String, String)>) {
    let mut from = 0;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_CAP as usize];
        let mut head = httparse::Response::new(&mut headers);
        let Ok(httparse::Status::Complete(length)) = head.parse(&whole[from..]) else {
            // Read by the other parser's leave only; shown as it came.
            return (whole[from..].to_vec(), Vec::new());
        };
        if head.code.is_some_and(|status| status >= 200 || status == 101) {
            let fields = head
                .headers
                .iter()
                .map(|header| (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned()));
            return (whole[from..from + length].to_vec(), fields.collect());
        }
        from += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer in `text`, which must also be found when it comes byte by byte.
    fn answer(text: &str) -> Answer {
        let (mut reader, mut received) = (Reader::new(RequestKind::Ordinary), Vec::new());
        for byte in text.bytes() {
            received.push(byte);
            if let Some(answer) = reader.take(&mut received).unwrap() {
                assert!(received.is_empty());
                return answer;
            }
        }
        reader.end(&received).expect("it ends with its connection")
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
        assert_eq!((close.framing, close.body.len(), close.says_close), (Framing::CloseDelimited, 5, true));
        assert_eq!(answer("HTTP/1.1 204 No Content\r\n\r\n").framing, Framing::None);
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
        let answer = answer(text);
        assert_eq!(answer.status, 200);
        assert!(answer.head.starts_with(b"HTTP/1.1 200"));
    }

    #[test]
    fn what_is_not_http_is_told_apart() {
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        ] {
            let result = Reader::new(RequestKind::Ordinary).take(&mut text.as_bytes().to_vec());
            assert!(matches!(result, Err(Failure::Malformed(_))), "{text}: {result:?}");
        }
    }
}
