//! The books of a load that several machines carry: what each told becomes one result, and what one took with it is
//! counted.
//!
//! In the open model everything is merged as it comes: what was due in the share of an agent that fell silent follows from
//! the schedule, and what was not told of that is *lost*. In the closed model what was due follows from the server, so the
//! window ends where the first of the lost agents was last heard of; until all have told of an instant, what others tell of
//! it is held back.

mod result;

use std::num::NonZeroU32;

use agent::{End, Lost, ToConductor};
use events::Moment;
use plan::LoadPlan;
use stats::{Distribution, Interval, RateSample};
use units::{Duration, Instant};

use super::is_closed;
use crate::books::{Books, Log};

/// What one load thread of an agent did, from and to so long after the begin.
pub(super) struct Part {
    pub(super) agent: usize,
    pub(super) thread: u32,
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) interval: Box<Interval>,
    pub(super) rates: Vec<RateSample>,
}

/// What is kept of one agent.
#[derive(Default)]
pub(super) struct AgentBooks {
    pub(super) name: String,
    node: String,
    cores: u32,
    io: String,
    refused: Option<String>,
    /// By load thread, up to when it told what it did.
    told_to: Vec<Duration>,
    intended: u64,
    generator_lag: Distribution,
    /// Of its last interval.
    pub(super) last_lag_p99: Option<Duration>,
    end: Option<End>,
    lost: Option<Lost>,
}

impl AgentBooks {
    fn threads(&self) -> NonZeroU32 {
        NonZeroU32::new(self.told_to.len() as u32).unwrap_or(NonZeroU32::MIN)
    }

    /// Up to when all of its threads have told, and whether more may come.
    fn told_to(&self) -> Duration {
        self.told_to.iter().copied().min().unwrap_or(Duration::ZERO)
    }

    fn is_open(&self) -> bool {
        self.end.is_none() && self.lost.is_none()
    }
}

pub(super) struct SharedBooks<'a> {
    plan: &'a LoadPlan,
    begin: Instant,
    whole: Books,
    agents: Vec<AgentBooks>,
    /// What not all have told of yet, in the closed model. The load is stopped once an agent is lost, and one is lost that
    /// is silent for ten seconds: so many seconds are held at most.
    held: Vec<Part>,
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
            cut: None,
        }
    }

    pub(super) fn is_closed_model(&self) -> bool {
        is_closed(self.plan)
    }

    pub(super) fn agents(&self) -> impl Iterator<Item = &AgentBooks> {
        self.agents.iter()
    }

    /// The load begins.
    pub(super) fn begin(&mut self, at: Instant) {
        self.begin = at;
    }

    /// Takes in what an agent says of itself.
    pub(super) fn hear(&mut self, agent: usize, message: &ToConductor) {
        let books = &mut self.agents[agent];
        match message {
            ToConductor::Hello(hello) => {
                books.node.clone_from(&hello.node);
                books.cores = hello.cores;
            }
            ToConductor::Ready { threads, io, refused } if books.told_to.is_empty() => {
                books.told_to = vec![Duration::ZERO; (*threads).min(plan::THREADS_MAX) as usize];
                books.io.clone_from(io);
                books.refused.clone_from(refused);
            }
            _ => {}
        }
    }

    pub(super) fn take(&mut self, part: Part, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        let books = &mut self.agents[part.agent];
        let lag = part.interval.times.generator_lag();
        books.generator_lag.merge(&lag);
        books.last_lag_p99 = lag.quantile(0.99).map(|it| it.value);
        if let Some(told_to) = books.told_to.get_mut(part.thread as usize) {
            *told_to = part.to;
        }
        books.intended += part.interval.tally.intended;
        if self.is_closed_model() {
            self.held.push(part);
            self.release(log, observe);
        } else {
            self.merge(&part, log, observe);
        }
    }

    pub(super) fn ended(
        &mut self,
        agent: usize,
        end: End,
        log: Log<'_>,
        observe: &mut dyn FnMut(Moment<'_>),
    ) {
        self.agents[agent].end = Some(end);
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

    /// Merges what is held back of a time that all have told of, and drops what is behind the end of the window.
    fn release(&mut self, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        let open = self.agents.iter().filter(|it| it.is_open()).map(AgentBooks::told_to);
        let told_to = open.chain(self.cut).min().unwrap_or(Duration::MAX);
        let held = std::mem::take(&mut self.held);
        let (told, held): (Vec<Part>, Vec<Part>) = held.into_iter().partition(|part| part.to <= told_to);
        for part in told {
            self.merge(&part, log, observe);
        }
        let cut = self.cut.unwrap_or(Duration::MAX);
        self.held = held.into_iter().filter(|part| part.to <= cut).collect();
    }

    fn merge(&mut self, part: &Part, log: Log<'_>, observe: &mut dyn FnMut(Moment<'_>)) {
        let start = part.from.saturating_sub(self.plan.warm_up);
        let length = part.to.saturating_sub(part.from);
        let number = part.agent + self.agents.len() * part.thread as usize;
        log(number as u32, start, length, &part.interval.times.response);
        self.whole.add(start, length, &part.interval);
        observe(Moment::Interval { from: start, interval: &part.interval, length, rates: &part.rates });
    }
}

#[cfg(test)]
mod tests;
