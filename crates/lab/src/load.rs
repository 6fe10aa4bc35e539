//! One load, from plan to result.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration as StdDuration;

use driver::{Control, UnixSocket};
use events::Moment;
use h2::{FRAME_HEAD_BYTES, FrameHead, Kind, PREFACE};
use plan::HttpVersion;
use record::LoadResult;

use crate::carry::{carry_out, carry_out_with, enough_files};
use crate::error::LabError;
pub use crate::job::{Job, Keep};
use crate::pilot::choose_crew;
use crate::tap::SampleTap;

/// How long the connection attempt before a load may take.
const REACH_TIMEOUT: StdDuration = StdDuration::from_secs(5);
/// How long a server's first word over HTTP/2 is waited for.
const GREETING_TIMEOUT: StdDuration = StdDuration::from_secs(1);
/// How often a server is greeted before it is said to speak no HTTP/2.
const GREETINGS: u32 = 3;

/// The addresses of `host`, of which there is at least one. Nobody is connected to.
pub fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, LabError> {
    let no_address = |why: String| LabError::NoAddress { host: host.to_owned(), why };
    let found = (host, port).to_socket_addrs().map_err(|error| no_address(error.to_string()))?;
    let all: Vec<SocketAddr> = found.collect();
    if all.is_empty() { Err(no_address("no address".into())) } else { Ok(all) }
}

/// The address of `host` that answers.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, LabError> {
    let all = look_up(host, port)?;
    // `localhost` is ::1 as well as 127.0.0.1; a server seldom listens on both, so the first that answers
    // is the one that is meant.
    let reachable = all.iter().find(|address| TcpStream::connect_timeout(address, REACH_TIMEOUT).is_ok());
    if let Some(address) = reachable {
        return Ok(vec![*address]);
    }
    let address = all[0];
    let why = TcpStream::connect_timeout(&address, REACH_TIMEOUT).err();
    let why = why.unwrap_or_else(|| std::io::ErrorKind::ConnectionRefused.into());
    Err(LabError::Unreachable { address, why })
}

/// Whether the server at `address` is known to speak no HTTP/2 without TLS, where nothing is agreed on beforehand: one that
/// speaks it begins with its SETTINGS. Who says nothing in time may still do so.
pub fn speaks_no_http2(address: SocketAddr) -> bool {
    (0..GREETINGS).all(|_| answers_greeting(address).is_ok_and(|is_http2| !is_http2))
}

/// Greets the server at `address` in HTTP/2, where `http` is that. It has no TLS, within which it would be agreed on, and each
/// request of a load would fail.
///
/// # Errors
/// If it is known to speak something else.
pub fn greet(address: SocketAddr, http: HttpVersion) -> Result<(), LabError> {
    if http != HttpVersion::Http1 && speaks_no_http2(address) {
        return Err(LabError::NoHttp2 { address });
    }
    Ok(())
}

/// Whether what the server says first is HTTP/2. One that ends without a word may stand for another that is not up.
fn answers_greeting(address: SocketAddr) -> io::Result<bool> {
    let mut greeting = PREFACE.to_vec();
    FrameHead { payload_bytes: 0, kind: Kind::Settings, flags: 0, stream: 0 }.write(&mut greeting);
    let mut stream = TcpStream::connect_timeout(&address, REACH_TIMEOUT)?;
    stream.set_write_timeout(Some(GREETING_TIMEOUT))?;
    stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
    let mut head = [0; FRAME_HEAD_BYTES];
    stream.write_all(&greeting).and_then(|()| stream.read_exact(&mut head))?;
    let FrameHead { kind, stream, .. } = FrameHead::read(&head);
    Ok(kind == Kind::Settings && stream == 0)
}

/// Whether somebody takes connections of a socket of this machine.
pub fn reach(socket: &UnixSocket) -> Result<(), LabError> {
    let no_socket = |why| LabError::NoSocket { path: socket.path().to_owned(), why };
    socket.connect(REACH_TIMEOUT).map(drop).map_err(no_socket)
}

/// Runs a load to its end, or until `control` interrupts it. `observe` is called on the calling thread.
pub fn run(
    job: &Job<'_>,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<LoadResult, LabError> {
    enough_files(job.plan.connections.get())?;
    let crew = choose_crew(job, control, observe)?;
    observe(Moment::Load(job.plan));
    Ok(carry_out(job, &crew, control, observe)?.0)
}

/// The same, with each sample to `tap`.
pub fn run_tapped(
    job: &Job<'_>,
    tap: SampleTap,
    control: &Control,
    observe: &mut dyn FnMut(Moment<'_>),
) -> Result<LoadResult, LabError> {
    enough_files(job.plan.connections.get())?;
    let crew = choose_crew(job, control, observe)?;
    let taps = (0..crew.threads.get()).map(|thread| Some(tap.tap(thread))).collect();
    // The samples end with the load.
    drop(tap);
    Ok(carry_out_with(job, &crew, taps, control, observe)?.0)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that reads once and says `word` on each connection, which ends then.
    fn server(word: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                if stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
                    let _ = stream.write_all(word);
                }
            }
        });
        address
    }

    #[test]
    fn a_server_speaks_no_http_2_that_answers_its_greeting_otherwise() {
        assert!(speaks_no_http2(server(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")));
        assert!(!speaks_no_http2(server(b"")), "whoever ends without a word may speak anything");
        assert!(!speaks_no_http2(server(&[0, 0, 0, 4, 0, 0, 0, 0, 0])));
        // Nobody answers: the system takes the connection, and no program does.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!speaks_no_http2(silent.local_addr().unwrap()));
        let gone = silent.local_addr().unwrap();
        drop(silent);
        assert!(!speaks_no_http2(gone));
    }
}
