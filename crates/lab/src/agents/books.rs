//! The books of a load that several machines carry: what each told becomes one result, and what one took with it is
//! counted.
//!
//! In the open model everything is merged as it comes: what was due in the share of an agent that fell silent follows from
//! the schedule, and what was not told of that is *lost*. In the closed model what was due follows from the server, so the
//! window ends where the first of the lost agents was last heard of; until all have told of an instant, what others tell of
//! it is held back.

mod result;

use std::num::NonZeroU32;

use agent::{Booked, End, Joined, Lost, Seen, Told};
use events::Moment;
use plan::LoadPlan;
use record::told_quantile;
use stats::{Distribution, Interval, Quantile};
use units::{Duration, Instant};

use super::is_closed;
use crate::books::{Books, Log};

/// Memory of what is held back until all have told of the same time: some ten seconds of a thousand load threads.
const HELD_BYTES_MAX: usize = 256 << 20;

/// What is kept of one agent.
#[derive(Default)]
pub(super) struct AgentBooks {
    pub(super) name: String,
    joined: Joined,
    /// By load thread, what it told.
    seen: Vec<Seen>,
    /// Requests intended in all that it told.
    intended: u64,
    /// Of these, those that are in the result: what is behind the end of the window is in none.
    merged: u64,
    /// Of the same.
    generator_lag: Distribution,
    /// Of its last interval; of few requests it is no more than a bound from below.
    pub(super) last_lag_p99: Option<Quantile>,
    end: Option<End>,
    /// Whether that was before its time, and nobody had told it to.
    by_itself: bool,
    /// Whether its clock went otherwise than a clock may while the load ran.
    clock_jumped: bool,
    lost: Option<Lost>,
}

impl AgentBooks {
    fn threads(&self) -> NonZeroU32 {
        NonZeroU32::new(self.seen.len() as u32).unwrap_or(NonZeroU32::MIN)
    }

    /// Up to when all of its threads have told. One that has ended has nothing more to tell.
    fn told_to(&self) -> Duration {
        if self.seen.is_empty() {
            return Duration::ZERO;
        }
        let going_on = self.seen.iter().filter(|it| !it.ended);
        going_on.map(|it| it.told_to).min().unwrap_or(Duration::MAX)
    }

    /// Whether more may come.
    fn is_open(&self) -> bool {
        self.end.is_none() && self.lost.is_none()
    }
}

/// What one agent told, held back as it came: that takes a tenth of the memory of what is made of it.
struct Held {
    agent: usize,
    told: Box<Told>,
}

pub(super) struct SharedBooks<'a> {
    plan: &'a LoadPlan,
    begin: Instant,
    whole: Books,
    agents: Vec<AgentBooks>,
    /// What not all have told of yet, in the closed model: of as long as one is behind the others. It is lost once it is silent
    /// for ten seconds, once it tells nothing for twenty, and once what is held takes more than [`HELD_BYTES_MAX`].
    held: Vec<Held>,
    held_bytes: usize,
    /// What is released is read into its memory.
    spare: Option<Box<Interval>>,
    /// The generator's lag in an interval, likewise.
    lag: Distribution,
    /// Where the window ends since an agent is lost, from the begin on, in the closed model.
    cut: Option<Duration>,
}

impl<'a> SharedBooks<'a> {
    pub(super) fn new(plan: &'a LoadPlan, names: Vec<String>) -> Self {
        let named = |name: String| AgentBooks { name, ..AgentBooks::default() };
        Self {
            plan,
            begin: Instant::ORIGIN,
            whole: Books::default(),
            agents: names.into_iter().map(named).collect(),
            held: Vec::new(),
            held_bytes: 0,
            spare: None,
            lag: Distribution::default(),
            cut: None,
        }
    }

    pub(super) fn is_closed_model(&self) -> bool {
        is_closed(self.plan)
    }

    pub(super) fn agents(&self) -> impl ExactSizeIterator<Item = &AgentBooks> {
        self.agents.iter()
    }

