//! The engine's IO over io_uring.
//!
//! Each connection is a direct descriptor: a place in the ring's own table, which a request names without a look-up
//! in the process's. A connection receives by one multishot operation from its start to its end, into buffers that
//! all share; so a request costs one submission, its send, and one completion, its answer. What is submitted goes to
//! the kernel together with the wait for what has happened: one system call for some twenty requests of a busy load.
//!
//! A request is stamped when it is queued, and goes out when the queue is handed over: at the turn's end, or when
//! [`sends::QUEUED_MAX`] of them wait. As many may share one stamp, and a hand-over may fall among them. Between stamp and send
//! lie the kernel's sends of those before it, fewer than twice as many of some microseconds each; a request that
//! is alone in its turn waits for none. So service time is never understated, and overstated by no more than that.
//!
//! Answers are stamped when they are taken from the ring, all that are there at once: they had come by then, and how
//! long we take over those before them is not theirs.

mod buffers;
mod sends;

use std::io;
use std::num::NonZeroU32;
use std::os::fd::AsRawFd;

use engine::{Completion, Conn, Event, Io, Outgoing, Sending};
use io_uring::squeue::Flags;
use io_uring::types::{CancelBuilder, Fixed, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::net::SocketAddrAny;
use units::Instant;

use self::buffers::Buffers;
use self::sends::Sends;
use crate::addresses::{Route, Target};
use crate::arrival::{self, CONTROL_BYTES};
use crate::clock::monotonic_now;
use crate::incidents::Incidents;
use crate::socket::{self, connect_failure};

/// Operations that may be queued before they are handed to the kernel.
const QUEUE_MAX: u32 = 512;
/// Completions taken from the kernel at one time.
const SEEN_MAX: usize = 256;
/// Bytes of the head that the kernel puts before a control message and the bytes received with it.
const RECEIVED_HEAD_BYTES: usize = 16;
/// Sizes of what a ring holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingSizes {
    /// Buffers to receive into; a power of two up to 32768.
    pub buffers: u16,
    /// Bytes of each.
    pub buffer_bytes: u32,
    /// Completions that the kernel can report before it has to hold some back.
    pub completions: NonZeroU32,
}

impl Default for RingSizes {
    /// 4 MiB of buffers, of which a load of small answers touches a page each.
    fn default() -> Self {
        let completions = const { NonZeroU32::new(4096).unwrap() };
        Self { buffers: 256, buffer_bytes: 16 * 1024, completions }
    }
}

/// io_uring with direct descriptors, multishot receives and shared buffers. Made and used by one thread.
pub struct UringIo {
    // Dropped in this order: nothing is under way any more when the memory goes that the kernel works with.
    ring: IoUring,
    buffers: Buffers,
    sends: Sends,
    targets: Box<[SocketAddrAny]>,
    /// How receives with stamps are asked for.
    stamped: Box<libc::msghdr>,
    route: Route,
    sockets: Box<[Socket]>,
    seen: Vec<cqueue::Entry>,
    /// When they were taken from the kernel.
    seen_at: Instant,
    next_seen: usize,
    /// Whether one of them is of a connection that has something, and that no buffer was left for.
    lacks_buffers: bool,
    /// The buffer whose bytes the caller reads.
    lent: Option<u16>,
    incidents: Incidents,
    /// The kernel refused the ring itself something.
    failed: Option<Errno>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Socket {
    generation: u32,
    /// Bytes not yet taken by the kernel, where that is waited for: a send is under way then.
    unsent_bytes: u32,
    /// Nothing can be sent any more. What the peer had said before is received first: a server may answer a request
    /// without reading all of it, and close.
    broken: bool,
    open: bool,
    /// The operation that is under way and only ends by a cancellation, a connect or a receive; else
    /// [`Operation::End`].
    busy: Operation,
    /// Whether its last connection's close may still be queued.
    closing: bool,
}

/// What a completion is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Operation {
    /// Of what only reports failures, which change nothing: a close, a cancellation.
    #[default]
    End,
    Connect,
    Receive,
    Send,
    /// The question whether the peer would take more.
    Ask,
}

