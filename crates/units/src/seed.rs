//! What makes a run repeatable.

use core::fmt;
use core::str::FromStr;

use crate::parse::ParseError;

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
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Seed {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.trim().parse().map(Self).map_err(|_| ParseError::NotANumber { example: "42" })
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
}
