//! Places and counts on their way: the steps from each place to the next and the counts, as integers of variable length, all of them
//! in one text of base64. An interval of a busy load thread has ten thousands of them, and reading those is most of what a
//! conductor does.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use integer_encoding::VarInt;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

type Filled = Vec<(u32, u64)>;

const WRONG: &str = "a place that no time is counted at";

pub(crate) fn serialize<S: Serializer>(filled: &[(u32, u64)], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(packed(filled)))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Filled, D::Error> {
    from.deserialize_str(Text)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Filled;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("places and counts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Filled, E> {
        let bytes = STANDARD.decode(text).map_err(E::custom)?;
        unpacked(&bytes).ok_or_else(|| E::custom(WRONG))
    }
}

fn packed(filled: &[(u32, u64)]) -> Vec<u8> {
    // Most steps and counts take a byte.
    let mut bytes = Vec::with_capacity(filled.len() * 3);
    let mut append = |number: u64| {
        let mut space = [0; 10];
        let length = number.encode_var(&mut space);
        bytes.extend_from_slice(&space[..length]);
    };
    let mut before = 0;
    for (place, count) in filled {
        append(u64::from(place.wrapping_sub(before)));
        append(*count);
        before = *place;
    }
    bytes
}

/// `None` of bytes that [`packed`] does not make. However many there are, it takes no more memory than all places do.
fn unpacked(bytes: &[u8]) -> Option<Filled> {
    let mut filled = Filled::with_capacity((bytes.len() / 2).min(stats::PLACES));
    let (mut rest, mut place) = (bytes, 0_u64);
    while !rest.is_empty() {
        let (step, count) = (next(&mut rest)?, next(&mut rest)?);
        place = place.checked_add(step)?;
        if place >= stats::PLACES as u64 || (step == 0 && !filled.is_empty()) {
            return None;
        }
        filled.push((place as u32, count));
    }
    Some(filled)
}

fn next(bytes: &mut &[u8]) -> Option<u64> {
    let (number, length) = u64::decode_var(bytes)?;
    *bytes = &bytes[length..];
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_packed_is_the_same(
            filled in prop::collection::btree_map(0..stats::PLACES as u32, any::<u64>(), 0..200),
        ) {
            let filled: Filled = filled.into_iter().collect();
            prop_assert_eq!(unpacked(&packed(&filled)), Some(filled));
        }

        #[test]
        fn whatever_comes_takes_no_more_than_all_places(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Some(filled) = unpacked(&bytes) {
                prop_assert!(filled.is_sorted_by(|one, next| one.0 < next.0));
                prop_assert!(filled.iter().all(|it| (it.0 as usize) < stats::PLACES));
            }
        }
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let last = stats::PLACES as u32 - 1;
        assert_eq!(unpacked(&packed(&[(last, 1)])), Some(vec![(last, 1)]));
        for wrong in [vec![(last + 1, 1)], vec![(7, 1), (7, 1)], vec![(7, 1), (6, 1)]] {
            assert_eq!(unpacked(&packed(&wrong)), None, "{wrong:?}");
        }
        // A place without a count, and a number without an end.
        assert_eq!(unpacked(&[7]), None);
        assert_eq!(unpacked(&[0xff; 40]), None);
    }
}
