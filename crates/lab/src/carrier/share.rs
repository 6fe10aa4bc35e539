//! The load of an agent: one share, on threads of its own.

use std::num::NonZeroU32;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use agent::{Assign, ThreadTotals, Told};
use driver::{Control, Gate};
use plan::{LoadPlan, Threads};
use units::{Duration, Instant};

use crate::books::ThreadEnd;
use crate::carry::{enough_files, on_threads, works};
use crate::crew::Crew;
use crate::feed::{Filled, Return};
use crate::job::Job;
use crate::load::resolve;
use crate::pilot::backend;

/// How often it is looked whether all connections are open.
const LOOK: StdDuration = StdDuration::from_millis(5);

/// What a load tells of itself.
pub(super) enum Carried {
    /// Its connections are open, and it waits for the begin.
    Ready { threads: u32, io: &'static str, refused: Option<String> },
    /// What one of its threads did, and how many requests of that were intended within the window.
    Told(Box<Told>, u64),
    /// It is over.
    Ended { threads: Vec<ThreadTotals>, interrupted: bool, throttled_ns: Option<u64> },
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
            move || match carry(&assign, &shared, &tell) {
                Ok(ended) => tell(ended),
                Err(why) => tell(Carried::Failed(why)),
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
        tls: None,
        interval_log: None,
    };
    let works = works(&job, share, &crew, Vec::new(), &shared.control);
    let threads = works.len() as u32;
    let gate = shared.gate.get_or_init(|| Gate::held(threads));
    let ready = || Carried::Ready {
        threads,
        io: crew.backend.name(),
        refused: crew.refused.map(|refused| refused.to_string()),
    };
    let mut throttling = Throttling::default();
    let ends = on_threads(works, Some(gate), |intervals, returns| {
        keep(intervals, returns, shared, gate, tell, &ready, &mut throttling);
    });
    let ends = ends.map_err(|why| why.to_string())?;
    let begin = shared.begin.get().copied().unwrap_or(Instant::ORIGIN);
    Ok(Carried::Ended {
        threads: ends.iter().map(|end| totals(end, begin)).collect(),
        interrupted: shared.control.is_interrupted(),
        throttled_ns: throttling.since().map(Duration::as_nanos),
    })
}

fn wanted(plan: &LoadPlan) -> NonZeroU32 {
    match plan.threads {
        Threads::Fixed(count) => count,
        Threads::Auto => NonZeroU32::MIN,
    }
}

/// For how long a CPU quota had kept us from running when all was ready; `None` where that can't be seen.
#[derive(Debug, Default)]
struct Throttling(Option<f64>);

impl Throttling {
    fn since(&self) -> Option<Duration> {
        let (before, now) = (self.0?, signals::throttled_s_of_this_process()?);
        Some(Duration::from_secs_f64((now - before).max(0.0)))
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
    throttling: &mut Throttling,
) {
    let mut is_told = false;
    loop {
        if !is_told && gate.is_complete() {
            is_told = true;
            throttling.0 = signals::throttled_s_of_this_process();
            tell(ready());
        }
        match intervals.recv_timeout(LOOK) {
            Ok(Filled { thread, from, to, mut interval, rates }) => {
                // None is made before the begin, but for an empty one of a load that ended at the gate.
                let begin = shared.begin.get().copied().unwrap_or(from);
                let (from, to) = (from.since(begin), to.since(begin));
                let told = Told::new(thread, from, to.max(from), &interval, rates.as_slice());
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

/// What a thread has to tell at its end, from `begin` on.
fn totals(end: &ThreadEnd, begin: Instant) -> ThreadTotals {
    let ThreadEnd { exchanges, counters, first_wrong_answer, window, usage, incidents, .. } = end;
    ThreadTotals {
        exchanges: *exchanges,
        intended: counters.intended,
        connections_opened: counters.connections_opened,
        connections_opened_in_window: counters.connections_opened_in_window,
        opening_failures: counters.opening_failures,
        closed_by_server: counters.connections_closed_by_server,
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
        window_start_ns: window.start.since(begin).as_nanos(),
        window_end_ns: window.end.since(begin).as_nanos(),
        cpu_ns: usage.cpu.as_nanos(),
        wall_ns: usage.wall.as_nanos(),
        late_ns: usage.late.as_nanos(),
        no_buffer: incidents.no_buffer,
        completions_held_back: incidents.completions_held_back,
    }
}
