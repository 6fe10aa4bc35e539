//! What goes out.
//!
//! What all connections share is in memory once, as long as the ring: nothing is copied, and a short send need not be
//! reported. What is a connection's own is copied, and stays until the kernel has reported that it is done with it, also
//! where the connection is closed before.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use engine::{Conn, Event, Outgoing, Sending};
use io_uring::squeue::Flags;
use io_uring::types::Fixed;
use io_uring::{opcode, squeue};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::{Operation, QUEUE_MAX, Seen, UringIo, has_ended, outcome, pack};

/// Sends that may be queued; bounds how long before its send a request is stamped.
pub(super) const QUEUED_MAX: usize = 32;
/// A request up to this size fits into the buffer of a socket that has no other under way, so that its send is done
/// when it is submitted; a longer one is reported when the kernel has taken all of it.
const AT_ONCE_BYTES_MAX: usize = 4096;

/// What is sent, and what is still to be queued.
#[derive(Debug, Default)]
pub(super) struct Sends {
    /// The first bytes that came as shared ones; empty before.
    shared: Arc<[u8]>,
    /// Where they are, once they came.
    shared_at: Option<NonZeroUsize>,
    /// Whether their send is done when it is submitted.
    at_once: bool,
    /// Connections whose send of them is to be queued, in order, at most [`QUEUED_MAX`].
    waiting: Vec<Conn>,
    /// By slot: what its connection alone sends, as long as that is under way and the kernel may read it; else empty.
    own: Vec<Vec<u8>>,
    /// Sends of these that were queued since the last submission.
    own_queued: usize,
    /// What was under way on connections that are closed, until it is over.
    left: HashMap<Conn, Vec<u8>>,
}

impl Sends {
    /// Whether these are the bytes that are kept as shared ones.
    #[inline]
    pub(super) fn is_shared(&self, bytes: &Arc<[u8]>) -> bool {
        self.shared_at == address(bytes)
    }

    /// What `conn` sends, whose send is under way.
    fn under_way(&self, conn: Conn) -> &[u8] {
        self.own.get(conn.slot as usize).filter(|own| !own.is_empty()).map_or(&*self.shared, Vec::as_slice)
    }

    /// Takes note that the send of `conn` is over.
    fn is_over(&mut self, conn: Conn) {
        if let Some(own) = self.own.get_mut(conn.slot as usize) {
            own.clear();
        }
    }

    /// Takes note that `conn` is closed while its send is under way.
    pub(super) fn leave(&mut self, conn: Conn) {
        if let Some(own) = self.own.get_mut(conn.slot as usize).filter(|own| !own.is_empty()) {
            self.left.insert(conn, std::mem::take(own));
        }
    }

    /// How much of closed connections is kept.
    pub(super) fn kept(&self) -> usize {
        self.left.len()
    }

    /// Takes note that what was queued is submitted.
    pub(super) fn are_submitted(&mut self) {
        self.own_queued = 0;
    }
}

impl UringIo {
    /// Queues the sends that wait for it, all in one go: that is much cheaper than one by one.
    #[inline]
    pub(super) fn queue_sends(&mut self) {
        if self.sends.waiting.is_empty() {
            return;
        }
        if QUEUE_MAX as usize - self.ring.submission().len() < QUEUED_MAX {
            self.submit();
        }
        let Sends { shared, waiting, at_once, .. } = &mut self.sends;
        let shared: &[u8] = shared;
        let flags = if *at_once { Flags::SKIP_SUCCESS } else { Flags::empty() };
        let mut queue = self.ring.submission();
        for conn in waiting.drain(..) {
            let send = send(shared, conn).flags(flags);
            // SAFETY: the shared bytes are neither moved nor changed before `self` is dropped, and by then every operation
            // has ended.
            if unsafe { queue.push(&send) }.is_err() {
                // Room was made, unless the kernel did not take what was there.
                self.failed.get_or_insert(Errno::BUSY);
            }
        }
    }

