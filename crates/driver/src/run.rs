//! One engine on one thread, from start to end.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Config, Counters, Engine, Sink, Window, drive};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

use crate::addresses::Route;
use crate::epoll::EpollIo;

/// How often a quiet loop wakes up to look at [`Control`] and to tell the sink the time.
const TURN_MAX: Duration = Duration::from_millis(50);

/// Lets another thread end a load early.
#[derive(Debug, Default)]
pub struct Control {
    interrupted: AtomicBool,
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
}

/// What the load's thread used within the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of the thread.
    pub cpu: Duration,
    /// Length of the window as this thread kept it.
    pub wall: Duration,
}

/// A load that has ended.
#[derive(Debug)]
pub struct Finished<S> {
    /// Where the samples went.
    pub sink: S,
    /// The engine's counters.
    pub counters: Counters,
    /// The measured window.
    pub window: Window,
    /// What it cost.
    pub usage: Usage,
}

/// The kernel refused the driver itself something; connections' failures are outcomes instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveError(pub Errno);

impl std::fmt::Display for DriveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "epoll failed: {}; `proofload doctor` shows the limits of this machine", self.0)
    }
}

impl std::error::Error for DriveError {}

/// CLOCK_MONOTONIC: the clock of every instant of a real run, shared by all processes of a machine.
pub fn monotonic_now() -> Instant {
    Instant::from_nanos(nanos(ClockId::Monotonic))
}

/// CPU time of the calling thread so far, user and system.
pub fn thread_cpu() -> Duration {
    Duration::from_nanos(nanos(ClockId::ThreadCPUTime))
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Runs one load on the calling thread over epoll.
pub fn run_engine<S: Sink>(
    config: Config,
    route: Route,
    sink: S,
    control: &Control,
) -> Result<Finished<S>, DriveError> {
    // The kernel may otherwise delay timers by 50 µs to batch wake-ups, which would be lag.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let connections = config.connections.get();
    let mut io = EpollIo::new(route, connections, &config.request.bytes).map_err(DriveError)?;
    let mut engine = Engine::new(config, sink, monotonic_now());
    let mut meter = Meter::default();
    drive(&mut engine, &mut io, |engine, now| {
        if control.is_interrupted() {
            engine.interrupt(now);
        }
        let window = engine.window();
        engine.sink_mut().tick(now, window);
        meter.observe(now, window);
        Some(meter.wake_at(now, window))
    })
    .map_err(DriveError)?;
    let (counters, window) = (engine.counters(), engine.window());
    Ok(Finished { counters, window, usage: meter.usage(), sink: engine.into_sink() })
}

/// Reads the thread's CPU clock when the window opens and when it closes.
#[derive(Debug, Default)]
struct Meter {
    opened: Option<(Instant, Duration)>,
    closed: Option<(Instant, Duration)>,
}

impl Meter {
    fn observe(&mut self, now: Instant, window: Window) {
        if self.opened.is_none() && now >= window.start {
            self.opened = Some((now, thread_cpu()));
        }
        if self.closed.is_none() && now >= window.end {
            self.closed = Some((now, thread_cpu()));
        }
    }

    fn wake_at(&self, now: Instant, window: Window) -> Instant {
        let turn = now + TURN_MAX;
        if self.opened.is_none() { turn.min(window.start) } else { turn }
    }

    fn usage(&self) -> Usage {
        match (self.opened, self.closed) {
            (Some((from, cpu_from)), Some((to, cpu_to))) => {
                Usage { cpu: cpu_to.saturating_sub(cpu_from), wall: to.since(from) }
            }
            _ => Usage { cpu: Duration::ZERO, wall: Duration::ZERO },
        }
    }
}
