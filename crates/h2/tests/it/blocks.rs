//! A header block that was seen before: what is known of it and what decoding it gives are the same, the table included.

use h2::hpack::{self, Decoder, Known, KnownBlocks, Scratch};
use proptest::prelude::*;

use crate::hpack::table;

/// What a reader makes of a block here: a hash of its fields would do; so does this.
fn digest(name: &[u8], value: &[u8], so_far: u64) -> u64 {
    let bytes = name.iter().chain(b":").chain(value).chain(b"\n");
    bytes.fold(so_far, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte))
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> (u64, hpack::Decoded) {
    let mut said = 7;
    let did = decoder.decode(block, &mut Scratch::default(), |name, value| said = digest(name, value, said));
    (said, did.expect("a block"))
}

/// Parts of a block: what real servers do, and what they do not.
#[derive(Debug, Clone)]
enum Part {
    Fixed(u32),
    Entry(u32),
    Literal(u8, u8, bool),
    NameOfEntry(u32, u8, bool),
    Resize(u32),
}

fn a_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        (1..62_u32).prop_map(Part::Fixed),
        (0..6_u32).prop_map(Part::Entry),
        (any::<u8>(), any::<u8>(), any::<bool>()).prop_map(|(name, value, inserts)| Part::Literal(
            name % 4,
            value % 4,
            inserts
        )),
        (0..4_u32, any::<u8>(), any::<bool>()).prop_map(|(entry, value, inserts)| Part::NameOfEntry(
            entry,
            value % 4,
            inserts
        )),
        (0..300_u32).prop_map(Part::Resize),
    ]
}

/// The block that the parts make on a table of so many entries; those that make no sense there are left out.
fn encode(parts: &[Part], mut entries: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let text = |of: u8| "v".repeat(usize::from(of) * 9);
    for part in parts {
        match part {
            Part::Fixed(index) => hpack::indexed(&mut out, *index),
            Part::Entry(entry) if *entry < entries => hpack::indexed(&mut out, 62 + entry),
            Part::NameOfEntry(entry, value, inserts) if *entry < entries => {
                hpack::literal_of(&mut out, 62 + entry, &text(*value), *inserts);
                // What it evicts is not known here.
                entries = if *inserts { 1 } else { entries };
            }
            Part::Literal(name, value, inserts) => {
                hpack::literal(&mut out, &format!("n{name}"), &text(*value), *inserts);
                entries = if *inserts { 1 } else { entries };
            }
            Part::Resize(size) if out.is_empty() => {
                hpack::resize(&mut out, *size);
                entries = 0;
            }
            Part::Entry(_) | Part::NameOfEntry(..) | Part::Resize(_) => {}
        }
    }
    out
}

proptest! {
    #[test]
    fn a_known_block_does_what_decoding_it_does(
        patterns in prop::collection::vec(prop::collection::vec(a_part(), 0..6), 1..4),
        turns in prop::collection::vec((0..4_usize, 0..2_usize), 1..60),
        table_bytes in prop_oneof![Just(0_u32), 40..400_u32, Just(4096_u32)],
    ) {
        let mut shared = Known::new();
        // Two connections, each with a mirror that knows no block.
        let mut ends: Vec<(Decoder, Decoder, Known<u64>)> =
            (0..2).map(|_| (Decoder::new(table_bytes), Decoder::new(table_bytes), Known::new())).collect();
        let mut blocks: Vec<Option<Vec<u8>>> = vec![None; patterns.len()];
        for (pattern, end) in turns {
            let pattern = pattern % patterns.len();
            let (decoder, mirror, own) = &mut ends[end];
            let fresh = encode(&patterns[pattern], mirror.table().len());
            // The same bytes again where they still are a block, so that something is known at all.
            let again = blocks[pattern].clone().filter(|block| is_block(mirror, block));
            let block = again.unwrap_or(fresh);
            if !is_block(mirror, &block) {
                continue;
            }
            blocks[pattern] = Some(block.clone());
            let (expected, _) = decode(mirror, &block);
            let mut known = KnownBlocks { shared: &mut shared, own };
            let said = known.find(&block, decoder).unwrap_or_else(|| {
                let (said, did) = decode(decoder, &block);
                known.learn(&block, said, did, decoder);
                said
            });
            prop_assert_eq!(said, expected);
            prop_assert_eq!(table(decoder), table(mirror));
            prop_assert_eq!(decoder.table().size(), mirror.table().size());
        }
    }
}

/// Whether the block can be decoded on a table like this one.
fn is_block(mirror: &Decoder, block: &[u8]) -> bool {
    mirror.clone().decode(block, &mut Scratch::default(), |_, _| {}).is_ok()
}

#[test]
fn blocks_as_nginx_sends_them_insert_each_time_and_are_known_on_every_connection() {
    let mut block = Vec::new();
    hpack::indexed(&mut block, 8);
    hpack::literal_of(&mut block, 54, "nginx/1.22.1", true);
    hpack::literal_of(&mut block, 33, "Mon, 21 Oct 2013 20:13:21 GMT", true);
    hpack::literal_of(&mut block, 31, "text/plain", true);
    let mut shared = Known::new();
    for connection in 0..3 {
        let (mut decoder, mut mirror, mut own) = (Decoder::new(4096), Decoder::new(4096), Known::new());
        for answer in 0..200 {
            let (said, did) = decode(&mut mirror, &block);
            assert_eq!((did.refers, did.inserted), (false, 3));
            let mut known = KnownBlocks { shared: &mut shared, own: &mut own };
            let found = known.find(&block, &mut decoder);
            assert_eq!(found.is_some(), connection > 0 || answer > 0);
            if found.is_none() {
                let (said, did) = decode(&mut decoder, &block);
                known.learn(&block, said, did, &decoder);
            }
            assert_eq!(found.unwrap_or(said), said);
            assert_eq!(table(&decoder), table(&mirror), "answer {answer} of connection {connection}");
        }
    }
}

#[test]
fn references_hold_until_the_table_changes() {
    let (mut decoder, mut own, mut shared) = (Decoder::new(4096), Known::new(), Known::new());
    let mut first = Vec::new();
    hpack::literal(&mut first, "a", "1", true);
    decode(&mut decoder, &first);
    let again = [0xbe];
    let (said, did) = decode(&mut decoder, &again);
    let mut known = KnownBlocks { shared: &mut shared, own: &mut own };
    known.learn(&again, said, did, &decoder);
    assert_eq!(known.find(&again, &mut decoder), Some(said));
    let mut other = Vec::new();
    hpack::literal(&mut other, "a", "2", true);
    decode(&mut decoder, &other);
    assert_eq!(known.find(&again, &mut decoder), None, "the index is another entry's now");
}