impl UringIo {
    /// A ring for `connections` connections along `route`. Fails where the kernel, its version or a policy refuses it.
    pub fn new(route: Route, connections: u32, sizes: RingSizes) -> Result<Self, Errno> {
        let ring: IoUring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_submit_all()
            .setup_cqsize(sizes.completions.get().max(QUEUE_MAX))
            .build(QUEUE_MAX)
            .map_err(errno)?;
        ring.submitter().register_files_sparse(connections).map_err(errno)?;
        let buffers = Buffers::register(&ring.submitter(), sizes.buffers, sizes.buffer_bytes)?;
        Ok(Self {
            ring,
            buffers,
            sends: Sends::default(),
            targets: route.targets().iter().map(Target::address).collect(),
            stamped: Box::new(stamped_message()),
            route,
            sockets: vec![Socket::default(); connections as usize].into(),
            seen: Vec::with_capacity(SEEN_MAX),
            seen_at: monotonic_now(),
            next_seen: 0,
            lacks_buffers: false,
            lent: None,
            incidents: Incidents::default(),
            failed: None,
        })
    }

    /// What went wrong in the ring and was made up for.
    pub fn incidents(&self) -> Incidents {
        self.incidents
    }

    /// Receive buffers that were taken out of the ring and not put back: between turns, none.
    pub fn buffers_out(&self) -> u32 {
        self.buffers.ours()
    }

    /// Sends of closed connections whose bytes the kernel may still read: soon after, none.
    pub fn sends_kept(&self) -> usize {
        self.sends.kept()
    }

    fn socket(&mut self, conn: Conn) -> Option<&mut Socket> {
        let socket = &mut self.sockets[conn.slot as usize];
        (socket.open && socket.generation == conn.generation).then_some(socket)
    }

    // ---- what is queued

    fn queue(&mut self, entry: &squeue::Entry) {
        self.queue_sends();
        loop {
            // SAFETY: what an entry points to, the addresses, the message and what is sent, is neither moved nor changed
            // before its operation has ended; for what is sent, `Sends` sees to that. When `self` is dropped, all have.
            let queued = unsafe { self.ring.submission().push(entry) };
            if queued.is_ok() || self.failed.is_some() {
                return;
            }
            self.submit();
        }
    }

    /// Gives the kernel what is queued, without waiting.
    fn hand_over(&mut self) {
        self.queue_sends();
        self.submit();
    }

    fn submit(&mut self) {
        match self.ring.submit().map_err(errno) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => self.failed = Some(errno),
        }
        self.sends.are_submitted();
    }

    /// Puts a socket into the connection's place of the table; its descriptor is not needed any more then.
    fn open(&self, conn: Conn) -> Result<(), Errno> {
        let fd = socket::open(&self.route, conn.slot)?;
        let placed = self.ring.submitter().register_files_update(conn.slot, &[fd.as_raw_fd()]);
        placed.map(drop).map_err(errno)
    }

    fn receive(&mut self, conn: Conn) {
        self.sockets[conn.slot as usize].busy = Operation::Receive;
        let place = Fixed(conn.slot);
        let receive = if arrival::is_sampled(conn.slot) {
            opcode::RecvMsgMulti::new(place, &raw const *self.stamped, buffers::GROUP).build()
        } else {
            opcode::RecvMulti::new(place, buffers::GROUP).build()
        };
        self.queue(&receive.user_data(pack(Operation::Receive, conn)));
    }

    // ---- what has happened

    /// What a completion means for the engine; `None` where it means nothing to it.
    #[inline]
    fn take(&mut self, entry: &cqueue::Entry) -> Option<Seen> {
        let (operation, conn) = unpack(entry.user_data());
        match operation {
            Operation::Receive => self.received(conn, entry),
            Operation::Send => self.sent(conn, entry.result()),
            Operation::Ask => self.told(conn, entry.result()),
            Operation::Connect => self.connected(conn, entry.result()),
            Operation::End => None,
        }
    }

    #[inline]
    fn received(&mut self, conn: Conn, entry: &cqueue::Entry) -> Option<Seen> {
        let buffer = cqueue::buffer_select(entry.flags());
        if buffer.is_some() {
            self.buffers.take();
        }
        let goes_on = cqueue::more(entry.flags());
        let Some(socket) = self.socket(conn) else {
            self.give_back(buffer);
            return None;
        };
        if !goes_on {
            socket.busy = Operation::End;
        }
        match (outcome(entry.result()), buffer) {
            (Ok(bytes), Some(id)) if bytes as usize > bytes_before_payload(conn) => {
                if !goes_on {
                    self.receive(conn);
                }
                Some(Seen::Bytes(conn, id, bytes as usize))
            }
            (Err(Errno::NOBUFS), _) => {
                self.incidents.no_buffer += 1;
                self.lacks_buffers = true;
                self.receive(conn);
                None
            }
            (Err(Errno::CANCELED), _) => None,
            (Ok(_), buffer) if socket.unsent_bytes > 0 => {
                self.give_back(buffer);
                self.ask(conn);
                None
            }
            (result, buffer) => {
                let closed = result.is_ok() && !socket.broken;
                self.give_back(buffer);
                Some(Seen::Known(conn, if closed { Event::PeerClosed } else { Event::Reset }))
            }
        }
    }

    fn connected(&mut self, conn: Conn, result: i32) -> Option<Seen> {
        let socket = self.socket(conn)?;
        match outcome(result) {
            Ok(_) => {
                self.receive(conn);
                Some(Seen::Known(conn, Event::Connected))
            }
            Err(Errno::CANCELED) => None,
            Err(errno) => {
                socket.busy = Operation::End;
                self.close(conn);
                let failure = connect_failure(self.route.target(conn.slot), errno);
                Some(Seen::Known(conn, Event::ConnectFailed(failure)))
            }
        }
    }

    /// Gives back the buffer that the caller has read.
    #[inline]
    fn take_back(&mut self) {
        let lent = self.lent.take();
        self.give_back(lent);
    }

    #[inline]
    fn give_back(&mut self, buffer: Option<u16>) {
        if let Some(id) = buffer {
            self.buffers.give(id);
        }
    }

    /// Takes completions out of the ring.
    fn collect(&mut self) {
        self.seen.clear();
        self.next_seen = 0;
        self.lacks_buffers = false;
        let completions = self.ring.completion();
        self.seen.extend(completions.take(SEEN_MAX));
        self.seen_at = monotonic_now();
    }
}

