//! What makes a run repeatable.

use core::fmt;
use core::str::FromStr;

use crate::parse::{ParseError, whole};

/// The seed of every random choice of a run. Same seed, same choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seed(pub u64);

impl Seed {
    /// An independent seed for part `index` of a run (a thread, a block), by SplitMix64's finaliser
    /// (Steele, Lea, Flood 2014): neighbouring indices share no visible structure.
    #[must_use]
    pub const fn derive(self, index: u64) -> Self {
        let mut z = self.0.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }

    /// An independent seed for the part of a run that is called `name` (a round, a purpose), by FNV-1a (Fowler, Noll, Vo)
    /// and [`Seed::derive`]. Parts that are named keep their seeds when others are added or left out.
    #[must_use]
    pub const fn derive_named(self, name: &str) -> Self {
        let bytes = name.as_bytes();
        let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        self.derive(hash)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Seed {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        whole(text.trim()).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_seeds_differ_by_index_and_by_parent() {
        let seed = Seed(7);
        assert_eq!(seed.derive(3), seed.derive(3));
        assert_ne!(seed.derive(3), seed.derive(4));
        assert_ne!(seed.derive(3), Seed(8).derive(3));
    }

    /// The hash of `foobar` is one of the values that FNV's authors publish.
    #[test]
    fn named_seeds_differ_by_name_and_by_parent() {
        let seed = Seed(7);
        assert_eq!(seed.derive_named("foobar"), seed.derive(0x8594_4171_f739_67e8));
        assert_ne!(seed.derive_named("a"), seed.derive_named("b"));
        assert_ne!(seed.derive_named("a"), Seed(8).derive_named("a"));
    }
}
