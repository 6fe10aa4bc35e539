//! Numbers for what no seed is to repeat: the names of loads and pods, the ports that are tried.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A number that nobody can tell beforehand.
pub fn number() -> u64 {
    // The one source of randomness in std: each RandomState has new keys.
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_number_is_like_the_one_before() {
        assert_ne!(super::number(), super::number());
    }
}