/// What was found out, before a buffer is lent to the caller.
enum Seen {
    Known(Conn, Event<'static>),
    /// So many bytes lie in the buffer of this number.
    Bytes(Conn, u16, usize),
}

impl Io for UringIo {
    type Error = Errno;

    const SENDS_A_STAMP: u32 = sends::QUEUED_MAX as u32;

    fn now(&self) -> Instant {
        monotonic_now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.route.aim(conn.slot, target);
        if self.sockets[conn.slot as usize].closing {
            // Else the close of the last connection would close this one, in the same place of the table.
            self.hand_over();
        }
        match self.open(conn) {
            Ok(()) => {
                let (generation, busy) = (conn.generation, Operation::Connect);
                self.sockets[conn.slot as usize] =
                    Socket { generation, open: true, busy, ..Socket::default() };
                let address = &self.targets[self.route.target_index(conn.slot)];
                let (pointer, length) = (address.as_ptr().cast(), address.addr_len());
                let connect = opcode::Connect::new(Fixed(conn.slot), pointer, length).build();
                self.queue(&connect.user_data(pack(Operation::Connect, conn)));
                None
            }
            Err(errno) => Some(Event::ConnectFailed(connect_failure(self.route.target(conn.slot), errno))),
        }
    }

    #[inline]
    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        match bytes {
            Outgoing::Shared(bytes) if self.sends.is_shared(bytes) => self.send_shared(conn),
            bytes => self.send_other(conn, bytes),
        }
    }

    // No `skip`: the receive that is under way copies what comes; ending it for that would cost more than it saves.

    fn close(&mut self, conn: Conn) {
        let Some(socket) = self.socket(conn) else { return };
        let Socket { busy, unsent_bytes, .. } = *socket;
        *socket = Socket { generation: conn.generation, closing: true, ..Socket::default() };
        let sends = unsent_bytes > 0;
        if sends {
            self.sends.leave(conn);
        }
        let quiet =
            |entry: squeue::Entry| entry.flags(Flags::SKIP_SUCCESS).user_data(pack(Operation::End, conn));
        // What is under way holds the socket; closing its place in the table alone would leave the connection open, and the
        // rest of a large request in memory. By its name, which the kernel finds in a hash table; by descriptor it would
        // look at the operations of all sockets.
        for operation in [busy, if sends { Operation::Send } else { Operation::End }] {
            if operation != Operation::End {
                self.queue(&quiet(opcode::AsyncCancel::new(pack(operation, conn)).build()));
            }
        }
        self.queue(&quiet(opcode::Close::new(Fixed(conn.slot)).build()));
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Errno> {
        self.take_back();
        self.queue_sends();
        let at_hand = !self.ring.completion().is_empty();
        self.incidents.completions_held_back += u64::from(self.ring.submission().cq_overflow());
        let timeout = until.map(|until| {
            let nanos = until.since(monotonic_now()).as_nanos();
            Timespec::new().sec(nanos / 1_000_000_000).nsec((nanos % 1_000_000_000) as u32)
        });
        let mut arguments = SubmitArgs::new();
        if let Some(timeout) = &timeout {
            arguments = arguments.timespec(timeout);
        }
        let waited = self.ring.submitter().submit_with_args(usize::from(!at_hand), &arguments);
        self.sends.are_submitted();
        let ended = match waited.map_err(errno) {
            // BUSY: completions are held back for want of room, which we make now.
            Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::BUSY) => Ok(()),
            Err(errno) => Err(errno),
        };
        self.collect();
        self.failed.take().map_or(ended, Err)
    }

