//! The least that a client can do: write a fixed request on each connection, count fixed bytes, send again.
//!
//! No timestamp, parser, distribution or timeout a request, one thread, one request under way a connection. What it
//! costs is what the kernel costs, and so what a load generator costs beyond it is its own doing. It is a part of the
//! benchmark and not of the product: it can't tell an error from an answer of the same length.
#![deny(unsafe_op_in_unsafe_fn)]

mod epoll;
mod sockets;
mod uring;

use std::io;
use std::net::SocketAddrV4;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use rustix::time::{ClockId, clock_gettime};

/// How it talks to the kernel.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    Epoll,
    Uring,
}

#[derive(Debug, Parser)]
#[command(about = "A client that does next to nothing; prints requests, and CPU time while it sent them")]
struct Arguments {
    mode: Mode,
    /// The server, an address of this machine
    #[arg(long)]
    connect: SocketAddrV4,
    #[arg(long, default_value = "/hello")]
    path: String,
    #[arg(short, long, default_value_t = 64)]
    connections: u32,
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
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", arguments.path, arguments.connect);
    let load = Load {
        answer_bytes: sockets::answer_bytes(arguments.connect, request.as_bytes())?,
        request: request.into_bytes(),
        duration: Duration::from_secs_f64(arguments.seconds),
    };
    let sockets = sockets::open(arguments.connect, arguments.connections)?;
    let cpu_us_before = cpu_us();
    let requests = match arguments.mode {
        Mode::Epoll => epoll::run(&load, &sockets)?,
        Mode::Uring => uring::run(&load, sockets)?,
    };
    println!("requests {requests}");
    println!("window_cpu_us {:.0}", cpu_us() - cpu_us_before);
    Ok(())
}

/// CPU time of this process so far, user and system.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}
