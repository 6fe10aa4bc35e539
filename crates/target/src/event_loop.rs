//! [`crate::Model::EventLoop`]: one thread that never blocks, unless that is planted; delays are timers.
//!
//! The calibration ceiling, so a request costs one `epoll_wait` (shared with the other ready ones), one read
//! and one write: connections are registered once, edge-triggered, and a read that did not fill its buffer
//! is taken as the last until the next edge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::TcpListener;
use std::os::fd::OwnedFd;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use units::Instant;

use crate::accept::accept;
use crate::clock;
use crate::connection::Connection;
use crate::error::TargetError;
use crate::http2::{Http2, PREFACE};
use crate::multiplex::{ACCEPTS_A_TURN, LISTENER, Multiplexer, TIMER};
use crate::request::Fill;
use crate::shared::{Reply, Shared, Worker};
use crate::truth;

const EDGES: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);
/// A key is a slot's index below and its generation above.
const INDEX_BITS: u32 = 32;
/// Leaves the top bit of a key clear: the other keys have it set.
const GENERATION_MASK: u32 = u32::MAX >> 1;

/// Makes the loop's timer and puts it into `set`.
pub(crate) fn timer(set: &Multiplexer) -> Result<OwnedFd, TargetError> {
    let build = || {
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        // Edge-triggered, because the loop sets it again and never reads it.
        set.add(&timer, TIMER, EventFlags::IN | EventFlags::ET)?;
        Ok(timer)
    };
    build().map_err(|error: Errno| TargetError::Resource { what: "a timer", source: error.into() })
}

/// Serves until the server stops.
pub(crate) fn run(shared: &Shared, listener: &TcpListener, set: &Multiplexer, timer: &OwnedFd) {
    let mut state = Loop {
        worker: Worker::new(shared, truth::BUFFER_BYTES),
        slots: Vec::new(),
        free: Vec::new(),
        delayed: BinaryHeap::new(),
        timer,
        timer_set_for: None,
    };
    let mut events = Vec::new();
    while set.wait(&mut events, shared) {
        for event in &events {
            match event.data.u64() {
                LISTENER => state.accept(listener, set),
                TIMER => state.send_due(),
                key => state.on_edge(key, event.flags),
            }
        }
        state.set_timer();
    }
    state.abandon_all();
}

/// A connection and what it is doing.
struct Slot<'a> {
    connection: Connection,
    /// The socket may hold bytes: an edge came, and no read fell short since.
    readable: bool,
    /// The peer closed its side, so a short read is followed by the end.
    hung_up: bool,
    phase: Phase<'a>,
    /// What it is doing in place of that where it speaks HTTP/2.
    http2: Option<Box<Http2>>,
    /// Whether it may yet turn out to speak it.
    is_undecided: bool,
}

#[derive(Debug, Clone, Copy)]
enum Phase<'a> {
    /// Waits for a request.
    Reading,
    /// Owes an answer that is not due; a timer will come.
    Delayed(Reply<'a>),
    /// Owes an answer of which `sent` bytes are gone; the next edge may take more.
    Writing { reply: Reply<'a>, sent: usize },
}

struct Entry<'a> {
    /// Counts the connections that had this slot, so that a late timer or event finds out it is late.
    generation: u32,
    slot: Option<Slot<'a>>,
}

struct Loop<'a> {
    worker: Worker<'a>,
    slots: Vec<Entry<'a>>,
    free: Vec<usize>,
    /// Keys by the instant their answer is due; one that left its connection behind stays until then.
    delayed: BinaryHeap<Reverse<(Instant, u64)>>,
    timer: &'a OwnedFd,
    timer_set_for: Option<Instant>,
}

impl<'a> Loop<'a> {
    fn accept(&mut self, listener: &TcpListener, set: &Multiplexer) {
        let shared = self.worker.shared;
        let accepted = std::iter::from_fn(|| accept(listener, shared, SocketFlags::NONBLOCK));
        for connection in accepted.take(ACCEPTS_A_TURN) {
            let index = self.free.pop().unwrap_or_else(|| {
                self.slots.push(Entry { generation: 0, slot: None });
                self.slots.len() - 1
            });
            let entry = &mut self.slots[index];
            entry.generation = entry.generation.wrapping_add(1) & GENERATION_MASK;
            let key = u64::from(entry.generation) << INDEX_BITS | index as u64;
            if set.add(&connection.stream, key, EDGES).is_ok() {
                entry.slot = Some(Slot {
                    connection,
                    readable: false,
                    hung_up: false,
                    phase: Phase::Reading,
                    http2: None,
                    is_undecided: shared.config.http2,
                });
            } else {
                shared.connection_failed();
                self.free.push(index);
            }
            shared.pause_accepting();
        }
    }

