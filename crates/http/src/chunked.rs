//! The chunked coding, byte by byte: no state but a few integers, so a split costs nothing.

use crate::fields::{is_token_byte, is_value_byte};
use crate::{Limits, Malformed};

/// Where the decoder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Before the first digit of a size.
    SizeStart,
    Size,
    /// White space after the size, which some servers pad with (RFC 9112 7.1.1 has it as BWS).
    SizePad,
    Extension,
    SizeCr,
    Data,
    DataEnd,
    DataCr,
    /// The start of the first line after the last chunk: it can't be a folded one.
    TrailerFirst,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerValueCr,
    EndCr,
}

/// What the framing byte that was just read leads to.
enum Next {
    Step(Step),
    /// The end of the body.
    End,
}

/// A decoder of one chunked body (RFC 9112 7.1). Extensions and trailers are checked and dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunked {
    step: Step,
    /// Bytes of the size line so far, then of all trailer lines so far.
    line_bytes: u32,
    /// The size being read, then what is still to come of the chunk.
    remaining: u64,
}

/// What a push into the decoder came to.
pub(crate) struct Decoded {
    pub consumed: usize,
    pub is_complete: bool,
}

impl Chunked {
    pub(crate) const fn new() -> Self {
        Self { step: Step::SizeStart, line_bytes: 0, remaining: 0 }
    }

    /// Decodes until the body ends or `input` does.
    pub(crate) fn push(
        &mut self,
        limits: &Limits,
        input: &[u8],
        on_body: &mut impl FnMut(&[u8]),
    ) -> Result<Decoded, Malformed> {
        let mut rest = input;
        while !rest.is_empty() {
            if self.step == Step::Data {
                let (data, after) = take(rest, self.remaining);
                on_body(data);
                self.remaining -= data.len() as u64;
                rest = after;
                if self.remaining == 0 {
                    self.step = Step::DataEnd;
                }
                continue;
            }
            let Some((byte, after)) = rest.split_first() else { break };
            rest = after;
            match self.framing(limits, *byte)? {
                Next::Step(step) => self.step = step,
                Next::End => return Ok(Decoded { consumed: input.len() - rest.len(), is_complete: true }),
            }
        }
        Ok(Decoded { consumed: input.len(), is_complete: false })
    }

    /// Takes one byte that is not data.
    fn framing(&mut self, limits: &Limits, byte: u8) -> Result<Next, Malformed> {
        let step = match self.step {
            Step::SizeStart | Step::Size | Step::SizePad | Step::Extension | Step::SizeCr => {
                self.count(limits.chunk_line_bytes_max, Malformed::ChunkExtensionTooLarge)?;
                self.size_line(byte)?
            }
            Step::Data => Step::Data,
            Step::DataEnd if byte == b'\r' => Step::DataCr,
            Step::DataEnd | Step::DataCr if byte == b'\n' => Step::SizeStart,
            Step::DataEnd | Step::DataCr => return Err(Malformed::ChunkTerminator),
            Step::TrailerFirst | Step::TrailerStart if byte == b'\r' => Step::EndCr,
            Step::TrailerFirst | Step::TrailerStart | Step::EndCr if byte == b'\n' => return Ok(Next::End),
            Step::EndCr => return Err(Malformed::Trailer),
            Step::TrailerFirst
            | Step::TrailerStart
            | Step::TrailerName
            | Step::TrailerValue
            | Step::TrailerValueCr => {
                self.count(limits.trailer_bytes_max, Malformed::TrailerTooLarge)?;
                self.trailer_line(byte)?
            }
        };
        Ok(Next::Step(step))
    }

    fn count(&mut self, bytes_max: u32, overflow: Malformed) -> Result<(), Malformed> {
        if self.line_bytes >= bytes_max {
            return Err(overflow);
        }
        self.line_bytes += 1;
        Ok(())
    }

    fn size_line(&mut self, byte: u8) -> Result<Step, Malformed> {
        match (self.step, byte) {
            (Step::SizeStart | Step::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.remaining = with_digit(self.remaining, byte).ok_or(Malformed::ChunkSize)?;
                Ok(Step::Size)
            }
            (Step::SizeStart, _) => Err(Malformed::ChunkSize),
            (_, b'\n') => {
                self.line_bytes = 0;
                Ok(if self.remaining == 0 { Step::TrailerFirst } else { Step::Data })
            }
            (Step::SizeCr, _) => Err(Malformed::LineEnd),
            (_, b'\r') => Ok(Step::SizeCr),
            (Step::Extension, _) if is_value_byte(byte) => Ok(Step::Extension),
            (Step::Extension, _) => Err(Malformed::ChunkExtension),
            (_, b';') => Ok(Step::Extension),
            (_, b' ' | b'\t') => Ok(Step::SizePad),
            _ => Err(Malformed::ChunkSize),
        }
    }

    /// One byte of a trailer field line. A folded line goes on with the value, as it does in a head.
    fn trailer_line(&self, byte: u8) -> Result<Step, Malformed> {
        match (self.step, byte) {
            (Step::TrailerFirst | Step::TrailerStart, _) if is_token_byte(byte) => Ok(Step::TrailerName),
            (Step::TrailerStart, b' ' | b'\t') | (Step::TrailerName, b':') => Ok(Step::TrailerValue),
            (Step::TrailerName, _) if is_token_byte(byte) => Ok(Step::TrailerName),
            (Step::TrailerValue, b'\r') => Ok(Step::TrailerValueCr),
            (Step::TrailerValue | Step::TrailerValueCr, b'\n') => Ok(Step::TrailerStart),
            (Step::TrailerValue, _) if is_value_byte(byte) => Ok(Step::TrailerValue),
            _ => Err(Malformed::Trailer),
        }
    }
}

/// `size` with one more hexadecimal digit; `None` at 2^64.
fn with_digit(size: u64, digit: u8) -> Option<u64> {
    let value = char::from(digit).to_digit(16)?;
    size.checked_mul(16)?.checked_add(u64::from(value))
}

/// Splits off at most `wanted` bytes.
pub(crate) fn take(input: &[u8], wanted: u64) -> (&[u8], &[u8]) {
    let bytes = usize::try_from(wanted).map_or(input.len(), |wanted| wanted.min(input.len()));
    input.split_at(bytes)
}
