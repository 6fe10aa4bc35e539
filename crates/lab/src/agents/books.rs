//! The books of a load that several machines carry: what each told becomes one result, and what one took with it is
//! counted.
//!
//! In the open model everything is merged as it comes: what was due in the share of an agent that fell silent follows from
//! the schedule, and what was not told of that is *lost*. In the closed model what was due follows from the server, so the
//! window ends where the first of the lost agents was last heard of; until all have told of an instant, what others tell of
//! it is held back.

use std::num::NonZeroU32;

use agent::{Bounds, Conductor, End, Lost, ThreadTotals, ToConductor, planned};
use driver::Incidents;
use engine::{Counters, Share, Window, WrongAnswer};
use events::Moment;
use plan::LoadPlan;
use record::{AgentLost, AgentResult, LoadResult};
use stack::Cpus;
use stats::{Distribution, Interval, RateSample};
use units::{Duration, Instant};

use super::{Asked, is_closed, threads_of};
use crate::books::{Books, Log, ThreadEnd, result};
use crate::crew::Carried;
use crate::job::Job;

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

    /// What it all came to.
    pub(super) fn result(
        mut self,
        asked: &Asked<'_>,
        conductor: &Conductor,
        interrupted: bool,
    ) -> LoadResult {
        let threads = self.thread_ends();
        let lost: Vec<u64> =
            (0..self.agents.len()).map(|agent| self.lost_by(agent, &threads, interrupted)).collect();
        for count in &lost {
            self.whole.whole.record_lost(*count);
        }
        let job = Job {
            url: asked.url,
            targets: &[],
            request: asked.request,
            expect: asked.expect,
            plan: asked.plan,
            tls: None,
            interval_log: None,
        };
        let whole = result(&job, &self.carried(), &self.whole, &threads, interrupted);
        let agents = self.agents.iter().zip(lost).enumerate().map(|(agent, (books, lost))| {
            let bounds = conductor.bounds_at_begin(agent);
            let result = self.agent_result(agent, books, bounds, lost);
            AgentResult { clock_jumped: conductor.clock(agent).jumped(), ..result }
        });
        let agents: Vec<AgentResult> = agents.collect();
        let is_any_lost = agents.iter().any(|it| it.lost.is_some());
        LoadResult {
            agents,
            // How many users there were is not known where some fell silent.
            littles_law: whole.littles_law.filter(|_| !is_any_lost),
            ..whole
        }
    }

    /// What the threads told at their ends, on the conductor's clock. In place of those of a lost agent stands one that tells
    /// of nothing but the window.
    fn thread_ends(&self) -> Vec<ThreadEnd> {
        let told: Vec<&ThreadTotals> =
            self.agents.iter().filter_map(|it| it.end.as_ref()).flat_map(|it| &it.threads).collect();
        let others_end_ns = told.iter().map(|it| it.window_end_ns).max();
        let lost = self.agents.iter().filter(|it| it.end.is_none());
        let lost = lost.map(|books| self.thread_end(&self.window_alone(books, others_end_ns)));
        told.iter().map(|it| self.thread_end(it)).chain(lost).collect()
    }

    /// The window that a lost agent would have told of. It is that of the load, which ends for all at once: when so many requests
    /// are made, when somebody interrupts it, or when its time is over.
    fn window_alone(&self, books: &AgentBooks, others_end_ns: Option<u64>) -> ThreadTotals {
        let start = self.plan.warm_up;
        let planned = start + self.plan.stop.duration;
        let alone = if planned == Duration::MAX { books.told_to() } else { planned };
        ThreadTotals {
            window_start_ns: start.as_nanos(),
            window_end_ns: others_end_ns.unwrap_or(alone.as_nanos()).max(start.as_nanos()),
            ..ThreadTotals::default()
        }
    }

    fn thread_end(&self, told: &ThreadTotals) -> ThreadEnd {
        let cut_ns = self.cut.unwrap_or(Duration::MAX).as_nanos();
        let at = |ns: u64| self.begin + Duration::from_nanos(ns.min(cut_ns));
        let window = Window { start: at(told.window_start_ns), end: at(told.window_end_ns) };
        ThreadEnd {
            cpus: Cpus::default(),
            exchanges: told.exchanges,
            counters: Counters {
                intended: told.intended,
                connections_opened: told.connections_opened,
                connections_opened_in_window: told.connections_opened_in_window,
                opening_failures: told.opening_failures,
                connections_closed_by_server: told.closed_by_server,
                unsolicited: told.unsolicited,
                resent: told.resent,
                stream_waits: told.stream_waits,
                stream_wait: Duration::from_nanos(told.stream_wait_ns),
                stream_wait_max: Duration::from_nanos(told.stream_wait_max_ns),
                window_waits: told.window_waits,
                window_wait: Duration::from_nanos(told.window_wait_ns),
                backlog_overflow: told.backlog_overflow,
                backlog_peak: told.backlog_peak,
            },
            first_wrong_answer: told
                .first_wrong_answer
                .clone()
                .map(|(status, body_start)| WrongAnswer { status, body_start }),
            window,
            usage: driver::Usage {
                cpu: Duration::from_nanos(told.cpu_ns),
                wall: Duration::from_nanos(told.wall_ns),
                late: Duration::from_nanos(told.late_ns),
            },
            incidents: Incidents {
                no_buffer: told.no_buffer,
                completions_held_back: told.completions_held_back,
            },
            tls: None,
        }
    }

    /// Requests that are lost with an agent.
    fn lost_by(&self, agent: usize, threads: &[ThreadEnd], interrupted: bool) -> u64 {
        let books = &self.agents[agent];
        if books.lost.is_none() {
            return 0;
        }
        let share = self.share(agent);
        // Where the load was ended before its time, nothing was due after that.
        let ends = threads.iter().map(|it| it.window.end.since(self.begin));
        let until = if interrupted { ends.min() } else { None };
        match planned(self.plan, share, books.threads(), until) {
            Some(planned) => planned.saturating_sub(books.intended),
            // Each of its users may have waited for an answer when the window ended.
            None => share.part_of(self.plan.exchanges().into()),
        }
    }

    fn share(&self, agent: usize) -> Share {
        let of = NonZeroU32::new(self.agents.len() as u32).unwrap_or(NonZeroU32::MIN);
        Share { index: agent as u32, of }
    }

    fn carried(&self) -> Carried {
        let mut ios: Vec<&str> = self.agents.iter().map(|it| it.io.as_str()).collect();
        ios.sort_unstable();
        ios.dedup();
        let threads: u32 = self.agents.iter().map(|it| it.told_to.len() as u32).sum();
        Carried {
            threads,
            threads_why: Some(format!(
                "up to {} on each of {} machines",
                threads_of(self.plan),
                self.agents.len()
            )),
            io: ios.join(", "),
            refused: self.agents.iter().find_map(|it| it.refused.clone()),
        }
    }

    fn agent_result(
        &self,
        agent: usize,
        books: &AgentBooks,
        bounds: Option<Bounds>,
        lost: u64,
    ) -> AgentResult {
        let ends = books.end.as_ref().map(|end| &end.threads);
        let busy =
            |it: &ThreadTotals| if it.wall_ns == 0 { 0.0 } else { it.cpu_ns as f64 / it.wall_ns as f64 };
        let throttled = books.end.as_ref().and_then(|end| end.throttled_ns).map(Duration::from_nanos);
        let lag_p99 = books.generator_lag.quantile(0.99);
        AgentResult {
            name: books.name.clone(),
            node: books.node.clone(),
            cores: books.cores,
            threads: books.told_to.len() as u32,
            io: books.io.clone(),
            connections: self.share(agent).part_of(self.plan.connections.get().into()) as u32,
            intended: books.intended,
            busy_share: ends.map(|all| all.iter().map(busy).fold(0.0, f64::max)),
            throttled_s: throttled.map(Duration::as_secs_f64),
            generator_lag_p99_us: lag_p99.map(|it| it.value.as_micros_f64()),
            begin_late_us: ends
                .and_then(|all| all.iter().map(|it| it.late_ns).max())
                .map(|ns| ns as f64 / 1e3),
            clock_bound_us: bounds.map_or(0.0, |it| it.half().as_micros_f64()),
            clock_jumped: false,
            lost: books.lost.as_ref().map(|it| AgentLost {
                told_to_s: it.told_to.saturating_sub(self.plan.warm_up).as_secs_f64(),
                why: it.why.clone(),
                requests: lost,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::LoadArguments;
    use units::Rate;

    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|it| format!("h{it}")).collect()
    }

    fn second(agent: usize, number: u64) -> Part {
        let mut interval = Interval::default();
        interval.tally.done = 1;
        let at = Duration::from_secs(number);
        let to = at + Duration::from_secs(1);
        Part { agent, thread: 0, from: at, to, interval: Box::new(interval), rates: Vec::new() }
    }

    fn books(plan: &LoadPlan, agents: usize) -> SharedBooks<'_> {
        let mut books = SharedBooks::new(plan, names(agents));
        for agent in 0..agents {
            let ready = ToConductor::Ready { threads: 1, io: "epoll".into(), refused: None };
            books.hear(agent, &ready);
        }
        books
    }

    fn take(books: &mut SharedBooks<'_>, agent: usize, number: u64) -> u64 {
        books.take(second(agent, number), &mut |_, _, _, _| {}, &mut |_| {});
        books.whole.whole.tally.done
    }

    fn lose(books: &mut SharedBooks<'_>, agent: usize) {
        let told_to = books.agents[agent].told_to();
        let lost = Lost { agent, told_to, why: "ended".into() };
        books.lost(lost, &mut |_, _, _, _| {}, &mut |_| {});
    }

    #[test]
    fn of_users_nothing_is_merged_of_a_time_that_not_all_have_told_of() {
        let plan = LoadPlan::new(&LoadArguments::default()).unwrap();
        let mut books = books(&plan, 3);
        let merged = [(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (2, 1), (1, 2)]
            .map(|(agent, number)| take(&mut books, agent, number));
        assert_eq!(merged, [0, 0, 0, 3, 3, 3, 6, 6]);
        // The third told of two seconds: what the others did in the third is compared with nothing.
        lose(&mut books, 2);
        assert_eq!((books.whole.whole.tally.done, books.cut), (6, Some(Duration::from_secs(2))));
        assert_eq!(take(&mut books, 0, 3), 6);
        assert!(books.held.is_empty());
        // Another that is lost later, and told of more, changes nothing.
        lose(&mut books, 1);
        assert_eq!(books.cut, Some(Duration::from_secs(2)));
    }

    #[test]
    fn of_a_rate_everything_is_merged_as_it_comes() {
        let rate = Rate::per_sec(10.0);
        let plan = LoadPlan::new(&LoadArguments { rate, ..LoadArguments::default() }).unwrap();
        let mut books = books(&plan, 2);
        assert_eq!(
            [(0, 0), (0, 1), (1, 0)].map(|(agent, number)| take(&mut books, agent, number)),
            [1, 2, 3]
        );
        lose(&mut books, 0);
        assert_eq!(take(&mut books, 1, 1), 4);
        assert_eq!(books.lost_by(0, &[], false) + books.lost_by(1, &[], false), 50, "half of ten seconds");
    }

    /// Ten requests a second on two machines, one of which falls silent after a second; the load is ended after four.
    #[test]
    fn the_window_of_a_lost_agent_ends_where_those_of_the_others_do() {
        let rate = Rate::per_sec(10.0);
        let plan = LoadPlan::new(&LoadArguments { rate, ..LoadArguments::default() }).unwrap();
        let mut books = books(&plan, 2);
        take(&mut books, 1, 0);
        lose(&mut books, 1);
        let window_end_ns = Duration::from_secs(4).as_nanos();
        let threads = vec![ThreadTotals { window_end_ns, ..ThreadTotals::default() }];
        let end = End { last: vec![4], intended: 20, threads, interrupted: true, throttled_ns: None };
        books.ended(0, end, &mut |_, _, _, _| {}, &mut |_| {});
        let ends = books.thread_ends();
        let of_window = |it: &ThreadEnd| it.window.end.since(Instant::ORIGIN);
        assert_eq!(ends.iter().map(of_window).collect::<Vec<_>>(), [Duration::from_secs(4); 2]);
        assert_eq!(books.lost_by(1, &ends, true), 20, "half of four seconds");
    }
}
