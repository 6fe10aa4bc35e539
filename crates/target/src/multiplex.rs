//! One epoll set: the listener, the stop signal, and the connections.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use crate::error::TargetError;
use crate::shared::Shared;

/// The key of the listener; connections have smaller ones.
pub(crate) const LISTENER: u64 = u64::MAX;
/// The key of the stop signal, which [`Multiplexer::wait`] heeds itself.
const WAKE: u64 = u64::MAX - 1;
/// The key of a timer.
pub(crate) const TIMER: u64 = u64::MAX - 2;
/// How many connections are accepted before the waiting requests have their turn again.
pub(crate) const ACCEPTS_A_TURN: usize = 64;
const EVENTS_A_WAIT: usize = 256;

/// An epoll set, with the listener and the stop signal in it level-triggered.
#[derive(Debug)]
pub(crate) struct Multiplexer {
    epoll: OwnedFd,
}

impl Multiplexer {
    pub(crate) fn new(listener: &TcpListener, shared: &Shared) -> Result<Self, TargetError> {
        let build = || {
            let set = Self { epoll: epoll::create(CreateFlags::CLOEXEC)? };
            set.add(listener, LISTENER, EventFlags::IN)?;
            set.add(&shared.wake, WAKE, EventFlags::IN)?;
            Ok(set)
        };
        build().map_err(|error: Errno| TargetError::Resource { what: "a poller", source: error.into() })
    }

    /// Adds `source`; the kernel forgets it when it is closed.
    pub(crate) fn add(&self, source: impl AsFd, key: u64, flags: EventFlags) -> Result<(), Errno> {
        epoll::add(&self.epoll, source, EventData::new_u64(key), flags)
    }

    /// Arms a one-shot `source` again.
    pub(crate) fn rearm(&self, source: impl AsFd, key: u64, flags: EventFlags) -> Result<(), Errno> {
        epoll::modify(&self.epoll, source, EventData::new_u64(key), flags)
    }

    /// Waits and puts what is ready into `events`. `false` when the server stops.
    pub(crate) fn wait(&self, events: &mut Vec<Event>, shared: &Shared) -> bool {
        events.clear();
        events.reserve(EVENTS_A_WAIT);
        match epoll::wait(&self.epoll, spare_capacity(events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => unreachable!("a valid epoll set can be waited on: {error}"),
        }
        shared.stand_still();
        !shared.stopping()
    }
}
