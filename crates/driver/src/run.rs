//! One engine on one thread, from start to end.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::{
    Begin, Config, Counters, Engine, Io, KeptAnswer, Script, Sink, Stage, Unscripted, Window, WrongAnswer,
    drive,
};
use http::Protocol;
use rustix::io::Errno;
use tls::{Peers, TlsIo};
use units::{Duration, Instant};

use crate::addresses::Route;
use crate::clock::{monotonic_now, thread_cpu};
use crate::epoll::EpollIo;
use crate::gate::{Arrival, Gate, LOOK_EVERY};
use crate::incidents::Incidents;
use crate::uring::{RingSizes, UringIo};

/// How often a quiet loop wakes up to look at [`Control`] and to tell the sink the time.
const TURN_MAX: Duration = Duration::from_millis(50);

/// Lets another thread end a load early, and see how far its opening is.
#[derive(Debug, Default)]
pub struct Control {
    interrupted: AtomicBool,
    tried: AtomicU64,
}

impl Control {
    /// Asks every engine that looks at this control to end at once.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// What is set once that was asked, for those who wait for something else.
    pub const fn flag(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// Connections that came up or failed before their load began, of all engines that look at this control.
    pub fn connections_tried(&self) -> u64 {
        self.tried.load(Ordering::Relaxed)
    }
}

/// What the load's thread used within the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time of the thread.
    pub cpu: Duration,
    /// Length of the window as this thread kept it.
    pub wall: Duration,
    /// How long after its start this thread saw the window open: the load began late by as much where it has no warm-up.
    pub late: Duration,
}

/// A load that has ended.
#[derive(Debug)]
pub struct Finished<S> {
    /// Where the samples went.
    pub sink: S,
    /// The engine's counters.
    pub counters: Counters,
    /// The first answer that was not the expected one; none of a scripted load.
    pub first_wrong_answer: Option<WrongAnswer>,
    /// The first answers that were no good ones as they came, as many as were asked for.
    pub kept_answers: Vec<KeptAnswer>,
    /// The measured window of this thread: that of the others begins with it where they came through one gate, and may end
    /// sooner or later.
    pub window: Window,
    /// Whether [`Control`] ended it before its time: whoever asks for that once all has its outcome ends nothing.
    pub interrupted: bool,
    /// CPU time and length of the window, of this thread alone.
    pub usage: Usage,
    /// What went wrong in the driver and was made up for.
    pub incidents: Incidents,
    /// How connections were secured, if any was.
    pub tls: Option<tls::Report>,
}

impl<S> Finished<S> {
    /// The same with another sink.
    pub fn map_sink<T>(self, map: impl FnOnce(S) -> T) -> Finished<T> {
        let Self {
            sink,
            counters,
            first_wrong_answer,
            kept_answers,
            window,
            interrupted,
            usage,
            incidents,
            tls,
        } = self;
        Finished {
            sink: map(sink),
            counters,
            first_wrong_answer,
            kept_answers,
            window,
            interrupted,
            usage,
            incidents,
            tls,
        }
    }
}

/// The kernel's interface that carries a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Readiness: a system call for each send and each receive.
    Epoll,
    /// Completions: a system call for many of both. See [`crate::probe_uring`].
    Uring,
}

impl Backend {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::Uring => "io_uring",
        }
    }
}

/// The kernel refused the driver itself something; connections' failures are outcomes instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveError {
    /// The interface that was in use.
    pub backend: Backend,
    /// The kernel's error code.
    pub errno: Errno,
}

impl std::fmt::Display for DriveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { backend, errno } = self;
        write!(f, "{} failed: {errno}; `proofload doctor` shows the limits of this machine", backend.name())
    }
}

impl std::error::Error for DriveError {}

