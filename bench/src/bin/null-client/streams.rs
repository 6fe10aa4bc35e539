//! The null client over HTTP/2 and epoll: constant header blocks, and ends of streams that are counted. No header is looked
//! at, and no body.

use std::io;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::RecvFlags;
use rustix::time::Timespec;

use crate::wire::Wire;

const EVENTS_MAX: usize = 512;
const READ_BYTES_MAX: usize = 64 * 1024;
/// How often a server that says nothing is waited for anew.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
/// SETTINGS_INITIAL_WINDOW_SIZE, which is as large as ours.
const INITIAL_WINDOW: [u8; 2] = [0, 4];
const WINDOW_BYTES: u32 = (1 << 30) - 1;
const WINDOW_BYTES_START: u32 = 65_535;
/// Beyond a literal of so many bytes its length takes more than a byte.
const LITERAL_BYTES_MAX: usize = 126;

/// What each connection is to do.
pub(crate) struct Load {
    /// The block that puts the authority into the server's table, and the one that refers to it.
    first: Vec<u8>,
    again: Vec<u8>,
    streams: u32,
}

impl Load {
    pub(crate) fn new(path: &str, server: SocketAddrV4, streams: u32) -> io::Result<Self> {
        let authority = server.to_string();
        if path.len().max(authority.len()) > LITERAL_BYTES_MAX {
            return Err(io::Error::other("the path is too long"));
        }
        // GET, http, and the path as a literal that is not kept.
        let mut first = vec![0x82, 0x86, 0x04, path.len() as u8];
        first.extend_from_slice(path.as_bytes());
        let mut again = first.clone();
        first.extend_from_slice(&[0x41, authority.len() as u8]);
        first.extend_from_slice(authority.as_bytes());
        // The newest entry of the table.
        again.push(0x80 + 62);
        Ok(Self { first, again, streams })
    }
}

struct Connection {
    wire: Wire,
    exchanges: Exchanges,
}

struct Exchanges {
    next_stream: u32,
    /// What was received and is no whole frame.
    rest: Vec<u8>,
    out: Vec<u8>,
    /// Bytes of bodies that the server was not told of.
    taken: u32,
}

pub(crate) fn run(load: &Load, wires: Vec<Wire>, duration: Duration) -> io::Result<u64> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut connections = Vec::new();
    for wire in wires {
        let data = EventData::new_u64(connections.len() as u64);
        epoll::add(&epoll, &wire, data, EventFlags::IN | EventFlags::ET)?;
        let exchanges = Exchanges { next_stream: 1, rest: Vec::new(), out: Vec::new(), taken: 0 };
        connections.push(Connection { wire, exchanges });
    }
    let mut buffer = vec![0; READ_BYTES_MAX];
    let mut events = Vec::with_capacity(EVENTS_MAX);
    let mut requests = 0;
    for connection in &mut connections {
        connection.exchanges.greet();
        connection.exchanges.ask(load, load.streams);
        connection.flush()?;
    }
    let deadline = Instant::now() + duration;
    while Instant::now() < deadline {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&WAIT))?;
        for event in &events {
            let connection = &mut connections[event.data.u64() as usize];
            let ended = connection.drain(&mut buffer)?;
            requests += u64::from(ended);
            connection.exchanges.ask(load, ended);
            connection.flush()?;
        }
    }
    Ok(requests)
}

impl Connection {
    fn flush(&mut self) -> io::Result<()> {
        if self.exchanges.out.is_empty() {
            return Ok(());
        }
        self.wire.send(&self.exchanges.out)?;
        self.exchanges.out.clear();
        Ok(())
    }

    /// Reads what there is. How many streams ended.
    fn drain(&mut self, buffer: &mut [u8]) -> io::Result<u32> {
        let (exchanges, mut ended) = (&mut self.exchanges, 0);
        self.wire.receive(buffer, RecvFlags::empty(), |_, bytes| {
            ended += exchanges.take(bytes)?;
            Ok(())
        })?;
        Ok(ended)
    }
}

impl Exchanges {
    fn greet(&mut self) {
        self.out.extend_from_slice(PREFACE);
        let mut setting = INITIAL_WINDOW.to_vec();
        setting.extend_from_slice(&WINDOW_BYTES.to_be_bytes());
        self.put(SETTINGS, 0, 0, &setting);
        self.put(WINDOW_UPDATE, 0, 0, &(WINDOW_BYTES - WINDOW_BYTES_START).to_be_bytes());
    }

    fn put(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        put(&mut self.out, kind, flags, stream, payload);
    }

    fn ask(&mut self, load: &Load, count: u32) {
        for _ in 0..count {
            let block = if self.next_stream == 1 { &load.first } else { &load.again };
            put(&mut self.out, HEADERS, END_STREAM | END_HEADERS, self.next_stream, block);
            self.next_stream += 2;
        }
    }

    /// How many streams end in what was received.
    fn take(&mut self, received: &[u8]) -> io::Result<u32> {
        if self.rest.is_empty() {
            let (ended, taken) = self.frames(received)?;
            self.rest.extend_from_slice(&received[taken..]);
            return Ok(ended);
        }
        let mut joined = std::mem::take(&mut self.rest);
        joined.extend_from_slice(received);
        let (ended, taken) = self.frames(&joined)?;
        joined.drain(..taken);
        self.rest = joined;
        Ok(ended)
    }

    /// The ends of streams in whole frames, and how many bytes those are.
    fn frames(&mut self, bytes: &[u8]) -> io::Result<(u32, usize)> {
        let (mut ended, mut at) = (0, 0);
        while let Some(head) = bytes.get(at..at + HEAD_BYTES) {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let Some(payload) = bytes.get(at + HEAD_BYTES..at + HEAD_BYTES + length) else { break };
            let (kind, flags) = (head[3], head[4]);
            match kind {
                DATA | HEADERS => {
                    ended += u32::from(flags & END_STREAM != 0);
                    self.taken += if kind == DATA { length as u32 } else { 0 };
                }
                SETTINGS | PING if flags & ACK == 0 => {
                    let answer = if kind == PING { payload } else { &[] };
                    put(&mut self.out, kind, ACK, 0, answer);
                }
                GO_AWAY => return Err(io::Error::other("the server ends a connection")),
                _ => {}
            }
            at += HEAD_BYTES + length;
        }
        if self.taken > WINDOW_BYTES / 2 {
            let taken = std::mem::take(&mut self.taken);
            self.put(WINDOW_UPDATE, 0, 0, &taken.to_be_bytes());
        }
        Ok((ended, at))
    }
}

fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}
