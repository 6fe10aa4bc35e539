//! Sockets of this machine, by their paths.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// How long a full accept queue is left alone.
const FULL_PAUSE: Duration = Duration::from_millis(5);

/// A socket of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnixSocket {
    path: PathBuf,
    address: SocketAddrUnix,
}

impl UnixSocket {
    /// The longest path, bytes: what the kernel has room for (`sun_path`), less the zero behind it.
    pub const PATH_BYTES_MAX: usize = 107;

    /// The socket at `path`; `None` where that is empty, or longer than the kernel takes.
    pub fn new(path: &Path) -> Option<Self> {
        let length = path.as_os_str().len();
        if length == 0 || length > Self::PATH_BYTES_MAX {
            return None;
        }
        Some(Self { path: path.to_owned(), address: SocketAddrUnix::new(path).ok()? })
    }

    /// The file that stands for it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn address(&self) -> SocketAddrUnix {
        self.address.clone()
    }

    /// One connection, for which a full accept queue is waited for `most` at most. The stream blocks.
    ///
    /// # Errors
    /// If nobody listens there, or nobody takes it in time.
    pub fn connect(&self, most: Duration) -> io::Result<UnixStream> {
        let until = Instant::now() + most;
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            match net::connect(&socket, &self.address) {
                Ok(()) => {
                    let stream = UnixStream::from(socket);
                    stream.set_nonblocking(false)?;
                    return Ok(stream);
                }
                Err(Errno::AGAIN) if Instant::now() < until => std::thread::sleep(FULL_PAUSE),
                Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_length_that_the_kernel_takes() {
        let of = |length: usize| UnixSocket::new(Path::new(&"x".repeat(length)));
        assert!(of(0).is_none() && of(UnixSocket::PATH_BYTES_MAX + 1).is_none());
        assert_eq!(of(UnixSocket::PATH_BYTES_MAX).unwrap().path().as_os_str().len(), 107);
    }

    #[test]
    fn where_nobody_listens_there_is_no_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.sock");
        let connect = || UnixSocket::new(&path).unwrap().connect(Duration::from_secs(1));
        assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::NotFound);
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(connect().is_ok());
        drop(listener);
        assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
