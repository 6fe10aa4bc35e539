//! The engine's IO over epoll.
//!
//! Each socket is registered once, edge-triggered, for reading and writing. Edges are not lost because a
//! socket is read until a read comes back short, and written until a write would block.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use engine::{Completion, Conn, Event, Io, Outgoing, Sending};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, sockopt};
use units::Instant;

use crate::addresses::Route;
use crate::arrival::{self, Read};
use crate::clock::monotonic_now;
use crate::socket::{self, connect_failure};
use crate::unsent::Unsent;

/// Events taken from the kernel at one time.
const EVENTS_MAX: usize = 256;
/// Bytes read at one time: large bodies cost one system call a 64 KiB.
const READ_BYTES_MAX: usize = 64 * 1024;
/// Bytes read first of an answer whose body will be skipped: its head, and not much of what need not be copied.
const HEAD_READ_BYTES: usize = 2048;
/// Full reads of one socket in a row before others get their turn.
const READS_IN_A_ROW_MAX: u32 = 16;

const HUNG_UP: epoll::EventFlags =
    epoll::EventFlags::RDHUP.union(epoll::EventFlags::HUP).union(epoll::EventFlags::ERR);

/// Epoll over non-blocking sockets with TCP_NODELAY.
pub struct EpollIo {
    epoll: OwnedFd,
    route: Route,
    sockets: Vec<Option<Socket>>,
    events: Vec<epoll::Event>,
    next_event: usize,
    reading: Option<Reading>,
    postponed: VecDeque<Conn>,
    /// How many of `postponed` get their turn before the next wait.
    postponed_in_turn: usize,
    buffer: Box<[u8]>,
    /// Bytes read first of an answer: few while bodies are skipped.
    first_read_bytes: usize,
}

#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    generation: u32,
    connecting: bool,
    /// What the kernel has not taken yet of what is sent.
    unsent: Option<Box<Unsent>>,
    /// Nothing can be sent any more. What the peer had said before is read first: a server may answer a request without
    /// reading all of it, and close.
    broken: bool,
    /// Bytes to come that need not be copied out of the kernel.
    skip_bytes: u64,
}

/// A socket that may have more to read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    conn: Conn,
    reads: u32,
    /// Read until nothing is left: a short read does not mean that nothing follows where the peer has
    /// closed.
    to_the_end: bool,
}

