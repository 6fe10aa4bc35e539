//! The kernel's socket diagnosis (`NETLINK_SOCK_DIAG`): the sockets of one port or of all, without a walk through `/proc/net/tcp`.
//!
//! Layout: `struct inet_diag_req_v2` and `struct inet_diag_msg` of `linux/inet_diag.h`, each behind a `struct nlmsghdr`.
//! Of a listening socket `rqueue` is how many connections wait to be accepted and `wqueue` how many may.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const MESSAGE_ERROR: u16 = 2;
const MESSAGE_DONE: u16 = 3;
const HEADER_BYTES: usize = 16;
const ANSWER_BYTES: usize = 72;
const TCP: u8 = 6;
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;
const ALL_STATES: u32 = 0xfff;
/// The kernel fills up to 32 KiB at once.
const BUFFER_BYTES: usize = 32 * 1024;
/// A dump has a message of this many sockets at least; beyond so many messages something is wrong.
const MESSAGES_MAX: u32 = 10_000;
const FAMILIES: [AddressFamily; 2] = [AddressFamily::INET, AddressFamily::INET6];
const STATES: [&str; 12] = [
    "",
    "established",
    "syn_sent",
    "syn_recv",
    "fin_wait_1",
    "fin_wait_2",
    "time_wait",
    "close",
    "close_wait",
    "last_ack",
    "listen",
    "closing",
];

/// Asks the kernel.
#[derive(Debug)]
pub(crate) struct Diag {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// An accept queue at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Queue {
    pub(crate) waiting: u32,
    pub(crate) limit: u32,
}

impl Queue {
    /// How full it is, 1 where it has reached its bound.
    pub(crate) fn share(self) -> f64 {
        f64::from(self.waiting) / f64::from(self.limit.max(1))
    }
}

/// The accept queues of a port at an instant. There is one for each socket that listens: one for IPv4 and one for IPv6, or one
/// for each worker (`SO_REUSEPORT`); and a handshake is dropped where its own is full, however empty the others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Queues {
    /// All of them together.
    pub(crate) all: Queue,
    /// The one that is nearest its bound.
    pub(crate) fullest: Queue,
}

impl Queues {
    const fn of(one: Queue) -> Self {
        Self { all: one, fullest: one }
    }

    fn and(self, one: Queue) -> Self {
        let Queue { waiting, limit } = self.all;
        let all =
            Queue { waiting: waiting.saturating_add(one.waiting), limit: limit.saturating_add(one.limit) };
        Self { all, fullest: if one.share() > self.fullest.share() { one } else { self.fullest } }
    }
}

/// The server's side of connections at an instant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sockets {
    /// How many there are, by state.
    pub(crate) by_state: BTreeMap<String, u32>,
    /// Established ones with bytes that nobody has read.
    pub(crate) unread: u32,
    /// Established ones with bytes that were not sent, or not acknowledged by the other side.
    pub(crate) unacknowledged: u32,
}