    /// The load begins, on these machines.
    pub(super) fn begin(&mut self, at: Instant, agents: Vec<Joined>) {
        self.begin = at;
        for (books, joined) in self.agents.iter_mut().zip(agents) {
            books.seen = vec![Seen::default(); joined.ready.threads as usize];
            books.joined = joined;
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begin > Instant::ORIGIN
    }

    /// Those of the whole load.
    pub(super) fn connections(&self) -> u64 {
        self.plan.connections.get().into()
    }

    pub(super) fn take(
        &mut self,
        agent: usize,
        told: Box<Told>,
        interval: &Interval,
        log: Log<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) {
        self.lag.clear();
        interval.times.add_generator_lag_to(&mut self.lag);
        let books = &mut self.agents[agent];
        // A second of one thread often has too few requests to know it; the longest of ten is no 99th percentile.
        books.last_lag_p99 = told_quantile(&self.lag, 0.99);
        if let Some(seen) = books.seen.get_mut(told.thread as usize) {
            *seen = Seen { last: told.last, told_to: told.to(), ended: told.ends };
        }
        books.intended += interval.tally.intended;
        if self.is_closed_model() {
            self.held_bytes += told.memory_bytes();
            self.held.push(Held { agent, told });
            self.release(log, observe);
        } else {
            self.merge(agent, &told, interval, log, observe);
        }
    }

    /// The agent that keeps more from being merged than can be held.
    pub(super) fn too_far_behind(&self) -> Option<usize> {
        let open = || self.agents.iter().enumerate().filter(|(_, it)| it.is_open());
        let last = open().min_by_key(|(_, it)| it.told_to()).map(|(agent, _)| agent);
        last.filter(|_| self.held_bytes > HELD_BYTES_MAX)
    }

    pub(super) fn ended(
        &mut self,
        agent: usize,
        end: End,
        by_itself: bool,
        log: Log<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) {
        let books = &mut self.agents[agent];
        (books.end, books.by_itself) = (Some(end), by_itself);
        self.release(log, observe);
    }

    pub(super) fn lost(&mut self, lost: Lost, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        if self.is_closed_model() {
            self.cut = Some(self.cut.map_or(lost.told_to, |cut| cut.min(lost.told_to)));
        }
        let agent = lost.agent;
        self.agents[agent].lost = Some(lost);
        self.release(log, observe);
    }

    /// An agent's clock went otherwise than a clock may. Whether that is news.
    pub(super) fn clock_jumped(&mut self, agent: usize) -> bool {
        !std::mem::replace(&mut self.agents[agent].clock_jumped, true)
    }

    /// What is in them, for a conductor that takes over.
    pub(super) fn booked(&self) -> Vec<Booked> {
        let of = |it: &AgentBooks| Booked {
            seen: it.seen.clone(),
            intended: it.intended,
            done: !it.is_open(),
            bounds: it.joined.bounds,
        };
        self.agents.iter().map(of).collect()
    }

    /// Merges what is held back of a time that all have told of, and drops what is behind the end of the window.
    fn release(&mut self, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        let open = self.agents.iter().filter(|it| it.is_open()).map(AgentBooks::told_to);
        let told_to = open.chain(self.cut).min().unwrap_or(Duration::MAX);
        let held = std::mem::take(&mut self.held);
        let (released, held): (Vec<Held>, Vec<Held>) =
            held.into_iter().partition(|it| it.told.to() <= told_to);
        let mut interval = self.spare.take().unwrap_or_default();
        for Held { agent, told } in released {
            // It was one when it came.
            if told.read(&mut interval).is_ok() {
                self.merge(agent, &told, &interval, log, observe);
            }
        }
        self.spare = Some(interval);
        let cut = self.cut.unwrap_or(Duration::MAX);
        self.held = held.into_iter().filter(|it| it.told.to() <= cut).collect();
        self.held_bytes = self.held.iter().map(|it| it.told.memory_bytes()).sum();
    }

    fn merge(
        &mut self,
        agent: usize,
        told: &Told,
        interval: &Interval,
        log: Log<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) {
        let start = told.from().saturating_sub(self.plan.warm_up);
        let length = told.to().saturating_sub(told.from());
        let number = agent + self.agents.len() * told.thread as usize;
        log(number as u32, start, length, &interval.times.response);
        self.whole.add(start, length, interval);
        let books = &mut self.agents[agent];
        books.merged += interval.tally.intended;
        interval.times.add_generator_lag_to(&mut books.generator_lag);
        let (rates, threads) = (told.rates(), self.others_going_on(agent, told.thread) + 1);
        observe(Moment::Interval { from: start, interval, length, rates: &rates, threads });
    }

    /// Load threads that have more to tell, this one of this agent left out.
    fn others_going_on(&self, agent: usize, thread: u32) -> u32 {
        let open = self.agents.iter().enumerate().filter(|(_, it)| it.is_open());
        let of = |(number, it): (usize, &AgentBooks)| {
            let others =
                it.seen.iter().enumerate().filter(|(other, _)| (number, *other as u32) != (agent, thread));
            others.filter(|(_, seen)| !seen.ended).count() as u32
        };
        open.map(of).sum()
    }
}

#[cfg(test)]
mod tests;
