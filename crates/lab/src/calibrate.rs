//! The generator against the truth: what our own driver tells of a load, and what the calibration server's log
//! says of the very same requests.
//!
//! **What is compared.** Every case boots `proofload target` as a process of its own, loads it through
//! [`load::run`], stops it, and computes percentiles from each line of its log (`truth`), exactly, by nearest
//! rank; the load's come from its HdrHistograms, whose resolution (0.1 %) is part of the error.
//!
//! *Response time, open model.* A request counts from the instant at which the schedule wanted it, computed here
//! by arithmetic and not taken from the engine; it ends, in truth, when the server handed its answer to the
//! kernel. The log says when, and of which request: the load sends in the order in which requests are due, on
//! one thread, so the i-th to arrive is the i-th that was due. Both clocks are `CLOCK_MONOTONIC`. What the
//! generator adds (a late send excepted, which is in both figures, as it is in what a user would wait) is the way
//! back: a wake-up, and its own queue of answers to read.
//!
//! *Response time, closed model.* A user wants the next answer as soon as the last has come, so in truth its
//! response time is from answer to answer on one connection of the log, and where users share a connection, from each answer
//! to the request that it let somebody make: as many requests later as there are users on it. That is the closed loop as the server saw
//! it, the generator's own turn included: it shows samples left out, counted twice or dated wrongly, and a
//! generator that is too slow shows in both. Whose latency it is says the service time.
//!
//! *Service time.* In truth answered − arrived. The load's is done − sent, which has the way there in it as well:
//! two hand-overs from one process to another, each a wake-up of the machine. Where the server leaves a request
//! unread (a stall, a queue before a pool) its log begins after the wait, and there is no truth to compare with.
//!
//! **Why it is fair.** Both sides look at the same requests: those wanted within the measured window, by the same
//! instants, warm-up left out, those under way at its end awaited. Their numbers must agree. Nothing is left out
//! for being slow. What neither side can know better than the machine lets it is measured beside each load: how
//! late a thread wakes that sleeps until an instant (`delay`).
//!
//! Nothing is judged here: that is a function of the record ([`record::Calibration`]), of which this asks only
//! whether to try once more.

mod cases;
mod delay;
mod peers;
mod server;
mod truth;

use std::num::NonZeroU32;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use driver::{Control, monotonic_now};
use engine::{Expect, GoodStatus};
use plan::{HttpTarget, IoChoice, RequestArguments};
use record::{
    CALIBRATION_VERSION, Calibration, CalibrationCase, CalibrationTry, Distribution, LoadResult, PeerMissing,
    PeerResult, PeerRun, Truth,
};
use stack::StackError;

use crate::agents::{self, Asked, Member, Processes, Secured};
use crate::error::LabError;
use crate::load::{self, Job};
use crate::machine;
use crate::secured::secure;
pub use cases::{Case, Spoken, choose};
use peers::Peer;
use server::Server;
use truth::Due;

/// How often a case is tried at most. An error of the generator repeats itself; that a machine was busy with
/// something else for a moment does not.
pub const TRIES_MAX: usize = 3;
/// How long the machine's own delay is measured while nothing else goes on.
const IDLE: StdDuration = StdDuration::from_secs(2);

/// What a calibration needs.
pub struct Bench<'a> {
    /// The `proofload` binary, which is the server and its supervisor.
    pub proofload_exe: &'a Path,
    /// Version of Proofload.
    pub version: &'a str,
    /// For logs and manifests; made if need be.
    pub dir: &'a Path,
    /// Whether these are the quick cases.
    pub quick: bool,
    /// Whether other generators are run, too.
    pub peers: bool,
    /// What is spoken.
    pub spoken: Spoken,
    /// What carries our own loads.
    pub io: IoChoice,
    /// The processes that carry them in shares, where that is not this one.
    pub agents: Option<Agents<'a>>,
    /// Whether a case is tried once more after this try.
    pub try_again: &'a dyn Fn(&CalibrationCase) -> bool,
    /// Ends everything when interrupted.
    pub interrupt: &'a Control,
}

/// Agents, each a process of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Agents<'a> {
    /// How many.
    pub count: NonZeroU32,
    /// The version that they say.
    pub version: &'a str,
}

/// What is going on.
#[derive(Debug)]
pub enum Event<'a> {
    /// The machine's own delay is measured.
    Idle,
    /// Our own load on a case begins.
    Trying {
        /// Which case, from 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// The case.
        case: &'a Case,
        /// Which try of it, from 1.
        attempt: usize,
    },
    /// Another generator begins.
    Peer {
        /// The case.
        case: &'a Case,
        /// The generator.
        name: &'a str,
    },
    /// A case is over.
    Finished {
        /// What came of it.
        case: &'a CalibrationCase,
    },
}

