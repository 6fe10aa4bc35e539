//! HTTP/2 for single requests, by the protocol that loads speak.

use h2::{H2, H2Shared, Scheme, Settings};
use http::{AnswerHead, Fed, Limits, Listener, Protocol, RequestKind, RequestSpec};
use units::Bytes;

use super::{ANSWER_BYTES_MAX, Answer, Failure};

/// The only place: one thing is asked at a time.
const PLACE: u32 = 0;

/// One connection's side of it.
pub(super) struct Http2 {
    protocol: H2,
    shared: H2Shared,
    scheme: Scheme,
    kept: Kept,
    /// What is to be sent.
    pub(super) out: Vec<u8>,
}

/// What bytes have come to.
pub(super) enum Came {
    /// More are needed.
    Nothing,
    /// Something may be asked.
    Ready,
    Answer(Answer),
}

/// What is told of an answer.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Listener for Kept {
    const HEADS: bool = true;

    /// As text, since records show a head as it came.
    fn head(&mut self, _: u32, head: &AnswerHead<'_>) {
        self.head = format!("HTTP/2 {}\r\n", head.status).into_bytes();
        for (name, value) in head.fields() {
            self.head.extend_from_slice(name.as_bytes());
            self.head.extend_from_slice(b": ");
            self.head.extend_from_slice(value);
            self.head.extend_from_slice(b"\r\n");
            self.headers.push((name.to_owned(), String::from_utf8_lossy(value).into_owned()));
        }
        self.head.extend_from_slice(b"\r\n");
    }

    fn body(&mut self, _: u32, piece: &[u8]) {
        if self.body.len() <= ANSWER_BYTES_MAX {
            self.body.extend_from_slice(piece);
        }
    }
}

impl Http2 {
    /// A connection that is up, with its preface to be sent.
    pub(super) fn new(is_secured: bool) -> Self {
        let shared = H2::shared(Limits::default(), RequestKind::Ordinary, Settings::default());
        let mut protocol = H2::new(&shared);
        let mut out = Vec::new();
        protocol.begin(&shared, &mut out);
        let scheme = if is_secured { Scheme::Https } else { Scheme::Http };
        Self { protocol, shared, scheme, kept: Kept::default(), out }
    }

    /// Asks for `path`, if the server takes another request.
    pub(super) fn ask(&mut self, authority: &str, path: &str) -> Result<(), Failure> {
        if !self.protocol.has_room() {
            return Err(Failure::Ended { received: Bytes(0), reset: false });
        }
        let spec = RequestSpec {
            method: "GET",
            target: path,
            host: authority,
            headers: &[("User-Agent", "proofload-check")],
            body: b"",
            close: false,
        };
        let request = h2::encode(&spec, self.scheme).map_err(|error| Failure::Io(error.to_string()))?;
        self.kept = Kept::default();
        self.protocol.ask(PLACE, &request.into(), &mut self.out);
        self.protocol.expect(PLACE, RequestKind::Ordinary);
        Ok(())
    }

    /// Takes all that was received.
    pub(super) fn take(&mut self, received: &mut Vec<u8>) -> Result<Came, Failure> {
        let mut input = &received[..];
        let mut came = Came::Nothing;
        loop {
            let fed = self.protocol.feed(&mut self.shared, &mut input, &mut self.kept, &mut self.out);
            match fed.map_err(|kind| Failure::Malformed(kind.name()))? {
                Fed::NeedMore => break,
                Fed::Ready => came = Came::Ready,
                Fed::Failed { .. } => return Err(Failure::Ended { received: Bytes(0), reset: true }),
                Fed::Ended { response, .. } => {
                    let Kept { head, headers, body } = std::mem::take(&mut self.kept);
                    if body.len() > ANSWER_BYTES_MAX {
                        return Err(Failure::Malformed("longer than 64 MiB"));
                    }
                    came = Came::Answer(Answer {
                        status: response.status,
                        head,
                        headers,
                        framing: response.framing,
                        body,
                        wire_bytes: Bytes(response.wire_bytes),
                        says_close: !self.protocol.has_room(),
                    });
                }
            }
        }
        received.clear();
        Ok(came)
    }
}
