//! One user, carried out step by step: what to do next, given what was answered. No clock, no socket.

mod answer;
mod check;
mod choice;
mod cookies;
mod cut_off;
mod extract;
mod json;
mod pauses;
mod poisson;
mod request;
mod rows;
mod servers;
mod spent;
mod transaction;
mod user;
mod variables;
mod walk;

pub use self::servers::server_of;

use std::sync::Arc;

use engine::Waits;
use http::RequestSpec;
use units::{Duration, Instant};
use url::{Position, Url};

use self::walk::State;
use crate::prepared::Prepared;
use crate::world::World;

/// One user: where it stands, its variables and its cookies.
///
/// The caller asks [`Session::next`] what to do. After a pause it asks again; after a request it first hands over what
/// was answered ([`Session::answered`]). Same scenario, seed, user and answers, same requests, whatever other users do;
/// but for what they share: rows of data, counters and rates.
#[derive(Debug)]
pub struct Session {
    prepared: Arc<Prepared>,
    state: State,
}

/// What a user does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// It sends this, and then wants to know what was answered.
    Request(Outgoing),
    /// A request failed before it could be sent. It counts as one that failed; ask again.
    Unsent(Unsent),
    /// It does nothing for so long; then ask again.
    Pause(Duration),
    /// It waits for others, for so long at most, or for as long as it takes; then, or once [`World::released`] names it, ask again.
    Wait(Option<Duration>),
    /// It has ended, and says so however often it is asked.
    Done(Ended),
}

/// How a user ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its iterations are made, its data used up, or a failure ended it.
    Finished,
    /// The schedule of its requests is over: all users of its group end, once their requests are answered.
    StopGroup,
    /// A failure ends all users, once their requests are answered.
    StopLoad,
    /// A failure ends all users at once.
    StopNow,
    /// Its steps go on and on without a request or a pause, or with requests only that can't be sent.
    Endless,
}

impl Ended {
    /// In a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::StopGroup => "stopped their group",
            Self::StopLoad => "stopped the load",
            Self::StopNow => "stopped the load at once",
            Self::Endless => "steps without end, and no request or pause among them",
        }
    }
}

/// A request to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, and none excludes another")]
pub struct Outgoing {
    /// Its label in results.
    pub label: String,
    /// Its method.
    pub method: String,
    /// Where it goes: always `http` or `https`, with a host.
    pub url: Url,
    /// Its header fields, cookies and the form's content type included; without `Host` and `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Arc<[u8]>,
    /// Whether the connection may be kept after the answer.
    pub keep_alive: bool,
    /// How long it waits for a connection and for its answer.
    pub waits: Waits,
    /// Whether the answer's body is looked at; else it need not be handed over.
    pub reads_body: bool,
    /// Whether it follows a redirect: the same sample as the request before, whose time goes on.
    pub continues: bool,
    /// Whether it is reported as part of a transaction only.
    pub within_parent: bool,
}

impl Outgoing {
    /// Has `with` see the request as it is put on the wire. It was checked.
    pub fn with_spec<T>(&self, with: impl FnOnce(&RequestSpec<'_>) -> T) -> T {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        with(&RequestSpec {
            method: &self.method,
            target: &self.url[Position::BeforePath..Position::AfterQuery],
            host: &self.url[Position::BeforeHost..Position::AfterPort],
            headers: &headers,
            body: &self.body,
            close: !self.keep_alive,
        })
    }
}

/// A request that could not be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsent {
    /// Its label in results.
    pub label: String,
    /// Its method.
    pub method: String,
    /// Its URL, as far as it is one.
    pub url: String,
    /// Why not.
    pub message: String,
    /// Whether it is reported as part of a transaction only.
    pub within_parent: bool,
}

/// What became of a request.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// It was answered.
    Answered {
        /// The status.
        status: u16,
        /// The reason phrase; may be empty.
        reason: &'a str,
        /// Field names and values.
        headers: &'a [(&'a str, &'a str)],
        /// The body, without its framing; may be empty where [`Outgoing::reads_body`] is not set.
        body: &'a [u8],
    },
    /// It was not.
    Failed {
        /// What happened, in a word: `timeout`.
        name: &'static str,
    },
}