impl EpollIo {
    /// An epoll instance for `connections` connections along `route`.
    pub fn new(route: Route, connections: u32) -> Result<Self, Errno> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            route,
            sockets: (0..connections).map(|_| None).collect(),
            events: Vec::with_capacity(EVENTS_MAX),
            next_event: 0,
            reading: None,
            postponed: VecDeque::new(),
            postponed_in_turn: 0,
            buffer: vec![0; READ_BYTES_MAX].into_boxed_slice(),
            first_read_bytes: READ_BYTES_MAX,
        })
    }

    /// A registered socket, and whether its connection is still being made.
    fn open(&self, conn: Conn) -> Result<(OwnedFd, bool), Errno> {
        let fd = socket::open(&self.route, conn.slot)?;
        let connecting = match net::connect(&fd, &self.route.target(conn.slot).address()) {
            Ok(()) => false,
            Err(Errno::INPROGRESS) => true,
            Err(errno) => return Err(errno),
        };
        let interest =
            epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(&self.epoll, &fd, epoll::EventData::new_u64(pack(conn)), interest)?;
        Ok((fd, connecting))
    }

    #[inline]
    fn socket(&mut self, conn: Conn) -> Option<&mut Socket> {
        self.sockets[conn.slot as usize].as_mut().filter(|socket| socket.generation == conn.generation)
    }

    #[cold]
    #[inline(never)]
    fn send_in_parts(&mut self, conn: Conn, bytes: Outgoing<'_>, sent: Result<usize, Errno>) -> Sending {
        if let Some(socket) = self.socket(conn) {
            socket.unsent = Some(Box::new(Unsent::new(bytes)));
        }
        let is_done = self.send_rest(conn, sent).is_some();
        if self.socket(conn).is_some_and(|socket| socket.broken) {
            // There may be no more events for it.
            self.postponed.push_back(conn);
        }
        if is_done { Sending::Done } else { Sending::UnderWay }
    }

    /// Hands as much as it takes of what is unsent to the kernel, after that took or refused what it `sent`. Where it takes
    /// no more for ever, the socket is left to be read to its end.
    fn send_rest(&mut self, conn: Conn, mut sent: Result<usize, Errno>) -> Option<Event<'static>> {
        let socket = self.socket(conn)?;
        let unsent = socket.unsent.as_mut()?;
        loop {
            match sent {
                Ok(bytes) => unsent.advance(bytes),
                Err(Errno::AGAIN) => return None,
                Err(Errno::INTR) => {}
                Err(_) => {
                    (socket.unsent, socket.broken) = (None, true);
                    return None;
                }
            }
            if unsent.bytes().is_empty() {
                socket.unsent = None;
                return Some(Event::Sent);
            }
            sent = net::send(&socket.fd, unsent.bytes(), SendFlags::NOSIGNAL);
        }
    }

    /// Takes one event from the kernel's batch.
    #[inline]
    fn take_event(&mut self, event: epoll::Event) -> Option<Seen> {
        let conn = unpack(event.data.u64());
        let flags = event.flags;
        let socket = self.socket(conn)?;
        if socket.connecting || socket.unsent.is_some() || flags.intersects(HUNG_UP) {
            return self.take_unusual(conn, flags);
        }
        if flags.contains(epoll::EventFlags::IN) {
            return self.read(Reading { conn, reads: 0, to_the_end: false });
        }
        None
    }

    /// An event that may be about more than bytes to read, which are read next.
    #[cold]
    fn take_unusual(&mut self, conn: Conn, flags: epoll::EventFlags) -> Option<Seen> {
        let hung_up = flags.intersects(HUNG_UP);
        let socket = self.socket(conn)?;
        let mut known = None;
        if socket.connecting {
            if !flags.contains(epoll::EventFlags::OUT) && !hung_up {
                return None;
            }
            socket.connecting = false;
            if let Ok(Err(errno)) | Err(errno) = sockopt::socket_error(&socket.fd) {
                self.sockets[conn.slot as usize] = None;
                let failure = connect_failure(self.route.target(conn.slot), errno);
                return Some(Seen::Known(conn, Event::ConnectFailed(failure)));
            }
            known = Some(Event::Connected);
        } else if socket.unsent.is_some() && flags.contains(epoll::EventFlags::OUT) {
            known = self.send_rest(conn, Ok(0));
        }
        let to_the_end = hung_up || self.socket(conn).is_some_and(|socket| socket.broken);
        if flags.contains(epoll::EventFlags::IN) || to_the_end {
            self.reading = Some(Reading { conn, reads: 0, to_the_end });
        }
        known.map(|event| Seen::Known(conn, event))
    }

    /// Reads a socket once. `None` means that it is drained.
    #[inline]
    fn read(&mut self, reading: Reading) -> Option<Seen> {
        let Reading { conn, reads, to_the_end } = reading;
        let socket =
            self.sockets[conn.slot as usize].as_mut().filter(|it| it.generation == conn.generation)?;
        let (asked, flags) = match (socket.skip_bytes, reads) {
            (0, 0) => (self.first_read_bytes, RecvFlags::empty()),
            (0, _) => (self.buffer.len(), RecvFlags::empty()),
            // TCP throws away what is received with TRUNC, and does not touch the buffer. One byte more than there can
            // be, so that a read of all of them comes back short: then the socket is drained.
            (to_come, _) => {
                let beyond = usize::try_from(to_come).unwrap_or(usize::MAX).saturating_add(1);
                (beyond.min(self.buffer.len()), RecvFlags::TRUNC)
            }
        };
        let received = loop {
            let buffer = &mut self.buffer[..asked];
            let received = if arrival::is_sampled(conn.slot) {
                arrival::receive(&socket.fd, buffer, flags)
            } else {
                net::recv(&socket.fd, buffer, flags).map(|(_, bytes)| Read { bytes, arrived: None })
            };
            match received {
                Err(Errno::INTR) => {}
                received => break received,
            }
        };
        match received {
            Ok(Read { bytes: 0, .. }) if !socket.broken => Some(Seen::Known(conn, Event::PeerClosed)),
            Ok(Read { bytes: 0, .. }) => Some(Seen::Known(conn, Event::Reset)),
            Ok(Read { bytes, arrived }) => {
                if reads + 1 >= READS_IN_A_ROW_MAX {
                    self.postponed.push_back(conn);
                } else if bytes == asked || to_the_end {
                    self.reading = Some(Reading { conn, reads: reads + 1, to_the_end });
                }
                if socket.skip_bytes > 0 {
                    socket.skip_bytes = socket.skip_bytes.saturating_sub(bytes as u64);
                    return Some(Seen::Skipped(conn, bytes as u64, arrived));
                }
                if bytes == asked {
                    // An answer longer than that. Whether the rest of it is skipped is heard next.
                    self.first_read_bytes = READ_BYTES_MAX;
                }
                Some(Seen::Bytes(conn, bytes, arrived))
            }
            Err(Errno::AGAIN) if !socket.broken => None,
            Err(_) => Some(Seen::Known(conn, Event::Reset)),
        }
    }
}

