//! While the load runs: what agents tell is taken in, those that fall silent are given up, and those that end let go.

use units::{Duration, Instant};

use super::{
    COMES_BACK_WITHIN, Conductor, Event, SILENT_AFTER, STOPPED_MAX, STOPPED_WITHIN, Stage, TELLS_WITHIN,
    silent_at,
};
use crate::message::{End, ToAgent};
use crate::peer::{Peer, PeerState, Stream, Taken};
use crate::told::Told;

impl Conductor {
    pub(super) fn interval(&mut self, agent: usize, told: Box<Told>, now: Instant) {
        let elapsed = self.elapsed(now);
        let peer = &mut self.peers[agent];
        if peer.state != PeerState::Running {
            return self.give_up(agent, "tells of a load that does not run");
        }
        match peer.take(&told, now, elapsed) {
            // Its acknowledgement may have gone with a stream.
            Taken::Again => {
                let acked = peer.lanes[told.thread as usize].acked;
                if acked >= told.last {
                    self.to_send.push_back((agent, ToAgent::Ack { thread: told.thread, seq: acked }));
                }
            }
            Taken::Wrong(why) => self.give_up(agent, why),
            Taken::New => {
                let mut interval = self.spare.take().unwrap_or_default();
                match told.read(&mut interval).map(|()| peer.sums.with(&interval.tally)) {
                    Ok(Some(sums)) => {
                        peer.sums = sums;
                        self.events.push_back(Event::Interval { agent, told, interval });
                    }
                    Ok(None) => self.give_up(agent, "told of more than any load can come to"),
                    Err(why) => self.give_up(agent, &why.to_string()),
                }
            }
        }
    }

    pub(super) fn end(&mut self, agent: usize, end: End, now: Instant) {
        let (elapsed, window) = (self.elapsed(now), self.window);
        let peer = &mut self.peers[agent];
        // On a new stream it is told again.
        if peer.end.is_some() {
            return;
        }
        if peer.state != PeerState::Running {
            return self.give_up(agent, "tells of a load that does not run");
        }
        if !peer.is_whole(&end, elapsed, window) {
            return self.give_up(agent, "ended, and what it told is not all of it");
        }
        peer.by_itself = end.orphaned || end.interrupted && self.stopped_at.is_none();
        let by_itself = peer.by_itself;
        peer.end = Some(end);
        self.close_if_booked(agent);
        // What the others do from now on is not the load that was asked for.
        if by_itself {
            self.stop(now);
        }
    }

    /// How long after the begin it is.
    fn elapsed(&self, now: Instant) -> Duration {
        self.begin.map_or(Duration::ZERO, |begin| now.since(begin))
    }

    /// Lets an agent go whose books are closed.
    pub(super) fn close_if_booked(&mut self, agent: usize) {
        let peer = &mut self.peers[agent];
        if peer.state != PeerState::Running || !peer.is_booked() {
            return;
        }
        peer.state = PeerState::Done;
        if let Some(end) = peer.end.clone() {
            let by_itself = peer.by_itself;
            self.events.push_back(Event::Ended { agent, end: Box::new(end), by_itself });
        }
        self.to_send.push_back((agent, ToAgent::Bye));
        self.finish_if_all_over();
    }

    pub(super) fn give_up_the_silent(&mut self, now: Instant) {
        for agent in 0..self.peers.len() {
            let peer = &self.peers[agent];
            let may_be_silent = peer.hello.is_none() && self.begin.is_none();
            if peer.is_open() && !may_be_silent && now >= silent_at(peer) {
                let why = match &peer.broken {
                    None => format!("is silent for {SILENT_AFTER}"),
                    Some(why) => format!("{why}, and did not come back within {COMES_BACK_WITHIN}"),
                };
                self.give_up(agent, &why);
            }
        }
    }

    /// Until when an agent that is there must have told something of each load thread that goes on.
    pub(super) fn tells_until(&self, peer: &Peer) -> Option<Instant> {
        // Of the warm-up nothing is told.
        let first = self.begin? + self.window.0;
        let told_at = peer.told_at().filter(|_| peer.stream != Stream::None && peer.end.is_none())?;
        Some(told_at.max(first) + TELLS_WITHIN)
    }

    pub(super) fn give_up_who_tells_nothing(&mut self, now: Instant) {
        for agent in 0..self.peers.len() {
            let peer = &self.peers[agent];
            if peer.is_open() && self.tells_until(peer).is_some_and(|at| now >= at) {
                let why = format!("answers, and tells nothing of its load for {TELLS_WITHIN}");
                self.give_up(agent, &why);
            }
        }
    }

    /// Until when an agent must have told everything that was told to stop: it may have much to tell that was kept for us.
    pub(super) fn stops_until(&self, peer: &Peer) -> Option<Instant> {
        let at = self.stopped_at?;
        let told_at = peer.lanes.iter().map(|it| it.told_at).max().unwrap_or(at);
        Some((told_at.max(at) + STOPPED_WITHIN).min(at + STOPPED_MAX))
    }

    pub(super) fn give_up_who_does_not_stop(&mut self, now: Instant) {
        for agent in 0..self.peers.len() {
            let peer = &self.peers[agent];
            if peer.is_open() && self.stops_until(peer).is_some_and(|at| now >= at) {
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
