//! What a load is asked to do.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use driver::UnixSocket;
use engine::{Expect, KeptAnswer, Request};
use plan::LoadPlan;
use record::IntervalLog;
use tls::Peers;

/// What is sent where.
#[derive(Debug)]
pub struct Job<'a> {
    /// The URL, for the record.
    pub url: &'a str,
    /// Addresses of the server, used in turn.
    pub targets: &'a [SocketAddr],
    /// What is sent.
    pub request: &'a Request,
    /// What a good answer looks like.
    pub expect: &'a Expect,
    /// Connections or rate, times, bounds.
    pub plan: &'a LoadPlan,
    /// The socket of this machine that all connections go to, whatever the targets are.
    pub socket: Option<&'a UnixSocket>,
    /// Which of the servers are secured, and what tunnel connections lead through, if there is any of both.
    pub tls: Option<&'a Peers>,
    /// Where the response times go as an HdrHistogram interval log.
    pub interval_log: Option<&'a IntervalLog>,
    /// Where the first wrong answers go as they came, where they are asked for.
    pub keep: Option<&'a Keep>,
}

/// The first wrong answers of a load, as they came.
#[derive(Debug)]
pub struct Keep {
    most: u32,
    answers: Mutex<Vec<KeptAnswer>>,
}

impl Keep {
    /// Room for so many.
    pub const fn new(most: u32) -> Self {
        Self { most, answers: Mutex::new(Vec::new()) }
    }

    pub(crate) const fn most(&self) -> u32 {
        self.most
    }

    /// Takes those of all threads, of which the first stay.
    pub(crate) fn take(&self, all: impl Iterator<Item = KeptAnswer>) {
        let mut all: Vec<KeptAnswer> = all.collect();
        all.sort_by_key(|it| it.at);
        all.truncate(self.most as usize);
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }

    /// Those that came.
    pub fn into_answers(self) -> Vec<KeptAnswer> {
        self.answers.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