/// Runs one load on the calling thread over `backend`, in a protocol whose connections are to be as `settings` say. It
/// begins when its connections are open, or when `gate` does.
pub fn run_engine<S: Sink, H: Protocol>(
    config: Config,
    settings: H::Settings,
    route: Route,
    sink: S,
    control: &Control,
    gate: Option<&Gate>,
    backend: Backend,
) -> Result<Finished<S>, DriveError> {
    let arrival = Arrival::new(gate);
    let (connections, config) = (config.connections.get(), held(config, gate));
    let make = |now| Engine::<S, Unscripted, H>::over(config, settings, sink, now);
    run(connections, route, (control, arrival), backend, make).map(|(finished, _)| finished)
}

/// Runs one load on the calling thread whose users do what `script` says; it is as [`run_engine`]'s otherwise. Gives the script
/// back.
pub fn run_scripted<S: Sink, P: Script<H>, H: Protocol>(
    config: Config,
    settings: H::Settings,
    route: Route,
    sink: S,
    script: P,
    (control, gate): (&Control, Option<&Gate>),
    backend: Backend,
) -> Result<(Finished<S>, P), DriveError> {
    let arrival = Arrival::new(gate);
    let (connections, config) = (config.connections.get(), held(config, gate));
    let make = |now| Engine::<S, P, H>::scripted_over(config, settings, sink, script, now);
    let (finished, script) = run(connections, route, (control, arrival), backend, make)?;
    Ok((finished, script.expect("a scripted load has a script")))
}

/// The same load, which waits at a gate if there is one.
fn held(config: Config, gate: Option<&Gate>) -> Config {
    Config { begin: if gate.is_some() { Begin::WhenTold } else { config.begin }, ..config }
}

/// What steers a load from without.
type Steering<'a> = (&'a Control, Arrival<'a>);

/// Runs the engine that `make` makes.
fn run<S: Sink, P: Script<H>, H: Protocol>(
    connections: u32,
    mut route: Route,
    steering: Steering<'_>,
    backend: Backend,
    make: impl FnOnce(Instant) -> Engine<S, P, H>,
) -> Result<(Finished<S>, Option<P>), DriveError> {
    let peers = route.take_peers().map(|peers| (peers, connections));
    let ended = match backend {
        Backend::Epoll => EpollIo::new(route, connections).and_then(|io| {
            let (ended, _) = run_secured(make, steering, io, peers)?;
            Ok((ended, Incidents::default()))
        }),
        Backend::Uring => UringIo::new(route, connections, RingSizes::default()).and_then(|io| {
            let (ended, io) = run_secured(make, steering, io, peers)?;
            Ok((ended, io.incidents()))
        }),
    };
    let ((finished, script), incidents) = ended.map_err(|errno| DriveError { backend, errno })?;
    Ok((Finished { incidents, ..finished }, script))
}

/// What a load ends with, and its script.
type Ended<S, P> = (Finished<S>, Option<P>);

/// Runs it over `io`, whose connections are secured where `peers` says so. Gives the IO back.
fn run_secured<S: Sink, P: Script<H>, H: Protocol, I: Io<Error = Errno>>(
    make: impl FnOnce(Instant) -> Engine<S, P, H>,
    steering: Steering<'_>,
    mut io: I,
    peers: Option<(Peers, u32)>,
) -> Result<(Ended<S, P>, I), Errno> {
    let Some((peers, connections)) = peers else { return Ok((run_over(make, steering, &mut io)?, io)) };
    let mut io = TlsIo::new(io, peers, connections);
    let (finished, script) = run_over(make, steering, &mut io)?;
    let (io, report) = io.into_parts();
    Ok(((Finished { tls: Some(report), ..finished }, script), io))
}

