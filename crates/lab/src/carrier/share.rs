//! The load of an agent: one share, on threads of its own.

use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use agent::{Assign, Handshakes, ThreadTotals, Told};
use driver::{Control, Finished, Gate, monotonic_now};
use plan::{LoadPlan, Threads};
use tls::Report;
use units::{Duration, Instant};

use crate::books::ThreadEnd;
use crate::carry::{Work, enough_files, on_threads, works};
use crate::crew::Crew;
use crate::feed::{Filled, Return};
use crate::job::Job;
use crate::load::resolve;
use crate::pilot::backend;
use crate::secured::secure_host;

/// How often it is looked whether all connections are open.
const LOOK: StdDuration = StdDuration::from_millis(5);

/// What a load tells of itself.
pub(super) enum Carried {
    /// Its connections are open, and it waits for the begin.
    Ready { threads: u32, io: &'static str, refused: Option<String> },
    /// What one of its threads did, and how many requests of that were intended within the window.
    Told(Box<Told>, u64),
    /// It is over.
    Ended {
        threads: Vec<ThreadTotals>,
        interrupted: bool,
        throttled_ns: Option<u64>,
        handshakes: Option<Box<Handshakes>>,
    },
    /// It can't be carried, or not to its end.
    Failed(String),
}

/// A load under way. It ends when this is dropped.
pub(super) struct Load {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    control: Control,
    /// Of its threads, once there are any.
    gate: OnceLock<Gate>,
    begin: OnceLock<Instant>,
}

impl Load {
    /// Opens the connections of what is assigned.
    pub(super) fn prepare(assign: Assign, tell: impl Fn(Carried) + Send + 'static) -> Self {
        let shared = Arc::<Shared>::default();
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || match catch_unwind(AssertUnwindSafe(|| carry(&assign, &shared, &tell))) {
                Ok(Ok(ended)) => tell(ended),
                Ok(Err(why)) => tell(Carried::Failed(why)),
                Err(_) => {
                    tell(Carried::Failed("stopped by a mistake of its own; report it as a bug".to_owned()));
                }
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// Has it begin.
    pub(super) fn begin(&self, at: Instant) {
        let at = *self.shared.begin.get_or_init(|| at);
        if let Some(gate) = self.shared.gate.get() {
            gate.open(at);
        }
    }

    /// Ends it now.
    pub(super) fn stop(&self) {
        self.shared.control.interrupt();
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop();
        // It ends within a turn, unless it still looks for its server.
        if self.shared.gate.get().is_some()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn carry(assign: &Assign, shared: &Shared, tell: &dyn Fn(Carried)) -> Result<Carried, String> {
    let share = assign.share().map_err(|why| why.to_string())?;
    let plan = assign.plan().map_err(|why| why.to_string())?;
    let (request, expect) = assign.request().map_err(|why| why.to_string())?;
    let connections = share.part_of(plan.connections.get().into()) as u32;
    enough_files(connections).map_err(|why| why.to_string())?;
    let targets = resolve(&assign.host, assign.port).map_err(|why| why.to_string())?;
    let peers = match assign.tls().map_err(|why| why.to_string())? {
        Some((host, settings)) => {
            Some(secure_host(host, plan.http, &targets, &settings).map_err(|why| why.to_string())?.0)
        }
        None => None,
    };
    let threads = plan.threads_of(share, wanted(&plan));
    let connections_of_a_thread = connections.div_ceil(threads.get());
    let (backend, refused) = backend(&plan, connections_of_a_thread).map_err(|why| why.to_string())?;
    let crew = Crew { backend, refused, threads, threads_why: None };
    let job = Job {
        url: &assign.url,
        targets: &targets,
        request: &request,
        expect: &expect,
        plan: &plan,
        socket: None,
        tls: peers.as_ref(),
        interval_log: None,
        keep: None,
    };
    let works = works(&job, share, &crew, Vec::new(), &shared.control);
    let works: Vec<Work<'_>> = works.into_iter().map(|work| ends_all(work, &shared.control)).collect();
    let threads = works.len() as u32;
    let gate = shared.gate.get_or_init(|| Gate::held(threads));
    let ready = || Carried::Ready {
        threads,
        io: crew.backend.name(),
        refused: crew.refused.map(|refused| refused.to_string()),
    };
    let mut throttling = Throttling::of(&plan, signals::throttled_s_of_this_process);
    let ends = on_threads(works, Some(gate), Some(&shared.control), |intervals, returns| {
        keep(intervals, returns, shared, gate, tell, &ready, &mut throttling);
    });
    let ends = ends.map_err(|why| why.to_string())?;
    let begin = shared.begin.get().copied().unwrap_or(Instant::ORIGIN);
    Ok(Carried::Ended {
        threads: ends.iter().map(|end| totals(end, begin, plan.warm_up)).collect(),
        interrupted: ends.iter().any(|end| end.part.interrupted),
        throttled_ns: throttling.within_window().map(Duration::as_nanos),
        handshakes: peers.is_some().then(|| Box::new(handshakes(&ends))),
    })
}

/// What became of those of all threads.
fn handshakes(ends: &[ThreadEnd]) -> Handshakes {
    let mut all = Report::default();
    ends.iter().filter_map(|it| it.part.tls.as_ref()).for_each(|it| all.merge(it));
    Handshakes::of(&all)
}

fn wanted(plan: &LoadPlan) -> NonZeroU32 {
    match plan.threads {
        Threads::Fixed(count) => count,
        Threads::Auto => NonZeroU32::MIN,
    }
}

/// The same part of a load, which ends all others if it fails: what they would do without it is another load, and that it
/// failed is to be told at once.
fn ends_all<'a>(work: Work<'a>, control: &'a Control) -> Work<'a> {
    Box::new(move |feed, gate: Option<&Gate>| {
        let ended = catch_unwind(AssertUnwindSafe(|| work(feed, gate)));
        if !matches!(ended, Ok(Ok(_))) {
            control.interrupt();
        }
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// For how long a CPU quota kept us from running within the window of the load.
#[derive(Debug)]
struct Throttling<R> {
    /// When the window begins and ends, from the begin on.
    window: (Duration, Duration),
    /// For how long it did so in all, seconds; `None` where that can't be seen.
    read_s: R,
    is_seen: bool,
    at_start_s: Option<f64>,
    at_end_s: Option<f64>,
}

impl<R: Fn() -> Option<f64>> Throttling<R> {
    fn of(plan: &LoadPlan, read_s: R) -> Self {
        let window = (plan.warm_up, plan.warm_up + plan.stop.duration);
        let is_seen = read_s().is_some();
        Self { window, read_s, is_seen, at_start_s: None, at_end_s: None }
    }

    /// Time passes. It is read once where the window begins, and once where it ends.
    fn look(&mut self, begin: Instant, now: Instant) {
        if !self.is_seen {
            return;
        }
        let (start, end) = self.window;
        if self.at_start_s.is_none() && now >= begin + start {
            self.at_start_s = (self.read_s)();
        }
        if self.at_end_s.is_none() && now >= begin + end {
            self.at_end_s = (self.read_s)();
        }
    }

    /// What it comes to, once the load is over.
    fn within_window(&self) -> Option<Duration> {
        let end_s = self.at_end_s.or_else(&self.read_s)?;
        Some(Duration::from_secs_f64((end_s - self.at_start_s?).max(0.0)))
    }
}

/// Tells that all is ready, and what the threads did, until they have ended.
fn keep(
    intervals: &Receiver<Filled>,
    returns: &[Return],
    shared: &Shared,
    gate: &Gate,
    tell: &dyn Fn(Carried),
    ready: &dyn Fn() -> Carried,
    throttling: &mut Throttling<impl Fn() -> Option<f64>>,
) {
    let mut is_told = false;
    loop {
        if !is_told && gate.is_complete() {
            is_told = true;
            tell(ready());
        }
        if let Some(begin) = shared.begin.get() {
            throttling.look(*begin, monotonic_now());
        }
        match intervals.recv_timeout(LOOK) {
            Ok(Filled { thread, from, to, mut interval, rates, ends }) => {
                // None is made before the begin, but for an empty one of a load that ended at the gate.
                let begin = shared.begin.get().copied().unwrap_or(from);
                let (from, to) = (from.since(begin), to.since(begin));
                let told = Told::new(thread, from, to.max(from), &interval, rates.as_slice()).ending(ends);
                tell(Carried::Told(Box::new(told), interval.tally.intended));
                interval.clear();
                // A thread that has ended takes nothing back.
                let _ = returns[thread as usize].try_send(interval);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// What a thread has to tell at its end, from `begin` on, of a load that warms up for so long.
fn totals(end: &ThreadEnd, begin: Instant, warm_up: Duration) -> ThreadTotals {
    let Finished { counters, first_wrong_answer, window, usage, incidents, .. } = &end.part;
    ThreadTotals {
        exchanges: end.exchanges,
        intended: counters.intended,
        connections_opened: counters.connections_opened,
        connections_opened_in_window: counters.connections_opened_in_window,
        opening_failures: counters.opening_failures,
        closed_by_server: counters.connections_closed_by_server,
        go_aways: counters.go_aways.counts(),
        unsolicited: counters.unsolicited,
        resent: counters.resent,
        stream_waits: counters.stream_waits,
        stream_wait_ns: counters.stream_wait.as_nanos(),
        stream_wait_max_ns: counters.stream_wait_max.as_nanos(),
        window_waits: counters.window_waits,
        window_wait_ns: counters.window_wait.as_nanos(),
        backlog_overflow: counters.backlog_overflow,
        backlog_peak: counters.backlog_peak,
        first_wrong_answer: first_wrong_answer.as_ref().map(|it| (it.status, it.body_start.clone())),
        first_wrong_at_ns: first_wrong_answer.as_ref().map_or(0, |it| it.at.since(begin).as_nanos()),
        // A load that was ended before it began has a window that never opened, and so has a thread that came too late to see
        // it begin.
        window_start_ns: window.start.min(window.end).min(begin + warm_up).since(begin).as_nanos(),
        window_end_ns: window.end.since(begin).as_nanos(),
        cpu_ns: usage.cpu.as_nanos(),
        wall_ns: usage.wall.as_nanos(),
        late_ns: usage.late.as_nanos(),
        no_buffer: incidents.no_buffer,
        completions_held_back: incidents.completions_held_back,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use driver::{Backend, DriveError, Incidents, Usage};
    use engine::{Counters, Window};
    use plan::LoadArguments;
    use stack::Cpus;

    use super::*;

    /// A pod is throttled while it opens its connections, and while it waits for late answers: neither is its load.
    #[test]
    fn a_quota_counts_from_the_begin_of_the_window_to_its_end() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let arguments = LoadArguments { warm_up: ms(500), duration: ms(1000), ..LoadArguments::default() };
        let plan = LoadPlan::new(&arguments).unwrap();
        let throttled_s = Cell::new(3.0);
        let begin = Instant::ORIGIN + Duration::from_secs(9);
        let of = |ends_at_ms: u64| {
            let mut throttling = Throttling::of(&plan, || Some(throttled_s.get()));
            for at_ms in (0..=ends_at_ms).step_by(125) {
                throttled_s.set(3.0 + at_ms as f64 / 1000.0);
                throttling.look(begin, begin + Duration::from_millis(at_ms));
            }
            throttling.within_window().map(Duration::as_secs_f64)
        };
        assert_eq!((of(4000), of(875), of(250)), (Some(1.0), Some(0.375), None));
        let mut unseen = Throttling::of(&plan, || None);
        unseen.look(begin, begin + Duration::from_secs(5));
        assert_eq!(unseen.within_window(), None);
    }

    /// It was held up, and the load was ended meanwhile. What a conductor takes begins where the window of the load does.
    #[test]
    fn a_thread_that_never_saw_the_load_begin_tells_of_the_window_that_was_to_be() {
        let begin = Instant::ORIGIN + Duration::from_secs(9);
        for (warm_up_ms, ended_ms, told_ms) in [(0, 3, (0, 3)), (500, 3, (3, 3)), (500, 700, (500, 700))] {
            let ended = begin + Duration::from_millis(ended_ms);
            let end = ThreadEnd {
                cpus: Cpus::default(),
                exchanges: 1,
                part: Finished {
                    sink: (),
                    counters: Counters::default(),
                    first_wrong_answer: None,
                    kept_answers: Vec::new(),
                    window: Window { start: ended, end: ended },
                    interrupted: true,
                    usage: Usage::default(),
                    incidents: Incidents::default(),
                    tls: None,
                },
            };
            let told = totals(&end, begin, Duration::from_millis(warm_up_ms));
            let told = (told.window_start_ns / 1_000_000, told.window_end_ns / 1_000_000);
            assert_eq!(told, told_ms, "a warm-up of {warm_up_ms} ms, ended after {ended_ms}");
        }
    }

    fn failure() -> DriveError {
        DriveError { backend: Backend::Epoll, errno: rustix::io::Errno::NOMEM }
    }

    /// The others go on for ever, and are ended by it.
    #[test]
    fn a_load_thread_that_fails_ends_the_others_and_is_told_at_once() {
        let control = Control::default();
        let failing: Work<'_> = Box::new(|_, _| Err(failure()));
        let going_on: Work<'_> = Box::new(|_, _| {
            while !control.is_interrupted() {
                std::thread::sleep(LOOK);
            }
            Err(failure())
        });
        let works = [going_on, failing].into_iter().map(|work| ends_all(work, &control)).collect();
        let ends = on_threads(works, None, None, |intervals, _| while intervals.recv().is_ok() {});
        assert!(ends.is_err() && control.is_interrupted());
    }
}
