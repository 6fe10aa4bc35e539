//! Ports for stacks to listen on.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;

use rustix::io::Errno;
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};

/// Below the usual range of ephemeral ports, above most services.
const CANDIDATES: RangeInclusive<u16> = 20_000..=32_000;
const TRIES_MAX: usize = 1_000;

/// A port that nothing uses now, and that no client connection will be given meanwhile: it lies outside of the
/// kernel's ephemeral range, where that leaves one. Something else may still take it; callers try again.
pub(crate) fn choose() -> Option<u16> {
    let ephemeral = ephemeral_range();
    let candidates = || std::iter::repeat_with(random_candidate).take(TRIES_MAX);
    candidates()
        .find(|port| !ephemeral.contains(port) && is_free(*port))
        .or_else(|| candidates().find(|port| is_free(*port)))
}

fn random_candidate() -> u16 {
    let span = u64::from(CANDIDATES.end() - CANDIDATES.start()) + 1;
    CANDIDATES.start() + (plan::random::number() % span) as u16
}

/// The ports that the kernel gives to connections that ask for none; its own default where that can't be read.
pub fn ephemeral_range() -> RangeInclusive<u16> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut bounds = text.split_whitespace().filter_map(|bound| bound.parse().ok());
    bounds.next().unwrap_or(32_768)..=bounds.next().unwrap_or(60_999)
}

/// Whether a server could listen on `port` on any address.
fn is_free(port: u16) -> bool {
    try_bind((Ipv4Addr::UNSPECIFIED, port).into()).is_ok()
}

/// Whether no server could listen at `addr`, because another one does. Also of one that shares its port with whoever asks: the
/// kernel would give some connections to the one and some to the other.
pub(crate) fn is_taken(addr: SocketAddr) -> bool {
    try_bind(addr) == Err(Errno::ADDRINUSE)
}

/// Bound and not listened on, so that nobody connects; the address may be reused, as servers ask for, so that connections in
/// TIME_WAIT do not count.
fn try_bind(addr: SocketAddr) -> rustix::io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &addr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    use rustix::net::listen;
    use rustix::net::sockopt::set_socket_reuseport;

    #[test]
    fn a_chosen_port_can_be_listened_on_and_is_not_ephemeral() {
        let port = choose().unwrap();
        assert!(!ephemeral_range().contains(&port));
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok());
    }

    #[test]
    fn a_port_that_is_listened_on_is_not_free() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        assert!(!is_free(addr.port()));
        assert!(is_taken(addr));
        // Not an address of this machine: nobody has it, and it is the server that is to say so.
        assert!(!is_taken((Ipv4Addr::new(192, 0, 2, 1), addr.port()).into()));
    }

    #[test]
    fn a_port_that_is_shared_with_whoever_asks_is_taken() {
        let socket =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        set_socket_reuseport(&socket, true).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        listen(&socket, 1).unwrap();
        assert!(is_taken(TcpListener::from(socket).local_addr().unwrap()));
    }
}
