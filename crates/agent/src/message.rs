//! What is said between the conductor and an agent.

use engine::GO_AWAY_KINDS;
use serde::{Deserialize, Serialize};

use crate::assign::Assign;
use crate::secured::Handshakes;
use crate::told::Told;

/// From the conductor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToAgent {
    /// First on each stream: which load it is about ([`Assign::load`]), and up to which number the intervals of each load thread
    /// are in the books; of none before there are any.
    Resume {
        /// Which load.
        load: u64,
        /// By thread.
        seen: Vec<u64>,
    },
    /// What does your clock show?
    Ping {
        /// Comes back with the answer.
        number: u64,
    },
    /// The load, and which share of it to carry.
    Assign(Box<Assign>),
    /// Begin at this instant of your clock.
    Begin {
        /// Ns.
        at_ns: u64,
    },
    /// An interval is in the books.
    Ack {
        /// Of which load thread.
        thread: u32,
        /// Its number; all before it are, too.
        seq: u64,
    },
    /// End the load now, and tell the rest.
    Stop,
    /// All is told; the agent may go.
    Bye,
}

/// From an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToConductor {
    /// First on each stream.
    Hello(Hello),
    /// The answer to a ping.
    Pong {
        /// Of which.
        number: u64,
        /// What its clock showed, ns.
        clock_ns: u64,
    },
    /// Its connections are open, and it waits for the begin.
    Ready(Ready),
    /// It can't carry its share, or not to its end.
    Refused {
        /// Why, in words that follow the name of the agent.
        why: String,
    },
    /// What a load thread did.
    Interval(Box<Told>),
    /// Its share is over, and all intervals are told.
    End(Box<End>),
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The version of its program.
    pub version: String,
    /// What its machine calls itself.
    pub node: String,
    /// Cores that it may use.
    pub cores: u32,
}

/// What carries the share of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Its load threads.
    pub threads: u32,
    /// `io_uring` or `epoll`.
    pub io: String,
    /// Why it is not the one that was wanted.
    pub refused: Option<String>,
}

/// How a share ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The number of each load thread's last interval.
    pub last: Vec<u64>,
    /// Requests intended within the window by all intervals together.
    pub intended: u64,
    /// By load thread.
    pub threads: Vec<ThreadTotals>,
    /// Whether it was ended before its time.
    pub interrupted: bool,
    /// Whether that was because nobody watched it any more.
    #[serde(default)]
    pub orphaned: bool,
    /// For how long, of the window, a CPU quota kept the agent's threads from running, ns; none where that can't be seen.
    pub throttled_ns: Option<u64>,
    /// What became of its handshakes; none where its connections are not secured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<Box<Handshakes>>,
}

/// What one load thread has to tell at its end. Instants count from the agreed begin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadTotals {
    /// The exchanges that its connections had room for.
    pub exchanges: u32,
    /// Requests that were due, those of the warm-up included.
    pub intended: u64,
    /// Connections that came up.
    pub connections_opened: u64,
    /// Those of them that came up within the window.
    pub connections_opened_in_window: u64,
    /// Attempts that failed before the begin.
    pub opening_failures: u64,
    /// Connections that the server closed.
    pub closed_by_server: u64,
    /// Those that it ended with a GOAWAY, in the order of the codes that it gave.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub go_aways: [u64; GO_AWAY_KINDS],
    /// Connections dropped because of bytes nobody had asked for.
    pub unsolicited: u64,
    /// Requests that went out again.
    pub resent: u64,
    /// Requests that waited for a stream.
    pub stream_waits: u64,
    /// How long all of them together, ns.
    pub stream_wait_ns: u64,
    /// The longest of them, ns.
    pub stream_wait_max_ns: u64,
    /// Bodies that waited for the server's window.
    pub window_waits: u64,
    /// How long all of them together, ns.
    pub window_wait_ns: u64,
    /// Requests due beyond the bound of the backlog.
    pub backlog_overflow: u64,
    /// The most that waited at one time.
    pub backlog_peak: u64,
    /// The first answer that was not the expected one: its status, and the beginning of its body.
    pub first_wrong_answer: Option<(u16, Option<Vec<u8>>)>,
    /// When it came, ns; 0 of none.
    #[serde(default)]
    pub first_wrong_at_ns: u64,
    /// Its window, ns.
    pub window_start_ns: u64,
    /// The end of its window, ns.
    pub window_end_ns: u64,
    /// CPU time within it, ns.
    pub cpu_ns: u64,
    /// How long it was seen for, ns.
    pub wall_ns: u64,
    /// How late the thread saw it open, ns.
    pub late_ns: u64,
    /// Receives that io_uring stopped for want of a buffer.
    pub no_buffer: u64,
    /// Turns in which io_uring held completions back.
    pub completions_held_back: u64,
}

fn is_nothing(counts: &[u64; GO_AWAY_KINDS]) -> bool {
    counts.iter().all(|count| *count == 0)
}
