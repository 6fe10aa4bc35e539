//! What users hand on: a sample a request, a transaction a group of steps.

use engine::Outcome;
use units::{Duration, Instant};
use url::Url;

use crate::session::{Sums, Transaction, Unsent};

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

impl StepSample {
    /// What it adds to a transaction.
    pub const fn sums(&self) -> Sums {
        Sums {
            received_bytes: self.received_bytes,
            sent_bytes: self.sent_bytes,
            latency: self.latency,
            connect: self.connect,
        }
    }
}

/// How many users there are and were, as a user of one group sees it.
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

/// A result on its way to another thread.
#[derive(Debug, Clone)]
pub struct UserResult {
    /// Who was there when it came.
    pub crowd: Crowd,
    /// Whose it is: the user's number within its group, from 0.
    pub user: u32,
    /// What it is.
    pub what: What,
}

/// What a user hands on.
#[derive(Debug, Clone)]
pub enum What {
    /// A request that is over.
    Sample(Box<StepSample>),
    /// A request that could not be sent.
    Unsent {
        /// What it would have been, and why it could not.
        unsent: Unsent,
        /// When it was to be.
        at: Instant,
    },
    /// Steps that are reported as one and are over.
    Transaction(Transaction),
}

impl What {
    /// Whether it is reported as part of a transaction only.
    pub fn is_within_parent(&self) -> bool {
        match self {
            Self::Sample(it) => it.within_parent,
            Self::Unsent { unsent, .. } => unsent.within_parent,
            Self::Transaction(it) => it.within_parent,
        }
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