/// Carries out `cases` one after another. What a case fails of is in its record.
pub fn carry_out(cases: &[Case], bench: &Bench<'_>, observe: &mut dyn FnMut(Event<'_>)) -> Calibration {
    // Before any server starts: it inherits the limit.
    crate::doctor::raise_open_file_limit();
    observe(Event::Idle);
    let idle_scheduling_delay_us = idle_delay(bench.interrupt);
    let peers_missing = if bench.peers { peers::missing() } else { Vec::new() };
    let mut done = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        if bench.interrupt.is_interrupted() {
            break;
        }
        let tell_try = |attempt| Event::Trying { number: index + 1, of: cases.len(), case, attempt };
        let mut record = our_own(case, bench, &mut |attempt| observe(tell_try(attempt)));
        if record.tries.is_empty() && record.failed.is_none() {
            break;
        }
        if bench.peers {
            record.peers = run_peers(case, bench, &peers_missing, observe);
        }
        observe(Event::Finished { case: &record });
        done.push(record);
    }
    Calibration {
        version: CALIBRATION_VERSION,
        proofload: bench.version.to_owned(),
        machine: machine::machine(),
        quick: bench.quick,
        interrupted: bench.interrupt.is_interrupted(),
        idle_scheduling_delay_us,
        cases: done,
        peers_missing,
    }
}

fn idle_delay(interrupt: &Control) -> Distribution {
    let (wake_ups, ()) = with_sampler(|| {
        let end = std::time::Instant::now() + IDLE;
        while std::time::Instant::now() < end && !interrupt.is_interrupted() {
            std::thread::sleep(StdDuration::from_millis(100));
        }
    });
    delay::within(&wake_ups, &(0..u64::MAX))
}

/// Runs `body` with a thread beside it that measures how late it wakes.
fn with_sampler<T>(body: impl FnOnce() -> T) -> (Vec<delay::WakeUp>, T) {
    /// Stops the thread however `body` ends: a scope waits for its threads even then.
    struct StopOnDrop<'a>(&'a AtomicBool);
    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sampler = scope.spawn(|| delay::sample(&stop));
        let result = {
            let _stop = StopOnDrop(&stop);
            body()
        };
        (sampler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), result)
    })
}

/// Our own generator on `case`, tried again for as long as it is asked to be.
fn our_own(case: &Case, bench: &Bench<'_>, tell_try: &mut dyn FnMut(usize)) -> CalibrationCase {
    let mut record = CalibrationCase {
        name: case.name.to_owned(),
        server: case.server.to_owned(),
        command: Vec::new(),
        service_not_logged: case.service_not_logged.map(ToOwned::to_owned),
        tries: Vec::new(),
        failed: None,
        peers: Vec::new(),
    };
    for attempt in 1..=TRIES_MAX {
        tell_try(attempt);
        let dir = bench.dir.join(format!("{}-{attempt}", case.name));
        match try_once(case, bench, &dir, &mut record.command) {
            // What it told is of a part of its window.
            Ok(one) if one.load.interrupted => break,
            Ok(one) => record.tries.push(one),
            Err(LabError::Stack(StackError::Interrupted { .. })) => break,
            Err(_) if bench.interrupt.is_interrupted() => break,
            Err(error) => {
                record.failed = Some(error.to_string());
                break;
            }
        }
        if bench.interrupt.is_interrupted() || !(bench.try_again)(&record) {
            break;
        }
    }
    record
}

fn try_once(
    case: &Case,
    bench: &Bench<'_>,
    dir: &Path,
    command: &mut Vec<String>,
) -> Result<CalibrationTry, LabError> {
    let server = Server::boot(case, dir, bench)?;
    *command = server.command();
    let (wake_ups, load) = with_sampler(|| run_load(case, &server, bench));
    let load = load?;
    let log = server.stop()?;
    let window = window(&load);
    let truth = match case.due(window.start) {
        Some(due) => {
            let apart_ns = apart_ns(&load);
            let log = truth::since(log, due.start_ns.saturating_sub(apart_ns));
            truth::of_open(log, due, &window, apart_ns)
        }
        None => truth::of_closed(&log, &window, bench.spoken.streams()),
    };
    Ok(CalibrationTry { truth, scheduling_delay_us: delay::within(&wake_ups, &window), load })
}

