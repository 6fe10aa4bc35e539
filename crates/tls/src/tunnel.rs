//! A tunnel through a proxy: what is said to it, and what it answers, before the connection leads to the server.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::waits::Waits;

/// The longest head that a proxy may answer with.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// SOCKS (RFC 1928, RFC 1929): versions of it and of its login, ways to log in, and kinds of address.
const SOCKS: u8 = 5;
const LOGIN: u8 = 1;
const NO_LOGIN: u8 = 0;
const BY_PASSWORD: u8 = 2;
const NO_WAY: u8 = 0xff;
const CONNECT: u8 = 1;
const DONE: u8 = 0;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// What a proxy is told so that its connection leads to the server. Cheap to clone.
#[derive(Clone)]
pub struct Tunnel(Arc<Kind>);

enum Kind {
    /// By a request (RFC 9110, section 9.3.6).
    Http(Vec<u8>),
    /// By up to three messages. Who logs in is not asked everywhere.
    Socks { greeting: Vec<u8>, login: Option<Vec<u8>>, request: Vec<u8> },
}

/// Without what is said: it may be a password.
impl fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tunnel").finish_non_exhaustive()
    }
}

/// What was said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The request of HTTP, or the ways to log in.
    First,
    Login,
    /// Where the tunnel is to lead.
    Request,
}

/// What a proxy's answer to a step comes to so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is not whole.
    NeedMore,
    /// This is next.
    Next(Step),
    /// The tunnel is open with so many bytes of it; what is behind them is the server's.
    Open(usize),
    /// There is none, and the answer says so.
    Refused,
    /// It is no answer, or has more behind it than there may be.
    Malformed,
}

impl Tunnel {
    /// Through a proxy of HTTP, by `request`: all of a CONNECT.
    pub fn http(request: &[u8]) -> Self {
        Self(Arc::new(Kind::Http(request.to_vec())))
    }

    /// Through a proxy of SOCKS 5 to `host`, which is an address or a name that the proxy resolves, and `port`; as `user` with a
    /// password, where it asks for that. `None` if one of these has more than 255 bytes.
    pub fn socks(host: &str, port: u16, user: Option<(&str, &str)>) -> Option<Self> {
        let greeting = match user {
            None => vec![SOCKS, 1, NO_LOGIN],
            Some(_) => vec![SOCKS, 2, NO_LOGIN, BY_PASSWORD],
        };
        let login = match user {
            None => None,
            Some((name, password)) => Some([&[LOGIN][..], &counted(name)?, &counted(password)?].concat()),
        };
        let address = match host.parse() {
            Ok(IpAddr::V4(address)) => [&[IPV4][..], &address.octets()].concat(),
            Ok(IpAddr::V6(address)) => [&[IPV6][..], &address.octets()].concat(),
            Err(_) => [&[NAME][..], &counted(host)?].concat(),
        };
        let request = [&[SOCKS, CONNECT, 0][..], &address, &port.to_be_bytes()].concat();
        Some(Self(Arc::new(Kind::Socks { greeting, login, request })))
    }

    /// What is said in `step`.
    pub(crate) fn says(&self, step: Step) -> &[u8] {
        match (&*self.0, step) {
            (Kind::Http(request), _) | (Kind::Socks { request, .. }, Step::Request) => request,
            (Kind::Socks { greeting, .. }, Step::First) => greeting,
            (Kind::Socks { login, .. }, Step::Login) => login.as_deref().unwrap_or_default(),
        }
    }

    /// What `received` comes to, all that the proxy has said since `step`.
    pub(crate) fn answer(&self, step: Step, received: &[u8]) -> Answer {
        match &*self.0 {
            Kind::Http(_) => http_answer(received),
            Kind::Socks { login, .. } => socks_answer(step, login.is_some(), received),
        }
    }

    /// Why there is no tunnel, as `received` says it.
    fn refusal(&self, step: Step, received: &[u8]) -> String {
        match (&*self.0, step) {
            (Kind::Http(_), _) => {
                let answer = behind_interim(received);
                let line = answer.split(|byte| b"\r\n".contains(byte)).next().unwrap_or_default();
                String::from_utf8_lossy(line).into_owned()
            }
            (Kind::Socks { login: None, .. }, Step::First) => {
                "it wants to know who asks (--proxy-user)".to_owned()
            }
            (Kind::Socks { .. }, Step::First) => "it takes no user and password".to_owned(),
            (Kind::Socks { .. }, Step::Login) => "it does not take this user and password".to_owned(),
            (Kind::Socks { .. }, Step::Request) => {
                let code = received.get(1).copied().unwrap_or_default();
                format!("{} (SOCKS reply {code})", reply_name(code))
            }
        }
    }