/// What was found out, before the buffer is lent to the caller.
enum Seen {
    Known(Conn, Event<'static>),
    /// So many bytes lie in the buffer, and when the last of them arrived, where that is known.
    Bytes(Conn, usize, Option<Instant>),
    /// So many bytes were thrown away, and when the last of them arrived.
    Skipped(Conn, u64, Option<Instant>),
}

impl Io for EpollIo {
    type Error = Errno;

    fn now(&self) -> Instant {
        monotonic_now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.route.aim(conn.slot, target);
        match self.open(conn) {
            Ok((fd, connecting)) => {
                self.sockets[conn.slot as usize] = Some(Socket {
                    fd,
                    generation: conn.generation,
                    connecting,
                    unsent: None,
                    broken: false,
                    skip_bytes: 0,
                });
                (!connecting).then_some(Event::Connected)
            }
            Err(errno) => Some(Event::ConnectFailed(connect_failure(self.route.target(conn.slot), errno))),
        }
    }

    #[inline]
    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let Some(socket) = self.socket(conn) else { return Sending::UnderWay };
        // The usual case: all of it at once.
        let sent = net::send(&socket.fd, bytes.bytes(), SendFlags::NOSIGNAL);
        if sent == Ok(bytes.bytes().len()) {
            return Sending::Done;
        }
        self.send_in_parts(conn, bytes, sent)
    }

    fn skip(&mut self, conn: Conn, bytes: u64) {
        if let Some(socket) = self.socket(conn) {
            socket.skip_bytes = bytes;
            self.first_read_bytes = HEAD_READ_BYTES;
        }
    }

    fn close(&mut self, conn: Conn) {
        if self.socket(conn).is_some() {
            // Closing the descriptor takes it out of the epoll set.
            self.sockets[conn.slot as usize] = None;
        }
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Errno> {
        let now = monotonic_now();
        let nanos = match until {
            _ if !self.postponed.is_empty() => Some(0),
            Some(until) => Some(until.since(now).as_nanos()),
            None => None,
        };
        let timeout = nanos.map(|nanos| Timespec {
            tv_sec: (nanos / 1_000_000_000).cast_signed(),
            tv_nsec: (nanos % 1_000_000_000).cast_signed(),
        });
        self.events.clear();
        self.next_event = 0;
        self.postponed_in_turn = self.postponed.len();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let seen = loop {
            let seen = if let Some(reading) = self.reading.take() {
                self.read(reading)
            } else if let Some(event) = self.events.get(self.next_event).copied() {
                self.next_event += 1;
                self.take_event(event)
            } else {
                self.postponed_in_turn = self.postponed_in_turn.checked_sub(1)?;
                let conn = self.postponed.pop_front()?;
                // Read to the end: the edge that announced these bytes is gone.
                self.read(Reading { conn, reads: 0, to_the_end: true })
            };
            if let Some(seen) = seen {
                break seen;
            }
        };
        let (conn, event, arrived) = match seen {
            Seen::Known(conn, event) => (conn, event, None),
            Seen::Bytes(conn, bytes, arrived) => (conn, Event::Received(&self.buffer[..bytes]), arrived),
            Seen::Skipped(conn, bytes, arrived) => (conn, Event::Skipped(bytes), arrived),
        };
        Some((monotonic_now(), Completion { conn, event, arrived }))
    }

    fn has_more(&self) -> bool {
        self.events.len() >= EVENTS_MAX
    }
}

/// A connection as the 64 bits that epoll carries for us.
fn pack(conn: Conn) -> u64 {
    u64::from(conn.slot) << 32 | u64::from(conn.generation)
}

fn unpack(data: u64) -> Conn {
    Conn { slot: (data >> 32) as u32, generation: data as u32 }
}
