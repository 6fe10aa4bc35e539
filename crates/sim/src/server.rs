//! The simulated server: a pool of workers with a queue.

use std::collections::VecDeque;

use engine::Conn;
use units::{Duration, Instant};

use crate::fault::{Answer, Faults};

/// A server that stands still for a while, again and again: during the last `for_` of every `every`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// For how long.
    pub for_: Duration,
    /// How often.
    pub every: Duration,
}

/// What kind of server it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPlan {
    /// Requests worked on at one time; the others queue.
    pub workers: u32,
    /// How long one takes, at least.
    pub service_min: Duration,
    /// How much longer it may take, evenly spread.
    pub service_spread: Duration,
    /// One way through the network.
    pub network: Duration,
    /// Standstills.
    pub stall: Option<Stall>,
    /// How answers are framed.
    pub answer: Answer,
    /// The body.
    pub body: String,
    /// Every so many answers the connection is closed, as announced.
    pub close_every: Option<u32>,
    /// What it answers without reading a request, and resets then.
    pub early_answer: Option<&'static [u8]>,
    /// What goes wrong.
    pub faults: Faults,
}

impl ServerPlan {
    /// A healthy server that answers `hello` after `service` and works on `workers` requests at a time.
    pub fn healthy(workers: u32, service: Duration) -> Self {
        Self {
            workers,
            service_min: service,
            service_spread: Duration::ZERO,
            network: Duration::from_micros(10),
            stall: None,
            answer: Answer::ContentLength,
            body: "hello".into(),
            close_every: None,
            early_answer: None,
            faults: Faults::default(),
        }
    }

    /// When work that is ready at `at` can be done: then, or at the end of the standstill it falls into.
    pub fn after_stall(&self, at: Instant) -> Instant {
        let Some(Stall { for_, every }) = self.stall else { return at };
        let phase_ns = at.as_nanos() % every.as_nanos();
        let stall_from_ns = every.saturating_sub(for_).as_nanos();
        if phase_ns < stall_from_ns { at } else { at + Duration::from_nanos(every.as_nanos() - phase_ns) }
    }
}

/// Who is served and who waits.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub(crate) busy: u32,
    pub(crate) waiting: VecDeque<Conn>,
}
