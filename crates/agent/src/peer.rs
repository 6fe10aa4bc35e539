//! What the conductor knows of one agent.

use units::{Duration, Instant};

use crate::clock::{Bounds, Clock};
use crate::message::{End, Hello};
use crate::told::Told;

/// Between two answers while clocks are compared.
const ALIGN_EVERY: Duration = Duration::from_millis(2);
/// Answers that are asked for then.
const ALIGN_PINGS: u32 = 40;
/// At any other time: so that a stream is not closed for being idle, and a load ends that nobody watches.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A question without an answer for so long is asked again.
const PING_AGAIN: Duration = Duration::from_secs(2);

/// Where an agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerState {
    /// It has not said who it is.
    Joining,
    /// It opens its connections.
    Preparing,
    /// It waits for the begin.
    Ready,
    /// Its load runs.
    Running,
    /// It told everything.
    Done,
    /// Nobody hears of it any more.
    Lost,
}

/// What becomes of an interval that an agent told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    New,
    /// It is in the books already.
    Again,
    /// It can't follow what was told before.
    OutOfOrder,
}

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) state: PeerState,
    pub(crate) attached: bool,
    /// Why its last stream ended, until there is another.
    pub(crate) broken: Option<String>,
    pub(crate) hello: Option<Hello>,
    /// Why it can't carry its share.
    pub(crate) refused: Option<String>,
    pub(crate) clock: Clock,
    /// Between what its offset lay at the begin.
    pub(crate) at_begin: Option<Bounds>,
    /// By load thread: up to which number, and up to when after the begin, it has told.
    pub(crate) seen: Vec<(u64, Duration)>,
    /// Of that, what is in the books.
    pub(crate) acked: Vec<u64>,
    pub(crate) intended: u64,
    pub(crate) end: Option<End>,
    pub(crate) heard: Instant,
    ping: Option<(u64, Instant)>,
    pings: u64,
    next_ping: Instant,
    /// Answers that are still wanted before the begin.
    to_align: u32,
}

impl Peer {
    pub(crate) fn new(name: String, now: Instant) -> Self {
        Self {
            name,
            state: PeerState::Joining,
            attached: false,
            broken: None,
            hello: None,
            refused: None,
            clock: Clock::default(),
            at_begin: None,
            seen: Vec::new(),
            acked: Vec::new(),
            intended: 0,
            end: None,
            heard: now,
            ping: None,
            pings: 0,
            next_ping: now,
            to_align: 0,
        }
    }

    /// Whether anything is still to come from it.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.state, PeerState::Done | PeerState::Lost)
    }

    pub(crate) fn attach(&mut self, now: Instant) {
        (self.attached, self.ping, self.next_ping, self.heard) = (true, None, now, now);
        self.broken = None;
    }

    pub(crate) fn detach(&mut self, why: &str) {
        (self.attached, self.ping) = (false, None);
        self.broken.get_or_insert_with(|| why.to_owned());
    }

    /// Its clock is to be compared with ours.
    pub(crate) fn align(&mut self, now: Instant) {
        self.to_align = ALIGN_PINGS;
        self.next_ping = self.next_ping.min(now);
    }

    pub(crate) fn is_aligned(&self) -> bool {
        self.to_align == 0
    }

    /// The number of the ping that is to be sent, if one is.
    pub(crate) fn ping(&mut self, now: Instant) -> Option<u64> {
        if now < self.ping_at() {
            return None;
        }
        self.pings += 1;
        self.ping = Some((self.pings, now));
        Some(self.pings)
    }

    /// When it is.
    pub(crate) fn ping_at(&self) -> Instant {
        if !self.attached || self.hello.is_none() || !self.is_open() {
            return Instant::FAR_FUTURE;
        }
        self.ping.map_or(self.next_ping, |(_, sent)| sent + PING_AGAIN)
    }

    pub(crate) fn pong(&mut self, now: Instant, number: u64, shown: Instant) {
        let Some((_, sent)) = self.ping.filter(|(asked, _)| *asked == number) else { return };
        self.ping = None;
        self.clock.add(sent, shown, now);
        self.to_align = self.to_align.saturating_sub(1);
        self.next_ping = now + if self.to_align > 0 { ALIGN_EVERY } else { PING_EVERY };
    }

    /// Whether an interval counts. Those of each load thread come in order, and on a new stream some come again.
    pub(crate) fn take(&mut self, told: &Told) -> Taken {
        let Some((seen, told_to)) = self.seen.get_mut(told.thread as usize) else { return Taken::OutOfOrder };
        if told.last <= *seen {
            return Taken::Again;
        }
        if told.first != *seen + 1 || told.last < told.first || told.from() < *told_to {
            return Taken::OutOfOrder;
        }
        (*seen, *told_to) = (told.last, told.to());
        Taken::New
    }

    /// Up to when after the begin all of its load threads have told what they did.
    pub(crate) fn told_to(&self) -> Duration {
        self.seen.iter().map(|it| it.1).min().unwrap_or(Duration::ZERO)
    }

    /// Whether its end fits to what it told.
    pub(crate) fn is_whole(&self, end: &End) -> bool {
        end.last.iter().eq(self.seen.iter().map(|it| &it.0))
            && end.threads.len() == self.seen.len()
            && end.intended == self.intended
    }

    /// Whether its books are closed: it has ended, and all that it told is in them.
    pub(crate) fn is_booked(&self) -> bool {
        self.end.is_some() && self.acked.iter().eq(self.seen.iter().map(|it| &it.0))
    }
}
