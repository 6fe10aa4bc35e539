//! What an agent has to tell, until it is acknowledged.

use std::collections::VecDeque;

use crate::told::Told;

/// Intervals of one load thread that are kept: a minute. Beyond, those that were never sent are merged.
pub const UNACKED_MAX: usize = 64;
/// Of these, sent at most: what was sent once may be in the books, and is never merged with another.
pub const WINDOW: usize = 16;

const _: () = assert!(WINDOW + 2 <= UNACKED_MAX, "two that were not sent are there to be merged");

/// The intervals of all load threads.
#[derive(Debug, Default)]
pub struct Outbox {
    lanes: Vec<Lane>,
    /// Whose turn it is.
    turn: usize,
}

/// Those of one.
#[derive(Debug, Default)]
struct Lane {
    /// The number of the last one.
    last: u64,
    kept: VecDeque<Told>,
    /// Of the kept ones, from the first: sent on the stream at hand, and on any.
    sent: usize,
    sent_ever: usize,
}

impl Outbox {
    /// Of so many load threads.
    pub fn new(threads: usize) -> Self {
        Self { lanes: (0..threads).map(|_| Lane::default()).collect(), turn: 0 }
    }

    /// Takes the next interval of a thread, and numbers it.
    pub fn push(&mut self, told: Told) {
        let Some(lane) = self.lanes.get_mut(told.thread as usize) else { return };
        lane.last += 1;
        lane.kept.push_back(told.numbered(lane.last));
        if lane.kept.len() > UNACKED_MAX
            && let Some(next) = lane.kept.remove(lane.sent_ever + 1)
        {
            lane.kept[lane.sent_ever].merge(&next);
        }
    }

    /// The next to be sent.
    pub fn next_to_send(&mut self) -> Option<Told> {
        for _ in 0..self.lanes.len() {
            let turn = self.turn;
            self.turn = (turn + 1) % self.lanes.len();
            let lane = &mut self.lanes[turn];
            if lane.sent < WINDOW
                && let Some(told) = lane.kept.get(lane.sent)
            {
                lane.sent += 1;
                lane.sent_ever = lane.sent_ever.max(lane.sent);
                return Some(told.clone());
            }
        }
        None
    }

    /// A thread's intervals are in the books up to number `seq`. `false` if it was never sent so far.
    pub fn ack(&mut self, thread: u32, seq: u64) -> bool {
        let Some(lane) = self.lanes.get_mut(thread as usize) else { return false };
        let known = lane.sent_ever.checked_sub(1).and_then(|at| lane.kept.get(at)).map(|told| told.last);
        let first_kept = lane.kept.front().map_or(lane.last + 1, |told| told.first);
        if seq > known.unwrap_or(first_kept - 1) {
            return false;
        }
        while lane.kept.front().is_some_and(|told| told.last <= seq) {
            lane.kept.pop_front();
            lane.sent = lane.sent.saturating_sub(1);
            lane.sent_ever -= 1;
        }
        true
    }

    /// Another stream: up to these numbers all is in the books, and what follows is sent again. `false` if that can't be.
    pub fn resume(&mut self, seen: &[u64]) -> bool {
        let can_be = seen.iter().enumerate().all(|(thread, seq)| self.ack(thread as u32, *seq));
        self.lanes.iter_mut().for_each(|lane| lane.sent = 0);
        can_be
    }

    /// The number of the last interval of each thread.
    pub fn last(&self) -> Vec<u64> {
        self.lanes.iter().map(|lane| lane.last).collect()
    }

    /// Whether everything was sent on the stream at hand.
    pub fn is_sent(&self) -> bool {
        self.lanes.iter().all(|lane| lane.sent == lane.kept.len())
    }

    /// Intervals that are kept.
    pub fn kept(&self) -> usize {
        self.lanes.iter().map(|lane| lane.kept.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;
    use units::Duration;

    use super::*;

    fn told(thread: u32, second: u64) -> Told {
        let mut interval = Interval::default();
        interval.tally.done = second;
        let at = Duration::from_secs(second);
        Told::new(thread, at, at + Duration::from_secs(1), &interval, &[])
    }

    fn sent(outbox: &mut Outbox) -> Vec<(u32, u64, u64)> {
        std::iter::from_fn(|| outbox.next_to_send()).map(|it| (it.thread, it.first, it.last)).collect()
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again_on_the_next_stream() {
        let mut outbox = Outbox::new(2);
        for second in 0..3 {
            outbox.push(told(0, second));
            outbox.push(told(1, second));
        }
        assert_eq!(sent(&mut outbox), [(0, 1, 1), (1, 1, 1), (0, 2, 2), (1, 2, 2), (0, 3, 3), (1, 3, 3)]);
        assert!(outbox.is_sent() && outbox.ack(0, 2) && outbox.ack(0, 2));
        assert!(outbox.resume(&[2, 1]));
        assert_eq!(sent(&mut outbox), [(0, 3, 3), (1, 2, 2), (1, 3, 3)]);
        assert!(outbox.ack(0, 3) && outbox.ack(1, 3));
        assert_eq!((outbox.kept(), outbox.last()), (0, vec![3, 3]));
        assert!(!outbox.ack(0, 4) && !outbox.ack(2, 1) && !outbox.resume(&[3, 9]));
    }

    #[test]
    fn only_what_was_never_sent_is_merged() {
        let mut outbox = Outbox::new(1);
        for second in 0..200 {
            outbox.push(told(0, second));
            if second == 40 {
                assert_eq!(sent(&mut outbox).len(), WINDOW);
            }
        }
        assert_eq!(outbox.kept(), UNACKED_MAX);
        assert!(outbox.resume(&[5]));
        let (mut next, mut done) = (6, 0);
        while outbox.kept() > 0 {
            let all: Vec<Told> = std::iter::from_fn(|| outbox.next_to_send()).collect();
            for told in all {
                assert_eq!(told.first, next);
                assert!(told.first > WINDOW as u64 || told.first == told.last, "it was sent before");
                assert_eq!(told.to_ns, told.last * 1_000_000_000);
                next = told.last + 1;
                done += told.interval().unwrap().tally.done;
                assert!(outbox.ack(0, told.last));
            }
        }
        assert_eq!((next, done), (201, (5..200).sum()));
    }
}
