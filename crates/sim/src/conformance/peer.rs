//! The server of the suite over any stream of bytes, for harnesses with real connections.

use std::io::{Read, Write};
use std::sync::Arc;

use super::{Behaviour, EARLY_ANSWER};
use crate::fault::Answer;

/// The server's side of one connection. Dropping it closes it, whatever is still to be read or said.
pub trait Peer: Read + Write {
    /// Ends it in good order.
    fn finish(self);

    /// Breaks it off, so that the client meets a reset.
    fn reset(self);
}

impl Behaviour {
    /// What [`serve`] sends for each request, made once: under a sanitizer a long one takes its time.
    pub fn answer(&self) -> Arc<[u8]> {
        match self {
            Self::Answers { framing, body_bytes, .. } => {
                framing.bytes(200, &Self::body(*body_bytes), false).into()
            }
            _ => Arc::default(),
        }
    }
}

/// Serves one connection, whose requests have so many bytes, with [`Behaviour::answer`]. Errors end it: the client has closed.
pub fn serve(mut peer: impl Peer, behaviour: &Behaviour, answer: &[u8], request_bytes: usize) {
    if matches!(behaviour, Behaviour::AnswersEarly | Behaviour::ResetsEarly) {
        let _ = peer.read(&mut [0; 256]);
        if *behaviour == Behaviour::ResetsEarly {
            return peer.reset();
        }
        let _ = peer.write_all(EARLY_ANSWER);
        // What it has not read turns the close into a reset.
        return;
    }
    let mut request = vec![0; request_bytes];
    let mut answers = 0;
    while peer.read_exact(&mut request).is_ok() {
        answers += 1;
        let good = |close| Answer::ContentLength.bytes(200, "hello", close);
        let written = match behaviour {
            Behaviour::Answers { framing, piece_bytes, .. } => {
                let written = answer.chunks(*piece_bytes).try_for_each(|piece| peer.write_all(piece));
                if *framing == Answer::CloseDelimited {
                    return peer.finish();
                }
                written
            }
            Behaviour::ClosesEvery(count) if answers % count == 0 => {
                let _ = peer.write_all(&good(true));
                return peer.finish();
            }
            Behaviour::ClosesEvery(_) => peer.write_all(&good(false)),
            Behaviour::Resets => return peer.reset(),
            Behaviour::ClosesWithin => {
                let _ = peer.write_all(&good(false)[..20]);
                return peer.finish();
            }
            Behaviour::NeverAnswers => Ok(()),
            Behaviour::Garbage => peer.write_all(b"\x16\x03\x01 not HTTP\r\n\r\n"),
            Behaviour::Refuses | Behaviour::AnswersEarly | Behaviour::ResetsEarly => return,
        };
        if written.is_err() {
            return;
        }
    }
}
