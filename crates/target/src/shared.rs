//! What all threads of a server share, and what each of them does with a request.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use units::Instant;

use crate::answer::{Answers, Status};
use crate::clock;
use crate::config::Config;
use crate::connection::Connection;
use crate::error::TargetError;
use crate::request::{Fill, Next, Request};
use crate::stall::StallClock;
use crate::summary::Summary;
use crate::truth::{TruthFile, TruthLog};
use crate::work::Work;

const STALLS_LISTED_MAX: usize = 10_000;
/// How often a thread that waits for a slow reader looks whether the server stops.
const SEND_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };

/// What all threads of a server share. Immutable but for the counters and the stop flag.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) stop: AtomicBool,
    /// Readable once the server stops, for the threads that wait on descriptors.
    pub(crate) wake: OwnedFd,
    pub(crate) truth: Option<TruthFile>,
    pub(crate) work: Work,
    pub(crate) answers: Answers,
    started: Instant,
    stalls: Option<StallClock>,
    requests: AtomicU64,
    answered: [AtomicU64; Status::ALL.len()],
    connections: AtomicU64,
    connections_failed: AtomicU64,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Result<Self, TargetError> {
        let truth = config.truth.as_deref().map(TruthFile::create).transpose()?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| TargetError::Resource { what: "an event descriptor", source: error.into() })?;
        let started = clock::now();
        Ok(Self {
            stop: AtomicBool::new(false),
            wake,
            truth,
            work: Work::new(&config.planted)?,
            answers: Answers::new(config.body_bytes),
            started,
            stalls: config.stall.map(|stall| StallClock::new(started, stall)),
            requests: AtomicU64::new(0),
            answered: Default::default(),
            connections: AtomicU64::new(0),
            connections_failed: AtomicU64::new(0),
            config,
        })
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Counts an accepted connection and numbers it, from 1.
    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Relaxed) + 1
    }

    /// Counts a request and numbers it, from 0.
    fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Relaxed)
    }

    pub(crate) fn connection_failed(&self) {
        self.connections_failed.fetch_add(1, Relaxed);
    }

    /// Whether the server ever stands still.
    pub(crate) fn has_stalls(&self) -> bool {
        self.stalls.is_some()
    }

    /// Waits for the end of the stall, if this is within one.
    pub(crate) fn stand_still(&self) {
        if let Some(end) = self.stalls.and_then(|stalls| stalls.end_of_stall(clock::now())) {
            clock::sleep_until(end, &self.stop);
        }
    }

    /// Waits as long as it takes after a connection was accepted, where so much is planted.
    pub(crate) fn pause_accepting(&self) {
        if let Some(pause) = self.config.planted.accept_pause {
            clock::sleep_until(clock::now() + pause, &self.stop);
        }
    }

    pub(crate) fn route(&self, path: &str) -> Option<usize> {
        self.config.paths.iter().position(|rule| rule.path == path)
    }

    /// Whether request `number` is among the share that is answered 500.
    fn is_error(&self, number: u64) -> bool {
        let share = self.config.error_share;
        // The upper 53 bits as a fraction of one: below 1.0, so a share of 1 takes all.
        share > 0.0 && ((self.config.seed.derive(number).0 >> 11) as f64 / (1u64 << 53) as f64) < share
    }

    pub(crate) fn summary(&self, stopped: Instant) -> Summary {
        let answers: BTreeMap<u16, u64> = Status::ALL
            .into_iter()
            .map(|status| (status.code(), self.answered[status as usize].load(Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let requests = self.requests.load(Relaxed);
        let windows = self.stalls.into_iter().flat_map(|stalls| stalls.windows(stopped));
        let stalls = self.stalls.map_or(0, |stalls| stalls.count(stopped));
        Summary {
            started: self.started,
            stopped,
            requests,
            unanswered: requests - answers.values().sum::<u64>(),
            answers,
            connections: self.connections.load(Relaxed),
            connections_failed: self.connections_failed.load(Relaxed),
            stalls: windows.take(STALLS_LISTED_MAX).collect(),
            stalls_unlisted: stalls.saturating_sub(STALLS_LISTED_MAX as u64),
            config: self.config.clone(),
        }
    }
}

/// What a request is to get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owed {
    /// Not to be sent before this.
    pub(crate) due: Instant,
    /// When the request's head was read.
    pub(crate) arrived: Instant,
    pub(crate) status: Status,
}

/// An answer of HTTP/1.1 that was decided on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reply<'a> {
    pub(crate) bytes: &'a [u8],
    /// So many of them are sent by a call of their own; all, unless answers are split.
    pub(crate) first_bytes: usize,
    /// The connection closes after it.
    pub(crate) close: bool,
    pub(crate) owed: Owed,
}

