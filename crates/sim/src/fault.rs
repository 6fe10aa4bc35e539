//! What can go wrong between a request and its answer.

use std::fmt::Write;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Duration;

/// How an answer is framed on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// With a content length.
    ContentLength,
    /// In chunks, with a trailer.
    Chunked,
    /// Ended by closing the connection.
    CloseDelimited,
    /// With a content length and bare LF line ends, as `println` gives on Linux.
    LineFeedsOnly,
}

impl Answer {
    /// All framings.
    pub const ALL: [Self; 4] =
        [Self::ContentLength, Self::Chunked, Self::CloseDelimited, Self::LineFeedsOnly];

    /// The bytes of an answer with `status` and `body`; `close` announces that the connection ends.
    pub fn bytes(self, status: u16, body: &str, close: bool) -> Vec<u8> {
        let connection = if close { "Connection: close\r\n" } else { "" };
        let length = body.len();
        let text = match self {
            Self::ContentLength => {
                format!("HTTP/1.1 {status} X\r\n{connection}Content-Length: {length}\r\n\r\n{body}")
            }
            Self::Chunked => {
                let (head, tail) = body.split_at(length / 2);
                let mut chunks = String::new();
                for piece in [head, tail].iter().filter(|piece| !piece.is_empty()) {
                    // Writing into a String cannot fail.
                    let _ = write!(chunks, "{:x};x=y\r\n{piece}\r\n", piece.len());
                }
                format!(
                    "HTTP/1.1 {status} X\r\n{connection}Transfer-Encoding: chunked\r\n\r\n{chunks}0\r\nSum: 1\r\n\r\n"
                )
            }
            Self::CloseDelimited => format!("HTTP/1.1 {status} X\r\n\r\n{body}"),
            Self::LineFeedsOnly => {
                let connection = connection.replace('\r', "");
                format!("HTTP/1.1 {status} X\n{connection}Content-Length:{length}\n\n{body}")
            }
        };
        text.into_bytes()
    }
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: it is answered.
    None,
    /// It is answered later than usual.
    Delay(Duration),
    /// The connection is reset instead of an answer.
    Reset,
    /// The answer breaks off in the middle with a reset.
    ResetWithin,
    /// The server closes its side in the middle of the answer.
    HalfClose,
    /// The answer is not HTTP.
    Garbage,
    /// There is never an answer.
    NeverAnswer,
    /// The answer is a 500.
    ErrorStatus,
    /// The answer has another body.
    WrongBody,
    /// More bytes follow the answer than it announced.
    Surplus,
}

/// How often what goes wrong, in parts of 1000 for each request; the rest is fine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Faults of requests and their shares.
    pub per_mille: Vec<(Fault, u32)>,
    /// Share of connection attempts that are refused.
    pub refused_per_mille: u32,
    /// Share of connection attempts that are never completed.
    pub black_hole_per_mille: u32,
    /// Whether answers arrive in pieces cut at random places.
    pub split_reads: bool,
}

impl Faults {
    /// Draws what happens to the next request.
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Fault {
        let mut left = below(random, 1000);
        for (fault, share) in &self.per_mille {
            if left < u64::from(*share) {
                return *fault;
            }
            left -= u64::from(*share);
        }
        Fault::None
    }
}

/// A number from 0 to `bound − 1`; the bias of the remainder is below 2⁻⁵⁰ for the bounds used here.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    random.next_u64() % bound.max(1)
}
