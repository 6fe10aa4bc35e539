//! [`crate::Model::Single`]: one thread for everything, which blocks during a delay.

use std::collections::HashMap;
use std::net::TcpListener;

use rustix::event::epoll::EventFlags;
use rustix::net::SocketFlags;

use crate::accept::accept;
use crate::connection::Connection;
use crate::multiplex::{ACCEPTS_A_TURN, LISTENER, Multiplexer};
use crate::shared::{Shared, Worker};
use crate::truth;

/// Serves until the server stops.
pub(crate) fn run(shared: &Shared, listener: &TcpListener, set: &Multiplexer) {
    let mut worker = Worker::new(shared, truth::BUFFER_BYTES);
    let mut connections: HashMap<u64, Connection> = HashMap::new();
    let mut events = Vec::new();
    while set.wait(&mut events, shared) {
        for event in &events {
            if shared.stopping() {
                return;
            }
            match event.data.u64() {
                LISTENER => {
                    let accepted = std::iter::from_fn(|| accept(listener, shared, SocketFlags::NONBLOCK));
                    for connection in accepted.take(ACCEPTS_A_TURN) {
                        match set.add(&connection.stream, connection.id, EventFlags::IN) {
                            Ok(()) => drop(connections.insert(connection.id, connection)),
                            Err(_) => shared.connection_failed(),
                        }
                        shared.pause_accepting();
                    }
                }
                id => {
                    let open = connections.get_mut(&id).is_some_and(|connection| worker.turn(connection));
                    if !open {
                        connections.remove(&id);
                    }
                }
            }
        }
    }
}
