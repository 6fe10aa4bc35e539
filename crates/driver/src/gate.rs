//! Where load threads whose connections are open wait for each other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use units::{Duration, Instant};

use crate::clock::monotonic_now;

/// How often a thread at the gate looks whether it was opened.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How far ahead a gate that opens by itself sets the begin: all threads have looked by then, several times over.
const AHEAD: Duration = Duration::from_millis(20);
/// No begin yet.
const CLOSED: u64 = u64::MAX;

/// Holds the threads of one load until all of them have their connections, and has them begin at one instant.
#[derive(Debug)]
pub struct Gate {
    awaited: AtomicU32,
    begin_ns: AtomicU64,
    opens_by_itself: bool,
}

impl Gate {
    /// For so many threads. It opens as soon as all of them are there.
    pub fn new(threads: u32) -> Self {
        Self { awaited: AtomicU32::new(threads), begin_ns: AtomicU64::new(CLOSED), opens_by_itself: true }
    }

    /// The same, but it opens when [`Gate::open`] says so.
    pub fn held(threads: u32) -> Self {
        Self { opens_by_itself: false, ..Self::new(threads) }
    }

    /// Whether all threads are there, or have ended before they came.
    pub fn is_complete(&self) -> bool {
        self.awaited.load(Ordering::Acquire) == 0
    }

    /// Has the load begin at `at`. Only the first word counts.
    pub fn open(&self, at: Instant) {
        let _ = self.begin_ns.compare_exchange(CLOSED, at.as_nanos(), Ordering::Release, Ordering::Relaxed);
    }

    /// A thread of the load won't come, and is not waited for.
    pub fn excuse(&self) {
        let before = self.awaited.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "no more threads come than the gate is for");
        if before == 1 && self.opens_by_itself {
            self.open(monotonic_now() + AHEAD);
        }
    }

    /// When the load begins, once that is known.
    fn begin(&self) -> Option<Instant> {
        let at_ns = self.begin_ns.load(Ordering::Acquire);
        (at_ns != CLOSED).then(|| Instant::from_nanos(at_ns))
    }
}

/// One thread on its way to a gate. Whichever way it ends, it is not waited for after that.
#[derive(Debug)]
pub(crate) struct Arrival<'a> {
    gate: Option<&'a Gate>,
    is_there: bool,
}

impl<'a> Arrival<'a> {
    pub(crate) const fn new(gate: Option<&'a Gate>) -> Self {
        Self { gate, is_there: false }
    }

    /// The thread is there. Says when to begin, once that is known.
    pub(crate) fn arrive(&mut self) -> Option<Instant> {
        let gate = self.gate?;
        if !self.is_there {
            self.is_there = true;
            gate.excuse();
        }
        gate.begin()
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.arrive();
    }
}
