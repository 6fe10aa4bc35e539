//! Header blocks that were decoded before.

use alloc::vec::Vec;

use super::decoder::{Decoded, Decoder};
use super::table::Table;

/// Longer blocks are not kept: copying them would cost more than it saves.
const BYTES_MAX: usize = 1024;

/// The last block that could be kept, and what it said.
///
/// Servers send the same blocks again and again; a `date` changes them once a second. There are two kinds. One that refers to
/// no dynamic entry says the same on any table, so that all connections share what is known of it; what it inserts is
/// inserted each time, since the blocks behind it may refer to that. One that refers to some says the same on the table of
/// this connection until that changes.
#[derive(Debug)]
pub struct Known<T> {
    bytes: Vec<u8>,
    said: Option<T>,
    /// Counts the blocks that were known here, from 1: no two of them have the same number.
    number: u64,
    /// Of the table that a block with references was decoded on; of others nothing.
    generation: Option<u64>,
    /// Names and values of the entries that it inserts, one after another, and their lengths.
    inserts: Vec<u8>,
    lengths: Vec<(u32, u32)>,
}

impl<T: Copy> Default for Known<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Known<T> {
    /// No block yet.
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            said: None,
            number: 0,
            generation: None,
            inserts: Vec::new(),
            lengths: Vec::new(),
        }
    }

    /// Forgets it.
    pub fn clear(&mut self) {
        self.said = None;
    }

    /// What `block` says and does, if it is the known one: `table` is then as if it had been decoded.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn replay(&self, block: &[u8], table: &mut Table) -> Option<T> {
        if self.bytes != block || self.generation.is_some_and(|generation| generation != table.generation()) {
            return None;
        }
        let said = self.said?;
        if !self.lengths.is_empty() && !table.is_full_of(self.number) {
            self.insert_into(table);
        }
        Some(said)
    }

    #[inline(never)]
    fn insert_into(&self, table: &mut Table) {
        let mut rest = &self.inserts[..];
        table.insert_block(
            self.number,
            self.lengths.iter().map(|(name_bytes, value_bytes)| {
                let (name, behind) = rest.split_at(*name_bytes as usize);
                let (value, behind) = behind.split_at(*value_bytes as usize);
                rest = behind;
                (name, value)
            }),
        );
    }

    /// Keeps `block`, which was decoded just now.
    fn learn(&mut self, block: &[u8], said: T, did: Decoded, table: &Table) {
        self.said = None;
        self.number += 1;
        self.inserts.clear();
        self.lengths.clear();
        for index in (0..did.inserted).rev() {
            // One that was larger than the table, or evicted by those behind it, can't be seen any more.
            let Some((name, value)) = table.entry(index) else { return };
            self.inserts.extend_from_slice(name);
            self.inserts.extend_from_slice(value);
            self.lengths.push((name.len() as u32, value.len() as u32));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(block);
        self.generation = did.refers.then(|| table.generation());
        self.said = Some(said);
    }
}

/// Both kinds of known blocks, as one connection sees them.
#[derive(Debug)]
pub struct KnownBlocks<'a, T> {
    /// The one without references, of all connections.
    pub shared: &'a mut Known<T>,
    /// The one with references, of this connection.
    pub own: &'a mut Known<T>,
}

impl<T: Copy> KnownBlocks<'_, T> {
    /// What `block` says, if it is known; its table is then as if it had been decoded.
    #[inline]
    pub fn find(&self, block: &[u8], decoder: &mut Decoder) -> Option<T> {
        let table = decoder.table_mut();
        if let Some(said) = self.shared.replay(block, table) {
            return Some(said);
        }
        self.own.replay(block, table)
    }

    /// Keeps what `block` said, which was decoded just now, in place of the last of its kind.
    pub fn learn(&mut self, block: &[u8], said: T, did: Decoded, decoder: &Decoder) {
        // After what it inserts, its references would be to others.
        if block.len() > BYTES_MAX || did.resized || (did.refers && did.inserted > 0) {
            return;
        }
        let known = if did.refers { &mut *self.own } else { &mut *self.shared };
        known.learn(block, said, did, decoder.table());
    }
}
