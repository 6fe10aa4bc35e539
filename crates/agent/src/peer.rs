//! What the conductor knows of one agent.

use units::{Duration, Instant};

use crate::bounds::{Sums, latest};
use crate::clock::{Bounds, Clock};
use crate::message::{End, Hello, Ready};
use crate::told::Told;

/// Between two answers while clocks are compared.
const ALIGN_EVERY: Duration = Duration::from_millis(2);
/// Answers that are asked for then.
const ALIGN_PINGS: u32 = 40;
/// At any other time: so that a stream is not closed for being idle, and a load ends that nobody watches.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A question without an answer for so long is asked again.
const PING_AGAIN: Duration = Duration::from_secs(2);
/// An interval is as long, or is the last of its thread.
const INTERVAL: Duration = Duration::from_secs(1);

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
    /// No load can come to that; why, as it follows the agent's name.
    Wrong(&'static str),
}

/// What one load thread has told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// The number of its last interval.
    pub last: u64,
    /// Up to when after the begin it told.
    pub told_to: Duration,
    /// Whether it has ended.
    pub ended: bool,
}

/// A load thread of an agent.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) seen: Seen,
    /// Of that, what is in the books.
    pub(crate) acked: u64,
    /// When it told something last.
    pub(crate) told_at: Instant,
}

/// The stream to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// There is none.
    None,
    /// There is one, on which it has not said yet who it is.
    Open,
    /// It has.
    Greeted,
}

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) state: PeerState,
    pub(crate) stream: Stream,
    /// Why its last stream ended, until there is another.
    pub(crate) broken: Option<String>,
    /// Whether it was said that its stream broke, and not yet that it is back.
    pub(crate) missed: bool,
    pub(crate) hello: Option<Hello>,
    /// Why it can't carry its share.
    pub(crate) refused: Option<String>,
    pub(crate) clock: Clock,
    /// Between what its offset lay at the begin.
    pub(crate) at_begin: Option<Bounds>,
    /// What carries its share.
    pub(crate) ready: Ready,
    /// By load thread.
    pub(crate) lanes: Vec<Lane>,
    pub(crate) sums: Sums,
    pub(crate) end: Option<End>,
    /// Whether that was before its time, and nobody had told it to.
    pub(crate) by_itself: bool,
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
            stream: Stream::None,
            broken: None,
            missed: false,
            hello: None,
            refused: None,
            clock: Clock::default(),
            at_begin: None,
            ready: Ready::default(),
            lanes: Vec::new(),
            sums: Sums::default(),
            end: None,
            by_itself: false,
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
        self.stream = Stream::Open;
        (self.ping, self.next_ping) = (None, now);
        // Who is missed is back once it says that it has the load: a tunnel takes connections also where nobody is behind it.
        if !self.missed {
            (self.broken, self.heard) = (None, now);
        }
        self.lanes.iter_mut().for_each(|lane| lane.told_at = now);
    }

    /// It has told this of each of its load threads, and all of it is in the books.
    pub(crate) fn has_told(&mut self, seen: impl IntoIterator<Item = Seen>, now: Instant) {
        let lane = |seen: Seen| Lane { seen, acked: seen.last, told_at: now };
        self.lanes = seen.into_iter().map(lane).collect();
    }

    /// It says that it has the load. Whether it was missed.
    pub(crate) fn is_back(&mut self, now: Instant) -> bool {
        let was_missed = std::mem::take(&mut self.missed);
        if was_missed {
            (self.broken, self.heard) = (None, now);
        }
        was_missed
    }

    pub(crate) fn detach(&mut self, why: &str) {
        (self.stream, self.ping) = (Stream::None, None);
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
        if self.stream == Stream::None || self.hello.is_none() || !self.is_open() {
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

    /// Whether an interval counts, so long after the begin. Those of each load thread come in order, and on a new stream some
    /// come again.
    pub(crate) fn take(&mut self, told: &Told, now: Instant, elapsed: Duration) -> Taken {
        let Some(lane) = self.lanes.get_mut(told.thread as usize) else {
            return Taken::Wrong("told of a thread that it does not have");
        };
        let seen = &mut lane.seen;
        if told.last <= seen.last {
            return Taken::Again;
        }
        if self.end.is_some() {
            return Taken::Wrong("told more after its end");
        }
        if seen.ended || told.first != seen.last + 1 || told.last < told.first || told.from() < seen.told_to {
            return Taken::Wrong("told its intervals out of order");
        }
        if told.to() > latest(elapsed) {
            return Taken::Wrong("told of a time that is still to come");
        }
        // So nobody can tell more intervals than there are seconds.
        if INTERVAL * (told.last - 1) > told.to() {
            return Taken::Wrong("told more intervals than there were seconds");
        }
        *seen = Seen { last: told.last, told_to: told.to(), ended: told.ends };
        lane.told_at = now;
        Taken::New
    }

    /// Up to when after the begin all of its load threads have told what they did. One that has ended did nothing after that.
    pub(crate) fn told_to(&self) -> Duration {
        let seen = || self.lanes.iter().map(|it| it.seen);
        let going_on = seen().filter(|it| !it.ended).map(|it| it.told_to).min();
        going_on.or_else(|| seen().map(|it| it.told_to).max()).unwrap_or(Duration::ZERO)
    }

    /// When the thread that told nothing for the longest did so last; none where all have ended.
    pub(crate) fn told_at(&self) -> Option<Instant> {
        self.lanes.iter().filter(|it| !it.seen.ended).map(|it| it.told_at).min()
    }

    /// Whether its end fits to what it told, so long after the begin, of a load whose window is from `start` to `end_max` at
    /// most. What all did is a rate over the longest window: one that is too long makes all figures too low.
    pub(crate) fn is_whole(
        &self,
        end: &End,
        elapsed: Duration,
        (start, end_max): (Duration, Duration),
    ) -> bool {
        let (start_ns, end_max_ns) = (start.as_nanos(), latest(elapsed).min(end_max).as_nanos());
        // One that was ended before its window began has an empty one.
        let is_of_load = |from_ns: u64, to_ns: u64| to_ns <= end_max_ns && from_ns == start_ns.min(to_ns);
        end.last.iter().eq(self.lanes.iter().map(|it| &it.seen.last))
            && end.threads.len() == self.lanes.len()
            && end.intended == self.sums.intended
            && end.threads.iter().all(|it| is_of_load(it.window_start_ns, it.window_end_ns))
    }

    /// Whether its books are closed: it has ended, and all that it told is in them.
    pub(crate) fn is_booked(&self) -> bool {
        self.end.is_some() && self.lanes.iter().all(|it| it.acked == it.seen.last)
    }
}