fn run_over<S: Sink, P: Script<H>, H: Protocol>(
    make: impl FnOnce(Instant) -> Engine<S, P, H>,
    (control, arrival): Steering<'_>,
    io: &mut impl Io<Error = Errno>,
) -> Result<(Finished<S>, Option<P>), Errno> {
    exact_timers();
    let mut engine = make(monotonic_now());
    let mut watch = Watch::new(arrival);
    drive(&mut engine, io, |engine, now| Some(watch.turn(engine, control, now)))?;
    let (counters, window, usage) = (engine.counters(), engine.window(), watch.meter.usage());
    let (incidents, first_wrong_answer) = (Incidents::default(), engine.first_wrong_answer().cloned());
    let kept_answers = engine.kept_answers().to_vec();
    let (sink, script) = engine.into_sink_and_script();
    let finished = Finished {
        sink,
        counters,
        first_wrong_answer,
        kept_answers,
        window,
        interrupted: watch.interrupted,
        usage,
        incidents,
        tls: None,
    };
    Ok((finished, script))
}

/// The kernel may otherwise delay timers by 50 µs to batch wake-ups, which would be lag.
fn exact_timers() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// What is done in each turn of the loop beside the load.
#[derive(Debug)]
struct Watch<'a> {
    meter: Meter,
    /// Connections tried in the opening so far.
    tried: u64,
    arrival: Arrival<'a>,
    /// Whether the load has begun, and the last of its opening is counted: a short one is over within a turn.
    has_begun: bool,
    /// Whether it was ended before its time from without.
    interrupted: bool,
}

impl<'a> Watch<'a> {
    fn new(arrival: Arrival<'a>) -> Self {
        Self { meter: Meter::default(), tried: 0, arrival, has_begun: false, interrupted: false }
    }

    /// Says when it wants its next turn at the latest.
    fn turn<S: Sink, P: Script<H>, H: Protocol>(
        &mut self,
        engine: &mut Engine<S, P, H>,
        control: &Control,
        now: Instant,
    ) -> Instant {
        if !self.has_begun {
            self.before_the_load(engine, control);
        }
        if control.is_interrupted() {
            self.interrupted |= engine.stage() != Stage::Finished;
            engine.interrupt(now);
        }
        let window = engine.window();
        engine.sink_mut().tick(now, window);
        self.meter.observe(now, window);
        self.meter.wake_at(now, window)
    }

    #[cold]
    fn before_the_load<S: Sink, P: Script<H>, H: Protocol>(
        &mut self,
        engine: &mut Engine<S, P, H>,
        control: &Control,
    ) {
        let counters = engine.counters();
        let so_far = counters.connections_opened + counters.opening_failures;
        control.tried.fetch_add(so_far - self.tried, Ordering::Relaxed);
        self.tried = so_far;
        match engine.stage() {
            Stage::Opening => {}
            Stage::Ready => {
                if let Some(at) = self.arrival.arrive() {
                    engine.begin(at);
                }
            }
            Stage::Running | Stage::Draining(_) | Stage::Finished => self.has_begun = true,
        }
    }
}

/// Reads the thread's CPU clock when the window opens and when it closes.
#[derive(Debug, Default)]
struct Meter {
    opened: Option<(Instant, Duration)>,
    closed: Option<(Instant, Duration)>,
    late: Duration,
}

impl Meter {
    fn observe(&mut self, now: Instant, window: Window) {
        if self.opened.is_none() && now >= window.start {
            self.opened = Some((now, thread_cpu()));
            self.late = now.since(window.start);
        }
        if self.closed.is_none() && now >= window.end {
            self.closed = Some((now, thread_cpu()));
        }
    }

    fn wake_at(&self, now: Instant, window: Window) -> Instant {
        // Until then it may stand at the gate.
        if self.opened.is_none() { (now + LOOK_EVERY).min(window.start) } else { now + TURN_MAX }
    }

    fn usage(&self) -> Usage {
        match (self.opened, self.closed) {
            (Some((from, cpu_from)), Some((to, cpu_to))) => {
                Usage { cpu: cpu_to.saturating_sub(cpu_from), wall: to.since(from), late: self.late }
            }
            _ => Usage { late: self.late, ..Usage::default() },
        }
    }
}
