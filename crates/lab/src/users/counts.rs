//! How many users there are.

use scenario::Crowd;

/// How many users there are and were.
#[derive(Debug, Clone)]
pub struct Counts {
    active: Vec<u32>,
    started: u32,
    finished: u32,
}

impl Counts {
    pub(super) fn new(groups: usize) -> Self {
        Self { active: vec![0; groups], started: 0, finished: 0 }
    }

    pub(super) fn started(&mut self, group: usize) {
        self.active[group] += 1;
        self.started += 1;
    }

    pub(super) fn ended(&mut self, group: usize) {
        self.active[group] -= 1;
        self.finished += 1;
    }

    pub(super) fn of(&self, group: usize) -> Crowd {
        let in_all = self.started - self.finished;
        Crowd { group, in_group: self.active[group], in_all, started: self.started, finished: self.finished }
    }

    /// Users who came.
    pub fn all(&self) -> u32 {
        self.started
    }
}
