//! Header blocks of a peer.

use alloc::vec::Vec;

use http::Malformed;

use super::fixed::FIXED;
use super::huffman;
use super::integer;
use super::table::{Name, Table};

/// Strings that were not sent as they are, until the next field. One for all connections.
#[derive(Debug, Default)]
pub struct Scratch {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// What a block did beside naming its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decoded {
    /// Whether it refers to dynamic entries, so that it may say something else on another table.
    pub refers: bool,
    /// Whether it changed the size of the table.
    pub resized: bool,
    /// Entries that it inserted.
    pub inserted: u32,
}

/// Decodes the blocks of one direction of a connection, one after another.
#[derive(Debug, Clone)]
pub struct Decoder {
    table: Table,
    /// The most that its peer may make of the table: what our SETTINGS said.
    size_max: u32,
}

impl Decoder {
    /// With an empty table, of at most `size_max`.
    pub const fn new(size_max: u32) -> Self {
        Self { table: Table::new(size_max), size_max }
    }

    /// As new, but for memory.
    pub fn reset(&mut self, size_max: u32) {
        self.table.reset(size_max);
        self.size_max = size_max;
    }

    /// The fields that it remembers.
    pub fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    /// Tells `each` the fields of `block`, names and values. `block` is to be whole, and bounds its own cost: at most a
    /// field for each of its bytes.
    ///
    /// # Errors
    /// It is none, and the table is of no use any more.
    pub fn decode(
        &mut self,
        block: &[u8],
        scratch: &mut Scratch,
        mut each: impl FnMut(&[u8], &[u8]),
    ) -> Result<Decoded, Malformed> {
        let mut rest = block;
        let mut did = Decoded::default();
        let mut has_fields = false;
        while let Some(first) = rest.first().copied() {
            match first {
                0x80.. => {
                    let index = integer::take(&mut rest, 7)?;
                    did.refers |= index > FIXED.len() as u32;
                    let (name, value) = self.table.at(index).ok_or(Malformed::HeaderCompression)?;
                    each(name, value);
                }
                0x40.. => self.literal(&mut rest, 6, true, scratch, &mut did, &mut each)?,
                0x20.. => {
                    let size = integer::take(&mut rest, 5)?;
                    // Only at the start of a block (RFC 7541 4.2).
                    if has_fields || size > self.size_max {
                        return Err(Malformed::HeaderCompression);
                    }
                    self.table.resize(size);
                    did.resized = true;
                    continue;
                }
                _ => self.literal(&mut rest, 4, false, scratch, &mut did, &mut each)?,
            }
            has_fields = true;
        }
        Ok(did)
    }

    fn literal(
        &mut self,
        rest: &mut &[u8],
        prefix_bits: u32,
        inserts: bool,
        scratch: &mut Scratch,
        did: &mut Decoded,
        each: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Malformed> {
        let Scratch { name: name_room, value: value_room } = scratch;
        let index = integer::take(rest, prefix_bits)?;
        let name = match (index as usize).checked_sub(1) {
            None => Name::Given(string(rest, name_room)?),
            Some(before) => match FIXED.get(before) {
                Some((name, _)) => Name::Given(name.as_bytes()),
                None => Name::OfEntry((before - FIXED.len()) as u32),
            },
        };
        let value = string(rest, value_room)?;
        let told = match name {
            Name::Given(name) => name,
            Name::OfEntry(entry) => {
                did.refers = true;
                self.table.entry(entry).ok_or(Malformed::HeaderCompression)?.0
            }
        };
        each(told, value);
        if inserts {
            did.inserted += 1;
            self.table.insert_named(name, value);
        }
        Ok(())
    }
}

/// Takes a string from the start of `input`; one that is encoded is decoded into `room`.
fn string<'a, 'b: 'a>(input: &mut &'b [u8], room: &'a mut Vec<u8>) -> Result<&'a [u8], Malformed> {
    let is_encoded = input.first().is_some_and(|first| first & 0x80 != 0);
    let bytes = integer::take(input, 7)? as usize;
    let (text, behind) = input.split_at_checked(bytes).ok_or(Malformed::HeaderCompression)?;
    *input = behind;
    if !is_encoded {
        return Ok(text);
    }
    room.clear();
    huffman::decode(text, room)?;
    Ok(room)
}
