//! Why servers end connections of HTTP/2, as they say with their GOAWAY.

/// Kinds of reasons that are told apart.
pub const GO_AWAY_KINDS: usize = NAMES.len();

/// The error codes of HTTP/2 (RFC 9113 7), each at its number, and last all others.
const NAMES: [&str; 15] = [
    "no_error",
    "protocol_error",
    "internal_error",
    "flow_control_error",
    "settings_timeout",
    "stream_closed",
    "frame_size_error",
    "refused_stream",
    "cancel",
    "compression_error",
    "connect_error",
    "enhance_your_calm",
    "inadequate_security",
    "http_1_1_required",
    "other",
];

/// How many connections were ended with which code: a place for each, so that counting takes no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GoAways([u64; GO_AWAY_KINDS]);

impl GoAways {
    /// So many of each kind, in the order of their codes.
    pub const fn of(counts: [u64; GO_AWAY_KINDS]) -> Self {
        Self(counts)
    }

    /// How many there were of each kind, in the order of their codes.
    pub const fn counts(&self) -> [u64; GO_AWAY_KINDS] {
        self.0
    }

    /// The kinds that there were, by the names that they have in records and reports.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    /// One more connection was ended with `code`.
    pub(crate) fn add(&mut self, code: u32) {
        self.0[(code as usize).min(GO_AWAY_KINDS - 1)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Those of RFC 9113 that servers are known to send, and two that are none of it.
    #[test]
    fn codes_have_their_names_and_what_is_none_is_another() {
        let mut all = GoAways::default();
        for code in [0, 2, 11, 11, 13, 14, u32::MAX] {
            all.add(code);
        }
        let due = [
            ("no_error", 1),
            ("internal_error", 1),
            ("enhance_your_calm", 2),
            ("http_1_1_required", 1),
            ("other", 2),
        ];
        assert_eq!(all.named().collect::<Vec<_>>(), due);
        assert_eq!(GoAways::of(all.counts()), all);
    }
}