    #[inline]
    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        self.take_back();
        let seen = loop {
            let entry = self.seen.get(self.next_seen)?.clone();
            self.next_seen += 1;
            if let Some(seen) = self.take(&entry) {
                break seen;
            }
        };
        let (conn, event) = match seen {
            Seen::Known(conn, event) => (conn, event),
            Seen::Bytes(conn, id, length) => {
                self.lent = Some(id);
                let bytes = self.buffers.bytes(id, length);
                let arrived = arrived(conn, bytes, &self.stamped, self.seen_at);
                let event = Event::Received(&bytes[bytes_before_payload(conn)..]);
                return Some((self.seen_at, Completion { conn, event, arrived }));
            }
        };
        Some((self.seen_at, Completion { conn, event, arrived: None }))
    }

    fn has_more(&self) -> bool {
        self.seen.len() >= SEEN_MAX || self.lacks_buffers
    }
}

impl Drop for UringIo {
    /// Ends what is under way, so that the kernel is done with our memory when it goes. Even where that failed it
    /// would be: with deferred task work the kernel receives and sends only within calls of this thread.
    fn drop(&mut self) {
        self.queue_sends();
        // What was closed ends in here. Cancelling all that is left takes longer the more there is.
        let at_once = Timespec::new();
        loop {
            let _ = self.ring.submitter().submit_with_args(SEEN_MAX, &SubmitArgs::new().timespec(&at_once));
            if self.ring.completion().count() == 0 {
                break;
            }
        }
        let _ = self.ring.submitter().register_sync_cancel(None, CancelBuilder::any());
    }
}

/// What lies in a buffer before the bytes that were received: on a sampled connection, a head and the stamp.
#[inline]
fn bytes_before_payload(conn: Conn) -> usize {
    if arrival::is_sampled(conn.slot) { RECEIVED_HEAD_BYTES + CONTROL_BYTES } else { 0 }
}

/// A message that asks for one control message and no name.
fn stamped_message() -> libc::msghdr {
    // SAFETY: all of its fields are integers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_controllen = CONTROL_BYTES as _;
    message
}

/// When what lies in a buffer had arrived, where it was stamped.
#[inline]
fn arrived(conn: Conn, bytes: &[u8], asked: &libc::msghdr, seen: Instant) -> Option<Instant> {
    if !arrival::is_sampled(conn.slot) {
        return None;
    }
    let message = RecvMsgOut::parse(bytes, asked).ok()?;
    Some(arrival::arrival(message.control_data())?.min(seen))
}

/// Whether a send that failed so says that the connection is over, so that its receive ends as well.
fn has_ended(errno: Errno) -> bool {
    matches!(errno, Errno::PIPE | Errno::CONNRESET | Errno::TIMEDOUT)
}

/// A completion's result: a count, or what went wrong.
#[inline]
fn outcome(result: i32) -> Result<u32, Errno> {
    u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err, which hands it over")]
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
}

/// A connection and an operation on it as the 64 bits that io_uring carries for us: 8 for the operation, 24 for the
/// slot, 32 for the generation.
fn pack(operation: Operation, conn: Conn) -> u64 {
    (operation as u64) << 56 | u64::from(conn.slot) << 32 | u64::from(conn.generation)
}

fn unpack(data: u64) -> (Operation, Conn) {
    let operation = match data >> 56 {
        1 => Operation::Connect,
        2 => Operation::Receive,
        3 => Operation::Send,
        4 => Operation::Ask,
        _ => Operation::End,
    };
    (operation, Conn { slot: (data >> 32) as u32 & 0x00ff_ffff, generation: data as u32 })
}
