//! The face of this crate in a build without TLS: whoever asks for it is refused.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use engine::{Completion, Conn, Event, Io, Outgoing, Sending};
use units::Instant;

use crate::error::TlsError;
use crate::report::{Agreed, Report};
use crate::settings::Settings;
use crate::tunnel::Tunnel;
use crate::waits::Waits;

fn refused() -> TlsError {
    TlsError::setting("this proofload was built without TLS (`make run` does so)", "run `make build`")
}

/// There is none.
#[derive(Debug, Clone)]
pub struct Client {
    never: Infallible,
}

impl Client {
    /// Refuses.
    pub fn new(_: &Settings) -> Result<Self, TlsError> {
        Err(refused())
    }

    /// Never called.
    pub fn verifies(&self) -> bool {
        match self.never {}
    }

    /// Never called.
    pub fn peer(&self, _: &str) -> Result<Peers, TlsError> {
        match self.never {}
    }

    /// Never called.
    pub fn peers(&self, _: &[Option<&str>]) -> Result<Peers, TlsError> {
        match self.never {}
    }
}

/// There are none.
#[derive(Debug, Clone)]
pub struct Peers {
    never: Infallible,
}

impl Peers {
    /// Never called.
    #[must_use]
    pub fn through(self, _: Tunnel) -> Self {
        match self.never {}
    }

    /// Never called.
    pub fn secures(&self) -> bool {
        match self.never {}
    }

    /// Never called.
    pub fn verifies(&self) -> bool {
        match self.never {}
    }

    /// Never called.
    pub fn try_handshake(&self, _: u32, _: SocketAddr) -> Result<Agreed, TlsError> {
        match self.never {}
    }

    /// Never called.
    pub fn try_handshake_over<S: Waits>(
        &self,
        _: u32,
        _: &str,
        _: impl FnOnce(Duration) -> io::Result<S>,
    ) -> Result<Agreed, TlsError> {
        match self.never {}
    }
}

/// There is none.
pub struct Stream {
    never: Infallible,
}

impl Peers {
    /// Never called.
    pub fn secure(&self, _: u32, _: TcpStream) -> io::Result<Stream> {
        match self.never {}
    }
}

impl Stream {
    /// Never called.
    pub fn socket(&self) -> &TcpStream {
        match self.never {}
    }

    /// Never called.
    pub fn agreed(&self) -> Agreed {
        match self.never {}
    }
}

impl Read for Stream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.never {}
    }
}

impl Write for Stream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.never {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.never {}
    }
}

/// Refuses.
pub fn self_signed(_: &[String]) -> Result<[String; 2], TlsError> {
    Err(refused())
}

/// There is none.
pub struct TlsIo<I> {
    never: Infallible,
    of: PhantomData<I>,
}

impl<I> TlsIo<I> {
    /// Never called.
    #[expect(clippy::needless_pass_by_value, reason = "it looks like the one that keeps them")]
    pub fn new(_: I, peers: Peers, _: u32) -> Self {
        match peers.never {}
    }

    /// Never called.
    pub fn into_parts(self) -> (I, Report) {
        match self.never {}
    }
}

impl<I: Io> Io for TlsIo<I> {
    type Error = I::Error;

    fn now(&self) -> Instant {
        match self.never {}
    }

    fn connect(&mut self, _: Conn, _: Option<u32>) -> Option<Event<'static>> {
        match self.never {}
    }

    fn send(&mut self, _: Conn, _: Outgoing<'_>) -> Sending {
        match self.never {}
    }

    fn close(&mut self, _: Conn) {
        match self.never {}
    }

    fn wait(&mut self, _: Option<Instant>) -> Result<(), Self::Error> {
        match self.never {}
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        match self.never {}
    }
}

/// There is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptor {
    never: Infallible,
}

impl Acceptor {
    /// Refuses.
    pub fn self_signed(_: &[String], _: &[&str]) -> Result<Self, TlsError> {
        Err(refused())
    }

    /// Never called.
    pub fn certificate(&self) -> &str {
        match self.never {}
    }

    /// Never called.
    pub fn session(&self) -> Result<Session, TlsError> {
        match self.never {}
    }
}

/// There is none.
#[derive(Debug)]
pub struct Session {
    never: Infallible,
}

impl Session {
    /// Never called.
    pub fn receive(&mut self, _: &[u8], _: &mut Vec<u8>, _: &mut Vec<u8>) -> bool {
        match self.never {}
    }

    /// Never called.
    pub fn seal(&mut self, _: &[u8], _: &mut Vec<u8>) {
        match self.never {}
    }

    /// Never called.
    pub fn say_end(&mut self, _: &mut Vec<u8>) {
        match self.never {}
    }
}
