//! The null client over epoll: register once, one `send` and one `recv` a request, no `epoll_ctl`.

use std::io;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::RecvFlags;
use rustix::time::Timespec;

use crate::Load;
use crate::wire::Wire;

/// As many as the driver takes.
const EVENTS_MAX: usize = 512;
const READ_BYTES_MAX: usize = 64 * 1024;
/// Longer answers the kernel throws away uncopied: counting them is all that is to be done.
const COPIED_BYTES_MAX: usize = 2048;
/// How often a server that says nothing is waited for anew.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) fn run(load: &Load, mut wires: Vec<Wire>) -> io::Result<u64> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    for (index, wire) in wires.iter().enumerate() {
        epoll::add(&epoll, wire, EventData::new_u64(index as u64), EventFlags::IN | EventFlags::ET)?;
    }
    let mut missing_bytes = vec![load.answer_bytes; wires.len()];
    let mut buffer = vec![0; READ_BYTES_MAX];
    let mut events = Vec::with_capacity(EVENTS_MAX);
    let may_truncate = wires.iter().all(Wire::is_plain) && load.answer_bytes > COPIED_BYTES_MAX;
    let flags = if may_truncate { RecvFlags::TRUNC } else { RecvFlags::empty() };
    let mut requests = 0;
    for wire in &mut wires {
        wire.send(&load.request)?;
    }
    let deadline = Instant::now() + load.duration;
    while Instant::now() < deadline {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&WAIT))?;
        for event in &events {
            let index = event.data.u64() as usize;
            let mut got_bytes = 0;
            wires[index].receive(&mut buffer, flags, |bytes, _| {
                got_bytes += bytes;
                Ok(())
            })?;
            missing_bytes[index] = missing_bytes[index].checked_sub(got_bytes).ok_or_else(too_long)?;
            if missing_bytes[index] == 0 {
                requests += 1;
                missing_bytes[index] = load.answer_bytes;
                wires[index].send(&load.request)?;
            }
        }
    }
    Ok(requests)
}

pub(crate) fn too_long() -> io::Error {
    io::Error::other("an answer is longer than the first one was")
}
