//! Fields of the header blocks that a load sends.

use alloc::vec::Vec;

use super::fixed::{FIXED, find as find_fixed};
use super::huffman;
use super::integer;
use super::table::{ENTRY_BYTES, Table};

/// What a literal does to the peer's table.
const INSERTS: (u8, u32) = (0x40, 6);
const LEAVES: (u8, u32) = (0x00, 4);

/// The field with this index.
pub fn indexed(out: &mut Vec<u8>, index: u32) {
    integer::put(out, 0x80, 7, index);
}

/// `value` under the name with this index, to be inserted into the peer's table or not.
pub fn literal_of(out: &mut Vec<u8>, index: u32, value: &str, inserts: bool) {
    let (first, prefix_bits) = if inserts { INSERTS } else { LEAVES };
    integer::put(out, first, prefix_bits, index);
    string(out, value);
}

/// `value` under `name`, to be inserted into the peer's table or not.
pub fn literal(out: &mut Vec<u8>, name: &str, value: &str, inserts: bool) {
    out.push(if inserts { INSERTS } else { LEAVES }.0);
    string(out, name);
    string(out, value);
}

/// A field in the shortest way that there is with the peer's table as `table`, which is as it will be then. One that is worth a
/// place there gets it, unless it takes half of the table or more: others would have to go for it.
pub fn field(out: &mut Vec<u8>, table: &mut Table, name: &str, value: &str, is_kept: bool) {
    let (whole, named) = find_fixed(name, value);
    if let Some(index) = whole {
        return indexed(out, index);
    }
    // The dynamic entries are numbered behind the static ones, the newest first.
    let behind = |at: u32| FIXED.len() as u32 + 1 + at;
    let (own, own_named) = table.find(name, value);
    if let Some(at) = own {
        return indexed(out, behind(at));
    }
    let size = (name.len() + value.len()).saturating_add(ENTRY_BYTES as usize);
    let inserts = is_kept && size <= table.size_max() as usize / 2;
    match named.or(own_named.map(behind)) {
        Some(index) => literal_of(out, index, value, inserts),
        None => literal(out, name, value, inserts),
    }
    if inserts {
        table.insert(name.as_bytes(), value.as_bytes());
    }
}

/// Changes the size of the peer's table: only at the start of a block.
pub fn resize(out: &mut Vec<u8>, size: u32) {
    integer::put(out, 0x20, 5, size);
}

/// Whichever way is shorter.
fn string(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    let encoded_bytes = huffman::encoded_bytes(text);
    if encoded_bytes < text.len() {
        integer::put(out, 0x80, 7, encoded_bytes as u32);
        huffman::encode(text, out);
    } else {
        integer::put(out, 0, 7, text.len() as u32);
        out.extend_from_slice(text);
    }
}
