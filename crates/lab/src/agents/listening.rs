//! Agents that listen, each at an address of this machine: there, or at the other end of a tunnel.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use super::fleet::{Broken, Fleet, Line, Open};

/// How long a connection may take.
const CONNECT_WITHIN: StdDuration = StdDuration::from_secs(2);
/// How long agents that were told to leave may take to do so.
const END_WITHIN: StdDuration = StdDuration::from_secs(2);

/// Agents at addresses. They outlive their conductor, and another can go on with them.
#[derive(Debug)]
pub struct Listening {
    addresses: Vec<SocketAddr>,
    open: Open,
    is_over: AtomicBool,
}

impl Listening {
    /// Those at these addresses, none of which is connected to before it is asked for.
    pub fn new(addresses: Vec<SocketAddr>) -> Self {
        Self { addresses, open: Open::default(), is_over: AtomicBool::new(false) }
    }
}

impl Fleet for Listening {
    fn names(&self) -> Vec<String> {
        self.addresses.iter().map(ToString::to_string).collect()
    }

    fn open(&self, agent: usize) -> Result<Line, Broken> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(Broken::ForGood("is not needed any more".to_owned()));
        }
        let refused = |why: io::Error| Broken::ForNow(format!("cannot be reached ({why})"));
        let stream = TcpStream::connect_timeout(&self.addresses[agent], CONNECT_WITHIN).map_err(refused)?;
        // Small answers to pings are what clocks are compared by.
        stream.set_nodelay(true).map_err(refused)?;
        let input = stream.try_clone().map_err(refused)?;
        Ok(Line { input: Box::new(Input(input)), output: Box::new(self.open.counted(stream)) })
    }

    /// What broke may be a tunnel.
    fn ended(&self, _: usize, why: String) -> Broken {
        Broken::ForNow(why)
    }

    /// Waits a moment for agents to hear that they may leave.
    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.open.have_ended_within(END_WITHIN);
    }
}

/// Where an agent hears us. It hears of the end when this is dropped, whoever still listens to it.
struct Input(TcpStream);

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}
