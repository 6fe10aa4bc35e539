//! [`crate::Model::Pool`]: a poller hands ready connections to K workers, as Tomcat's NIO connector does.
//!
//! A connection is owned by the poller's map while it waits for a request and by one worker while it has one.
//! Its epoll registration is one-shot, so the queue never holds it twice.

use std::collections::{HashMap, VecDeque};
use std::net::TcpListener;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::epoll::EventFlags;
use rustix::net::SocketFlags;

use crate::accept::accept;
use crate::connection::Connection;
use crate::multiplex::{ACCEPTS_A_TURN, LISTENER, Multiplexer};
use crate::shared::{Shared, Worker};
use crate::truth;

const ONE_SHOT: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);

/// What the poller and the workers pass connections through.
#[derive(Debug)]
pub(crate) struct Pool {
    set: Multiplexer,
    idle: Mutex<HashMap<u64, Connection>>,
    ready: Mutex<VecDeque<Connection>>,
    /// Signalled for each connection that became ready, and to all when the server stops.
    readied: Condvar,
}

impl Pool {
    pub(crate) fn new(set: Multiplexer) -> Self {
        Self { set, idle: Mutex::default(), ready: Mutex::default(), readied: Condvar::new() }
    }

    /// The poller's life: accepts, and queues connections that have something to read.
    pub(crate) fn run_poller(&self, shared: &Shared, listener: &TcpListener) {
        let mut events = Vec::new();
        while self.set.wait(&mut events, shared) {
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept(shared, listener),
                    id => {
                        let Some(connection) = lock(&self.idle).remove(&id) else { continue };
                        lock(&self.ready).push_back(connection);
                        self.readied.notify_one();
                    }
                }
            }
        }
        // Under the lock, so that no worker is between its look at the flag and its wait.
        let _queue = lock(&self.ready);
        self.readied.notify_all();
    }

    fn accept(&self, shared: &Shared, listener: &TcpListener) {
        let accepted = std::iter::from_fn(|| accept(listener, shared, SocketFlags::NONBLOCK));
        for connection in accepted.take(ACCEPTS_A_TURN) {
            // Only this thread takes from the map, so it cannot miss the event of what it adds now.
            match self.set.add(&connection.stream, connection.id, ONE_SHOT) {
                Ok(()) => drop(lock(&self.idle).insert(connection.id, connection)),
                Err(_) => shared.connection_failed(),
            }
            shared.pause_accepting();
        }
    }

    /// A worker's life: serves what is ready, and gives it back.
    pub(crate) fn run_worker(&self, shared: &Shared) {
        let mut worker = Worker::new(shared, truth::BUFFER_BYTES);
        while let Some(mut connection) = self.next_ready(shared) {
            if worker.turn(&mut connection) {
                self.give_back(connection);
            }
        }
    }

    /// Blocks for the next ready connection; `None` when the server stops.
    fn next_ready(&self, shared: &Shared) -> Option<Connection> {
        let queue = lock(&self.ready);
        let mut queue = self
            .readied
            .wait_while(queue, |queue| queue.is_empty() && !shared.stopping())
            .unwrap_or_else(PoisonError::into_inner);
        if shared.stopping() { None } else { queue.pop_front() }
    }

    fn give_back(&self, connection: Connection) {
        let (id, stream) = (connection.id, connection.stream.clone());
        let mut idle = lock(&self.idle);
        idle.insert(id, connection);
        // Armed under the lock: the poller takes the event's connection out of this map.
        if self.set.rearm(&stream, id, ONE_SHOT).is_err() {
            idle.remove(&id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
