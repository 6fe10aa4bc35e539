//! Frames on the wire (RFC 9113 4.1).

use alloc::vec::Vec;

/// What a client sends before its first frame (RFC 9113 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's head: length, type, flags, stream.
pub const FRAME_HEAD_BYTES: usize = 9;

/// The longest frame that a peer may send unless it was told otherwise, and the least that it must take.
pub(crate) const FRAME_BYTES_DEFAULT: u32 = 16_384;

/// A name and a value in SETTINGS.
pub(crate) const SETTING_BYTES: usize = 6;

/// The table of header fields that either side has before SETTINGS say otherwise.
pub(crate) const TABLE_BYTES_START: u32 = 4096;

/// The bit of a stream's number, and of a window's increment, that means nothing.
const RESERVED: u32 = 1 << 31;

/// Flags of frames.
pub mod flag {
    /// DATA and HEADERS: the last of their stream.
    pub const END_STREAM: u8 = 0x1;
    /// SETTINGS and PING: the answer to one.
    pub const ACK: u8 = 0x1;
    /// HEADERS and CONTINUATION: the header block ends.
    pub const END_HEADERS: u8 = 0x4;
    /// DATA and HEADERS: there is padding.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: there is a priority.
    pub const PRIORITY: u8 = 0x20;
}

/// Types of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Body.
    Data,
    /// The first part of a header block.
    Headers,
    /// Deprecated, and without a meaning.
    Priority,
    /// The end of a stream without a whole answer.
    ResetStream,
    /// What a peer may be sent.
    Settings,
    /// A request that nobody made.
    PushPromise,
    /// To be echoed.
    Ping,
    /// The end of a connection is announced.
    GoAway,
    /// More may be sent.
    WindowUpdate,
    /// More of a header block.
    Continuation,
    /// Of an extension: to be ignored.
    Unknown(u8),
}

impl Kind {
    const KNOWN: [Self; 10] = [
        Self::Data,
        Self::Headers,
        Self::Priority,
        Self::ResetStream,
        Self::Settings,
        Self::PushPromise,
        Self::Ping,
        Self::GoAway,
        Self::WindowUpdate,
        Self::Continuation,
    ];

    fn of(byte: u8) -> Self {
        Self::KNOWN.get(usize::from(byte)).copied().unwrap_or(Self::Unknown(byte))
    }

    fn byte(self) -> u8 {
        match self {
            Self::Unknown(byte) => byte,
            known => Self::KNOWN.iter().position(|kind| *kind == known).unwrap_or_default() as u8,
        }
    }
}

/// What a frame begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes that follow; below 2^24.
    pub payload_bytes: u32,
    /// What it carries.
    pub kind: Kind,
    /// Its flags: see [`flag`].
    pub flags: u8,
    /// Its stream; 0 is the connection.
    pub stream: u32,
}

impl FrameHead {
    /// The head that the bytes are.
    pub fn read(bytes: &[u8; FRAME_HEAD_BYTES]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = *bytes;
        Self {
            payload_bytes: u32::from_be_bytes([0, high, middle, low]),
            kind: Kind::of(kind),
            flags,
            stream: u32::from_be_bytes(stream) & !RESERVED,
        }
    }

    /// Appends its bytes to `out`.
    pub fn write(self, out: &mut Vec<u8>) {
        let [_, high, middle, low] = self.payload_bytes.to_be_bytes();
        let [a, b, c, d] = self.stream.to_be_bytes();
        out.extend_from_slice(&[high, middle, low, self.kind.byte(), self.flags, a, b, c, d]);
    }

    /// Whether all of these flags are set.
    pub const fn has(self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Of the frame on the wire.
    pub(crate) const fn wire_bytes(self) -> u64 {
        self.payload_bytes as u64 + FRAME_HEAD_BYTES as u64
    }
}

/// Where in a frame its stream is.
const STREAM_AT: usize = 5;

/// Writes a frame that lies ready but for its stream.
pub(crate) fn put_ready(out: &mut Vec<u8>, frame: &[u8], stream: u32) {
    let at = out.len() + STREAM_AT;
    out.extend_from_slice(frame);
    out[at..][..size_of_val(&stream)].copy_from_slice(&stream.to_be_bytes());
}

/// Type and flags of a frame, as they follow each other on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sort(u16);

impl Sort {
    /// All of a head, and not the end of its stream.
    pub(crate) const WHOLE_HEAD: Self = Self(0x0100 | flag::END_HEADERS as u16);
    /// Body to the end of its stream.
    pub(crate) const LAST_DATA: Self = Self(flag::END_STREAM as u16);
}

/// The frame that `bytes` begin with, if it came as a whole and is of this sort: its stream, its payload, and what is behind it.
#[inline]
pub(crate) fn whole_of(sort: Sort, bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<FRAME_HEAD_BYTES>()?;
    let [high, middle, low, kind, flags, stream @ ..] = *head;
    // In one load, and one comparison for both: it is on the path of every answer.
    let [a, b, c, _] = stream;
    let first = u64::from_be_bytes([high, middle, low, kind, flags, a, b, c]);
    if (first >> 24) as u16 != sort.0 {
        return None;
    }
    let (payload, rest) = rest.split_at_checked((first >> 40) as usize)?;
    Some((u32::from_be_bytes(stream) & !RESERVED, payload, rest))
}

/// Head and payload of a frame.
///
/// # Panics
/// If it is shorter than its head.
pub(crate) fn split(frame: &[u8]) -> (FrameHead, &[u8]) {
    let (head, payload) = frame.split_first_chunk().expect("a frame has a head");
    (FrameHead::read(head), payload)
}

/// Appends a whole frame to `out`.
pub(crate) fn put(out: &mut Vec<u8>, kind: Kind, flags: u8, stream: u32, payload: &[u8]) {
    FrameHead { payload_bytes: payload.len() as u32, kind, flags, stream }.write(out);
    out.extend_from_slice(payload);
}

/// The error code that four bytes of a payload are: all their bits mean something.
pub(crate) fn code_at(payload: &[u8], at: usize) -> Option<u32> {
    let bytes = payload.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

/// The number that they are, without the bit that means nothing.
pub(crate) fn number_at(payload: &[u8], at: usize) -> Option<u32> {
    code_at(payload, at).map(|number| number & !RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sort_is_the_type_and_the_flags_that_are_written() {
        let sorts = [
            (Sort::WHOLE_HEAD, Kind::Headers, flag::END_HEADERS),
            (Sort::LAST_DATA, Kind::Data, flag::END_STREAM),
        ];
        for (sort, kind, flags) in sorts {
            let mut bytes = Vec::new();
            put(&mut bytes, kind, flags, 7 | RESERVED, b"abc");
            bytes.push(9);
            assert_eq!(whole_of(sort, &bytes), Some((7, &b"abc"[..], &[9][..])));
            for end in 0..bytes.len() - 1 {
                assert_eq!(whole_of(sort, &bytes[..end]), None, "{end} bytes");
            }
            bytes[4] |= flag::PADDED;
            assert_eq!(whole_of(sort, &bytes), None);
        }
    }
}
