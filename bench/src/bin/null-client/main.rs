//! The least that a client can do: write a fixed request on each connection, count fixed bytes, send again.
//!
//! No timestamp, parser, distribution or timeout a request, one thread, one request under way a connection. What it
//! costs is what the kernel costs, and so what a load generator costs beyond it is its own doing. It is a part of the
//! benchmark and not of the product: it can't tell an error from an answer of the same length.
#![deny(unsafe_op_in_unsafe_fn)]

mod epoll;
mod sockets;
mod streams;
mod uring;
mod wire;

use std::io;
use std::net::{IpAddr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use rustix::time::{ClockId, clock_gettime};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::wire::Wire;

/// How it talks to the kernel.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    Epoll,
    Uring,
    /// HTTP/2 over epoll.
    Streams,
}

#[derive(Debug, Parser)]
#[command(about = "A client that does next to nothing; prints requests, and CPU time while it sent them")]
struct Arguments {
    mode: Mode,
    /// The server, an address of this machine
    #[arg(long)]
    connect: SocketAddrV4,
    /// Over TLS, of any certificate; not with io_uring
    #[arg(long)]
    tls: bool,
    #[arg(long, default_value = "/hello")]
    path: String,
    #[arg(short, long, default_value_t = 64)]
    connections: u32,
    /// Of HTTP/2, on each connection
    #[arg(long, default_value_t = 1)]
    streams: u32,
    #[arg(short, long, default_value_t = 3.0)]
    seconds: f64,
}

/// What both ways of sending are given.
struct Load {
    request: Vec<u8>,
    /// Length of every answer, head and body.
    answer_bytes: usize,
    duration: Duration,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("null-client: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let Arguments { mode, connect, connections, .. } = *arguments;
    let duration = Duration::from_secs_f64(arguments.seconds);
    let protocol = if let Mode::Streams = mode { "h2" } else { "http/1.1" };
    let config = arguments.tls.then(|| wire::config(protocol)).transpose()?;
    let open = || -> io::Result<Vec<Wire>> {
        let sockets = sockets::open(connect, connections)?;
        sockets.into_iter().map(|socket| Wire::new(socket, config.as_ref())).collect()
    };
    let (requests, cpu_us_before) = if let Mode::Streams = mode {
        let load = streams::Load::new(&arguments.path, connect, arguments.streams)?;
        let wires = open()?;
        let cpu_us_before = cpu_us();
        (streams::run(&load, wires, duration)?, cpu_us_before)
    } else {
        let request = format!("GET {} HTTP/1.1\r\nHost: {connect}\r\n\r\n", arguments.path).into_bytes();
        let load =
            Load { answer_bytes: answer_bytes(connect, config.as_ref(), &request)?, request, duration };
        if let Mode::Uring = mode {
            if config.is_some() {
                return Err(io::Error::other("io_uring has no TLS here"));
            }
            let sockets = sockets::open(connect, connections)?.into_iter().map(OwnedFd::from).collect();
            let cpu_us_before = cpu_us();
            (uring::run(&load, sockets)?, cpu_us_before)
        } else {
            let wires = open()?;
            let cpu_us_before = cpu_us();
            (epoll::run(&load, wires)?, cpu_us_before)
        }
    };
    println!("requests {requests}");
    println!("window_cpu_us {:.0}", cpu_us() - cpu_us_before);
    Ok(())
}

/// See [`sockets::answer_bytes`]; on a connection of its own.
fn answer_bytes(
    server: SocketAddrV4,
    config: Option<&Arc<ClientConfig>>,
    request: &[u8],
) -> io::Result<usize> {
    let stream = TcpStream::connect(server)?;
    let Some(config) = config else { return sockets::answer_bytes(stream, request) };
    let name = ServerName::from(IpAddr::from(*server.ip()));
    let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    sockets::answer_bytes(StreamOwned::new(session, stream), request)
}

/// CPU time of this process so far, user and system.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}
