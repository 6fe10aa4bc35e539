//! What users hand on: a sample a request, a transaction a group of steps.

use engine::Outcome;
use scenario::{Transaction, Unsent};
use units::{Duration, Instant};
use url::Url;

/// One request of one user, redirects included.
#[derive(Debug, Clone)]
pub struct StepSample {
    /// Its label.
    pub label: String,
    /// Its method.
    pub method: String,
    /// Where it went; after redirects, the last.
    pub url: Url,
    /// When it was meant to start.
    pub intended: Instant,
    /// When it was over.
    pub done: Instant,
    /// How long it took from `intended` on; of redirects, all of them added up.
    pub elapsed: Duration,
    /// Until the first byte of the answer; zero where there was none.
    pub latency: Duration,
    /// Until there was a connection; zero where there was one before.
    pub connect: Duration,
    /// What became of it.
    pub outcome: Outcome,
    /// The answer's status.
    pub status: Option<u16>,
    /// The answer's reason phrase.
    pub reason: String,
    /// Whether it was a good one.
    pub ok: bool,
    /// Why not.
    pub message: Option<String>,
    /// Bytes of the answer.
    pub received_bytes: u64,
    /// Bytes of the request.
    pub sent_bytes: u64,
    /// Whether it is reported as part of a transaction only.
    pub within_parent: bool,
}

/// How many users there are and were.
#[derive(Debug, Clone)]
pub struct Counts {
    active: Vec<u32>,
    started: u32,
    finished: u32,
}

/// The same as a user of one group sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    /// The group, by number.
    pub group: usize,
    /// Users of the group who are there.
    pub in_group: u32,
    /// Users of all groups who are there.
    pub in_all: u32,
    /// Users who have come so far.
    pub started: u32,
    /// Users who have left.
    pub finished: u32,
}

impl Counts {
    pub(super) fn new(groups: usize) -> Self {
        Self { active: vec![0; groups], started: 0, finished: 0 }
    }

    pub(super) fn started(&mut self, group: usize) {
        self.active[group] += 1;
        self.started += 1;
    }

    pub(super) fn ended(&mut self, group: usize) {
        self.active[group] -= 1;
        self.finished += 1;
    }

    pub(super) fn of(&self, group: usize) -> Crowd {
        let in_all = self.started - self.finished;
        Crowd { group, in_group: self.active[group], in_all, started: self.started, finished: self.finished }
    }

    /// Users who came.
    pub fn all(&self) -> u32 {
        self.started
    }
}

/// Where results go. Called on the load's own thread: it must be quick.
pub trait Report {
    /// A request is over.
    fn sample(&mut self, crowd: &Crowd, user: u32, sample: &StepSample);

    /// A request could not be sent.
    fn unsent(&mut self, crowd: &Crowd, user: u32, unsent: &Unsent, now: Instant);

    /// Steps that are reported as one are over.
    fn transaction(&mut self, crowd: &Crowd, user: u32, transaction: &Transaction);
}

/// Nobody, or one.
impl<R: Report> Report for Option<R> {
    fn sample(&mut self, crowd: &Crowd, user: u32, sample: &StepSample) {
        if let Some(report) = self {
            report.sample(crowd, user, sample);
        }
    }

    fn unsent(&mut self, crowd: &Crowd, user: u32, unsent: &Unsent, now: Instant) {
        if let Some(report) = self {
            report.unsent(crowd, user, unsent, now);
        }
    }

    fn transaction(&mut self, crowd: &Crowd, user: u32, transaction: &Transaction) {
        if let Some(report) = self {
            report.transaction(crowd, user, transaction);
        }
    }
}

/// One after the other.
impl<A: Report, B: Report> Report for (A, B) {
    fn sample(&mut self, crowd: &Crowd, user: u32, sample: &StepSample) {
        self.0.sample(crowd, user, sample);
        self.1.sample(crowd, user, sample);
    }

    fn unsent(&mut self, crowd: &Crowd, user: u32, unsent: &Unsent, now: Instant) {
        self.0.unsent(crowd, user, unsent, now);
        self.1.unsent(crowd, user, unsent, now);
    }

    fn transaction(&mut self, crowd: &Crowd, user: u32, transaction: &Transaction) {
        self.0.transaction(crowd, user, transaction);
        self.1.transaction(crowd, user, transaction);
    }
}
