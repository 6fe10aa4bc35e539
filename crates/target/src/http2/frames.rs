//! Where answers end in what is written: the log says when their last byte was handed on, and the protocol does not.

/// Bytes of a frame's head (RFC 9113 4.1).
const HEAD_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// How far a sequence of frames was seen.
#[derive(Debug, Default)]
pub(super) struct Frames {
    head: [u8; HEAD_BYTES],
    /// How much of the head of the current frame was seen, and how much of its payload is to come.
    head_bytes: usize,
    payload_bytes: usize,
}

impl Frames {
    /// Goes on with `bytes`, which begin behind `at` others. Tells of each stream whose last frame ends in them, and behind
    /// how many bytes.
    pub(super) fn see(&mut self, mut bytes: &[u8], mut at: u64, mut ended: impl FnMut(u64, u32)) {
        while !bytes.is_empty() {
            let count = if self.head_bytes < HEAD_BYTES {
                let count = bytes.len().min(HEAD_BYTES - self.head_bytes);
                self.head[self.head_bytes..][..count].copy_from_slice(&bytes[..count]);
                self.head_bytes += count;
                if self.head_bytes == HEAD_BYTES {
                    let [high, middle, low, ..] = self.head;
                    self.payload_bytes = u32::from_be_bytes([0, high, middle, low]) as usize;
                }
                count
            } else {
                let count = bytes.len().min(self.payload_bytes);
                self.payload_bytes -= count;
                count
            };
            bytes = &bytes[count..];
            at += count as u64;
            if self.head_bytes == HEAD_BYTES && self.payload_bytes == 0 {
                self.head_bytes = 0;
                if let Some(stream) = self.ends() {
                    ended(at, stream);
                }
            }
        }
    }

    /// The stream that the current frame ends.
    fn ends(&self) -> Option<u32> {
        let [_, _, _, kind, flags, stream @ ..] = self.head;
        let is_last = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        is_last.then(|| u32::from_be_bytes(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_wherever_the_bytes_are_cut() {
        let mut bytes = Vec::new();
        // A head without an end, other frames whose flags mean something else, a body, an answer without one.
        for (length, kind, flags, stream) in [
            (4, HEADERS, 4, 1),
            (0, 4, 1, 0),
            (8, 6, 1, 0),
            (300, DATA, 0, 1),
            (5, DATA, 1, 1),
            (3, HEADERS, 5, 3),
        ] {
            bytes.extend_from_slice(&u32::to_be_bytes(length)[1..]);
            bytes.extend_from_slice(&[kind, flags]);
            bytes.extend_from_slice(&u32::to_be_bytes(stream));
            bytes.extend(std::iter::repeat_n(0, length as usize));
        }
        let all = bytes.len() as u64;
        for cut in 0..bytes.len() {
            let (mut frames, mut ended) = (Frames::default(), Vec::new());
            let (first, rest) = bytes.split_at(cut);
            frames.see(first, 0, |end, stream| ended.push((end, stream)));
            frames.see(rest, cut as u64, |end, stream| ended.push((end, stream)));
            assert_eq!(ended, [(all - 12, 1), (all, 3)], "{cut}");
        }
    }
}
