//! What connections are asked to be, and the SETTINGS frame that says so.

use alloc::vec::Vec;

use crate::frame::{self, Kind, SETTING_BYTES, TABLE_BYTES_START};

/// Most exchanges that share a connection: what is kept of each is some hundred bytes.
pub const STREAMS_MAX: u32 = 100_000;
/// Windows are from 2^10 − 1 bytes …
pub const WINDOW_BITS_MIN: u32 = 10;
/// … to 2^30 − 1.
pub const WINDOW_BITS_MAX: u32 = 30;

/// The window of a connection until it is raised; it can't be made smaller (RFC 9113 6.9.2).
pub(crate) const WINDOW_BYTES_START: u32 = 65_535;

/// The names of settings on the wire (RFC 9113 6.5.2).
pub(crate) mod name {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// What the connections of a load are asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Exchanges that share a connection, from 1 to [`STREAMS_MAX`].
    pub streams: u32,
    /// A server may send 2^this − 1 bytes of a body before it hears that they came; from [`WINDOW_BITS_MIN`] to
    /// [`WINDOW_BITS_MAX`].
    pub window_bits: u32,
    /// The same of all bodies of a connection together; never less than 65,535 bytes, whatever this says.
    pub connection_window_bits: u32,
    /// The most that the table of header fields may count for.
    pub header_table_bytes: u32,
}

impl Default for Settings {
    /// One stream, and windows that limit nobody.
    fn default() -> Self {
        Self {
            streams: 1,
            window_bits: WINDOW_BITS_MAX,
            connection_window_bits: WINDOW_BITS_MAX,
            header_table_bytes: TABLE_BYTES_START,
        }
    }
}

impl Settings {
    pub(crate) fn window_bytes(self) -> u32 {
        bytes(self.window_bits)
    }

    pub(crate) fn connection_window_bytes(self) -> u32 {
        bytes(self.connection_window_bits).max(WINDOW_BYTES_START)
    }

    /// What is sent first: preface, SETTINGS, and the connection's window.
    pub(crate) fn put(self, head_bytes_max: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(frame::PREFACE);
        let all = [
            (name::HEADER_TABLE_SIZE, self.header_table_bytes),
            (name::ENABLE_PUSH, 0),
            (name::INITIAL_WINDOW_SIZE, self.window_bytes()),
            (name::MAX_HEADER_LIST_SIZE, head_bytes_max),
        ];
        // nginx answers any word about its table, also that it stays as it is, by never using it: then no block is like one
        // that was seen before in what it does to the table, and each is decoded.
        let stays = |name: u16, value: u32| name == name::HEADER_TABLE_SIZE && value == TABLE_BYTES_START;
        let mut payload = Vec::with_capacity(all.len() * SETTING_BYTES);
        for (name, value) in all.into_iter().filter(|(name, value)| !stays(*name, *value)) {
            payload.extend_from_slice(&name.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        }
        frame::put(out, Kind::Settings, 0, 0, &payload);
        let more = self.connection_window_bytes() - WINDOW_BYTES_START;
        if more > 0 {
            frame::put(out, Kind::WindowUpdate, 0, 0, &more.to_be_bytes());
        }
    }
}

fn bytes(bits: u32) -> u32 {
    (1 << bits.clamp(WINDOW_BITS_MIN, WINDOW_BITS_MAX)) - 1
}
