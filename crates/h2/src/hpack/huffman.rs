//! The Huffman code of RFC 7541 Appendix B. It is canonical: the lengths of its codes say all of it.

use alloc::vec::Vec;

use http::Malformed;

const SYMBOLS: usize = 257;
/// The symbol that is never sent; its first bits pad the last byte.
const END: u16 = 256;
const LENGTH_MAX: usize = 30;
/// Codes up to this length are found in one step.
const QUICK_BITS: u32 = 8;

/// Of each byte and of [`END`], bits.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// All that is computed from the lengths.
struct Code {
    /// The code of each symbol, in its low bits.
    codes: [u32; SYMBOLS],
    /// Symbols by length, and among those of one length by value.
    sorted: [u16; SYMBOLS],
    /// Of each length: where its symbols begin in `sorted`, its first code, and the first code that is of a longer one.
    from: [u16; LENGTH_MAX + 1],
    first: [u32; LENGTH_MAX + 1],
    beyond: [u32; LENGTH_MAX + 1],
    /// By the next [`QUICK_BITS`] bits: the symbol and its length, or a length of zero.
    quick: [(u16, u8); 1 << QUICK_BITS],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut all = Code {
        codes: [0; SYMBOLS],
        sorted: [0; SYMBOLS],
        from: [0; LENGTH_MAX + 1],
        first: [0; LENGTH_MAX + 1],
        beyond: [0; LENGTH_MAX + 1],
        quick: [(0, 0); 1 << QUICK_BITS],
    };
    let (mut next, mut at, mut length) = (0_u32, 0, 1);
    while length <= LENGTH_MAX {
        next <<= 1;
        all.from[length] = at as u16;
        all.first[length] = next;
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                all.codes[symbol] = next;
                all.sorted[at] = symbol as u16;
                next += 1;
                at += 1;
            }
            symbol += 1;
        }
        all.beyond[length] = next;
        length += 1;
    }
    assert!(next == 1 << LENGTH_MAX, "the code is complete");
    let mut bits = 0;
    while bits < 1 << QUICK_BITS {
        let mut length = 1;
        while length <= QUICK_BITS as usize {
            let code = bits as u32 >> (QUICK_BITS as usize - length);
            if code >= all.first[length] && code < all.beyond[length] {
                let symbol = all.sorted[all.from[length] as usize + (code - all.first[length]) as usize];
                all.quick[bits] = (symbol, length as u8);
                break;
            }
            length += 1;
        }
        bits += 1;
    }
    all
}

/// The symbol that the 32 bits begin with, and its length.
fn symbol_at(bits: u32) -> (u16, u32) {
    let (symbol, length) = CODE.quick[(bits >> (32 - QUICK_BITS)) as usize];
    if length > 0 {
        return (symbol, u32::from(length));
    }
    for length in QUICK_BITS as usize + 1..=LENGTH_MAX {
        let code = bits >> (32 - length);
        if code < CODE.beyond[length] {
            let at = CODE.from[length] as usize + (code - CODE.first[length]) as usize;
            return (CODE.sorted[at], length as u32);
        }
    }
    (END, LENGTH_MAX as u32)
}

/// Appends what `input` says to `out`: at most 8 bytes for 5.
pub(super) fn decode(input: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    let mut input = input.iter();
    let (mut bits, mut count) = (0_u64, 0_u32);
    loop {
        while count <= 32
            && let Some(byte) = input.next()
        {
            bits = bits << 8 | u64::from(*byte);
            count += 8;
        }
        // Ones behind the last bit, as padding is.
        let window = if count >= 32 { bits >> (count - 32) } else { !(!bits << (32 - count)) };
        let (symbol, length) = symbol_at(window as u32);
        if length > count {
            // Padding is less than a byte, and ones (RFC 7541 5.2).
            let is_padding = count < 8 && bits == (1 << count) - 1;
            return if is_padding { Ok(()) } else { Err(Malformed::HeaderCompression) };
        }
        if symbol == END {
            return Err(Malformed::HeaderCompression);
        }
        out.push(symbol as u8);
        count -= length;
        bits &= (1 << count) - 1;
    }
}

/// Bytes that `text` takes when it is encoded.
pub(super) fn encoded_bytes(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum::<usize>().div_ceil(8)
}

/// Appends `text`, encoded.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut count) = (0_u64, 0_u32);
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.codes[usize::from(*byte)]);
        count += length;
        while count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        let ones = (1 << (8 - count)) - 1;
        out.push((bits << (8 - count) | ones) as u8);
    }
}