/// One thread's view of the server. The requests it noted are in the truth file once it is dropped.
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    pub(crate) shared: &'a Shared,
    log: TruthLog<'a>,
}

impl<'a> Worker<'a> {
    /// `log_bytes` bounds the lines that wait for the truth file.
    pub(crate) fn new(shared: &'a Shared, log_bytes: usize) -> Self {
        Self { shared, log: TruthLog::new(shared.truth.as_ref(), log_bytes) }
    }

    /// Takes the next request that is to be answered out of `connection`, and does its planted work; counts and notes
    /// all it takes. `None` until more bytes come.
    pub(crate) fn next_reply(&mut self, connection: &mut Connection) -> Option<Reply<'a>> {
        loop {
            match connection.inbox.next(|path| self.shared.route(path)) {
                Next::NeedMore => return None,
                // Answered by silent servers, too: what follows on this connection makes no sense.
                Next::Refused(status) => {
                    self.shared.next_request();
                    return Some(self.refusal(status));
                }
                Next::Request(request) => {
                    if let Some(owed) = self.take(connection.id, &request) {
                        return Some(self.reply(connection, &request, owed));
                    }
                }
            }
        }
    }

    fn refusal(&self, status: Status) -> Reply<'a> {
        let arrived = clock::now();
        let bytes = self.shared.answers.bytes(status, true, false);
        Reply { bytes, first_bytes: bytes.len(), close: true, owed: Owed { due: arrived, arrived, status } }
    }

    /// Counts a request, and does its planted work. What is owed for it; nothing where none is to be answered, which is
    /// noted.
    pub(crate) fn take(&mut self, connection: u64, request: &Request) -> Option<Owed> {
        let shared = self.shared;
        let number = shared.next_request();
        let config = &shared.config;
        let arrived = request.arrived;
        if config.never_answer {
            self.log.note(connection, arrived, None);
            return None;
        }
        let is_error = request.route.is_some() && shared.is_error(number);
        let (due, status) = match request.route {
            None => (arrived, Status::NotFound),
            Some(_) if is_error && config.planted.fail_fast => (arrived, Status::ServerError),
            Some(index) => {
                let delay = config.paths[index].delay.of_request(config.seed, number);
                let done = shared.work.carry_out(arrived, &shared.stop);
                (done + delay, if is_error { Status::ServerError } else { Status::Ok })
            }
        };
        Some(Owed { due, arrived, status })
    }

    fn reply(&self, connection: &Connection, request: &Request, owed: Owed) -> Reply<'a> {
        let Shared { config, answers, .. } = self.shared;
        let close = request.close || connection.closes_next(config.close_every);
        let bytes = answers.bytes(owed.status, close, request.head_only);
        let split_at = config.planted.split_answer.then(|| answers.head_bytes(owed.status, close));
        let first_bytes = split_at.unwrap_or(bytes.len());
        Reply { bytes, first_bytes, close, owed }
    }

    /// Notes that the last byte of what was owed was handed to the kernel.
    pub(crate) fn answered(&mut self, connection: &mut Connection, owed: Owed) {
        self.log.note(connection.id, owed.arrived, Some((clock::now(), owed.status)));
        self.shared.answered[owed.status as usize].fetch_add(1, Relaxed);
        connection.answers += 1;
    }

    /// Notes that what was owed will never be sent.
    pub(crate) fn abandoned(&mut self, connection: &Connection, owed: Owed) {
        self.log.note(connection.id, owed.arrived, None);
    }

    /// Reads once and answers, blocking through delays and slow readers, until more bytes are needed.
    /// Whether the connection stays open.
    pub(crate) fn turn(&mut self, connection: &mut Connection) -> bool {
        self.shared.stand_still();
        match connection.fill() {
            Fill::Empty => return true,
            Fill::Closed => return false,
            Fill::Data { .. } => {}
        }
        while let Some(reply) = self.next_reply(connection) {
            let in_time = clock::sleep_until(reply.owed.due, &self.shared.stop);
            self.shared.stand_still();
            let (first, rest) = reply.bytes.split_at(reply.first_bytes);
            let mut send = |bytes| self.send_all(connection, bytes);
            if !in_time || !send(first) || !send(rest) {
                self.abandoned(connection, reply.owed);
                return false;
            }
            self.answered(connection, reply.owed);
            if reply.close {
                connection.finish();
                return false;
            }
        }
        true
    }

    /// Whether all of `bytes` reached the kernel before the peer left or the server stopped.
    fn send_all(&self, connection: &mut Connection, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match connection.send(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !self.shared.stopping() => {
                    // Whatever poll says, the next send tells.
                    let _ = poll(&mut [PollFd::new(&connection.stream, PollFlags::OUT)], Some(&SEND_WAIT));
                }
                Err(_) => return false,
            }
        }
        true
    }
}
