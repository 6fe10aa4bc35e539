//! Connections, and what an answer looks like, before anything is measured.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;

use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

/// Beyond as many connections from one address `connect` slows down: half the ephemeral ports.
const CONNECTIONS_PER_SOURCE_MAX: u32 = 14_000;
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Length of an answer to `request`, head and body, from one that is asked for on `stream`.
pub(crate) fn answer_bytes(mut stream: impl Read + Write, request: &[u8]) -> io::Result<usize> {
    stream.write_all(request)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if head.len() == HEAD_BYTES_MAX || stream.read(&mut byte)? == 0 {
            return Err(io::Error::other("the server sent no whole head"));
        }
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let body_bytes: usize =
        length.ok_or_else(|| io::Error::other("an answer without Content-Length can't be counted"))?;
    Ok(head.len() + body_bytes)
}

/// So many connections to `server`, made one after another.
pub(crate) fn open(server: SocketAddrV4, connections: u32) -> io::Result<Vec<TcpStream>> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised)?;
    (0..connections).map(|index| connect(server, index / CONNECTIONS_PER_SOURCE_MAX)).collect()
}

fn connect(server: SocketAddrV4, source: u32) -> io::Result<TcpStream> {
    let fd: OwnedFd = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    if source > 0 {
        let address = Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + source);
        net::bind(&fd, &SocketAddrV4::new(address, 0))?;
    }
    net::connect(&fd, &server)?;
    Ok(fd.into())
}
