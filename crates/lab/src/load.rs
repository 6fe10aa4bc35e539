//! One load, from plan to result.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration as StdDuration;

use driver::{Control, UnixSocket};
use events::Moment;
use record::LoadResult;

use crate::carry::{carry_out, carry_out_with, enough_files};
use crate::error::LabError;
pub use crate::job::{Job, Keep};
use crate::pilot::choose_crew;
use crate::tap::SampleTap;

/// How long the connection attempt before a load may take.
const REACH_TIMEOUT: StdDuration = StdDuration::from_secs(5);

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
