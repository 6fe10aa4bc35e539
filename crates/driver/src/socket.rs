//! What every driver does alike with a socket.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use engine::ConnectFailure;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::addresses::{Route, Target};
use crate::arrival;

/// A non-blocking socket for connection `slot`: of TCP with TCP_NODELAY, bound to its source where it has one of its own.
pub(crate) fn open(route: &Route, slot: u32) -> Result<OwnedFd, Errno> {
    let family = match route.target(slot) {
        Target::Internet(SocketAddr::V4(_)) => AddressFamily::INET,
        Target::Internet(SocketAddr::V6(_)) => AddressFamily::INET6,
        Target::Local(_) => AddressFamily::UNIX,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
    if family == AddressFamily::UNIX {
        return Ok(fd);
    }
    sockopt::set_tcp_nodelay(&fd, true)?;
    if arrival::is_sampled(slot) {
        arrival::ask(&fd);
    }
    if let Some(source) = route.source(slot) {
        net::bind(&fd, &source)?;
    }
    Ok(fd)
}

/// Why there is no connection to `target`, as the kernel says it.
pub(crate) fn connect_failure(target: &Target, errno: Errno) -> ConnectFailure {
    match errno {
        Errno::AGAIN if target.is_local() => ConnectFailure::QueueFull,
        // There is no such path, or none that may be opened.
        Errno::NOENT | Errno::ACCESS if target.is_local() => ConnectFailure::Unreachable,
        Errno::CONNREFUSED => ConnectFailure::Refused,
        Errno::TIMEDOUT => ConnectFailure::TimedOut,
        Errno::NETUNREACH | Errno::HOSTUNREACH => ConnectFailure::Unreachable,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => ConnectFailure::NoFreePort,
        Errno::MFILE | Errno::NFILE => ConnectFailure::NoFreeDescriptor,
        Errno::CONNRESET => ConnectFailure::Reset,
        _ => ConnectFailure::Other,
    }
}