    fn on_edge(&mut self, key: u64, flags: EventFlags) {
        let Some(slot) = self.slot(key) else { return };
        slot.readable |= flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR);
        slot.hung_up |= flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        self.advance(key);
    }

    fn send_due(&mut self) {
        let now = clock::now();
        while let Some(Reverse((_, key))) =
            self.delayed.peek().copied().filter(|Reverse((due, _))| *due <= now)
        {
            self.delayed.pop();
            let Some(slot) = self.slot(key) else { continue };
            match slot.phase {
                Phase::Delayed(reply) => slot.phase = Phase::Writing { reply, sent: 0 },
                _ if slot.http2.is_some() => {}
                _ => continue,
            }
            self.advance(key);
        }
        self.timer_set_for = None;
    }

    /// Moves the connection on as far as it goes without waiting.
    fn advance(&mut self, key: u64) {
        let entry = &mut self.slots[index(key)];
        let Some(slot) = entry.slot.as_mut() else { return };
        loop {
            if let Some(http2) = &mut slot.http2 {
                let can_be_read = (&mut slot.readable, slot.hung_up);
                let mut wait = |due| self.delayed.push(Reverse((due, key)));
                if http2.turn(&mut self.worker, &mut slot.connection, can_be_read, &mut wait) {
                    return;
                }
                break;
            }
            self.worker.shared.stand_still();
            let moved = match slot.phase {
                Phase::Reading => slot.read(&mut self.worker),
                Phase::Delayed(_) => return,
                Phase::Writing { reply, sent } => slot.write(&mut self.worker, reply, sent),
            };
            if let Phase::Delayed(reply) = slot.phase {
                if reply.owed.due > clock::now() {
                    self.delayed.push(Reverse((reply.owed.due, key)));
                    return;
                }
                slot.phase = Phase::Writing { reply, sent: 0 };
            }
            match moved {
                Moved::On => {}
                Moved::Blocked => return,
                Moved::Closed => break,
            }
        }
        entry.slot = None;
        self.free.push(index(key));
    }

    /// Sets the timer for the earliest answer that is due, if it is not set for it.
    fn set_timer(&mut self) {
        let earliest = self.delayed.peek().map(|Reverse((due, _))| *due);
        if earliest.is_none() || earliest == self.timer_set_for {
            return;
        }
        self.timer_set_for = earliest;
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Itimerspec { it_interval: zero, it_value: earliest.map_or(zero, clock::timespec) };
        timerfd_settime(self.timer, TimerfdTimerFlags::ABSTIME, &value).expect("an instant in range");
    }

    /// The connection of `key`, unless its slot has another one by now.
    fn slot(&mut self, key: u64) -> Option<&mut Slot<'a>> {
        let entry = self.slots.get_mut(index(key))?;
        let current = u64::from(entry.generation) == key >> INDEX_BITS;
        entry.slot.as_mut().filter(|_| current)
    }

    /// Notes every answer that the stop leaves owed.
    fn abandon_all(&mut self) {
        for slot in self.slots.iter_mut().filter_map(|entry| entry.slot.as_mut()) {
            if let Phase::Delayed(reply) | Phase::Writing { reply, .. } = slot.phase {
                self.worker.abandoned(&slot.connection, reply.owed);
            }
            if let Some(http2) = &mut slot.http2 {
                http2.abandon_all(&mut self.worker, &slot.connection);
            }
        }
    }
}

fn index(key: u64) -> usize {
    (key & u64::from(u32::MAX)) as usize
}

enum Moved {
    /// The phase changed, or there is more to read.
    On,
    /// Nothing until the next edge or timer.
    Blocked,
    Closed,
}

impl<'a> Slot<'a> {
    /// Decides on the next answer; reads once if there is no whole request yet.
    fn read(&mut self, worker: &mut Worker<'a>) -> Moved {
        if self.is_undecided {
            match self.connection.inbox.begins_with(PREFACE) {
                // What has come is no request either.
                None => return self.read_once(),
                Some(true) => {
                    let mut http2 = Box::new(Http2::new(worker.shared));
                    http2.receive(&mut self.connection);
                    self.http2 = Some(http2);
                    return Moved::On;
                }
                Some(false) => self.is_undecided = false,
            }
        }
        if let Some(reply) = worker.next_reply(&mut self.connection) {
            self.phase = Phase::Delayed(reply);
            return Moved::On;
        }
        self.read_once()
    }

    fn read_once(&mut self) -> Moved {
        if !self.readable {
            return Moved::Blocked;
        }
        match self.connection.fill() {
            Fill::Closed => Moved::Closed,
            Fill::Empty => {
                self.readable = false;
                Moved::Blocked
            }
            Fill::Data { drained } => {
                self.readable = !drained || self.hung_up;
                Moved::On
            }
        }
    }

    fn write(&mut self, worker: &mut Worker<'a>, reply: Reply<'a>, sent: usize) -> Moved {
        let end = if sent < reply.first_bytes { reply.first_bytes } else { reply.bytes.len() };
        match self.connection.send(&reply.bytes[sent..end]) {
            Ok(count) if sent + count < reply.bytes.len() => {
                self.phase = Phase::Writing { reply, sent: sent + count };
                Moved::On
            }
            Ok(_) => {
                worker.answered(&mut self.connection, reply.owed);
                self.phase = Phase::Reading;
                if reply.close {
                    self.connection.finish();
                    return Moved::Closed;
                }
                Moved::On
            }
            Err(Errno::INTR) => Moved::On,
            Err(Errno::AGAIN) => Moved::Blocked,
            Err(_) => {
                worker.abandoned(&self.connection, reply.owed);
                Moved::Closed
            }
        }
    }
}