    /// Sends what is shared.
    #[inline]
    pub(super) fn send_shared(&mut self, conn: Conn) -> Sending {
        let (at_once, length) = (self.sends.at_once, self.sends.shared.len() as u32);
        let Some(socket) = self.socket(conn) else { return Sending::UnderWay };
        if !at_once {
            socket.unsent_bytes = length;
        }
        self.sends.waiting.push(conn);
        if self.sends.waiting.len() == QUEUED_MAX {
            self.hand_over();
        }
        if at_once { Sending::Done } else { Sending::UnderWay }
    }

    /// Sends what is shared for the first time, or the connection's own.
    #[cold]
    #[inline(never)]
    pub(super) fn send_other(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        if let (Outgoing::Shared(bytes), None) = (bytes, self.sends.shared_at) {
            self.sends.shared = Arc::clone(bytes);
            self.sends.shared_at = address(bytes);
            self.sends.at_once = bytes.len() <= AT_ONCE_BYTES_MAX;
            return self.send_shared(conn);
        }
        let bytes = bytes.bytes();
        let Some(socket) = self.socket(conn) else { return Sending::UnderWay };
        assert!(socket.unsent_bytes == 0, "a connection sends one thing after another");
        socket.unsent_bytes = bytes.len() as u32;
        let of_all = self.sockets.len();
        self.sends.own.resize_with(of_all, Vec::new);
        let own = &mut self.sends.own[conn.slot as usize];
        own.clear();
        own.extend_from_slice(bytes);
        let send = send(own, conn);
        self.queue(&send);
        self.sends.own_queued += 1;
        if self.sends.own_queued >= QUEUED_MAX {
            self.hand_over();
        }
        Sending::UnderWay
    }

    /// Asks whether a peer who says nothing more would still take what is unsent: a send of nothing fails where it would
    /// not. The send that is under way may have taken the reset with it, as part of a success.
    #[cold]
    pub(super) fn ask(&mut self, conn: Conn) {
        let nothing = send(&[], conn).user_data(pack(Operation::Ask, conn));
        self.queue(&nothing);
    }

    /// The answer to [`Self::ask`].
    pub(super) fn told(&mut self, conn: Conn, result: i32) -> Option<Seen> {
        self.socket(conn)?;
        let event = outcome(result).map_or(Event::Reset, |_| Event::PeerClosed);
        Some(Seen::Known(conn, event))
    }

    /// What a send has come to that is reported.
    pub(super) fn sent(&mut self, conn: Conn, result: i32) -> Option<Seen> {
        let Some(socket) = self.socket(conn) else {
            // Nobody reads it any more.
            self.sends.left.remove(&conn);
            return None;
        };
        match outcome(result) {
            Ok(bytes) if bytes < socket.unsent_bytes => {
                socket.unsent_bytes -= bytes;
                let unsent_bytes = socket.unsent_bytes as usize;
                let whole = self.sends.under_way(conn);
                let rest = send(&whole[whole.len() - unsent_bytes..], conn);
                self.queue(&rest);
                None
            }
            Ok(_) => {
                socket.unsent_bytes = 0;
                self.sends.is_over(conn);
                Some(Seen::Known(conn, Event::Sent))
            }
            Err(Errno::CANCELED) => None,
            Err(errno) => {
                (socket.unsent_bytes, socket.broken) = (0, true);
                // The receive that is under way brings what there is, and then the end.
                let ends = socket.busy == Operation::Receive && has_ended(errno);
                self.sends.is_over(conn);
                (!ends).then_some(Seen::Known(conn, Event::Reset))
            }
        }
    }
}

/// Where bytes are: nowhere else as long as they are kept.
#[inline]
fn address(bytes: &Arc<[u8]>) -> Option<NonZeroUsize> {
    NonZeroUsize::new(Arc::as_ptr(bytes).cast::<u8>().addr())
}

/// Sends `bytes`, which stay as they are until that is over.
#[inline]
fn send(bytes: &[u8], conn: Conn) -> squeue::Entry {
    let flags = SendFlags::NOSIGNAL.bits().cast_signed();
    let send = opcode::Send::new(Fixed(conn.slot), bytes.as_ptr(), bytes.len() as u32).flags(flags).build();
    send.user_data(pack(Operation::Send, conn))
}
