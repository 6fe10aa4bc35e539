//! A secured connection for single requests, which blocks: is a server up, and what does it answer. Never for load.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::StreamOwned;
use rustls::client::ClientConnection;

use crate::client::{Peers, agreed};
use crate::report::Agreed;

/// A secured connection.
pub struct Stream {
    inner: StreamOwned<ClientConnection, TcpStream>,
}

impl Peers {
    /// Secures `socket`, which is connected to the server of this number. The socket's own timeouts hold.
    ///
    /// # Errors
    /// If the handshake comes to nothing, or that server is not to be secured.
    pub fn secure(&self, target: u32, socket: TcpStream) -> io::Result<Stream> {
        let name = self.name(Some(target)).ok_or_else(|| io::Error::other("it is not to be secured"))?;
        let connection = ClientConnection::new(Arc::clone(&self.client.config), name.clone());
        let mut inner = StreamOwned::new(connection.map_err(io::Error::other)?, socket);
        while inner.conn.is_handshaking() {
            inner.conn.complete_io(&mut inner.sock)?;
        }
        if inner.conn.alpn_protocol().is_none() && !self.client.takes_silence {
            return Err(io::Error::other("it chose none of the protocols that were offered"));
        }
        Ok(Stream { inner })
    }
}

impl Stream {
    /// What is below.
    pub fn socket(&self) -> &TcpStream {
        &self.inner.sock
    }

    /// What was agreed on.
    pub fn agreed(&self) -> Agreed {
        agreed(&self.inner.conn)
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.inner.read(to)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
