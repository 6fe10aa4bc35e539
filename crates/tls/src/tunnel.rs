//! A tunnel through a proxy: one request that opens it, and the head of one answer, before anything is secured.

use std::io;
use std::time::{Duration, Instant};

use crate::waits::Waits;

/// The longest head that a proxy may answer with.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// What a proxy's answer comes to so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its head is not whole.
    NeedMore,
    /// The tunnel is open.
    Open,
    /// There is none: the status is another than one of 2xx.
    Refused,
    /// It is no answer, or has more behind its head than the head of a tunnel has.
    Malformed,
}

/// What `received` comes to, all that the proxy has said.
pub(crate) fn answer(received: &[u8]) -> Answer {
    let Some(end) = received.windows(4).position(|it| it == b"\r\n\r\n").map(|at| at + 4) else {
        let is_one = b"HTTP/1.".starts_with(&received[..received.len().min(7)]);
        return if is_one && received.len() < HEAD_BYTES_MAX { Answer::NeedMore } else { Answer::Malformed };
    };
    let status = received.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(1..5));
    match status {
        Some([b' ', b'2', b'0'..=b'9', b'0'..=b'9']) if end == received.len() => Answer::Open,
        Some([b' ', b'3'..=b'5', b'0'..=b'9', b'0'..=b'9']) => Answer::Refused,
        _ => Answer::Malformed,
    }
}

/// Opens a tunnel over a connection to a proxy by `request`, in `most` at most.
///
/// # Errors
/// If there is none: with the first line of what the proxy said.
pub fn open_tunnel(stream: &mut impl Waits, request: &[u8], most: Duration) -> io::Result<()> {
    let until = Instant::now() + most;
    stream.wait_at_most(most)?;
    stream.write_all(request)?;
    let mut received = Vec::new();
    loop {
        match answer(&received) {
            Answer::NeedMore => {}
            Answer::Open => return Ok(()),
            Answer::Refused => {
                let line = received.split(|byte| *byte == b'\r').next().unwrap_or_default();
                let line = String::from_utf8_lossy(line).into_owned();
                return Err(io::Error::other(format!("the proxy refused the tunnel: {line}")));
            }
            Answer::Malformed => {
                return Err(io::Error::other("the proxy answered with something else than HTTP"));
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.wait_at_most(left)?;
        // One by one: what comes behind the head is not the proxy's.
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
        let head = b"HTTP/1.1 200 Connection established\r\nProxy-Agent: x\r\n\r\n";
        for cut in 0..head.len() {
            assert_eq!(answer(&head[..cut]), Answer::NeedMore, "{cut}");
        }
        assert_eq!(answer(head), Answer::Open);
        assert_eq!(answer(b"HTTP/1.0 204 No Content\r\n\r\n"), Answer::Open);
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
}
