//! Buffers that the kernel takes from for whatever it receives, and gets back once their bytes were read.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{Submitter, types};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The only group of buffers of a ring.
pub(super) const GROUP: u16 = 0;

/// Memory that is mapped for its own life, page-aligned and zeroed; pages that are never touched cost nothing.
struct Mapping {
    start: NonNull<c_void>,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Result<Self, Errno> {
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        NonNull::new(start).map(|start| Self { start, bytes }).ok_or(Errno::NOMEM)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows from it any more. A failure would leak it at worst.
        let _ = unsafe { munmap(self.start.as_ptr(), self.bytes) };
    }
}

/// Three cache lines: the first bytes of buffers, which is where small answers lie, would otherwise share a few places
/// of the processor's caches.
const BETWEEN_BYTES: usize = 192;

/// From one buffer to the next.
const fn stride(buffer_bytes: u32) -> usize {
    buffer_bytes as usize + BETWEEN_BYTES
}

/// Equal buffers, and the ring through which they are handed to the kernel.
///
/// Invariant: each buffer is either the kernel's (it may be written at any time) or was named by a completion and
/// not yet given back (it is not written, and [`Buffers::bytes`] may be read).
pub(super) struct Buffers {
    /// `count` entries, the tail inside the first.
    ring: Mapping,
    memory: Mapping,
    count: u16,
    buffer_bytes: u32,
    tail: u16,
    /// Buffers that completions named and that were not given back.
    ours: u32,
}

impl Buffers {
    /// `count` buffers of `buffer_bytes` each, all of them the kernel's; `count` is a power of two up to 32768.
    ///
    /// They must not be dropped before every operation that may use them has ended.
    pub(super) fn register(submitter: &Submitter<'_>, count: u16, buffer_bytes: u32) -> Result<Self, Errno> {
        assert!(count.is_power_of_two(), "the kernel counts buffers in powers of two");
        let ring = Mapping::new(usize::from(count) * size_of::<BufRingEntry>())?;
        let memory = Mapping::new(usize::from(count) * stride(buffer_bytes))?;
        let address = ring.start.as_ptr() as u64;
        // SAFETY: the ring's memory is as long as `count` entries and lives as long as `Self`, whose owner keeps it
        // until the operations that use it have ended.
        unsafe { submitter.register_buf_ring_with_flags(address, count, GROUP, 0) }
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL))?;
        let mut buffers = Self { ring, memory, count, buffer_bytes, tail: 0, ours: u32::from(count) };
        for id in 0..count {
            buffers.give(id);
        }
        Ok(buffers)
    }

    /// The first `length` bytes of buffer `id`, which a completion named.
    #[inline]
    pub(super) fn bytes(&self, id: u16, length: usize) -> &[u8] {
        assert!(
            id < self.count && length <= self.buffer_bytes as usize,
            "the kernel names a buffer it was given"
        );
        let from = usize::from(id) * stride(self.buffer_bytes);
        // SAFETY: within the mapping, as asserted, which is initialised; by the type's invariant the kernel does not
        // write to it before it is given back, which takes `&mut self`.
        unsafe { std::slice::from_raw_parts(self.memory.start.as_ptr().cast::<u8>().add(from), length) }
    }

    /// Takes note that a completion named a buffer.
    #[inline]
    pub(super) fn take(&mut self) {
        self.ours += 1;
    }

    /// How many buffers are not the kernel's.
    pub(super) fn ours(&self) -> u32 {
        self.ours
    }

    /// Hands buffer `id` to the kernel.
    #[inline]
    pub(super) fn give(&mut self, id: u16) {
        assert!(id < self.count, "a buffer of this ring");
        let from = usize::from(id) * stride(self.buffer_bytes);
        let place = usize::from(self.tail & (self.count - 1));
        let first = self.ring.start.as_ptr().cast::<BufRingEntry>();
        // SAFETY: `place` is below `count`, the length of the ring in entries, and its memory is zeroed at first, which
        // is a valid entry. The kernel reads entries only below the tail that is published afterwards.
        unsafe {
            let entry = &mut *first.add(place);
            entry.set_addr(self.memory.start.as_ptr().cast::<u8>().add(from) as u64);
            entry.set_len(self.buffer_bytes);
            entry.set_bid(id);
        }
        self.ours -= 1;
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail is a u16 inside the first entry, aligned as one, and only ever accessed atomically here.
        let tail = unsafe { AtomicU16::from_ptr(types::BufRingEntry::tail(first).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}
