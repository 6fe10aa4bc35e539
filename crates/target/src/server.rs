//! Starting and stopping a server.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};
use signal_hook::iterator::Signals;

use crate::clock;
use crate::config::Config;
use crate::error::TargetError;
use crate::model::Model;
use crate::multiplex::Multiplexer;
use crate::pool::Pool;
use crate::shared::Shared;
use crate::summary::Summary;
use crate::{event_loop, single, threads};

/// A running server. Dropping it stops it, too, without its summary.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// Listens and starts the threads. The server takes connections from the moment this returns.
pub fn start(config: Config) -> Result<Server, TargetError> {
    config.check()?;
    let asked = config.listen;
    let (listener, addr) =
        open_listener(&config).map_err(|source| TargetError::Listen { addr: asked, source })?;
    let shared = Arc::new(Shared::new(config)?);
    // A failure below drops the server, which stops the threads that run already.
    let mut server = Server { addr, shared, threads: Vec::new() };
    server.start_threads(listener)?;
    Ok(server)
}

/// Runs a server until the process gets one of `signals`, and stops it properly then. `on_ready` is told the address once the server
/// takes connections.
pub fn run_until_signalled(
    config: Config,
    signals: &[i32],
    on_ready: impl FnOnce(SocketAddr),
) -> Result<Summary, TargetError> {
    let mut ends = Signals::new(signals)
        .map_err(|source| TargetError::Resource { what: "the signal handler", source })?;
    let server = start(config)?;
    on_ready(server.addr());
    let _signal = ends.forever().next();
    server.stop()
}

fn open_listener(config: &Config) -> io::Result<(TcpListener, SocketAddr)> {
    let family = if config.listen.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    set_socket_reuseaddr(&socket, true)?;
    // Linux hands this down to every accepted connection.
    set_tcp_nodelay(&socket, !config.planted.split_answer)?;
    bind(&socket, &config.listen)?;
    listen(&socket, i32::try_from(config.backlog).unwrap_or(i32::MAX))?;
    let listener = TcpListener::from(socket);
    let addr = listener.local_addr()?;
    Ok((listener, addr))
}

impl Server {
    /// Where the server listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Stops every thread (within about 250 ms, delays and stalls included), completes the truth file and
    /// writes `<truth file>.summary.json` beside it.
    pub fn stop(mut self) -> Result<Summary, TargetError> {
        let stopped = clock::now();
        self.stop_threads();
        let summary = self.shared.summary(stopped);
        if let Some(truth) = &self.shared.truth {
            truth.check()?;
            let file = truth.summary_path();
            fs::write(&file, format!("{:#}\n", summary.to_json()))
                .map_err(|source| TargetError::Truth { file, source })?;
        }
        self.shared.work.check()?;
        Ok(summary)
    }

    fn start_threads(&mut self, listener: TcpListener) -> Result<(), TargetError> {
        let shared = Arc::clone(&self.shared);
        match shared.config.model {
            Model::Single => {
                let set = Multiplexer::new(&listener, &shared)?;
                self.spawn("single".to_owned(), move || single::run(&shared, &listener, &set))
            }
            Model::ThreadPerConnection => {
                self.spawn("acceptor".to_owned(), move || threads::run(&shared, &listener))
            }
            Model::Pool => {
                let pool = Arc::new(Pool::new(Multiplexer::new(&listener, &shared)?));
                // The poller first: it is the one that tells waiting workers of a stop.
                let (by_poller, polled) = (Arc::clone(&pool), Arc::clone(&shared));
                self.spawn("poller".to_owned(), move || by_poller.run_poller(&polled, &listener))?;
                (1..=shared.config.pool_threads.get()).try_for_each(|n| {
                    let (pool, shared) = (Arc::clone(&pool), Arc::clone(&shared));
                    self.spawn(format!("pool-{n}"), move || pool.run_worker(&shared))
                })
            }
            Model::EventLoop => {
                let set = Multiplexer::new(&listener, &shared)?;
                let timer = event_loop::timer(&set)?;
                self.spawn("event-loop".to_owned(), move || event_loop::run(&shared, &listener, &set, &timer))
            }
        }
    }

    fn spawn(&mut self, name: String, life: impl FnOnce() + Send + 'static) -> Result<(), TargetError> {
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(life)
            .map_err(|source| TargetError::Resource { what: "a thread", source })?;
        self.threads.push(thread);
        Ok(())
    }

    fn stop_threads(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // The counter of an eventfd takes 2^64 - 2 such writes.
        let _ = rustix::io::write(&self.shared.wake, &1u64.to_ne_bytes());
        for thread in self.threads.drain(..) {
            // A thread's panic was printed by it; the others are stopped all the same.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_threads();
    }
}