fn run_load(case: &Case, server: &Server, bench: &Bench<'_>) -> Result<LoadResult, LabError> {
    let plan = case.plan(bench.io, bench.spoken)?;
    let asked = RequestArguments { url: server.url(), ..RequestArguments::default() };
    let target = HttpTarget::over(plan.http, &asked)?;
    // Its certificate is made at its start, and nobody else's.
    let settings = tls::Settings { insecure: true, ..tls::Settings::default() };
    let peers = secure(&target, plan.http, &[server.addr()], &settings)?;
    let job = Job {
        url: &target.url,
        targets: &[server.addr()],
        request: &target.request,
        expect: &Expect { status: GoodStatus::Only(200), body: None },
        plan: &plan,
        socket: None,
        tls: peers.as_ref(),
        interval_log: None,
        keep: None,
    };
    let Some(Agents { count, version }) = bench.agents else {
        return load::run(&job, bench.interrupt, &mut |_| {});
    };
    let tls = Secured::new(&target, plan.http, &settings)?;
    let asked = Asked {
        url: &target.url,
        host: &server.addr().ip().to_string(),
        port: server.addr().port(),
        request: &target.request,
        expect: job.expect,
        plan: &plan,
        tls: tls.as_ref(),
        interval_log: None,
        version,
    };
    let command = vec![bench.proofload_exe.display().to_string(), "agent".to_owned()];
    let member = |number| Member { name: format!("agent {number}"), command: command.clone() };
    let fleet = Arc::new(Processes::new((0..count.get()).map(member).collect()));
    agents::run(&asked, fleet, None, bench.interrupt, &mut |_| {})
}

/// By how much requests of several agents may come before they are due: within so much they agree on the begin.
fn apart_ns(load: &LoadResult) -> u64 {
    load.agents.iter().map(|agent| (agent.clock_bound_us * 1e3).ceil() as u64).max().unwrap_or(0)
}

/// The measured window on the clock of all logs, ns.
fn window(load: &LoadResult) -> Range<u64> {
    let start_ns = load.window.start_monotonic_ns;
    start_ns..start_ns + (load.window.duration_s * 1e9).round() as u64
}

fn run_peers(
    case: &Case,
    bench: &Bench<'_>,
    missing: &[PeerMissing],
    observe: &mut dyn FnMut(Event<'_>),
) -> Vec<PeerRun> {
    let mut runs = Vec::new();
    for (index, peer) in Peer::ALL.into_iter().enumerate() {
        let is_missing = missing.iter().any(|it| it.name == peer.program());
        if is_missing || bench.interrupt.is_interrupted() {
            continue;
        }
        let mut command = Vec::new();
        let result = if let Err(why) = peer.command(case, "") {
            PeerResult::Nothing { why: why.into() }
        } else {
            observe(Event::Peer { case, name: peer.name() });
            let dir = bench.dir.join(format!("{}-peer-{}", case.name, index + 1));
            let result = run_peer(peer, case, bench, &dir, &mut command);
            result.unwrap_or_else(|why| PeerResult::Nothing { why })
        };
        runs.push(PeerRun { name: peer.name().to_owned(), command, result });
    }
    runs
}

/// One run of a peer on a server of its own.
fn run_peer(
    peer: Peer,
    case: &Case,
    bench: &Bench<'_>,
    dir: &Path,
    command: &mut Vec<String>,
) -> Result<PeerResult, String> {
    let server = Server::boot(case, dir, bench).map_err(|error| error.to_string())?;
    *command = peer.command(case, &server.url())?;
    let begun_ns = monotonic_now().as_nanos();
    let length = StdDuration::from_secs(case.peer_seconds());
    let printed = peers::run(command, length, bench.proofload_exe, dir, bench.interrupt)?;
    let log = server.stop().map_err(|error| error.to_string())?;
    let told = peer.figures(&printed).ok_or("what it printed is not understood")?;
    Ok(PeerResult::Told { told: told.into(), truth: truth_of_peer(case, log, begun_ns).into() })
}

/// The truth of a run of another generator: of all its requests, for its window is not known, by a schedule that
/// is guessed.
fn truth_of_peer(case: &Case, log: Vec<truth::Logged>, begun_ns: u64) -> Truth {
    let mut log = truth::since(log, begun_ns);
    let all = 0..u64::MAX;
    match case.rate() {
        Some(rate) => {
            let due = Due::guess(&mut log, rate);
            truth::of_open(log, due, &all, 0)
        }
        None => truth::of_closed(&log, &all, 1),
    }
}
