//! Streams that nobody waits for without end.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A stream whose reads and writes wait no longer than is said.
pub trait Waits: Read + Write {
    /// Has them wait for `most` at most.
    ///
    /// # Errors
    /// If the kernel refuses it.
    fn wait_at_most(&self, most: Duration) -> io::Result<()>;
}

impl Waits for TcpStream {
    fn wait_at_most(&self, most: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(most))?;
        self.set_write_timeout(Some(most))
    }
}

impl Waits for UnixStream {
    fn wait_at_most(&self, most: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(most))?;
        self.set_write_timeout(Some(most))
    }
}
