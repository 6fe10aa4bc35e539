//! The conductor's side: it gathers its agents, has them begin together, and keeps account of what each has told.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use engine::Share;
use stats::{Interval, RateSample};
use units::{Duration, Instant};

use crate::assign::Assign;
use crate::clock::{Bounds, Clock};
use crate::message::{End, Hello, ToAgent, ToConductor};
use crate::peer::{Peer, PeerState, Taken};
use crate::told::Told;

/// An agent that is not heard of for so long is lost.
pub const SILENT_AFTER: Duration = Duration::from_secs(10);
/// How long agents that were told to stop may take to tell the rest.
pub const STOPPED_WITHIN: Duration = Duration::from_secs(5);
/// How long after the time of its load is over, late answers included, an agent may go on: it is heard of again by then if its
/// stream broke.
const OVERDUE_AFTER: Duration = SILENT_AFTER;
/// How far ahead the begin is set: all agents know of it by then.
const BEGIN_AHEAD: Duration = Duration::from_millis(500);
/// How long the others are waited for once one has refused, so that an error names all of whom it is true.
const REFUSALS_WITHIN: Duration = Duration::from_secs(2);

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

/// What whoever runs a conductor is told.
#[derive(Debug)]
pub enum Event {
    /// All agents begin at this instant of the conductor's clock.
    Begin(Instant),
    /// What one load thread of an agent did; to be written down, and then acknowledged ([`Conductor::booked`]).
    Interval {
        /// Which agent.
        agent: usize,
        /// Which of its load threads.
        thread: u32,
        /// Its number, for the acknowledgement.
        seq: u64,
        /// When it began, from the begin on.
        from: Duration,
        /// When it ended.
        to: Duration,
        /// What happened.
        interval: Box<Interval>,
        /// The rate within it.
        rates: Vec<RateSample>,
    },
    /// An agent has told everything.
    Ended {
        /// Which.
        agent: usize,
        /// Its totals.
        end: Box<End>,
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
    /// Which.
    pub agent: usize,
    /// Up to when after the begin it told what it did.
    pub told_to: Duration,
    /// What was seen of it.
    pub why: String,
}

/// What is in the books of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Booked {
    /// By load thread: the number of the last interval, and up to when after the begin it told.
    pub seen: Vec<(u64, Duration)>,
    /// Requests intended in all of them.
    pub intended: u64,
    /// Whether it told everything.
    pub done: bool,
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
    stage: Stage,
    peers: Vec<Peer>,
    ready_until: Instant,
    begin: Option<Instant>,
    refused_at: Option<Instant>,
    stopped_at: Option<Instant>,
    to_send: VecDeque<(usize, ToAgent)>,
    events: VecDeque<Event>,
}

impl Conductor {
    /// Begins to gather the agents of `settings`, which are to carry `assign` together.
    pub fn new(settings: Settings, assign: Assign, now: Instant) -> Self {
        let peers = settings.names.iter().map(|name| Peer::new(name.clone(), now)).collect();
        let ready_until = now + settings.ready_within;
        let plan = assign.plan().ok();
        let length = plan.map(|plan| plan.warm_up + plan.stop.duration + plan.timeouts.drain);
        Self {
            settings,
            assign,
            length: length.filter(|it| *it < Duration::MAX),
            stage: Stage::Gathering,
            peers,
            ready_until,
            begin: None,
            refused_at: None,
            stopped_at: None,
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
        for (peer, Booked { seen, intended, done }) in conductor.peers.iter_mut().zip(books) {
            peer.state = if done { PeerState::Done } else { PeerState::Running };
            peer.acked = seen.iter().map(|it| it.0).collect();
            (peer.seen, peer.intended) = (seen, intended);
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
            self.peers[agent].detach(why);
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
                self.to_send.extend([(agent, ToAgent::Stop), (agent, ToAgent::Bye)]);
            }
            return;
        }
        self.peers[agent].heard = now;
        match message {
            ToConductor::Hello(hello) => self.hello(agent, hello),
            ToConductor::Pong { number, clock_ns } => {
                self.peers[agent].pong(now, number, Instant::from_nanos(clock_ns));
                self.begin_if_aligned(now);
            }
            ToConductor::Ready { threads, .. } => self.ready(agent, threads, now),
            ToConductor::Refused { why } => self.refused(agent, why, now),
            ToConductor::Interval(told) => self.interval(agent, &told),
            ToConductor::End(end) => self.end(agent, *end),
        }
    }

