//! Header blocks: the examples of RFC 7541, another implementation, and what is refused.

use h2::hpack::{self, Decoder, Scratch};
use http::Malformed;
use proptest::prelude::*;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

pub fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("hex");
    digits.chunks(2).map(pair).collect()
}

pub fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, Malformed> {
    let mut fields = Fields::new();
    let tell = |name: &[u8], value: &[u8]| fields.push((name.to_vec(), value.to_vec()));
    decoder.decode(block, &mut Scratch::default(), tell)?;
    Ok(fields)
}

pub fn table(decoder: &Decoder) -> Fields {
    let entry = |index| decoder.table().entry(index).map(|(name, value)| (name.to_vec(), value.to_vec()));
    (0..decoder.table().len()).map(|index| entry(index).expect("it is there")).collect()
}

fn fields(all: &[(&str, &str)]) -> Fields {
    all.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
}

/// A block in digits, what it says, and the size of the table behind it.
type Example<'a> = (&'a str, &'a [(&'a str, &'a str)], u32);

/// Blocks one after another.
fn examples(table_bytes: u32, all: &[Example<'_>]) {
    let mut decoder = Decoder::new(table_bytes);
    for (block, says, size) in all {
        assert_eq!(decode(&mut decoder, &bytes(block)), Ok(fields(says)), "{block}");
        assert_eq!(decoder.table().size(), *size, "{block}");
    }
}

#[test]
fn single_fields_as_in_appendix_c_2() {
    let key = "400a637573746f6d2d6b65790d637573746f6d2d686561646572";
    examples(4096, &[(key, &[("custom-key", "custom-header")], 55)]);
    examples(4096, &[("040c2f73616d706c652f70617468", &[(":path", "/sample/path")], 0)]);
    examples(4096, &[("100870617373776f726406736563726574", &[("password", "secret")], 0)]);
    examples(4096, &[("82", &[(":method", "GET")], 0)]);
}

#[test]
fn requests_as_in_appendix_c_3_and_c_4() {
    let start = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
    let second = [&start[..], &[("cache-control", "no-cache")]].concat();
    let third = [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ];
    examples(
        4096,
        &[
            ("828684410f7777772e6578616d706c652e636f6d", &start, 57),
            ("828684be58086e6f2d6361636865", &second, 110),
            ("828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", &third, 164),
        ],
    );
    examples(
        4096,
        &[
            ("828684418cf1e3c2e5f23a6ba0ab90f4ff", &start, 57),
            ("828684be5886a8eb10649cbf", &second, 110),
            ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", &third, 164),
        ],
    );
}

#[test]
fn answers_as_in_appendix_c_5_and_c_6() {
    let (date, later) = ("Mon, 21 Oct 2013 20:13:21 GMT", "Mon, 21 Oct 2013 20:13:22 GMT");
    let rest = [("cache-control", "private"), ("date", date), ("location", "https://www.example.com")];
    let first = [&[(":status", "302")], &rest[..]].concat();
    let second = [&[(":status", "307")], &rest[..]].concat();
    let third = [
        (":status", "200"),
        ("cache-control", "private"),
        ("date", later),
        ("location", "https://www.example.com"),
        ("content-encoding", "gzip"),
        ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
    ];
    examples(
        256,
        &[
            (
                "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e17\
                 68747470733a2f2f7777772e6578616d706c652e636f6d",
                &first,
                222,
            ),
            ("4803333037c1c0bf", &second, 222),
            (
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d41\
                 53444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b207665727369\
                 6f6e3d31",
                &third,
                215,
            ),
        ],
    );
    examples(
        256,
        &[
            (
                "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97\
                 c8e9ae82ae43d3",
                &first,
                222,
            ),
            ("4883640effc1c0bf", &second, 222),
            (
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd\
                 5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                &third,
                215,
            ),
        ],
    );
}

#[test]
fn what_is_no_block_is_refused() {
    for (block, why) in [
        ("80", "index 0"),
        ("be", "an entry that is not there"),
        ("7e0161", "the name of an entry that is not there"),
        ("ff", "an index that is cut off"),
        ("ffffffffffffff01", "an index beyond all bounds"),
        ("4003616263", "a value that is not there"),
        ("40036162", "a name that is cut off"),
        ("400161", "a value that is missing"),
        ("3fe21f", "a table larger than it may be: 4097"),
        ("8220", "a size behind a field"),
        ("0081ff00", "padding of a whole byte"),
        ("008100ff", "padding that is not ones"),
        ("0084ffffffff00", "the end of a string within it"),
    ] {
        let decoded = decode(&mut Decoder::new(4096), &bytes(block));
        assert_eq!(decoded, Err(Malformed::HeaderCompression), "{why}");
    }
    let resized = decode(&mut Decoder::new(4096), &bytes("3fe11f82"));
    assert_eq!(resized, Ok(fields(&[(":method", "GET")])), "4096 is as large as it may be");
}

#[test]
fn an_entry_that_is_larger_than_the_table_empties_it_and_is_told() {
    let mut decoder = Decoder::new(64);
    let small = decode(&mut decoder, &bytes("400161016240016301 64"));
    assert_eq!(small, Ok(fields(&[("a", "b"), ("c", "d")])));
    assert_eq!(table(&decoder), fields(&[("c", "d")]), "34 bytes each");
    let mut block = Vec::new();
    hpack::literal(&mut block, "e", &"f".repeat(40), true);
    assert_eq!(decode(&mut decoder, &block), Ok(fields(&[("e", &"f".repeat(40))])));
    assert_eq!((table(&decoder), decoder.table().size()), (Fields::new(), 0));
}

#[test]
fn the_name_of_an_entry_that_has_to_go_can_still_be_used() {
    let mut decoder = Decoder::new(80);
    let name = "x".repeat(30);
    let mut block = Vec::new();
    hpack::literal(&mut block, &name, "1", true);
    hpack::literal_of(&mut block, 62, "2", true);
    assert_eq!(decode(&mut decoder, &block), Ok(fields(&[(&name, "1"), (&name, "2")])));
    assert_eq!(table(&decoder), fields(&[(&name, "2")]));
}

/// Names and values that often repeat, and static ones among them.
fn a_field() -> impl Strategy<Value = (String, String, bool)> {
    let name =
        prop_oneof!["[a-d]{1,3}", Just("content-type".to_owned()), Just(":status".to_owned()), "[!-~]{0,40}"];
    let value = prop_oneof!["[0-2]{0,3}", Just("200".to_owned()), "[ -~]{0,90}", "\\PC{0,12}"];
    (name, value, any::<bool>())
}

/// A block of our own making: with whatever is shortest, from the table where it can be.
fn encode(mirror: &Decoder, all: &[(String, String, bool)]) -> Vec<u8> {
    let mut out = Vec::new();
    // Indices shift with every insert: those of the table before this block hold for the first field alone.
    for (at, (name, value, inserts)) in all.iter().enumerate() {
        let in_table =
            |(index, (of, _)): (usize, &(Vec<u8>, Vec<u8>))| (of == name.as_bytes()).then_some(index);
        let entry = if at == 0 { table(mirror).iter().enumerate().find_map(in_table) } else { None };
        match (hpack::find_fixed(name, value), entry) {
            (_, Some(index)) => hpack::literal_of(&mut out, 62 + index as u32, value, *inserts),
            ((Some(index), _), _) => hpack::indexed(&mut out, index),
            ((None, Some(index)), _) => hpack::literal_of(&mut out, index, value, *inserts),
            ((None, None), _) => hpack::literal(&mut out, name, value, *inserts),
        }
    }
    out
}

proptest! {
    /// What we write, another implementation reads, and so do we; the tables stay the same.
    #[test]
    fn blocks_say_what_was_put_into_them(blocks in prop::collection::vec(prop::collection::vec(a_field(), 0..6), 1..12)) {
        let mut ours = Decoder::new(4096);
        let mut theirs = httlib_hpack::Decoder::default();
        for all in &blocks {
            let block = encode(&ours, all);
            let put: Fields = all.iter().map(|(name, value, _)| (name.clone().into_bytes(), value.clone().into_bytes())).collect();
            prop_assert_eq!(decode(&mut ours, &block), Ok(put.clone()));
            let (mut left, mut read) = (block, Vec::new());
            prop_assert!(theirs.decode(&mut left, &mut read).is_ok());
            let read: Fields = read.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(read, put);
        }
    }

    /// Whatever we take for a block says the same to another implementation. It is asked about nothing else: it panics on
    /// blocks that are cut off.
    #[test]
    fn any_block_is_read_as_another_implementation_reads_it(block in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(ours) = decode(&mut Decoder::new(4096), &block) {
            let (mut left, mut read) = (block, Vec::new());
            prop_assert!(httlib_hpack::Decoder::default().decode(&mut left, &mut read).is_ok());
            let read: Fields = read.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(ours, read);
        }
    }
}