impl Diag {
    pub(crate) fn open() -> io::Result<Self> {
        let (kind, flags) = (SocketType::RAW, SocketFlags::CLOEXEC);
        let socket = socket_with(AddressFamily::NETLINK, kind, flags, Some(netlink::SOCK_DIAG))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_BYTES] })
    }

    /// The accept queues of what listens on `port`; `None` where nothing does. Costs little: the kernel looks at listening
    /// sockets only.
    pub(crate) fn accept_queue(&mut self, port: u16) -> io::Result<Option<Queues>> {
        let mut queues: Option<Queues> = None;
        self.each(Some(port), 1 << LISTEN, |socket| {
            let one = Queue { waiting: socket.receive_queue, limit: socket.send_queue };
            queues = Some(queues.map_or(Queues::of(one), |all| all.and(one)));
        })?;
        Ok(queues)
    }

    /// The sockets on `port`, the server's side of connections. Costs the more the more there are.
    pub(crate) fn sockets(&mut self, port: u16) -> io::Result<Sockets> {
        let mut all = Sockets::default();
        self.each(Some(port), ALL_STATES & !(1 << LISTEN), |socket| {
            let name = STATES.get(usize::from(socket.state)).copied().unwrap_or("other");
            *all.by_state.entry(name.to_owned()).or_default() += 1;
            let is_open = socket.state == ESTABLISHED;
            all.unread += u32::from(is_open && socket.receive_queue > 0);
            all.unacknowledged += u32::from(is_open && socket.send_queue > 0);
        })?;
        Ok(all)
    }

    /// The far ends of the connections that the sockets with these inodes hold and did not accept, but for those of whoever listens on
    /// this machine on one of their own ports, or of those that are `watched`. Costs the more the more connections there are, whoever
    /// holds them.
    pub(crate) fn asked(
        &mut self,
        inodes: &BTreeSet<u32>,
        watched: &BTreeSet<u16>,
    ) -> io::Result<BTreeMap<SocketAddr, u32>> {
        let (mut listened, mut held) = (watched.clone(), Vec::new());
        self.each(None, (1 << LISTEN) | (1 << ESTABLISHED), |socket| {
            if !inodes.contains(&socket.inode) {
                return;
            }
            if socket.state == LISTEN {
                listened.insert(socket.local.port());
            } else {
                held.push((socket.local, socket.remote));
            }
        })?;
        let mut asked: BTreeMap<SocketAddr, u32> = BTreeMap::new();
        for (local, remote) in held {
            let is_here = remote.ip().is_loopback() || remote.ip() == local.ip();
            let is_known = listened.contains(&local.port()) || is_here && listened.contains(&remote.port());
            if !is_known {
                *asked.entry(remote).or_default() += 1;
            }
        }
        Ok(asked)
    }

    /// Sockets on `port`, or on any.
    fn each(&mut self, port: Option<u16>, states: u32, mut visit: impl FnMut(Socket)) -> io::Result<()> {
        for family in FAMILIES {
            let request = request(family.as_raw() as u8, port.unwrap_or(0), states);
            send(&self.socket, &request, SendFlags::empty())?;
            for _ in 0..MESSAGES_MAX {
                let (length, _) = recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
                if !walk(&self.buffer[..length], port, &mut visit)? {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// What is of interest of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Socket {
    state: u8,
    local: SocketAddr,
    remote: SocketAddr,
    receive_queue: u32,
    send_queue: u32,
    inode: u32,
}

fn request(family: u8, port: u16, states: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + 56);
    bytes.extend(((HEADER_BYTES + 56) as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, TCP, 0, 0]);
    bytes.extend(states.to_ne_bytes());
    // Port 0 and addresses of nothing mean any.
    bytes.extend(port.to_be_bytes());
    bytes.resize(HEADER_BYTES + 56, 0);
    bytes
}

/// Visits the sockets in one answer of the kernel; whether more is to come.
fn walk(mut bytes: &[u8], port: Option<u16>, visit: &mut impl FnMut(Socket)) -> io::Result<bool> {
    let cut = || io::Error::other("an answer of the socket diagnosis was cut off");
    while !bytes.is_empty() {
        let length = u32_at(bytes, 0).ok_or_else(cut)? as usize;
        let kind = u16::from_ne_bytes([*bytes.get(4).ok_or_else(cut)?, *bytes.get(5).ok_or_else(cut)?]);
        let message = bytes.get(HEADER_BYTES..length).ok_or_else(cut)?;
        match kind {
            MESSAGE_DONE => return Ok(false),
            MESSAGE_ERROR => {
                let code = u32_at(message, 0).ok_or_else(cut)?.cast_signed();
                return Err(io::Error::from_raw_os_error(-code));
            }
            _ => {
                let socket = message.get(..ANSWER_BYTES).and_then(|it| socket_of(it, port));
                socket.into_iter().for_each(&mut *visit);
            }
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

/// `None` of another port's: a kernel that does not filter answers with all.
fn socket_of(message: &[u8], port: Option<u16>) -> Option<Socket> {
    let port_at = |at: usize| Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let socket = Socket {
        state: *message.get(1)?,
        local: SocketAddr::new(address_at(message, 8)?, port_at(4)?),
        remote: SocketAddr::new(address_at(message, 24)?, port_at(6)?),
        receive_queue: u32_at(message, 56)?,
        send_queue: u32_at(message, 60)?,
        inode: u32_at(message, 68)?,
    };
    port.is_none_or(|port| socket.local.port() == port).then_some(socket)
}

/// An address of a socket. One of IPv4 that a socket of IPv6 holds is one of IPv4.
fn address_at(message: &[u8], at: usize) -> Option<IpAddr> {
    let bytes: [u8; 16] = message.get(at..at + 16)?.try_into().ok()?;
    let [a, b, c, d, ..] = bytes;
    let is_v4 = *message.first()? == AddressFamily::INET.as_raw() as u8;
    Some(if is_v4 { IpAddr::from([a, b, c, d]) } else { IpAddr::from(bytes).to_canonical() })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn sees_who_waits_and_who_was_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let mut diag = Diag::open().unwrap();
        assert_eq!(diag.accept_queue(addr.port()).unwrap().unwrap().all.waiting, 0);
        let clients: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(addr).unwrap()).collect();
        let queue = diag.accept_queue(addr.port()).unwrap().unwrap().all;
        assert_eq!(queue.waiting, 3);
        assert!(queue.limit > 3, "{queue:?}");
        let accepted = listener.accept().unwrap();
        assert_eq!(diag.accept_queue(addr.port()).unwrap().unwrap().all.waiting, 2);
        let by_state = [("established".to_owned(), 3)].into();
        assert_eq!(diag.sockets(addr.port()).unwrap(), Sockets { by_state, unread: 0, unacknowledged: 0 });
        // What is sent waits, accepted or not, until it is read.
        (&clients[1]).write_all(b"GET").unwrap();
        (&clients[0]).write_all(b"GET").unwrap();
        assert_eq!(diag.sockets(addr.port()).unwrap().unread, 2);
        let (mut served, _) = accepted;
        served.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(diag.sockets(addr.port()).unwrap().unread, 1);
        drop((clients, served, listener));
        assert_eq!(diag.accept_queue(addr.port()).unwrap(), None);
    }

    /// As of a server that listens for IPv4 and for IPv6, or once for each worker: the queue that is asked for is the one that drops.
    #[test]
    fn of_several_queues_the_fullest_is_told() {
        let queue = |waiting, limit| Queue { waiting, limit };
        let full = Queues::of(queue(2, 511)).and(queue(512, 511)).and(queue(0, 511));
        assert_eq!((full.all, full.fullest), (queue(514, 1533), queue(512, 511)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let _other =
            TcpListener::bind(("127.0.0.2", addr.port())).expect("all of 127.0.0.0/8 is this machine's");
        let _clients: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(addr).unwrap()).collect();
        let told = Diag::open().unwrap().accept_queue(addr.port()).unwrap().unwrap();
        assert_eq!((told.all.waiting, told.fullest.waiting), (3, 3));
        assert_eq!(told.all.limit, 2 * told.fullest.limit, "{told:?}");
    }

    #[test]
    fn an_answer_that_is_cut_off_is_an_error() {
        let whole = request(2, 80, 1);
        for end in 1..whole.len() {
            assert!(walk(&whole[..end], Some(80), &mut |_| {}).is_err(), "cut at {end}");
        }
        assert!(walk(&[], Some(80), &mut |_| {}).unwrap());
    }
}
