//! Whether the kernel lets us use io_uring.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use rustix::io::Errno;

use crate::addresses::Route;
use crate::uring::{RingSizes, UringIo};

/// Why io_uring can't be used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UringRefused(pub Errno);

impl fmt::Display for UringRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.0 {
            Errno::NOSYS => "the kernel has none",
            Errno::PERM | Errno::ACCESS => {
                "it is forbidden here, by a seccomp filter (containers) or kernel.io_uring_disabled"
            }
            Errno::INVAL => "the kernel is older than 6.1",
            Errno::NOMEM => "the limit of locked memory is too low; raise it with ulimit -l",
            Errno::MFILE => "the limit of open files is below the connections; raise it with ulimit -n",
            _ => "the kernel refused it",
        };
        write!(f, "{why} ({})", self.0)
    }
}

impl std::error::Error for UringRefused {}

/// Sets a ring for `connections` connections up, as a load would, and takes it down again: only that tells whether
/// kernel, filters and limits allow it.
pub fn probe_uring(connections: u32) -> Result<(), UringRefused> {
    let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let route = Route::new(vec![nowhere], 0).expect("one target");
    UringIo::new(route, connections, RingSizes::default()).map(drop).map_err(UringRefused)
}