    /// What the proxy is to speak.
    fn protocol(&self) -> &'static str {
        match *self.0 {
            Kind::Http(_) => "HTTP",
            Kind::Socks { .. } => "SOCKS 5",
        }
    }
}

/// A text with its length before it, which is one byte.
fn counted(text: &str) -> Option<Vec<u8>> {
    let length = u8::try_from(text.len()).ok()?;
    Some([&[length][..], text.as_bytes()].concat())
}

fn http_answer(received: &[u8]) -> Answer {
    let answer = behind_interim(received);
    let Some(end) = head_bytes(answer) else {
        let is_one = b"HTTP/1.".starts_with(&answer[..answer.len().min(7)]);
        return if is_one && received.len() < HEAD_BYTES_MAX { Answer::NeedMore } else { Answer::Malformed };
    };
    match status(answer) {
        Some([b' ', b'2', b'0'..=b'9', b'0'..=b'9']) if end == answer.len() => Answer::Open(received.len()),
        Some([b' ', b'3'..=b'5', b'0'..=b'9', b'0'..=b'9']) => Answer::Refused,
        _ => Answer::Malformed,
    }
}

/// What of an answer follows its interim heads, which may be there unasked (RFC 9110, section 15.2).
fn behind_interim(received: &[u8]) -> &[u8] {
    let mut rest = received;
    while let Some(end) = head_bytes(rest)
        && let Some([b' ', b'1', tens @ b'0'..=b'9', ones @ b'0'..=b'9']) = status(rest)
        && (*tens, *ones) != (b'0', b'1')
    {
        rest = &rest[end..];
    }
    rest
}

/// How long the head is that `received` begins with, its empty line included. As in answers of servers, a line may end
/// without CR.
fn head_bytes(received: &[u8]) -> Option<usize> {
    let ends = |end: &usize| received[..*end].ends_with(b"\n\n") || received[..*end].ends_with(b"\n\r\n");
    let lines = received.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    lines.map(|(at, _)| at + 1).find(ends)
}

/// A space and the status of the head that `answer` begins with.
fn status(answer: &[u8]) -> Option<&[u8]> {
    answer.strip_prefix(b"HTTP/1.")?.get(1..5)
}

fn socks_answer(step: Step, has_login: bool, received: &[u8]) -> Answer {
    match (step, received) {
        (_, []) | (Step::First | Step::Request, [SOCKS]) | (Step::Login, [LOGIN]) => Answer::NeedMore,
        (Step::First, [SOCKS, NO_LOGIN]) | (Step::Login, [LOGIN, DONE]) => Answer::Next(Step::Request),
        (Step::First, [SOCKS, BY_PASSWORD]) if has_login => Answer::Next(Step::Login),
        (Step::Request, [SOCKS, DONE, ..]) => reply(received),
        (Step::First, [SOCKS, NO_WAY]) | (Step::Login, [LOGIN, _]) | (Step::Request, [SOCKS, _, ..]) => {
            Answer::Refused
        }
        _ => Answer::Malformed,
    }
}

/// A reply that says yes: behind that, a byte that means nothing, and the address that the proxy has towards the server.
fn reply(received: &[u8]) -> Answer {
    let address_bytes = match received {
        [_, _] | [_, _, _] | [_, _, _, NAME] => return Answer::NeedMore,
        [_, _, _, IPV4, ..] => 4,
        [_, _, _, IPV6, ..] => 16,
        [_, _, _, NAME, length, ..] => 1 + usize::from(*length),
        _ => return Answer::Malformed,
    };
    let bytes = 4 + address_bytes + 2;
    if received.len() < bytes { Answer::NeedMore } else { Answer::Open(bytes) }
}

/// What a reply is called (RFC 1928, section 6).
fn reply_name(code: u8) -> &'static str {
    match code {
        1 => "it failed",
        2 => "its rules do not allow it",
        3 => "the network is unreachable",
        4 => "the host is unreachable",
        5 => "the server refused the connection",
        6 => "the time to live ran out",
        7 => "it makes no connections",
        8 => "it does not know this kind of address",
        _ => "for no reason that has a name",
    }
}

