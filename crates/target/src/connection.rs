//! Accepted connections.

use std::net::{Shutdown, TcpStream};
use std::num::NonZeroU64;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::request::{Fill, Inbox};
use crate::secured::{Filled, Secured};

/// What is read and thrown away at most when a connection is closed by the server.
const DRAIN_READS_MAX: usize = 64;

/// An accepted connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Shared so that [`crate::threads`] can shut down the connection of a thread that blocks in a read.
    pub(crate) stream: Arc<TcpStream>,
    /// Counted from 1 in the order of acceptance.
    pub(crate) id: u64,
    pub(crate) inbox: Inbox,
    pub(crate) answers: u64,
    /// Where it is, or may come to be, secured.
    pub(crate) secured: Option<Box<Secured>>,
}

impl Connection {
    /// Whether the next answer is the connection's last by [`crate::Config::close_every`].
    pub(crate) fn closes_next(&self, close_every: Option<NonZeroU64>) -> bool {
        close_every.is_some_and(|every| (self.answers + 1).is_multiple_of(every.get()))
    }

    /// Reads once into the inbox.
    pub(crate) fn fill(&mut self) -> Fill {
        let Some(secured) = &mut self.secured else { return self.inbox.fill(&*self.stream) };
        match secured.fill(&self.stream, &mut self.inbox) {
            Filled::Secured(fill) => fill,
            Filled::Plain => {
                self.secured = None;
                Fill::Data { drained: false }
            }
        }
    }

    /// Sends some of `bytes`; after `AGAIN` the caller comes again with the same ones.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match &mut self.secured {
            None => send(&*self.stream, bytes, SendFlags::NOSIGNAL),
            Some(secured) => secured.send(&self.stream, bytes),
        }
    }

    /// Ends the connection after its last answer. Bytes that were sent and not read would turn the close into
    /// a reset, which may overtake the answer, so what is there is read first.
    pub(crate) fn finish(&mut self) {
        if let Some(secured) = &mut self.secured {
            secured.say_end(&self.stream);
        }
        // An error means that the peer was faster.
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut waste = [0; 4096];
        for _ in 0..DRAIN_READS_MAX {
            match recv(&self.stream, &mut waste, RecvFlags::DONTWAIT) {
                Ok((1.., _)) => {}
                Ok(_) | Err(_) => break,
            }
        }
    }
}