    /// An interval is in the books, for good.
    pub fn booked(&mut self, agent: usize, thread: u32, seq: u64) {
        let peer = &mut self.peers[agent];
        if let Some(acked) = peer.acked.get_mut(thread as usize) {
            *acked = seq.max(*acked);
            self.to_send.push_back((agent, ToAgent::Ack { thread, seq }));
        }
        self.close_if_booked(agent);
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
                if now >= self.ready_until {
                    self.fail_late();
                }
            }
            Stage::Running => {
                self.give_up_the_silent(now);
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
        Some(self.begin? + self.length? + OVERDUE_AFTER).filter(|_| self.stopped_at.is_none())
    }

    /// When [`Conductor::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let open = || self.peers.iter().filter(|peer| peer.is_open());
        let pings = open().map(Peer::ping_at);
        let silent = open().filter(|peer| peer.hello.is_some() || self.begin.is_some());
        let silent = silent.map(|peer| peer.heard + SILENT_AFTER);
        let bounds = match self.stage {
            Stage::Gathering | Stage::Aligning => {
                [Some(self.ready_until), self.refused_at.map(|at| at + REFUSALS_WITHIN)]
            }
            Stage::Running => [self.stopped_at.map(|at| at + STOPPED_WITHIN), self.overdue_at()],
            Stage::Over => return None,
        };
        pings.chain(silent).chain(bounds.into_iter().flatten()).min()
    }

    /// The next thing to say, and to which agent.
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

    /// Who it said it is.
    pub fn who(&self, agent: usize) -> Option<&Hello> {
        self.peers[agent].hello.as_ref()
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

    fn hello(&mut self, agent: usize, hello: Hello) {
        if hello.version != self.settings.version {
            let why = format!("is {}, and this is {}", hello.version, self.settings.version);
            return self.give_up(agent, &why);
        }
        let share = self.share(agent);
        let peer = &mut self.peers[agent];
        peer.hello = Some(hello);
        let seen = peer.seen.iter().map(|it| it.0).collect();
        self.to_send.push_back((agent, ToAgent::Resume { seen }));
        match peer.state {
            PeerState::Joining | PeerState::Preparing => {
                peer.state = PeerState::Preparing;
                self.to_send.push_back((agent, ToAgent::Assign(Box::new(self.assign.share_of(share)))));
            }
            PeerState::Running => {
                if let (Some(begin), Some(bounds)) = (self.begin, peer.at_begin) {
                    // It may not have heard of it.
                    let at_ns = bounds.theirs(begin).as_nanos();
                    self.to_send.push_back((agent, ToAgent::Begin { at_ns }));
                }
                if self.stopped_at.is_some() {
                    self.to_send.push_back((agent, ToAgent::Stop));
                }
            }
            PeerState::Ready | PeerState::Done | PeerState::Lost => {}
        }
    }

    fn share(&self, agent: usize) -> Share {
        let of = NonZeroU32::new(self.peers.len() as u32).unwrap_or(NonZeroU32::MIN);
        Share { index: agent as u32, of }
    }

    fn ready(&mut self, agent: usize, threads: u32, now: Instant) {
        let peer = &mut self.peers[agent];
        if peer.state != PeerState::Preparing {
            return;
        }
        if threads == 0 || threads > plan::THREADS_MAX {
            let why = format!("says that it loads with {threads} threads, which no machine does");
            return self.give_up(agent, &why);
        }
        peer.state = PeerState::Ready;
        peer.seen = vec![(0, Duration::ZERO); threads as usize];
        peer.acked = vec![0; threads as usize];
        if self.peers.iter().all(|peer| peer.state == PeerState::Ready) {
            self.stage = Stage::Aligning;
            self.peers.iter_mut().for_each(|peer| peer.align(now));
        }
    }

    fn refused(&mut self, agent: usize, why: String, now: Instant) {
        if self.stage == Stage::Running {
            return self.give_up(agent, &why);
        }
        self.peers[agent].refused = Some(why);
        self.refused_at.get_or_insert(now);
        self.fail_if_refused(now);
    }

    /// Ends it once an agent has refused, and all others have said how it is with them or had their time to.
    fn fail_if_refused(&mut self, now: Instant) {
        let Some(at) = self.refused_at else { return };
        let all_said = self.peers.iter().all(|peer| peer.refused.is_some() || peer.state == PeerState::Ready);
        if !all_said && now < at + REFUSALS_WITHIN {
            return;
        }
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for (agent, peer) in self.peers.iter().enumerate() {
            let Some(why) = peer.refused.as_deref() else { continue };
            let name = format!("{agent} ({})", peer.name);
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
        let told = reasons.into_iter().map(|(why, names)| {
            let agents = if names.len() == 1 { "agent" } else { "agents" };
            format!("{agents} {}: {why}", names.join(", "))
        });
        let told = told.collect::<Vec<_>>().join("; ");
        self.fail(format!("{told}; nothing was sent"));
    }

    fn begin_if_aligned(&mut self, now: Instant) {
        if self.stage != Stage::Aligning || !self.peers.iter().all(Peer::is_aligned) {
            return;
        }
        let begin = now + BEGIN_AHEAD;
        self.stage = Stage::Running;
        self.begin = Some(begin);
        self.events.push_back(Event::Begin(begin));
        for (agent, peer) in self.peers.iter_mut().enumerate() {
            peer.state = PeerState::Running;
            peer.at_begin = peer.clock.at(begin);
            if let Some(bounds) = peer.at_begin {
                let at_ns = bounds.theirs(begin).as_nanos();
                self.to_send.push_back((agent, ToAgent::Begin { at_ns }));
            }
        }
    }

    fn interval(&mut self, agent: usize, told: &Told) {
        let peer = &mut self.peers[agent];
        match peer.take(told) {
            // Its acknowledgement may have gone with a stream.
            Taken::Again => {
                let acked = peer.acked[told.thread as usize];
                if acked >= told.last {
                    self.to_send.push_back((agent, ToAgent::Ack { thread: told.thread, seq: acked }));
                }
            }
            Taken::OutOfOrder => self.give_up(agent, "told its intervals out of order"),
            Taken::New => match told.interval() {
                Ok(interval) => {
                    peer.intended += interval.tally.intended;
                    self.events.push_back(Event::Interval {
                        agent,
                        thread: told.thread,
                        seq: told.last,
                        from: told.from(),
                        to: told.to(),
                        rates: told.rates(),
                        interval: Box::new(interval),
                    });
                }
                Err(why) => self.give_up(agent, &why.to_string()),
            },
        }
    }

    fn end(&mut self, agent: usize, end: End) {
        let peer = &mut self.peers[agent];
        if peer.state != PeerState::Running || peer.end.is_some() {
            return;
        }
        if !peer.is_whole(&end) {
            return self.give_up(agent, "ended, and what it told is not all of it");
        }
        peer.end = Some(end);
        self.close_if_booked(agent);
    }

    /// Lets an agent go whose books are closed.
    fn close_if_booked(&mut self, agent: usize) {
        let peer = &mut self.peers[agent];
        if peer.state != PeerState::Running || !peer.is_booked() {
            return;
        }
        peer.state = PeerState::Done;
        if let Some(end) = peer.end.clone() {
            self.events.push_back(Event::Ended { agent, end: Box::new(end) });
        }
        self.to_send.push_back((agent, ToAgent::Bye));
        self.finish_if_all_over();
    }

    fn give_up_the_silent(&mut self, now: Instant) {
        for agent in 0..self.peers.len() {
            let peer = &self.peers[agent];
            let may_be_silent = peer.hello.is_none() && self.begin.is_none();
            if peer.is_open() && !may_be_silent && now >= peer.heard + SILENT_AFTER {
                let why = match &peer.broken {
                    None => format!("is silent for {SILENT_AFTER}"),
                    Some(why) => format!("{why}, and did not come back within {SILENT_AFTER}"),
                };
                self.give_up(agent, &why);
            }
        }
    }

    fn give_up_who_does_not_stop(&mut self, now: Instant) {
        if self.stopped_at.is_none_or(|at| now < at + STOPPED_WITHIN) {
            return;
        }
        for agent in 0..self.peers.len() {
            if self.peers[agent].is_open() {
                let why = format!("did not tell its last intervals within {STOPPED_WITHIN} of the end");
                self.give_up(agent, &why);
            }
        }
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
        self.to_send.push_back((agent, ToAgent::Stop));
        self.finish_if_all_over();
    }

    fn fail_late(&mut self) {
        let late: Vec<String> = self
            .peers
            .iter()
            .enumerate()
            .filter(|(_, peer)| peer.state != PeerState::Ready)
            .map(|(agent, peer)| {
                let what = if peer.hello.is_none() { "says nothing" } else { "opens its connections" };
                format!("agent {agent} ({}) {what}", peer.name)
            })
            .collect();
        let within = self.settings.ready_within;
        self.fail(format!(
            "not all agents were ready within {within}: {}; nothing was sent",
            late.join(", ")
        ));
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

    fn finish_if_all_over(&mut self) {
        if self.stage == Stage::Running && !self.peers.iter().any(Peer::is_open) {
            self.stage = Stage::Over;
            self.events.push_back(Event::Finished);
        }
    }
}
