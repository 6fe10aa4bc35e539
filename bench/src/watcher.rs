//! Who watches a client while it runs: a terminal that takes what is drawn on it, or a browser on the page.
//!
//! Both run here, on the servers' core, so that what they use is none of the client's.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process::Failure;

/// The terminal, as most are.
const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
/// How long the page may take to come up.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);
/// What the last event has in it.
const LAST: &str = "\"ended\":{";

/// A watcher, until its client ends.
#[derive(Debug)]
pub(crate) struct Watcher {
    thread: JoinHandle<()>,
    /// Bytes drawn, or events seen.
    seen: Arc<AtomicU64>,
    /// The client has ended, and what did not come until now does not come.
    is_over: Arc<AtomicBool>,
}

impl Watcher {
    /// A terminal, and its other end for the client's standard error.
    pub(crate) fn terminal() -> Result<(Self, File), Failure> {
        let failed = |error: rustix::io::Errno| Failure::from(format!("a terminal can't be made: {error}"));
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(failed)?;
        grantpt(&ours).map_err(failed)?;
        unlockpt(&ours).map_err(failed)?;
        tcsetwinsize(&ours, SIZE).map_err(failed)?;
        let name = ptsname(&ours, Vec::new()).map_err(failed)?;
        let theirs: OwnedFd =
            open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let watcher = Self::start(move |seen, _| {
            let (mut terminal, mut bytes) = (File::from(ours), [0; 4096]);
            // It fails once the other end is closed.
            while let Ok(count @ 1..) = terminal.read(&mut bytes) {
                seen.fetch_add(count as u64, Ordering::Relaxed);
            }
        });
        Ok((watcher, File::from(theirs)))
    }

    /// A browser that opens the page at `address` as soon as it is there, and leaves it at the end.
    pub(crate) fn browser(address: SocketAddrV4) -> Self {
        Self::start(move |seen, is_over| {
            let deadline = Instant::now() + PATIENCE;
            let stream = loop {
                match TcpStream::connect(address) {
                    Ok(stream) => break stream,
                    Err(_) if Instant::now() > deadline || is_over.load(Ordering::Relaxed) => return,
                    Err(_) => std::thread::sleep(POLL),
                }
            };
            // Whatever goes wrong shows in the count.
            let _ = take_events(stream, address, seen);
        })
    }

    fn start(watch: impl FnOnce(&AtomicU64, &AtomicBool) + Send + 'static) -> Self {
        let (seen, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (for_seen, for_over) = (Arc::clone(&seen), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || watch(&for_seen, &for_over));
        Self { thread, seen, is_over }
    }

    /// What was seen, after the client has ended.
    pub(crate) fn finish(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic in it was printed by it.
        let _ = self.thread.join();
        self.seen.load(Ordering::Relaxed)
    }
}

fn take_events(mut stream: TcpStream, address: SocketAddrV4, seen: &AtomicU64) -> std::io::Result<()> {
    write!(stream, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if line.starts_with("data: ") {
            seen.fetch_add(1, Ordering::Relaxed);
        }
        if line.contains(LAST) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_terminal_is_one_and_takes_what_is_drawn() {
        let (watcher, theirs) = Watcher::terminal().unwrap();
        let mut command = Command::new("sh");
        let status = command.args(["-c", "test -t 2 && printf 12345 >&2"]).stderr(theirs).status().unwrap();
        // It holds the other end.
        drop(command);
        assert!(status.success());
        assert_eq!(watcher.finish(), 5);
    }

    #[test]
    fn a_browser_takes_events_until_the_last() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("it is V4") };
        let watcher = Watcher::browser(address);
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\ndata: {\"ended\":null}\n\ndata: {\"ended\":{}}\n\n")
            .unwrap();
        assert_eq!(watcher.finish(), 2);
    }
}
