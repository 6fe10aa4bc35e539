//! What a load on several machines came to: one result, and how each machine was.

use std::num::NonZeroU32;

use agent::{Bounds, Conductor, End, ThreadTotals, planned};
use driver::{Finished, Incidents};
use engine::{Counters, GoAways, Share, Window, WrongAnswer};
use record::{AgentLost, AgentResult, LoadResult, told_quantile};
use stack::Cpus;
use units::Duration;

use super::{AgentBooks, SharedBooks};
use crate::agents::{Asked, Secured, threads_of};
use crate::books::{ThreadEnd, result};
use crate::crew::Carried;
use crate::job::Job;

impl SharedBooks<'_> {
    /// What it all came to.
    pub(in crate::agents) fn result(
        mut self,
        asked: &Asked<'_>,
        conductor: &Conductor,
        interrupted: bool,
    ) -> LoadResult {
        let interrupted = self.was_interrupted(interrupted);
        let stopped = conductor.stopped_at().filter(|_| interrupted);
        let threads = self.thread_ends(stopped.map(|at| at.since(self.begin)));
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
            socket: None,
            tls: asked.tls.map(Secured::peers),
            interval_log: None,
            keep: None,
        };
        let whole = result(&job, &self.carried(), &self.whole, &threads, interrupted);
        let agents = self.agents.iter().zip(lost).enumerate().map(|(agent, (books, lost))| {
            let bounds = conductor.bounds_at_begin(agent);
            let result = self.agent_result(agent, books, bounds, lost);
            AgentResult { clock_jumped: books.clock_jumped || conductor.clock(agent).jumped(), ..result }
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

    /// Whether the load was ended before its time, where somebody `asked` for that or not: all agents may have been through with it
    /// by then.
    pub(super) fn was_interrupted(&self, asked: bool) -> bool {
        let is_whole = |it: &AgentBooks| it.end.as_ref().is_some_and(|end| !end.interrupted);
        asked && !self.agents.iter().all(is_whole) || self.agents.iter().any(|it| it.by_itself)
    }

    /// What the threads told at their ends, on the conductor's clock. In place of those of a lost agent stands one that tells
    /// of nothing but the window; `stopped` after the begin the load was ended before its time.
    pub(super) fn thread_ends(&self, stopped: Option<Duration>) -> Vec<ThreadEnd> {
        let ends = || self.agents.iter().filter_map(|it| it.end.as_ref());
        let others_end_ns = ends().flat_map(|it| &it.threads).map(|it| it.window_end_ns).max();
        let lost = self.agents.iter().filter(|it| it.end.is_none());
        let lost = lost.map(|books| self.thread_end(&self.window_alone(books, others_end_ns, stopped)));
        ends().flat_map(|end| self.thread_ends_of(end)).chain(lost).collect()
    }

    /// What became of an agent's handshakes is told by its first thread.
    fn thread_ends_of(&self, end: &End) -> Vec<ThreadEnd> {
        let mut handshakes = end.handshakes.as_ref().and_then(|it| it.report());
        let of_thread = |it: &ThreadTotals| {
            let ThreadEnd { cpus, exchanges, part } = self.thread_end(it);
            let part = Finished { tls: handshakes.take(), interrupted: end.interrupted, ..part };
            ThreadEnd { cpus, exchanges, part }
        };
        end.threads.iter().map(of_thread).collect()
    }

    /// The window that a lost agent would have told of. It is that of the load, which ends for all at once: when so many requests
    /// are made, when somebody interrupts it, or when its time is over.
    fn window_alone(
        &self,
        books: &AgentBooks,
        others_end_ns: Option<u64>,
        stopped: Option<Duration>,
    ) -> ThreadTotals {
        let start = self.plan.warm_up;
        let planned = stopped.unwrap_or(Duration::MAX).min(start + self.plan.stop.duration);
        let lost_at = books.lost.as_ref().map_or(Duration::ZERO, |it| it.told_to);
        let alone = if planned == Duration::MAX { lost_at } else { planned };
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
            part: Finished {
                sink: (),
                counters: Counters {
                    intended: told.intended,
                    connections_opened: told.connections_opened,
                    connections_opened_in_window: told.connections_opened_in_window,
                    opening_failures: told.opening_failures,
                    connections_closed_by_server: told.closed_by_server,
                    go_aways: GoAways::of(told.go_aways),
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
                first_wrong_answer: told.first_wrong_answer.clone().map(|(status, body_start)| WrongAnswer {
                    at: at(told.first_wrong_at_ns),
                    status,
                    body_start,
                }),
                kept_answers: Vec::new(),
                window,
                interrupted: false,
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
            },
        }
    }

    /// Requests that are lost with an agent.
    pub(super) fn lost_by(&self, agent: usize, threads: &[ThreadEnd], interrupted: bool) -> u64 {
        let books = &self.agents[agent];
        if books.lost.is_none() {
            return 0;
        }
        let share = self.share(agent);
        // Where the load was ended before its time, nothing was due after that.
        let ends = threads.iter().map(|it| it.part.window.end.since(self.begin));
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
        let mut ios: Vec<&str> = self.agents.iter().map(|it| it.joined.ready.io.as_str()).collect();
        ios.sort_unstable();
        ios.dedup();
        let threads: u32 = self.agents.iter().map(|it| it.seen.len() as u32).sum();
        Carried {
            threads,
            threads_why: Some(where_threads_are(threads_of(self.plan), self.agents.len())),
            io: ios.join(", "),
            refused: self.agents.iter().find_map(|it| it.joined.ready.refused.clone()),
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
        let lag_p99 = told_quantile(&books.generator_lag, 0.99);
        AgentResult {
            name: books.name.clone(),
            node: books.joined.hello.node.clone(),
            cores: books.joined.hello.cores,
            threads: books.seen.len() as u32,
            io: books.joined.ready.io.clone(),
            connections: self.share(agent).part_of(self.plan.connections.get().into()) as u32,
            intended: books.merged,
            busy_share: ends.map(|all| all.iter().map(busy).fold(0.0, f64::max)),
            throttled_s: throttled.map(Duration::as_secs_f64),
            generator_lag_p99_us: lag_p99.map(|it| it.value.as_micros_f64()),
            begin_late_us: ends
                .and_then(|all| all.iter().map(|it| it.late_ns).max())
                .map(|ns| ns as f64 / 1e3),
            clock_bound_us: bounds.map_or(0.0, |it| it.half().as_micros_f64()),
            clock_jumped: false,
            ended_early_s: self.ended_early(books).map(Duration::as_secs_f64),
            lost: books.lost.as_ref().map(|it| AgentLost {
                told_to_s: it.told_to.saturating_sub(self.plan.warm_up).as_secs_f64(),
                why: it.why.clone(),
                requests: lost,
            }),
        }
    }

    /// How much of the window an agent had loaded that ended its load by itself.
    pub(super) fn ended_early(&self, books: &AgentBooks) -> Option<Duration> {
        let end = books.end.as_ref().filter(|_| books.by_itself)?;
        let window_end_ns = end.threads.iter().map(|it| it.window_end_ns).max()?;
        Some(Duration::from_nanos(window_end_ns).saturating_sub(self.plan.warm_up))
    }
}

/// Where the load threads are, of which each of so many machines has as many as `each` at most. A machine with little to do has
/// fewer, and never none.
fn where_threads_are(each: NonZeroU32, machines: usize) -> String {
    match (each.get(), machines) {
        (_, 1) => "all on one machine".into(),
        (1, _) => format!("one on each of {machines} machines"),
        (_, _) => format!("up to {each} on each of {machines} machines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_threads_are_is_said_of_one_and_of_several() {
        let said = |each, machines| where_threads_are(NonZeroU32::new(each).unwrap(), machines);
        assert_eq!(said(1, 1), "all on one machine");
        assert_eq!(said(4, 1), "all on one machine");
        assert_eq!(said(1, 3), "one on each of 3 machines");
        assert_eq!(said(4, 3), "up to 4 on each of 3 machines");
    }
}
