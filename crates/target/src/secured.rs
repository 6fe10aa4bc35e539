//! The TLS between a connection's socket and its requests.

use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use tls::{Acceptor, Session};

use crate::request::{Fill, Inbox};

/// Sealed bytes read at one time: a record and its head.
const READ_BYTES: usize = 17 * 1024;
/// What a connection begins with that is to be secured: the type of a handshake record.
const HANDSHAKE: u8 = 0x16;

/// A connection's side of TLS.
#[derive(Debug)]
pub(crate) struct Secured {
    session: Session,
    received: Box<[u8]>,
    /// Whether something was received.
    is_begun: bool,
    /// Sealed, and not the kernel's yet from `sent` on.
    out: Vec<u8>,
    sent: usize,
    /// Whether the bytes that are being sent are in `out`.
    is_sealed: bool,
}

/// What a read brought, or that the client speaks plain HTTP.
pub(crate) enum Filled {
    Secured(Fill),
    Plain,
}

impl Secured {
    /// None where no session can be begun.
    pub(crate) fn new(acceptor: &Acceptor) -> Option<Self> {
        Some(Self {
            session: acceptor.session().ok()?,
            received: vec![0; READ_BYTES].into(),
            is_begun: false,
            out: Vec::new(),
            sent: 0,
            is_sealed: false,
        })
    }

    /// Reads once, and answers what is TLS's own.
    pub(crate) fn fill(&mut self, stream: &TcpStream, inbox: &mut Inbox) -> Filled {
        let fill = match rustix::io::read(stream, &mut *self.received) {
            Ok(0) => Fill::Closed,
            Ok(count) => {
                let received = &self.received[..count];
                if !self.is_begun && received[0] != HANDSHAKE {
                    inbox.take(received);
                    return Filled::Plain;
                }
                self.is_begun = true;
                let goes_on = inbox.receive(|plain| self.session.receive(received, plain, &mut self.out));
                // What can't be written now goes out before the next answer; one that is broken shows when it is read.
                let _ = self.flush(stream);
                // What came before the end is to be answered.
                if goes_on || !inbox.is_empty() {
                    Fill::Data { drained: count < self.received.len() }
                } else {
                    Fill::Closed
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => Fill::Empty,
            Err(_) => Fill::Closed,
        };
        Filled::Secured(fill)
    }

    /// Sends as `send` does; all of `bytes` or none, and after `AGAIN` the same ones again.
    pub(crate) fn send(&mut self, stream: &TcpStream, bytes: &[u8]) -> Result<usize, Errno> {
        if !self.is_sealed {
            self.session.seal(bytes, &mut self.out);
            self.is_sealed = true;
        }
        self.flush(stream)?;
        self.is_sealed = false;
        Ok(bytes.len())
    }

    /// Says that nothing more will come, if that can be said now.
    pub(crate) fn say_end(&mut self, stream: &TcpStream) {
        self.session.say_end(&mut self.out);
        // A peer that does not read or is gone does not hear it.
        let _ = self.flush(stream);
    }

    fn flush(&mut self, stream: &TcpStream) -> Result<(), Errno> {
        while self.sent < self.out.len() {
            match send(stream, &self.out[self.sent..], SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }
}
