//! Before the load: agents say who they are, get their shares, and begin together once all are ready.

use std::num::NonZeroU32;

use engine::Share;
use units::{Duration, Instant};

use super::{Conductor, Event, Joined, Stage};
use crate::message::{Hello, Ready, ToAgent};
use crate::peer::{Peer, PeerState, Seen, Stream};

/// How far ahead the begin is set: all agents know of it by then.
const BEGIN_AHEAD: Duration = Duration::from_millis(500);
/// How long the others are waited for once one has refused, so that an error names all of whom it is true.
pub(super) const REFUSALS_WITHIN: Duration = Duration::from_secs(2);
/// How long it may take to compare clocks: forty answers of each agent, on the slowest of ways.
const ALIGNED_WITHIN: Duration = Duration::from_secs(60);

impl Conductor {
    pub(super) fn hello(&mut self, agent: usize, hello: Hello) {
        if hello.version != self.settings.version {
            let why = format!("is {}, and this is {}", hello.version, self.settings.version);
            return self.give_up(agent, &why);
        }
        let share = self.share(agent);
        let peer = &mut self.peers[agent];
        if peer.stream == Stream::Greeted {
            return self.give_up(agent, "says twice who it is");
        }
        (peer.hello, peer.stream) = (Some(hello), Stream::Greeted);
        let state = peer.state;
        let resume = self.resume(agent);
        self.to_send.push_back((agent, resume));
        match state {
            PeerState::Joining | PeerState::Preparing => {
                self.peers[agent].state = PeerState::Preparing;
                self.to_send.push_back((agent, ToAgent::Assign(Box::new(self.assign.share_of(share)))));
            }
            PeerState::Running => {
                if let (Some(begin), Some(bounds)) = (self.begin, self.peers[agent].at_begin) {
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

    /// What is said first to an agent that has said who it is.
    pub(super) fn resume(&self, agent: usize) -> ToAgent {
        let seen = self.peers[agent].lanes.iter().map(|it| it.seen.last).collect();
        ToAgent::Resume { load: self.assign.load(), seen }
    }

    fn share(&self, agent: usize) -> Share {
        let of = NonZeroU32::new(self.peers.len() as u32).unwrap_or(NonZeroU32::MIN);
        Share { index: agent as u32, of }
    }

    pub(super) fn ready(&mut self, agent: usize, ready: Ready, now: Instant) {
        let threads = ready.threads;
        let peer = &mut self.peers[agent];
        if peer.is_back(now) {
            self.events.push_back(Event::Back { agent });
        }
        if peer.state != PeerState::Preparing {
            return;
        }
        if threads == 0 || threads > plan::THREADS_MAX {
            let why = format!("says that it loads with {threads} threads, which no machine does");
            return self.give_up(agent, &why);
        }
        (peer.state, peer.ready) = (PeerState::Ready, ready);
        peer.has_told(std::iter::repeat_n(Seen::default(), threads as usize), now);
        if self.peers.iter().all(|peer| peer.state == PeerState::Ready) {
            (self.stage, self.stage_until) = (Stage::Aligning, now + ALIGNED_WITHIN);
            self.peers.iter_mut().for_each(|peer| peer.align(now));
        }
    }

    pub(super) fn refused(&mut self, agent: usize, why: String, now: Instant) {
        if self.stage == Stage::Running {
            return self.give_up(agent, &why);
        }
        self.peers[agent].refused = Some(why);
        self.refused_at.get_or_insert(now);
        self.fail_if_refused(now);
    }

    /// Ends it once an agent has refused, and all others have said how it is with them or had their time to.
    pub(super) fn fail_if_refused(&mut self, now: Instant) {
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

    pub(super) fn begin_if_aligned(&mut self, now: Instant) {
        if self.stage != Stage::Aligning || !self.peers.iter().all(Peer::is_aligned) {
            return;
        }
        let begin = now + BEGIN_AHEAD;
        self.stage = Stage::Running;
        self.begin = Some(begin);
        for (agent, peer) in self.peers.iter_mut().enumerate() {
            peer.state = PeerState::Running;
            peer.at_begin = peer.clock.at(begin);
            peer.clock.begin();
            if let Some(bounds) = peer.at_begin {
                let at_ns = bounds.theirs(begin).as_nanos();
                self.to_send.push_back((agent, ToAgent::Begin { at_ns }));
            }
        }
        let agents = self.peers.iter().map(joined).collect();
        self.events.push_back(Event::Begin { at: begin, agents });
    }

    /// The time is over that all had to get ready, or to have their clocks compared.
    pub(super) fn fail_late(&mut self) {
        let is_aligning = self.stage == Stage::Aligning;
        let is_late =
            |peer: &Peer| if is_aligning { !peer.is_aligned() } else { peer.state != PeerState::Ready };
        let late = self.peers.iter().enumerate().filter(|(_, peer)| is_late(peer)).map(|(agent, peer)| {
            let what = match (&peer.hello, is_aligning) {
                (None, _) => "says nothing",
                (Some(_), false) => "opens its connections",
                (Some(_), true) => "does not say what its clock shows",
            };
            format!("agent {agent} ({}) {what}", peer.name)
        });
        let late = late.collect::<Vec<_>>().join(", ");
        let (what, within) = if is_aligning {
            ("not all clocks were compared", ALIGNED_WITHIN)
        } else {
            ("not all agents were ready", self.settings.ready_within)
        };
        self.fail(format!("{what} within {within}: {late}; nothing was sent"));
    }
}

fn joined(peer: &Peer) -> Joined {
    Joined { hello: peer.hello.clone().unwrap_or_default(), ready: peer.ready.clone(), bounds: peer.at_begin }
}
