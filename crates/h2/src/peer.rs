//! What the server's SETTINGS say (RFC 9113 6.5).

use http::Malformed;

use crate::frame::{FRAME_BYTES_DEFAULT, SETTING_BYTES, TABLE_BYTES_START};
use crate::settings::{WINDOW_BYTES_START, name};

/// The largest window there may be (RFC 9113 6.9.1).
pub(crate) const WINDOW_BYTES_MAX: i64 = (1 << 31) - 1;
/// The longest frame that there may be.
const FRAME_BYTES_MAX: u32 = (1 << 24) - 1;

/// What a server allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Streams at one time.
    pub(crate) streams_max: u32,
    /// The window of a new stream.
    pub(crate) window_bytes: i64,
    pub(crate) frame_bytes_max: u32,
    /// The least that its table of header fields was since it was looked at last.
    pub(crate) table_bytes_least: u32,
}

impl Peer {
    /// Before it says anything.
    pub(crate) const START: Self = Self {
        streams_max: u32::MAX,
        window_bytes: WINDOW_BYTES_START as i64,
        frame_bytes_max: FRAME_BYTES_DEFAULT,
        table_bytes_least: TABLE_BYTES_START,
    };

    /// Takes in a SETTINGS frame.
    pub(crate) fn read(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let settings = payload.chunks_exact(SETTING_BYTES);
        if !settings.remainder().is_empty() {
            return Err(Malformed::FrameSize);
        }
        for setting in settings {
            let [a, b, value @ ..] = setting else { return Err(Malformed::FrameSize) };
            let value = u32::from_be_bytes(value.try_into().map_err(|_| Malformed::FrameSize)?);
            match u16::from_be_bytes([*a, *b]) {
                name::HEADER_TABLE_SIZE => self.table_bytes_least = self.table_bytes_least.min(value),
                // A client alone may allow it.
                name::ENABLE_PUSH if value > 0 => return Err(Malformed::Settings),
                name::MAX_CONCURRENT_STREAMS => self.streams_max = value,
                name::INITIAL_WINDOW_SIZE => {
                    self.window_bytes = i64::from(value);
                    if self.window_bytes > WINDOW_BYTES_MAX {
                        return Err(Malformed::FlowControl);
                    }
                }
                name::MAX_FRAME_SIZE => {
                    if !(FRAME_BYTES_DEFAULT..=FRAME_BYTES_MAX).contains(&value) {
                        return Err(Malformed::Settings);
                    }
                    self.frame_bytes_max = value;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
