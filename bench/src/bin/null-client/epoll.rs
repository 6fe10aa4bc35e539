//! The null client over epoll: register once, one `send` and one `recv` a request, no `epoll_ctl`.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;

use crate::Load;

/// As many as the driver takes.
const EVENTS_MAX: usize = 512;
const READ_BYTES_MAX: usize = 64 * 1024;
/// Longer answers the kernel throws away uncopied: counting them is all that is to be done.
const COPIED_BYTES_MAX: usize = 2048;
/// How often a server that says nothing is waited for anew.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) fn run(load: &Load, sockets: &[OwnedFd]) -> io::Result<u64> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    for (index, fd) in sockets.iter().enumerate() {
        epoll::add(&epoll, fd, EventData::new_u64(index as u64), EventFlags::IN | EventFlags::ET)?;
    }
    let mut missing_bytes = vec![load.answer_bytes; sockets.len()];
    let mut buffer = vec![0; READ_BYTES_MAX];
    let mut events = Vec::with_capacity(EVENTS_MAX);
    let mut flags = RecvFlags::DONTWAIT;
    flags.set(RecvFlags::TRUNC, load.answer_bytes > COPIED_BYTES_MAX);
    let mut requests = 0;
    for fd in sockets {
        send_request(fd, &load.request)?;
    }
    let deadline = Instant::now() + load.duration;
    while Instant::now() < deadline {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&WAIT))?;
        for event in &events {
            let index = event.data.u64() as usize;
            let got_bytes = drain(&sockets[index], &mut buffer, flags)?;
            missing_bytes[index] = missing_bytes[index].checked_sub(got_bytes).ok_or_else(too_long)?;
            if missing_bytes[index] == 0 {
                requests += 1;
                missing_bytes[index] = load.answer_bytes;
                send_request(&sockets[index], &load.request)?;
            }
        }
    }
    Ok(requests)
}

fn send_request(fd: &OwnedFd, request: &[u8]) -> io::Result<()> {
    let sent = send(fd, request, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
    if sent == request.len() { Ok(()) } else { Err(io::Error::other("the kernel took half a request")) }
}

/// Reads until less comes than asked for: an edge is told once.
fn drain(fd: &OwnedFd, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
    let mut all_bytes = 0;
    loop {
        match recv(fd, &mut *buffer, flags) {
            Ok((_, 0)) => return Err(io::Error::other("the server closed a connection")),
            Ok((_, bytes)) => {
                all_bytes += bytes;
                if bytes < buffer.len() {
                    return Ok(all_bytes);
                }
            }
            Err(Errno::AGAIN) => return Ok(all_bytes),
            Err(errno) => return Err(errno.into()),
        }
    }
}

pub(crate) fn too_long() -> io::Error {
    io::Error::other("an answer is longer than the first one was")
}
