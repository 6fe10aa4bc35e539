//! The conductor's side: it gathers its agents, has them begin together, and keeps account of what each has told.

mod gather;
mod running;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use stats::Interval;
use units::{Duration, Instant};

use self::gather::REFUSALS_WITHIN;
use crate::assign::Assign;
use crate::bounds::Sums;
use crate::check::{check, shown};
use crate::clock::{Bounds, Clock};
use crate::message::{End, Hello, Ready, ToAgent, ToConductor};
use crate::peer::{Peer, PeerState, Seen};
use crate::told::Told;

/// An agent that is not heard of for so long is lost.
pub const SILENT_AFTER: Duration = Duration::from_secs(10);
/// One whose stream broke may come back for so long: it goes on by itself for longer, and what breaks streams, such as an API
/// server that is started anew, takes its time.
pub const COMES_BACK_WITHIN: Duration = Duration::from_secs(20);
/// A load thread that tells nothing for so long, though its agent answers, does not load, or what it did can't be known.
pub const TELLS_WITHIN: Duration = Duration::from_secs(20);
/// How long agents that were told to stop may take until they tell some of the rest, and all of it.
pub const STOPPED_WITHIN: Duration = Duration::from_secs(5);
const STOPPED_MAX: Duration = Duration::from_secs(30);
/// How long after the time of its load is over, late answers included, an agent may go on: it is heard of again by then if its
/// stream broke.
const OVERDUE_AFTER: Duration = COMES_BACK_WITHIN;

/// What a load is conducted by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Names of the agents, for errors; as many as there are shares.
    pub names: Vec<String>,
    /// The version that all of them must have.
    pub version: String,
    /// How long it may take until all are ready.
    pub ready_within: Duration,
    /// Whether an agent whose stream ended may come back on another.
    pub resumable: bool,
}

/// An agent as it was when the load began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// Who it is.
    pub hello: Hello,
    /// What carries its share.
    pub ready: Ready,
    /// Between what the offset of its clock lay.
    pub bounds: Option<Bounds>,
}

/// What whoever runs a conductor is told.
#[derive(Debug)]
pub enum Event {
    /// All agents begin at one instant.
    Begin {
        /// Of the conductor's clock.
        at: Instant,
        /// Who they are.
        agents: Vec<Joined>,
    },
    /// What one load thread of an agent did; to be written down, and then acknowledged ([`Conductor::booked`]).
    Interval {
        /// Which agent.
        agent: usize,
        /// As it was told.
        told: Box<Told>,
        /// What happened.
        interval: Box<Interval>,
    },
    /// An agent has told everything.
    Ended {
        /// Its number, from 0.
        agent: usize,
        /// Its totals.
        end: Box<End>,
        /// Whether it ended its load before its time, and nobody had told it to.
        by_itself: bool,
    },
    /// The stream to an agent broke while it loads; it goes on by itself and may come back for [`COMES_BACK_WITHIN`].
    Broken {
        /// Its number, from 0.
        agent: usize,
        /// What was seen of it.
        why: String,
    },
    /// One whose stream broke is heard of again.
    Back {
        /// Its number, from 0.
        agent: usize,
    },
    /// An agent is lost; what it told so far stays.
    Lost(Lost),
    /// There will be no load, or nothing of it can be known.
    Failed(String),
    /// All agents have ended, or are lost.
    Finished,
}

/// An agent that nobody hears of any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its number, from 0.
    pub agent: usize,
    /// Up to when after the begin it told what it did.
    pub told_to: Duration,
    /// What was seen of it.
    pub why: String,
}

/// What is in the books of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Booked {
    /// By load thread.
    pub seen: Vec<Seen>,
    /// Requests intended in all of it.
    pub intended: u64,
    /// Whether nothing more is to come: it told everything, or is lost.
    pub done: bool,
    /// Between what the offset of its clock lay at the begin.
    pub bounds: Option<Bounds>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Gathering,
    /// All are ready, and clocks are compared.
    Aligning,
    Running,
    Over,
}

/// The conductor's side of all conversations.
#[derive(Debug)]
pub struct Conductor {
    settings: Settings,
    /// The whole load, of which each agent gets its share.
    assign: Assign,
    /// How long it takes at most, from the begin to the last late answer; none where it ends by a count.
    length: Option<Duration>,
    /// When its window begins, and ends at the latest, from the begin on.
    window: (Duration, Duration),
    stage: Stage,
    peers: Vec<Peer>,
    /// Until when all have to be ready and then, once they are, until when their clocks have to be compared.
    stage_until: Instant,
    begin: Option<Instant>,
    /// Since when it conducts.
    since: Instant,
    refused_at: Option<Instant>,
    stopped_at: Option<Instant>,
    /// An interval whose memory the next may have.
    spare: Option<Box<Interval>>,
    to_send: VecDeque<(usize, ToAgent)>,
    events: VecDeque<Event>,
}

