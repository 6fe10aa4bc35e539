//! Virtual time for servers that are made for one test.

use std::collections::BTreeMap;

use units::{Duration, Instant};

/// A clock for which nobody waits, and what will happen when: of what happens at one instant, what was put down first.
pub struct Agenda<T> {
    now: Instant,
    put_down: u64,
    pending: BTreeMap<(Instant, u64), T>,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self { now: Instant::ORIGIN, put_down: 0, pending: BTreeMap::new() }
    }
}

impl<T> Agenda<T> {
    pub fn now(&self) -> Instant {
        self.now
    }

    pub fn later(&mut self, after: Duration, what: T) {
        self.put_down += 1;
        self.pending.insert((self.now + after, self.put_down), what);
    }

    /// Lets time pass until something happens or `until` has come.
    pub fn pass(&mut self, until: Option<Instant>) {
        let next = self.pending.first_key_value().map(|((at, _), _)| *at);
        let to = [next, until].into_iter().flatten().min().expect("the engine waits for nothing");
        self.now = self.now.max(to);
    }

    /// The next thing that has happened.
    pub fn due(&mut self) -> Option<T> {
        let first = self.pending.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        Some(first.remove())
    }
}
