//! The null client over io_uring: multishot receives into a ring of buffers, sends that complete in silence, direct
//! descriptors, a registered ring. No system call but the one that submits and waits.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::{BufRingEntry, Fixed, Timespec};
use io_uring::{IoUring, SubmissionQueue, Submitter, cqueue, opcode, squeue};

use crate::Load;
use crate::epoll::too_long;

const SUBMISSIONS_MAX: u32 = 1024;
const COMPLETIONS_MIN: u32 = 4096;
/// A connection's number is below; these bits say what completed.
const SEND: u64 = 1 << 32;
const DEADLINE: u64 = 2 << 32;
const GROUP: u16 = 0;
const PAGE_BYTES: usize = 4096;

pub(crate) fn run(load: &Load, sockets: Vec<OwnedFd>) -> io::Result<u64> {
    let connections = sockets.len() as u32;
    // Before the ring, so that it goes after it.
    let mut buffers = Buffers::new(load.answer_bytes);
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .setup_cqsize((connections * 2).next_power_of_two().max(COMPLETIONS_MIN))
        .build(SUBMISSIONS_MAX)?;
    let (mut submitter, mut submissions, mut completions) = ring.split();
    let fds: Vec<i32> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
    submitter.register_files(&fds)?;
    // The ring holds the sockets from here on.
    drop(sockets);
    buffers.register(&submitter)?;
    // Remembered by this submitter alone, which is why no other is made.
    submitter.register_ring_fd()?;

    let mut missing_bytes = vec![load.answer_bytes; connections as usize];
    let mut requests = 0;
    let deadline = Timespec::new().sec(load.duration.as_secs()).nsec(load.duration.subsec_nanos());
    let timeout = opcode::Timeout::new(&raw const deadline).build().user_data(DEADLINE);
    push(&submitter, &mut submissions, &timeout)?;
    for index in 0..connections {
        push(&submitter, &mut submissions, &receive(index))?;
        push(&submitter, &mut submissions, &send(index, &load.request))?;
    }
    loop {
        submissions.sync();
        submitter.submit_and_wait(1)?;
        completions.sync();
        for entry in &mut completions {
            if entry.user_data() == DEADLINE {
                return Ok(requests);
            }
            if entry.user_data() & SEND != 0 {
                // A send speaks only if it failed.
                return Err(failure(entry.result()));
            }
            let index = entry.user_data() as u32;
            if let Some(got_bytes) = take(&entry, &mut buffers)? {
                let missing = &mut missing_bytes[index as usize];
                *missing = missing.checked_sub(got_bytes).ok_or_else(too_long)?;
                if *missing == 0 {
                    *missing = load.answer_bytes;
                    requests += 1;
                    push(&submitter, &mut submissions, &send(index, &load.request))?;
                }
            }
            if !cqueue::more(entry.flags()) {
                push(&submitter, &mut submissions, &receive(index))?;
            }
        }
        buffers.publish();
    }
}

fn receive(index: u32) -> squeue::Entry {
    opcode::RecvMulti::new(Fixed(index), GROUP).build().user_data(u64::from(index))
}

fn send(index: u32, request: &[u8]) -> squeue::Entry {
    opcode::Send::new(Fixed(index), request.as_ptr(), request.len() as u32)
        .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
        .build()
        .flags(squeue::Flags::SKIP_SUCCESS)
        .user_data(SEND | u64::from(index))
}

fn push(
    submitter: &Submitter<'_>,
    submissions: &mut SubmissionQueue<'_>,
    entry: &squeue::Entry,
) -> io::Result<()> {
    loop {
        #[expect(unsafe_code, reason = "the request and the deadline live until the ring is gone")]
        // SAFETY: entries point at `load.request` and at `deadline`, both of which outlive the ring's use in `run`.
        let pushed = unsafe { submissions.push(entry) };
        if pushed.is_ok() {
            return Ok(());
        }
        submissions.sync();
        submitter.submit()?;
        submissions.sync();
    }
}

/// How many bytes came; `None` where no buffer was free, which the next receive mends.
fn take(entry: &cqueue::Entry, buffers: &mut Buffers) -> io::Result<Option<usize>> {
    match (entry.result(), cqueue::buffer_select(entry.flags())) {
        (0, _) => Err(io::Error::other("the server closed a connection")),
        (bytes, Some(buffer)) if bytes > 0 => {
            buffers.give_back(buffer);
            Ok(Some(bytes as usize))
        }
        (result, _) if result == -libc::ENOBUFS => Ok(None),
        (result, _) => Err(failure(result)),
    }
}

fn failure(result: i32) -> io::Error {
    io::Error::from_raw_os_error(-result)
}

/// Buffers that the kernel takes from a ring and that are given back to it.
struct Buffers {
    entries: NonNull<BufRingEntry>,
    layout: Layout,
    bytes: Vec<u8>,
    each_bytes: usize,
    count: u16,
    tail: u16,
}

impl Buffers {
    /// Small ones for small answers: what is not read is not worth its cache lines.
    fn new(answer_bytes: usize) -> Self {
        let (count, each_bytes): (u16, usize) =
            if answer_bytes <= 2048 { (1024, 2048) } else { (128, 64 * 1024) };
        let layout = Layout::array::<BufRingEntry>(count.into()).and_then(|it| it.align_to(PAGE_BYTES));
        let layout = layout.expect("a few thousand entries fit into memory");
        #[expect(unsafe_code, reason = "the kernel wants the ring aligned to a page")]
        // SAFETY: the layout is not empty.
        let entries = NonNull::new(unsafe { alloc_zeroed(layout) }.cast());
        let entries = entries.unwrap_or_else(|| handle_alloc_error(layout));
        let bytes = vec![0; usize::from(count) * each_bytes];
        let mut buffers = Self { entries, layout, bytes, each_bytes, count, tail: 0 };
        (0..count).for_each(|buffer| buffers.give_back(buffer));
        buffers.publish();
        buffers
    }

    fn register(&self, submitter: &Submitter<'_>) -> io::Result<()> {
        let address = self.entries.as_ptr() as u64;
        #[expect(unsafe_code, reason = "the kernel writes to memory that it is told of here")]
        // SAFETY: ring and buffers live as long as `self`, which `run` drops after its last call into the kernel.
        unsafe {
            submitter.register_buf_ring_with_flags(address, self.count, GROUP, 0)
        }
    }

    /// The kernel sees it after [`Self::publish`].
    fn give_back(&mut self, buffer: u16) {
        let at = usize::from(self.tail & (self.count - 1));
        let address = self.bytes[usize::from(buffer) * self.each_bytes..].as_mut_ptr() as u64;
        #[expect(unsafe_code, reason = "the ring is shared with the kernel and so no slice")]
        // SAFETY: `at` is below the ring's length, and the kernel reads no entry from the tail on.
        let entry = unsafe { &mut *self.entries.as_ptr().add(at) };
        entry.set_addr(address);
        entry.set_len(self.each_bytes as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        #[expect(unsafe_code, reason = "the tail lies within the ring's first entry")]
        // SAFETY: the pointer is to the first entry of the ring, whose tail is an aligned u16 for its whole life.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries.as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "it was allocated by hand")]
        // SAFETY: allocated in `new` with the same layout.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), self.layout);
        }
    }
}