impl Conductor {
    /// Begins to gather the agents of `settings`, which are to carry `assign` together.
    pub fn new(settings: Settings, assign: Assign, now: Instant) -> Self {
        let peers = settings.names.iter().map(|name| Peer::new(name.clone(), now)).collect();
        let stage_until = now + settings.ready_within;
        let plan = assign.plan().ok();
        let warm_up = plan.as_ref().map_or(Duration::ZERO, |plan| plan.warm_up);
        let window_end = plan.as_ref().map_or(Duration::MAX, |plan| plan.warm_up + plan.stop.duration);
        let length = plan.map(|plan| plan.warm_up + plan.stop.duration + plan.timeouts.drain);
        Self {
            settings,
            assign,
            length: length.filter(|it| *it < Duration::MAX),
            window: (warm_up, window_end),
            stage: Stage::Gathering,
            peers,
            stage_until,
            begin: None,
            since: now,
            refused_at: None,
            stopped_at: None,
            spare: None,
            to_send: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Takes over from one that is gone, whose load had begun at `begin`, with what is in its books of each agent.
    pub fn restarted(
        settings: Settings,
        assign: Assign,
        begin: Instant,
        books: Vec<Booked>,
        now: Instant,
    ) -> Self {
        let mut conductor = Self::new(settings, assign, now);
        conductor.stage = Stage::Running;
        conductor.begin = Some(begin);
        for (peer, Booked { seen, intended, done, bounds }) in conductor.peers.iter_mut().zip(books) {
            peer.state = if done { PeerState::Done } else { PeerState::Running };
            peer.has_told(seen, now);
            (peer.sums, peer.at_begin) = (Sums::of(intended), bounds);
        }
        conductor.finish_if_all_over();
        conductor
    }

    /// There is a stream to an agent.
    pub fn attach(&mut self, agent: usize, now: Instant) {
        if self.peers[agent].is_open() {
            self.peers[agent].attach(now);
        }
    }

    /// The stream to an agent ended, for this reason.
    pub fn detach(&mut self, agent: usize, why: &str) {
        if self.settings.resumable && self.stage == Stage::Running {
            self.to_send.retain(|(to, _)| *to != agent);
            let peer = &mut self.peers[agent];
            peer.detach(why);
            // Of tries that come to nothing there may be many: it is said once until it is back.
            if peer.is_open() && !std::mem::replace(&mut peer.missed, true) {
                self.events.push_back(Event::Broken { agent, why: why.to_owned() });
            }
        } else {
            self.gone(agent, why);
        }
    }

    /// The stream to an agent ended, for this reason, and there will be no other.
    pub fn gone(&mut self, agent: usize, why: &str) {
        self.to_send.retain(|(to, _)| *to != agent);
        self.peers[agent].detach(why);
        if self.stage != Stage::Over && self.peers[agent].is_open() {
            self.give_up(agent, why);
        }
    }

    /// Takes in what an agent says.
    pub fn handle(&mut self, agent: usize, now: Instant, message: ToConductor) {
        if self.stage == Stage::Over || !self.peers[agent].is_open() {
            // One that comes back late has nothing to do any more.
            if matches!(message, ToConductor::Hello(_)) {
                let resume = self.resume(agent);
                self.to_send.extend([(agent, resume), (agent, ToAgent::Stop), (agent, ToAgent::Bye)]);
            }
            return;
        }
        if !self.peers[agent].missed {
            self.peers[agent].heard = now;
        }
        if let Err(what) = check(&message) {
            return self.give_up(agent, what);
        }
        match message {
            ToConductor::Hello(hello) => self.hello(agent, hello),
            ToConductor::Pong { number, clock_ns } => {
                self.peers[agent].pong(now, number, Instant::from_nanos(clock_ns));
                self.begin_if_aligned(now);
            }
            ToConductor::Ready(ready) => self.ready(agent, ready, now),
            ToConductor::Refused { why } => self.refused(agent, shown(&why), now),
            ToConductor::Interval(told) => self.interval(agent, told, now),
            ToConductor::End(end) => self.end(agent, *end, now),
        }
    }

    /// An interval is in the books, for good.
    pub fn booked(&mut self, agent: usize, thread: u32, seq: u64) {
        let peer = &mut self.peers[agent];
        if let Some(lane) = peer.lanes.get_mut(thread as usize) {
            lane.acked = seq.max(lane.acked);
            self.to_send.push_back((agent, ToAgent::Ack { thread, seq }));
        }
        self.close_if_booked(agent);
    }

    /// What happened in an interval is not needed any more: the next is read into its memory.
    pub fn give_back(&mut self, interval: Box<Interval>) {
        self.spare = Some(interval);
    }

    /// Ends the load before its time.
    pub fn stop(&mut self, now: Instant) {
        match self.stage {
            Stage::Running if self.stopped_at.is_none() => {
                self.stopped_at = Some(now);
                let open = self.peers.iter().enumerate().filter(|(_, peer)| peer.is_open());
                self.to_send.extend(open.map(|(agent, _)| (agent, ToAgent::Stop)));
            }
            Stage::Gathering | Stage::Aligning => {
                self.fail("interrupted before the load began: nothing was sent".to_owned());
            }
            Stage::Running | Stage::Over => {}
        }
    }

    /// When the load was ended before its time, if it was.
    pub const fn stopped_at(&self) -> Option<Instant> {
        self.stopped_at
    }

    /// Time passes.
    pub fn handle_timeout(&mut self, now: Instant) {
        for (agent, peer) in self.peers.iter_mut().enumerate() {
            if let Some(number) = peer.ping(now) {
                self.to_send.push_back((agent, ToAgent::Ping { number }));
            }
        }
        match self.stage {
            Stage::Gathering | Stage::Aligning => {
                self.give_up_the_silent(now);
                self.fail_if_refused(now);
                if now >= self.stage_until {
                    self.fail_late();
                }
            }
            Stage::Running => {
                self.give_up_the_silent(now);
                self.give_up_who_tells_nothing(now);
                if self.overdue_at().is_some_and(|at| now >= at) {
                    self.stop(now);
                }
                self.give_up_who_does_not_stop(now);
            }
            Stage::Over => {}
        }
    }

    /// When whoever still loads is told to stop: an agent that goes on for ever would be waited for as long.
    fn overdue_at(&self) -> Option<Instant> {
        let over = (self.begin? + self.length?).max(self.since);
        Some(over + OVERDUE_AFTER).filter(|_| self.stopped_at.is_none())
    }

    /// When [`Conductor::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let open = || self.peers.iter().filter(|peer| peer.is_open());
        let pings = open().map(Peer::ping_at);
        let silent = open().filter(|peer| peer.hello.is_some() || self.begin.is_some());
        let silent = silent.map(silent_at);
        let tells = open().filter_map(|peer| self.tells_until(peer));
        let stops = open().filter_map(|peer| self.stops_until(peer));
        let bounds = match self.stage {
            Stage::Gathering | Stage::Aligning => {
                [Some(self.stage_until), self.refused_at.map(|at| at + REFUSALS_WITHIN)]
            }
            Stage::Running => [self.overdue_at(), None],
            Stage::Over => return None,
        };
        pings.chain(silent).chain(tells).chain(stops).chain(bounds.into_iter().flatten()).min()
    }

    /// The next thing to say, and to which agent. A message that was handled brings three at most, so that no more wait than
    /// whoever asks for them lets wait.
    pub fn poll_message(&mut self) -> Option<(usize, ToAgent)> {
        self.to_send.pop_front()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Where an agent stands.
    pub fn state(&self, agent: usize) -> PeerState {
        self.peers[agent].state
    }

    /// What is known of its clock.
    pub fn clock(&self, agent: usize) -> &Clock {
        &self.peers[agent].clock
    }

    /// Between what the offset of its clock lay at the begin.
    pub fn bounds_at_begin(&self, agent: usize) -> Option<Bounds> {
        self.peers[agent].at_begin
    }

    /// When it was last heard.
    pub fn heard(&self, agent: usize) -> Instant {
        self.peers[agent].heard
    }

    /// An agent is lost: before the begin that is the end of it all.
    fn give_up(&mut self, agent: usize, why: &str) {
        let peer = &mut self.peers[agent];
        if self.stage != Stage::Running {
            let name = peer.name.clone();
            return self.fail(format!("agent {agent} ({name}) {why}; nothing was sent"));
        }
        let told_to = peer.told_to();
        peer.state = PeerState::Lost;
        self.events.push_back(Event::Lost(Lost { agent, told_to, why: why.to_owned() }));
        self.to_send.retain(|(to, _)| *to != agent);
        self.to_send.extend([(agent, ToAgent::Stop), (agent, ToAgent::Bye)]);
        self.finish_if_all_over();
    }

    fn fail(&mut self, why: String) {
        if self.stage == Stage::Over {
            return;
        }
        self.stage = Stage::Over;
        let stops = (0..self.peers.len()).map(|agent| (agent, ToAgent::Stop));
        self.to_send.extend(stops);
        self.events.push_back(Event::Failed(why));
    }
}

/// When an agent is lost that is not heard of until then.
fn silent_at(peer: &Peer) -> Instant {
    peer.heard + if peer.broken.is_some() { COMES_BACK_WITHIN } else { SILENT_AFTER }
}
