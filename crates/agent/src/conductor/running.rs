//! While the load runs: what agents tell is taken in, those that fall silent are given up, and those that end let go.

use units::Instant;

use super::{Conductor, Event, SILENT_AFTER, STOPPED_WITHIN, Stage};
use crate::message::{End, ToAgent};
use crate::peer::{Peer, PeerState, Taken};
use crate::told::Told;

impl Conductor {
    pub(super) fn interval(&mut self, agent: usize, told: &Told) {
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

    pub(super) fn end(&mut self, agent: usize, end: End) {
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
    pub(super) fn close_if_booked(&mut self, agent: usize) {
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

    pub(super) fn give_up_the_silent(&mut self, now: Instant) {
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

    pub(super) fn give_up_who_does_not_stop(&mut self, now: Instant) {
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

    pub(super) fn finish_if_all_over(&mut self) {
        if self.stage == Stage::Running && !self.peers.iter().any(Peer::is_open) {
            self.stage = Stage::Over;
            self.events.push_back(Event::Finished);
        }
    }
}