/// Opens a tunnel over a connection to a proxy, in `most` at most.
///
/// # Errors
/// If there is none: with what the proxy said.
pub fn open_tunnel(stream: &mut impl Waits, tunnel: &Tunnel, most: Duration) -> io::Result<()> {
    let until = Instant::now() + most;
    stream.wait_at_most(most)?;
    let mut step = Step::First;
    stream.write_all(tunnel.says(step))?;
    let mut received = Vec::new();
    loop {
        match tunnel.answer(step, &received) {
            Answer::NeedMore => {}
            Answer::Next(next) => {
                step = next;
                received.clear();
                stream.write_all(tunnel.says(step))?;
            }
            Answer::Open(_) => return Ok(()),
            Answer::Refused => {
                let why = tunnel.refusal(step, &received);
                return Err(io::Error::other(format!("the proxy refused the tunnel: {why}")));
            }
            Answer::Malformed => {
                let protocol = tunnel.protocol();
                return Err(io::Error::other(format!(
                    "the proxy answered with something else than {protocol}"
                )));
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.wait_at_most(left)?;
        // One by one: what comes behind the answer is not the proxy's.
        let mut byte = [0];
        if stream.read(&mut byte)? == 0 {
            return Err(io::Error::other("the proxy closed the connection"));
        }
        received.push(byte[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_is_open_once_the_head_is_whole_and_says_so() {
        let tunnel = Tunnel::http(b"CONNECT");
        let answer = |received: &[u8]| tunnel.answer(Step::First, received);
        let head = b"HTTP/1.1 200 Connection established\r\nProxy-Agent: x\r\n\r\n";
        for cut in 0..head.len() {
            assert_eq!(answer(&head[..cut]), Answer::NeedMore, "{cut}");
        }
        assert_eq!(answer(head), Answer::Open(head.len()));
        assert_eq!(answer(b"HTTP/1.0 204 No Content\r\n\r\n"), Answer::Open(27));
        assert_eq!(
            answer(&[head.as_slice(), b"x"].concat()),
            Answer::Malformed,
            "a server of TLS speaks second"
        );
        assert_eq!(answer(b"HTTP/1.1 407 Who?\r\nContent-Length: 3\r\n\r\nno!"), Answer::Refused);
        for wrong in
            [b"SSH-2.0".as_slice(), b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 20x\r\n\r\n", b"HTTP/1.1\r\n\r\n"]
        {
            assert_eq!(answer(wrong), Answer::Malformed, "{wrong:?}");
        }
        let endless = [b"HTTP/1.1 200 OK\r\nA: ".as_slice(), &[b'x'; HEAD_BYTES_MAX]].concat();
        assert_eq!(answer(&endless), Answer::Malformed);
    }

    #[test]
    fn interim_heads_come_before_the_answer_and_lines_may_end_without_cr() {
        let tunnel = Tunnel::http(b"CONNECT");
        let answer = |received: &[u8]| tunnel.answer(Step::First, received);
        let interim = &b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\nA: b\n\n"[..];
        for (last, comes_to) in [
            (&b"HTTP/1.1 200 Yes\r\n\r\n"[..], None),
            (&b"HTTP/1.0 200 Yes\nVia: x\n\n"[..], None),
            (&b"HTTP/1.1 407 Who?\r\n\r\n"[..], Some(Answer::Refused)),
            (&b"HTTP/1.1 101 Other\r\n\r\n"[..], Some(Answer::Malformed)),
        ] {
            let whole = [interim, last].concat();
            for cut in 0..whole.len() {
                assert_eq!(answer(&whole[..cut]), Answer::NeedMore, "{cut} of {last:?}");
            }
            assert_eq!(answer(&whole), comes_to.unwrap_or(Answer::Open(whole.len())), "{last:?}");
        }
        let refused = [interim, &b"HTTP/1.1 403 No\nA: b\n\n"[..]].concat();
        assert_eq!(tunnel.refusal(Step::First, &refused), "HTTP/1.1 403 No");
        // There is no end to them.
        let all = interim.repeat(HEAD_BYTES_MAX / interim.len() + 1);
        assert_eq!(answer(&all), Answer::Malformed);
    }

    #[test]
    fn socks_is_told_where_to_go_by_address_or_by_name() {
        let request = |host: &str| Tunnel::socks(host, 8443, None).unwrap().says(Step::Request).to_vec();
        assert_eq!(request("127.0.0.1"), [5, 1, 0, 1, 127, 0, 0, 1, 0x20, 0xfb]);
        assert_eq!(request("a.test"), b"\x05\x01\x00\x03\x06a.test\x20\xfb");
        let sixth = request("::1");
        assert_eq!((&sixth[..4], sixth.len(), sixth[19]), (&[5, 1, 0, 4][..], 22, 1));
        let nobody = Tunnel::socks("a.test", 80, None).unwrap();
        assert_eq!(nobody.says(Step::First), [5, 1, 0]);
        let somebody = Tunnel::socks("a.test", 80, Some(("me", "secret"))).unwrap();
        assert_eq!(somebody.says(Step::First), [5, 2, 0, 2]);
        assert_eq!(somebody.says(Step::Login), b"\x01\x02me\x06secret");
        assert!(!format!("{somebody:?}").contains("115"), "{somebody:?}");
        let long = "x".repeat(256);
        assert!(Tunnel::socks(&long, 80, None).is_none());
        assert!(Tunnel::socks("a.test", 80, Some((&long, ""))).is_none());
        assert!(Tunnel::socks("a.test", 80, Some(("me", &long[1..]))).is_some());
    }

    #[test]
    fn socks_is_asked_step_by_step_wherever_its_answers_are_cut() {
        let tunnel = Tunnel::socks("a.test", 80, Some(("me", "secret"))).unwrap();
        let whole: [(Step, &[u8], Answer); 6] = [
            (Step::First, &[5, 0], Answer::Next(Step::Request)),
            (Step::First, &[5, 2], Answer::Next(Step::Login)),
            (Step::Login, &[1, 0], Answer::Next(Step::Request)),
            (Step::Request, &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80], Answer::Open(10)),
            (Step::Request, b"\x05\x00\x00\x03\x03abc\x00\x50", Answer::Open(10)),
            (
                Step::Request,
                &[5, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80],
                Answer::Open(22),
            ),
        ];
        for (step, received, comes_to) in whole {
            for cut in 0..received.len() {
                assert_eq!(tunnel.answer(step, &received[..cut]), Answer::NeedMore, "{received:?} to {cut}");
            }
            assert_eq!(tunnel.answer(step, received), comes_to, "{received:?}");
            let more = [received, &[0]].concat();
            // What follows the last of them is the server's.
            let with_more = if step == Step::Request { comes_to } else { Answer::Malformed };
            assert_eq!(tunnel.answer(step, &more), with_more, "{more:?}");
        }
    }

    #[test]
    fn socks_says_why_there_is_no_tunnel() {
        let somebody = Tunnel::socks("a.test", 80, Some(("me", "secret"))).unwrap();
        let nobody = Tunnel::socks("a.test", 80, None).unwrap();
        let refusals: [(&Tunnel, Step, &[u8], &str); 5] = [
            (&nobody, Step::First, &[5, 0xff], "it wants to know who asks (--proxy-user)"),
            (&somebody, Step::First, &[5, 0xff], "it takes no user and password"),
            (&somebody, Step::Login, &[1, 1], "it does not take this user and password"),
            (&nobody, Step::Request, &[5, 5], "the server refused the connection (SOCKS reply 5)"),
            (&nobody, Step::Request, &[5, 99, 0], "for no reason that has a name (SOCKS reply 99)"),
        ];
        for (tunnel, step, received, why) in refusals {
            assert_eq!(tunnel.answer(step, received), Answer::Refused, "{received:?}");
            let said = tunnel.refusal(step, received);
            assert!(said.contains(why), "{said}");
        }
        // A way to log in that was not offered, another version, another protocol.
        let others: [(Step, &[u8]); 5] = [
            (Step::First, &[5, 2]),
            (Step::First, &[4, 0]),
            (Step::First, b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            (Step::Login, &[5, 0]),
            (Step::Request, &[5, 0, 0, 2]),
        ];
        for (step, received) in others {
            assert_eq!(nobody.answer(step, received), Answer::Malformed, "{received:?}");
        }
    }
}
