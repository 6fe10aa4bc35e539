//! [`crate::Model::ThreadPerConnection`]: an acceptor, and a blocking thread a connection.

use std::collections::HashMap;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::SocketFlags;

use crate::accept::accept;
use crate::connection::Connection;
use crate::multiplex::ACCEPTS_A_TURN;
use crate::shared::{Shared, Worker};

/// A connection's thread calls nothing deep; thousands of them should fit.
const STACK_BYTES: usize = 128 * 1024;
/// Small, because there are thousands of these, too.
const LOG_BYTES: usize = 4 * 1024;

/// The connections that have a thread, for the acceptor to shut down and join.
type Threads = HashMap<u64, (Arc<TcpStream>, JoinHandle<()>)>;

/// Accepts until the server stops; all connections' threads have ended when this returns.
pub(crate) fn run(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut threads = Threads::new();
    let (ended, endings) = mpsc::channel();
    while wait_for_connection(shared, listener) {
        let accepted = std::iter::from_fn(|| accept(listener, shared, SocketFlags::empty()));
        for connection in accepted.take(ACCEPTS_A_TURN) {
            spawn(shared, connection, &mut threads, ended.clone());
            shared.pause_accepting();
        }
        for id in endings.try_iter() {
            if let Some((_, thread)) = threads.remove(&id) {
                join(thread);
            }
        }
    }
    for (stream, _) in threads.values() {
        // An error means that the connection is gone already; its thread sees that, too.
        let _ = stream.shutdown(Shutdown::Both);
    }
    for (_, thread) in threads.into_values() {
        join(thread);
    }
}

/// Blocks until a connection waits; `false` when the server stops.
fn wait_for_connection(shared: &Shared, listener: &TcpListener) -> bool {
    let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(&shared.wake, PollFlags::IN)];
    // An interrupted wait ends in an `accept` that finds nothing.
    let _ = poll(&mut fds, None);
    shared.stand_still();
    !shared.stopping()
}

fn spawn(shared: &Arc<Shared>, mut connection: Connection, threads: &mut Threads, ended: mpsc::Sender<u64>) {
    let id = connection.id;
    let stream = Arc::clone(&connection.stream);
    let shared_by_thread = Arc::clone(shared);
    let thread =
        std::thread::Builder::new().name(format!("conn-{id}")).stack_size(STACK_BYTES).spawn(move || {
            serve(&shared_by_thread, &mut connection);
            // The acceptor holds the socket, too: without this the client would see it closed late.
            let _ = connection.stream.shutdown(Shutdown::Both);
            // The acceptor no longer listens when it joins everyone.
            let _ = ended.send(id);
        });
    match thread {
        Ok(thread) => drop(threads.insert(id, (stream, thread))),
        Err(_) => shared.connection_failed(),
    }
}

fn serve(shared: &Shared, connection: &mut Connection) {
    let mut worker = Worker::new(shared, LOG_BYTES);
    while !shared.stopping() {
        if shared.has_stalls() {
            // A read that blocks would take the request in the middle of a stall; a poll leaves it there.
            let _ = poll(&mut [PollFd::new(&connection.stream, PollFlags::IN)], None);
        }
        if !worker.turn(connection) {
            return;
        }
    }
}

fn join(thread: JoinHandle<()>) {
    // A panic was printed by its thread, and cost one connection.
    let _ = thread.join();
}
