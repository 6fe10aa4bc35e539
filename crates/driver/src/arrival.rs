//! When the kernel had an answer, as opposed to when we read it.
//!
//! A generator that is late in reading measures itself. The kernel stamps each packet when it comes in
//! (SO_TIMESTAMPING, software stamps), so that the time an answer lay in our own socket can be told from the time
//! that the server took. Stamps cost a larger system call and a parse, so one connection in [`SAMPLED_EVERY`] has
//! them.

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::time::{ClockId, clock_gettime};
use units::Instant;

use crate::clock::monotonic_now;

/// One connection in so many is sampled, the first one always.
const SAMPLED_EVERY: u32 = 16;
/// Room for the one control message that is asked for: its head and three time stamps.
pub(crate) const CONTROL_BYTES: usize = HEAD_BYTES + 3 * size_of::<libc::timespec>();
const HEAD_BYTES: usize = size_of::<libc::cmsghdr>();

/// Whether answers on connection `slot` are asked for with their stamps.
#[inline]
pub(crate) fn is_sampled(slot: u32) -> bool {
    slot.is_multiple_of(SAMPLED_EVERY)
}

/// Has the kernel stamp what arrives on `socket`. Where it will not, there are no stamps, and nothing else changes.
pub(crate) fn ask(socket: impl AsFd) {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    let (value, length) = ((&raw const flags).cast(), size_of_val(&flags) as libc::socklen_t);
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the pointer and the length are those of a live integer, which the kernel only reads.
    let _ = unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, value, length) };
}

/// What one read brought.
pub(crate) struct Read {
    /// Bytes in the buffer; 0 where the peer has closed.
    pub(crate) bytes: usize,
    /// When the last of them arrived, where the kernel says.
    pub(crate) arrived: Option<Instant>,
}

/// Reads what lies in `socket`, with its stamp.
pub(crate) fn receive(socket: impl AsFd, buffer: &mut [u8], flags: RecvFlags) -> Result<Read, Errno> {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all of its fields are integers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the message points to one live buffer and one live control area, with their true lengths.
    let received =
        unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, flags.bits().cast_signed()) };
    let bytes = usize::try_from(received).map_err(|_| last_errno())?;
    let written = (message.msg_controllen as usize).min(CONTROL_BYTES);
    Ok(Read { bytes, arrived: arrival(&control.0[..written]) })
}

/// Aligned as control messages have to be.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// When what was read had arrived, from its control message; `None` where there is no stamp.
pub(crate) fn arrival(control: &[u8]) -> Option<Instant> {
    let stamp_ns = stamp_ns(control)?;
    // Stamps are of the clock that can be set, so how long ago it was is taken on that, and both are read at once.
    let (now, real) = (monotonic_now(), clock_gettime(ClockId::Realtime));
    let real_ns = real.tv_sec as u64 * 1_000_000_000 + real.tv_nsec as u64;
    Some(Instant::from_nanos(now.as_nanos().saturating_sub(real_ns.saturating_sub(stamp_ns))))
}

/// The software stamp of a control message, ns of CLOCK_REALTIME.
fn stamp_ns(control: &[u8]) -> Option<u64> {
    let at = |from: usize| control.get(from..from + 8)?.try_into().ok().map(i64::from_ne_bytes);
    let word = |from: usize| control.get(from..from + 4)?.try_into().ok().map(i32::from_ne_bytes);
    let kind = (word(HEAD_BYTES - 8)?, word(HEAD_BYTES - 4)?);
    if kind != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) {
        return None;
    }
    let (seconds, nanos) = (u64::try_from(at(HEAD_BYTES)?).ok()?, u64::try_from(at(HEAD_BYTES + 8)?).ok()?);
    (seconds > 0).then(|| seconds * 1_000_000_000 + nanos)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn tells_how_long_bytes_lay_in_the_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        ask(&client);
        let (mut server, _) = listener.accept().unwrap();
        // The kernel begins to stamp a moment after the first socket has asked.
        std::thread::sleep(Duration::from_millis(50));
        let before = monotonic_now();
        server.write_all(b"hello").unwrap();
        std::thread::sleep(Duration::from_millis(30));
        let mut buffer = [0; 16];
        let read = receive(&client, &mut buffer, RecvFlags::empty()).unwrap();
        assert_eq!(&buffer[..read.bytes], b"hello");
        let arrived = read.arrived.expect("a kernel since 2.6.30 stamps");
        let (lay, since) = (monotonic_now().since(arrived), arrived.since(before));
        assert!(lay.as_nanos() >= 29_000_000, "it lay there for {lay} at least");
        assert!(since.as_nanos() < lay.as_nanos(), "it came {since} after it was sent");
    }

    #[test]
    fn takes_nothing_else_for_a_stamp() {
        assert_eq!(stamp_ns(&[]), None);
        assert_eq!(stamp_ns(&[0; CONTROL_BYTES]), None);
        assert_eq!(stamp_ns(&[0xff; 7]), None);
    }
}
