//! Any header blocks, one after another: they are read as another implementation reads them, and a block that is known
//! does what decoding it does, the table included.
//!
//! Run: `cargo +nightly fuzz run hpack fuzz/corpus/hpack -- -max_total_time=60`. A new find goes to `fuzz/artifacts`; make it
//! a named test in `crates/h2/tests/it`.
#![no_main]

use h2::hpack::{Decoded, Decoder, Known, KnownBlocks, Scratch};
use libfuzzer_sys::fuzz_target;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

fuzz_target!(|input: &[u8]| {
    // Blocks by their length; each comes twice, so that it is known the second time.
    let (mut plain, mut other, mut knowing) = (Decoder::new(4096), httlib_hpack::Decoder::default(), Decoder::new(4096));
    let (mut shared, mut own) = (Known::new(), Known::new());
    let mut rest = input;
    while let Some((length, behind)) = rest.split_first() {
        let (block, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = behind;
        for _ in 0..2 {
            let Some((fields, _)) = decode(&mut plain, block) else { return };
            let mut known = KnownBlocks { shared: &mut shared, own: &mut own };
            let said = known.find(block, &mut knowing).unwrap_or_else(|| {
                let (fields, did) = decode(&mut knowing, block).expect("as the other");
                let said = digest(&fields);
                known.learn(block, said, did, &knowing);
                said
            });
            assert_eq!(said, digest(&fields));
            assert_eq!(table(&knowing), table(&plain));
            assert!(plain.table().size() <= 4096);
            let (mut left, mut read) = (block.to_vec(), Vec::new());
            if other.decode(&mut left, &mut read).is_ok() {
                let read: Fields = read.into_iter().map(|(name, value, _)| (name, value)).collect();
                assert_eq!(read, fields);
            } else {
                // It is stricter somewhere; from here on its table is another.
                other = httlib_hpack::Decoder::default();
                plain = Decoder::new(4096);
                knowing = Decoder::new(4096);
                own = Known::new();
            }
        }
    }
});

fn decode(decoder: &mut Decoder, block: &[u8]) -> Option<(Fields, Decoded)> {
    let mut fields = Fields::new();
    let tell = |name: &[u8], value: &[u8]| fields.push((name.to_vec(), value.to_vec()));
    let did = decoder.decode(block, &mut Scratch::default(), tell).ok()?;
    Some((fields, did))
}

fn digest(fields: &Fields) -> u64 {
    let bytes = fields.iter().flat_map(|(name, value)| name.iter().chain(b":").chain(value).chain(b"\n"));
    bytes.fold(7, |sum: u64, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte))
}

fn table(decoder: &Decoder) -> Fields {
    let entry = |index| decoder.table().entry(index).expect("it is there");
    (0..decoder.table().len()).map(|index| entry(index)).map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}
