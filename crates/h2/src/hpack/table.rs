//! The dynamic table (RFC 7541 2.3.2, 4).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::fixed::FIXED;

/// What an entry counts for beside its name and value (RFC 7541 4.1).
pub(super) const ENTRY_BYTES: u32 = 32;
/// Bytes of evicted entries that are left where they are, at least: moving what is behind them costs more.
const DEAD_BYTES_MIN: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where its name begins, counted from the first byte that was ever inserted; its value follows.
    at: u64,
    name_bytes: u32,
    value_bytes: u32,
}

impl Entry {
    fn size(self) -> u32 {
        self.name_bytes + self.value_bytes + ENTRY_BYTES
    }
}

/// Where the name of a new entry comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name<'a> {
    Given(&'a [u8]),
    /// That of a dynamic entry, 0 being the newest.
    OfEntry(u32),
}

/// The dynamic table of one direction. Its memory is at most twice its size and some.
#[derive(Debug, Clone)]
pub struct Table {
    /// Names and values of the entries, oldest first, behind some that were evicted.
    bytes: Vec<u8>,
    /// Bytes that were once in front of `bytes`.
    gone_bytes: u64,
    /// Oldest first.
    entries: VecDeque<Entry>,
    size: u32,
    size_max: u32,
    generation: u64,
    repeated: Repeated,
}

/// What was inserted last: the entries of one block, over and over.
#[derive(Debug, Clone, Copy, Default)]
struct Repeated {
    block: u64,
    /// What all of them count for.
    size: u32,
}

impl Table {
    /// An empty one of at most `size_max`, as RFC 7541 4.1 counts.
    pub const fn new(size_max: u32) -> Self {
        let repeated = Repeated { block: 0, size: 0 };
        Self {
            bytes: Vec::new(),
            gone_bytes: 0,
            entries: VecDeque::new(),
            size: 0,
            size_max,
            generation: 0,
            repeated,
        }
    }

    /// Empties it, and gives it a size; keeps its memory.
    pub fn reset(&mut self, size_max: u32) {
        self.bytes.clear();
        self.entries.clear();
        (self.gone_bytes, self.size, self.size_max) = (0, 0, size_max);
        self.repeated = Repeated::default();
        self.generation += 1;
    }

    /// Rises with every change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What its entries count for.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What they may count for.
    pub(super) fn size_max(&self) -> u32 {
        self.size_max
    }

    /// How many entries it has.
    pub fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Name and value of an entry; 0 is the newest.
    pub fn entry(&self, index: u32) -> Option<(&[u8], &[u8])> {
        let at = self.entries.len().checked_sub(1 + index as usize)?;
        let Entry { at, name_bytes, value_bytes } = *self.entries.get(at)?;
        let from = (at - self.gone_bytes) as usize;
        let both = self.bytes.get(from..from + (name_bytes + value_bytes) as usize)?;
        both.split_at_checked(name_bytes as usize)
    }

    /// The newest entry of this name and value, and the newest of this name with any.
    pub fn find(&self, name: &str, value: &str) -> (Option<u32>, Option<u32>) {
        let mut of_name = None;
        for index in 0..self.len() {
            let Some((other, its_value)) = self.entry(index) else { break };
            if other == name.as_bytes() {
                if its_value == value.as_bytes() {
                    return (Some(index), of_name.or(Some(index)));
                }
                of_name = of_name.or(Some(index));
            }
        }
        (None, of_name)
    }

    /// Name and value by their index in a header block, the static entries before the dynamic ones.
    pub(super) fn at(&self, index: u32) -> Option<(&[u8], &[u8])> {
        let before = index.checked_sub(1)?;
        match FIXED.get(before as usize) {
            Some((name, value)) => Some((name.as_bytes(), value.as_bytes())),
            None => self.entry(before - FIXED.len() as u32),
        }
    }

    /// Changes the size that it may have.
    pub(super) fn resize(&mut self, size_max: u32) {
        self.size_max = size_max;
        self.repeated = Repeated::default();
        self.generation += 1;
        self.make_room(0);
    }

    /// Whether it holds nothing but the entries of the block with this number, as many as it has room for: the same block leaves
    /// it as it is, since it ends with the last of them either way.
    #[inline]
    pub(super) fn is_full_of(&self, block: u64) -> bool {
        // What was there before them has gone by then.
        self.repeated.block == block && self.repeated.size > self.size_max
    }

    /// Adds the entries that the block with the number `block` inserts.
    pub(super) fn insert_block<'a>(
        &mut self,
        block: u64,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) {
        let mut size = Some(self.repeated).filter(|it| it.block == block).map_or(0, |it| it.size);
        for (name, value) in entries {
            self.insert(name, value);
            size = size.saturating_add(ENTRY_BYTES + (name.len() + value.len()) as u32);
        }
        self.repeated = Repeated { block, size };
    }

    /// Adds an entry; one that is larger than the table empties it (RFC 7541 4.4).
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.insert_named(Name::Given(name), value);
    }

    pub(super) fn insert_named(&mut self, name: Name<'_>, value: &[u8]) {
        self.generation += 1;
        self.repeated = Repeated::default();
        let at = self.gone_bytes + self.bytes.len() as u64;
        // Before anything is evicted: the name may be that of an entry that has to go.
        match name {
            Name::Given(name) => self.bytes.extend_from_slice(name),
            Name::OfEntry(index) => {
                let Some(Entry { at, name_bytes, .. }) = self.newest(index) else { return };
                let from = (at - self.gone_bytes) as usize;
                self.bytes.extend_from_within(from..from + name_bytes as usize);
            }
        }
        let name_bytes = (self.gone_bytes + self.bytes.len() as u64 - at) as u32;
        self.bytes.extend_from_slice(value);
        let entry = Entry { at, name_bytes, value_bytes: value.len() as u32 };
        self.make_room(entry.size());
        if entry.size() <= self.size_max {
            self.size += entry.size();
            self.entries.push_back(entry);
        }
        self.forget_dead();
    }

    fn newest(&self, index: u32) -> Option<Entry> {
        let at = self.entries.len().checked_sub(1 + index as usize)?;
        self.entries.get(at).copied()
    }

    /// Evicts the oldest until there is room for so much.
    fn make_room(&mut self, size: u32) {
        while self.size.saturating_add(size) > self.size_max
            && let Some(oldest) = self.entries.pop_front()
        {
            self.size -= oldest.size();
        }
    }

    /// Gives memory back once there is as much of evicted entries as of others.
    fn forget_dead(&mut self) {
        let end = self.gone_bytes + self.bytes.len() as u64;
        let first = self.entries.front().map_or(end, |entry| entry.at);
        let dead = (first - self.gone_bytes) as usize;
        let live = self.bytes.len() - dead;
        if dead >= live.max(DEAD_BYTES_MIN) {
            self.bytes.copy_within(dead.., 0);
            self.bytes.truncate(live);
            self.gone_bytes = first;
        }
    }
}
