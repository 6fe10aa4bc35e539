//! Messages on a stream of bytes: a length of four bytes, the highest first, and as many of JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What an agent says first: whoever reads something else reads no agent.
pub const GREETING: &[u8] = b"proofload agent 2\n";
/// The longest message, bytes. An interval has some 20 KB, and 7 MB if it fills every place there is.
pub const FRAME_BYTES_MAX: usize = 16 << 20;
/// Bytes of the length.
const HEAD_BYTES: usize = 4;
/// Of what is said in place of a greeting, shown in an error.
const SHOWN_BYTES_MAX: usize = 80;

/// Why a stream has no more messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// It does not begin as an agent's.
    #[error(
        "says {0:?} and not what an agent says: is `proofload agent` what runs there, and alone on its output?"
    )]
    NoAgent(String),
    /// A message is longer than any can be.
    #[error("sends a message of {0} bytes, and the longest has {FRAME_BYTES_MAX}")]
    TooLong(usize),
    /// Its bytes are no message.
    #[error("sends a message that is none ({0})")]
    Malformed(String),
}

/// A message as it is sent.
///
/// # Errors
/// If it is longer than [`FRAME_BYTES_MAX`].
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, StreamError> {
    let mut bytes = vec![0; HEAD_BYTES];
    serde_json::to_writer(&mut bytes, message).map_err(|why| StreamError::Malformed(why.to_string()))?;
    let length = bytes.len() - HEAD_BYTES;
    if length > FRAME_BYTES_MAX {
        return Err(StreamError::TooLong(length));
    }
    bytes[..HEAD_BYTES].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(bytes)
}

/// Bytes of a stream on their way to messages.
#[derive(Debug, Default)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been read.
    read: usize,
    /// Bytes of the greeting that are still to come.
    greeting: usize,
    error: Option<StreamError>,
}

impl Frames {
    /// Of a stream that begins with [`GREETING`].
    pub fn greeted() -> Self {
        Self { greeting: GREETING.len(), ..Self::default() }
    }

    /// Takes in bytes. To be called when [`Frames::next`] has no more: then no more is held than a message and these.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.buffer.drain(..self.read);
            self.read = 0;
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next message, if all of it is there. After an error there are no more.
    ///
    /// # Errors
    /// If the bytes are not those of messages.
    #[expect(
        clippy::should_implement_trait,
        reason = "no iterator: which messages there are, the caller says"
    )]
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StreamError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let next = self.read_next();
        if let Err(error) = &next {
            self.error = Some(error.clone());
            self.buffer = Vec::new();
            self.read = 0;
        }
        next
    }

    fn read_next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StreamError> {
        self.read_greeting()?;
        let rest = &self.buffer[self.read..];
        let Some((head, rest)) = rest.split_first_chunk::<HEAD_BYTES>().filter(|_| self.greeting == 0) else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*head) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(StreamError::TooLong(length));
        }
        let Some(bytes) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(bytes).map_err(|why| StreamError::Malformed(why.to_string()))?;
        self.read += HEAD_BYTES + length;
        Ok(Some(message))
    }

    fn read_greeting(&mut self) -> Result<(), StreamError> {
        if self.greeting == 0 {
            return Ok(());
        }
        let expected = &GREETING[GREETING.len() - self.greeting..];
        let rest = &self.buffer[self.read..];
        let count = rest.len().min(expected.len());
        if rest[..count] != expected[..count] {
            let shown = &rest[..rest.len().min(SHOWN_BYTES_MAX)];
            return Err(StreamError::NoAgent(String::from_utf8_lossy(shown).trim_end().to_owned()));
        }
        self.read += count;
        self.greeting -= count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_wherever_the_stream_is_cut() {
        let messages = [vec![1, 2, 3], Vec::new(), vec![7; 300]];
        let mut bytes = GREETING.to_vec();
        for message in &messages {
            bytes.extend(encode(message).unwrap());
        }
        for cut in 1..40 {
            let mut frames = Frames::greeted();
            let mut came: Vec<Vec<u32>> = Vec::new();
            for piece in bytes.chunks(cut) {
                frames.push(piece);
                while let Some(message) = frames.next().unwrap() {
                    came.push(message);
                }
            }
            assert_eq!(came, messages, "in pieces of {cut}");
        }
    }

    #[test]
    fn what_is_no_stream_of_messages_is_an_error_that_stays() {
        let long = (FRAME_BYTES_MAX as u32 + 1).to_be_bytes();
        for (bytes, part) in [
            (b"bash: proofload: command not found\n".to_vec(), "command not found"),
            ([GREETING, &long].concat(), "16777217 bytes"),
            ([GREETING, &3_u32.to_be_bytes(), b"{]}"].concat(), "none"),
            ([GREETING, &2_u32.to_be_bytes(), b"{}"].concat(), "none"),
        ] {
            let mut frames = Frames::greeted();
            frames.push(&bytes);
            let error = frames.next::<Vec<u32>>().unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            frames.push(&encode(&vec![1]).unwrap());
            assert_eq!(frames.next::<Vec<u32>>().unwrap_err(), error);
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        assert!(matches!(encode(&"x".repeat(FRAME_BYTES_MAX)), Err(StreamError::TooLong(_))));
    }
}
