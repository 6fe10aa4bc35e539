//! Loads that begin when they are told to: whatever goes wrong before, nothing is sent before the begin, and the schedule
//! starts there.

use std::collections::HashSet;
use std::convert::Infallible;

use engine::{
    Begin, Completion, Config, Conn, Engine, Event, Io, Load, Outgoing, Sample, Schedule, Sending, Share,
    Stage, drive,
};
use sim::{Scenario, SimIo};
use units::{Duration, Instant, Seed};

use sim::laws;

laws! {
    nothing_is_sent_before_the_begin_and_the_schedule_starts_there,
    shares_that_begin_together_make_exactly_the_schedule,
}

/// Takes note of the first request that is sent.
struct Watched {
    io: SimIo,
    first_send: Option<Instant>,
}

impl Io for Watched {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.io.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.io.connect(conn, target)
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        self.first_send.get_or_insert(self.io.now());
        self.io.send(conn, bytes)
    }

    fn close(&mut self, conn: Conn) {
        self.io.close(conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.io.wait(until)
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        self.io.next()
    }
}

/// What came of a load that was told to begin `after` it had come to the gate.
struct Begun {
    at: Option<Instant>,
    first_send: Option<Instant>,
    samples: Vec<Sample>,
}

fn run_held(scenario: &Scenario, config: Config, after: Duration) -> Begun {
    let io = SimIo::new(scenario.server.clone(), scenario.seed);
    let mut io = Watched { io, first_send: None };
    let mut samples = Vec::new();
    let mut at = None;
    let config = Config { begin: Begin::WhenTold, ..config };
    let warm_up = config.warm_up;
    let mut engine = Engine::new(config, |sample: &Sample| samples.push(*sample), Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |engine, now| {
        if engine.stage() == Stage::Ready && at.is_none() {
            let begin = now + after;
            engine.begin(begin);
            at = Some(begin);
        }
        match scenario.interrupt_at {
            Some(at) if now >= at => engine.interrupt(now),
            at => return at,
        }
        None
    });
    let (window, counters, outstanding) = (engine.window(), engine.counters(), engine.outstanding());
    drop(engine);
    assert_eq!((outstanding, samples.len() as u64), (0, counters.intended), "one outcome for each");
    assert_eq!(io.io.open_connections(), 0, "connections are left open");
    if let Some(begin) = at.filter(|_| io.first_send.is_some()) {
        assert_eq!(window.start, (begin + warm_up).min(window.end), "the window follows the begin");
    }
    Begun { at, first_send: io.first_send, samples }
}

fn nothing_is_sent_before_the_begin_and_the_schedule_starts_there(seed: Seed) {
    let scenario = Scenario::from_seed(seed);
    let after = Duration::from_micros(seed.derive(1).0 % 400_000);
    let begun = run_held(&scenario, scenario.config.clone(), after);
    if let Some(first) = begun.first_send {
        assert!(first >= begun.at.expect("nothing is sent unless it was told to begin"));
    }
    let earliest = begun.samples.iter().map(|it| it.intended).min();
    if let (Some(earliest), Some(at)) = (earliest, begun.at) {
        assert!(earliest >= at, "a request is due before the begin");
        if matches!(scenario.config.load, Load::Closed { .. }) && scenario.config.warm_up.is_zero() {
            assert_eq!(earliest, at, "the first user starts with the load");
        }
    }
}

/// Whatever the server does to each of them.
fn shares_that_begin_together_make_exactly_the_schedule(seed: Seed) {
    let mut scenario = Scenario::from_seed(seed);
    scenario.interrupt_at = None;
    let Load::Open { arrivals, .. } = scenario.config.load else { return };
    scenario.config.stop.requests = None;
    let of = 2 + (seed.derive(2).0 % 3) as u32;
    // All come to the gate before this, whatever happens there.
    let begin = Duration::from_secs(5);
    let mut intended = Vec::new();
    for index in 0..of {
        let share = Share { index, of: of.try_into().expect("above zero") };
        let mut scenario = scenario.clone();
        scenario.seed = seed.derive(u64::from(index));
        let config = Config { share, ..scenario.config.clone() };
        // To the same instant, from wherever each stands when it is ready.
        let begun = run_held_until(&scenario, config, Instant::ORIGIN + begin);
        intended.extend(begun.samples.into_iter().filter(|it| it.due_in_window).map(|it| it.intended));
    }
    intended.sort_unstable();
    let start = Instant::ORIGIN + begin + scenario.config.warm_up;
    let end = start + scenario.config.stop.duration;
    let mut due = Vec::new();
    for index in 0..of {
        let share = Share { index, of: of.try_into().expect("above zero") };
        let mut schedule = Schedule::new(Instant::ORIGIN + begin, arrivals, share, scenario.config.seed);
        while schedule.due() < end {
            if schedule.due() >= start {
                due.push(schedule.due());
            }
            schedule.advance();
        }
    }
    due.sort_unstable();
    assert_eq!(intended, due);
    if matches!(arrivals, engine::Arrivals::Constant(_)) {
        let mut whole = Schedule::new(Instant::ORIGIN + begin, arrivals, Share::WHOLE, scenario.config.seed);
        let all = std::iter::from_fn(|| {
            let due = whole.due();
            whole.advance();
            (due < end).then_some(due)
        });
        assert!(all.filter(|due| *due >= start).eq(intended), "the union is the schedule of one engine");
    }
}

fn run_held_until(scenario: &Scenario, config: Config, at: Instant) -> Begun {
    let mut io = SimIo::new(scenario.server.clone(), scenario.seed);
    let mut samples = Vec::new();
    let config = Config { begin: Begin::WhenTold, ..config };
    let mut engine = Engine::new(config, |sample: &Sample| samples.push(*sample), Instant::ORIGIN);
    let mut ever = HashSet::new();
    let Ok(()) = drive(&mut engine, &mut io, |engine, _| {
        ever.insert(core::mem::discriminant(&engine.stage()));
        engine.begin(at);
        None
    });
    drop(engine);
    assert!(ever.len() >= 2, "it waited and it ran");
    Begun { at: Some(at), first_send: None, samples }
}
