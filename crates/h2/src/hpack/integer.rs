//! Integers with a prefix (RFC 7541 5.1).

use alloc::vec::Vec;

use http::Malformed;

/// Bytes beyond the prefix: seven bits each, more than any length here has.
const MORE_BYTES_MAX: u32 = 4;

/// Takes an integer from the start of `input`, whose first byte holds its first `prefix_bits` bits.
pub(super) fn take(input: &mut &[u8], prefix_bits: u32) -> Result<u32, Malformed> {
    let (first, mut rest) = input.split_first().ok_or(Malformed::HeaderCompression)?;
    let mask = (1_u32 << prefix_bits) - 1;
    let mut value = u32::from(*first) & mask;
    if value == mask {
        let mut is_over = false;
        for at in 0..MORE_BYTES_MAX {
            let (byte, behind) = rest.split_first().ok_or(Malformed::HeaderCompression)?;
            rest = behind;
            value += u32::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                is_over = true;
                break;
            }
        }
        if !is_over {
            return Err(Malformed::HeaderCompression);
        }
    }
    *input = rest;
    Ok(value)
}

/// Writes `value` behind the bits of `first` above the prefix.
pub(super) fn put(out: &mut Vec<u8>, first: u8, prefix_bits: u32, value: u32) {
    let mask = (1_u32 << prefix_bits) - 1;
    if value < mask {
        return out.push(first | value as u8);
    }
    out.push(first | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