/// What an answer comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the sample is over. If not, a redirect is followed: the next request is part of it.
    pub over: bool,
    /// Whether the request succeeded so far.
    pub ok: bool,
    /// Why it did not.
    pub message: Option<String>,
}

/// What requests come to together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// Bytes of their answers.
    pub received_bytes: u64,
    /// Bytes of the requests.
    pub sent_bytes: u64,
    /// Until the first byte of each answer.
    pub latency: Duration,
    /// Until there was a connection for each.
    pub connect: Duration,
}

impl Sums {
    fn take(&mut self, more: &Self) {
        self.received_bytes = self.received_bytes.saturating_add(more.received_bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(more.sent_bytes);
        self.latency += more.latency;
        self.connect += more.connect;
    }
}

/// Steps that are reported as one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, and none excludes another")]
pub struct Transaction {
    /// Its label.
    pub label: String,
    /// When it was begun.
    pub from: Instant,
    /// When it was over: with its last pause, or with its last answer.
    pub to: Instant,
    /// How long it took: with pauses, or its requests' times added up.
    pub elapsed: Duration,
    /// Requests within it.
    pub samples: u32,
    /// Requests within it that failed.
    pub failed: u32,
    /// What its requests came to.
    pub sums: Sums,
    /// Whether it was gone through to its end and all its requests succeeded.
    pub ok: bool,
    /// Whether it was gone through to its end and all its requests were answered, be it by an error. Of others it is only known
    /// that they would have taken longer.
    pub is_whole: bool,
    /// Whether its user ended within it.
    pub broken_off: bool,
    /// Whether its load ended within it, its user's time, or what that needs to go on: nobody knows what would have become of it.
    pub cut_off: bool,
    /// Whether it stands for the requests within, which are not reported themselves.
    pub parent_only: bool,
    /// Whether it lies within another one that stands for it.
    pub within_parent: bool,
}

impl Session {
    /// User `user` (from 0) of group number `group`, before its first step. A group that there is not makes a user
    /// who has finished.
    pub fn new(prepared: &Arc<Prepared>, group: usize, user: u32) -> Self {
        Self { prepared: Arc::clone(prepared), state: State::new(group, user) }
    }

    /// What the user does at `now`: at its start, after a pause, after an answer was handed over. Asked while a
    /// request is out, it goes on as if that had failed.
    pub fn next(&mut self, world: &mut World, now: Instant) -> Next {
        world.now = now;
        self.state.next(&self.prepared, world)
    }

    /// What an answer comes to that was complete at `done`; the request was sent at `sent`. Without a request out
    /// nothing changes.
    pub fn answered(
        &mut self,
        world: &mut World,
        answer: &Answer<'_>,
        sent: Instant,
        done: Instant,
    ) -> Verdict {
        world.now = done;
        self.state.answered(&self.prepared, world, answer, (sent, done))
    }

    /// The load ended at `done`, while a request was out that was sent at `sent`. It has not failed, and the user goes no further.
    pub fn abandoned(&mut self, sent: Instant, done: Instant) -> Verdict {
        self.state.abandoned(sent, done)
    }

    /// The user goes no further from `at` on, since its load is over or its time in it. What it is in the midst of is told by
    /// [`Session::transactions`].
    pub fn cut_off(&mut self, at: Instant) {
        self.state.cut_off(&self.prepared, at);
    }

    /// What the sample came to that the last answer has ended: to be told right behind [`Session::answered`], since the
    /// transactions that ended with it are of it, too.
    pub fn came_to(&mut self, sample: &Sums) {
        let State { open, finished, .. } = &mut self.state;
        let of_open = open.iter_mut().map(|it| &mut it.sums);
        of_open.chain(finished.iter_mut().map(|it| &mut it.sums)).for_each(|sums| sums.take(sample));
    }

    /// The transactions that were over since this was last asked, to be asked after [`Session::next`] and
    /// [`Session::cut_off`].
    pub fn transactions(&mut self) -> Vec<Transaction> {
        std::mem::take(&mut self.state.finished)
    }

    /// The value of a variable of this user.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.state.user.variables.get(name)
    }
}

#[cfg(test)]
mod tests;
