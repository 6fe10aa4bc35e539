//! A conductor and its agents in virtual time, over streams that delay and break, with clocks that drift and agents that
//! die.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroU32;

use agent::{
    Agent, Assign, Booked, Conductor, End, Event, Hello, Joined, Lost, Seen, Settings, Step, ThreadTotals,
    ToAgent, ToConductor, Told,
};
use engine::{Config, Expect, Load, Outcome, Request, Sample, Schedule};
use http::RequestKind;
use plan::{ArrivalsName, LoadArguments, LoadPlan};
use stats::Interval;
use units::{Duration, Instant, Rate, Seed};

const SECOND: Duration = Duration::from_secs(1);
/// When a world begins: not at its origin, so that clocks have room on both sides.
const BIRTH: Instant = Instant::from_nanos(100_000_000_000);
/// The number of a load that is not the one of a world.
const OTHER_LOAD: u64 = 1;
/// Longer than any world goes on.
const WORLD_MAX: Duration = Duration::from_secs(2000);

/// Chances that follow from a seed.
pub struct Chance(Seed, u64);

impl Chance {
    pub fn new(seed: Seed) -> Self {
        Self(seed, 0)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        self.0.derive(self.1).0 % bound
    }

    fn micros(&mut self, bound_us: u64) -> Duration {
        Duration::from_micros(self.below(bound_us))
    }
}

/// What goes wrong in a world.
#[derive(Debug, Clone, Copy, Default)]
pub struct Troubles {
    /// Streams break once in so many seconds on average.
    pub breaks_every_s: Option<u64>,
    /// An agent dies so long after the beginning of the world.
    pub dies_at: Option<(usize, Duration)>,
    /// The conductor is killed then, and another takes over so much later.
    pub restarts: Option<(Duration, Duration)>,
    /// The conductor is killed then, and nobody takes over.
    pub conductor_dies_at: Option<Duration>,
}

/// One way through a stream: in order, each after some time.
#[derive(Default)]
struct Way<M>(VecDeque<(Instant, M)>);

impl<M> Way<M> {
    fn send(&mut self, message: M, at: Instant) {
        let not_before = self.0.back().map_or(at, |last| last.0);
        self.0.push_back((at.max(not_before), message));
    }

    fn take(&mut self, now: Instant) -> Option<M> {
        self.0.front().is_some_and(|it| it.0 <= now).then(|| self.0.pop_front()).flatten().map(|it| it.1)
    }

    fn next(&self) -> Option<Instant> {
        self.0.front().map(|it| it.0)
    }
}

/// An agent with the load that it carries.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, and none excludes another")]
struct Machine {
    agent: Agent,
    /// How far its clock is ahead at the beginning, and how fast it goes, parts in a million more.
    ahead: Duration,
    ppm: i64,
    dead: bool,
    up: bool,
    back_at: Instant,
    breaks_at: Instant,
    to_agent: Way<ToAgent>,
    to_conductor: Way<ToConductor>,
    configs: Vec<Config>,
    /// When it began, on the world's clock, and what its threads still do: from the second with this number on.
    begun: Option<Instant>,
    second: u64,
    stopped: bool,
    last_heard: Instant,
    ended: bool,
}

impl Machine {
    fn clock(&self, now: Instant) -> Instant {
        let ns = i128::from(now.as_nanos());
        let theirs = ns + ns * i128::from(self.ppm) / 1_000_000 + i128::from(self.ahead.as_nanos());
        Instant::from_nanos(theirs as u64)
    }

    /// The conductor of another load comes by, and does nothing to the one that is carried, if there is one.
    fn is_visited(&mut self, now: Instant) {
        if self.agent.turned_down(OTHER_LOAD).is_none() {
            return;
        }
        let clock = self.clock(now);
        self.agent.attach();
        for message in [
            ToAgent::Stop,
            ToAgent::Resume { load: OTHER_LOAD, seen: Vec::new() },
            ToAgent::Begin { at_ns: clock.as_nanos() },
            ToAgent::Bye,
        ] {
            assert_eq!(self.agent.handle(clock, message), Ok(None));
        }
        let said: Vec<_> = std::iter::from_fn(|| self.agent.poll_message()).collect();
        assert!(matches!(said[..], [ToConductor::Hello(_), ToConductor::Refused { .. }]), "{said:?}");
        self.agent.detach();
    }

    /// When its clock shows `theirs`, on the world's.
    fn world_time(&self, theirs: Instant) -> Instant {
        let ns = i128::from(theirs.as_nanos()) - i128::from(self.ahead.as_nanos());
        let mut world =
            Instant::from_nanos((ns * 1_000_000 / i128::from(1_000_000 + self.ppm)).max(0) as u64);
        while self.clock(world) < theirs {
            world = world + Duration::from_nanos(1);
        }
        world
    }
}

/// What the books of a conductor hold; they outlive it.
#[derive(Default, Clone)]
pub struct Books {
    pub whole: Interval,
    /// By agent.
    pub told: Vec<Booked>,
    pub begin: Option<Instant>,
    pub lost: Vec<Lost>,
    /// Agents whose streams broke, as was told, and that are not back.
    pub missed: BTreeSet<usize>,
    pub failed: Option<String>,
    pub finished: bool,
}

pub struct World {
    chance: Chance,
    now: Instant,
    pub plan: LoadPlan,
    pub threads: Vec<NonZeroU32>,
    assign: Assign,
    conductor: Option<Conductor>,
    conductor_back_at: Instant,
    machines: Vec<Machine>,
    troubles: Troubles,
    pub books: Books,
    /// The most by which an agent's begin was off, and by how much it might have been.
    pub begins: Vec<(Duration, Duration)>,
    /// What a thread does is made up here; where nobody looks at it, it is nothing.
    scratch: Interval,
    is_blank: bool,
    /// For how long after it last heard of the conductor an agent made load.
    pub alone: Duration,
}

pub fn a_plan(chance: &mut Chance) -> LoadPlan {
    let seconds = 2 + chance.below(5);
    let bursts = ArrivalsName::Bursts(NonZeroU32::new(20).expect("not zero"));
    LoadPlan::new(&LoadArguments {
        connections: Some(100),
        rate: Rate::per_sec([3.0, 50.0, 333.3][chance.below(3) as usize]),
        arrivals: [ArrivalsName::Constant, ArrivalsName::Poisson, bursts][chance.below(3) as usize],
        duration: Some(Duration::from_millis(1000 * seconds + chance.below(1000))),
        warm_up: Some(Duration::from_millis([0, 0, 1500][chance.below(3) as usize])),
        seed: Some(Seed(chance.below(1 << 40))),
        ..LoadArguments::default()
    })
    .expect("a valid load")
}

fn request() -> Request {
    Request { bytes: b"GET / HTTP/1.1\r\n\r\n"[..].into(), kind: RequestKind::Ordinary }
}

/// What became of the request that was due so long after the begin: made up from that alone.
fn sample(due: Duration, window: (Duration, Duration)) -> Sample {
    let at = |after: Duration| Instant::ORIGIN + after;
    let service = Duration::from_nanos(1 + Seed(due.as_nanos()).derive(0).0 % 900_000_000);
    let kind = Seed(due.as_nanos()).derive(1).0 % 20;
    let outcome = match kind {
        0 => Outcome::TimedOut,
        1 => Outcome::Reset,
        _ => Outcome::Answered { status: 200 + (kind % 3) as u16, expected: kind.is_multiple_of(3) },
    };
    let done = due + service;
    Sample {
        intended: at(due),
        ready: at(due),
        sent: Some(at(due + Duration::from_micros(3))),
        done: at(done),
        first_byte: matches!(outcome, Outcome::Answered { .. }).then(|| at(due + Duration::from_micros(3))),
        arrived: None,
        outcome,
        received_bytes: 100,
        due_in_window: window.0 <= due && due < window.1,
        done_in_window: window.0 <= done && done < window.1,
    }
}

/// Adds what a thread did from one second to another: made of its own part of the schedule.
fn add_seconds(config: &Config, (from, to): (u64, u64), interval: &mut Interval) {
    let Load::Open { arrivals, .. } = config.load else { panic!("an open load") };
    let mut schedule = Schedule::new(Instant::ORIGIN, arrivals, config.share, config.seed);
    let window = (config.warm_up, config.warm_up + config.stop.duration);
    let (from, to) = (Instant::ORIGIN + SECOND * from, Instant::ORIGIN + SECOND * to);
    while schedule.due() < to.min(Instant::ORIGIN + window.1) {
        if schedule.due() >= from {
            interval.record(&sample(schedule.due().since(Instant::ORIGIN), window));
        }
        schedule.advance();
    }
}

impl World {
    pub fn new(seed: Seed, agents: usize, troubles: Troubles) -> Self {
        let mut chance = Chance::new(seed);
        let plan = a_plan(&mut chance);
        let request = request();
        let expect = Expect::default();
        let assign = Assign::new("http://h/", ("h", 80), &plan, &request, &expect).expect("an open load");
        let threads: Vec<NonZeroU32> =
            (0..agents).map(|_| NonZeroU32::new(1 + chance.below(2) as u32).expect("above zero")).collect();
        let now = BIRTH;
        let machines = (0..agents).map(|index| {
            let hello = Hello { version: "1".into(), node: format!("n{index}"), cores: 4 };
            Machine {
                agent: Agent::new(hello, Instant::ORIGIN),
                ahead: Duration::from_secs(3600 * chance.below(5)) + chance.micros(10_000_000),
                ppm: chance.below(1000).cast_signed() - 500,
                dead: false,
                up: false,
                back_at: now + chance.micros(300_000),
                breaks_at: Instant::FAR_FUTURE,
                to_agent: Way(VecDeque::new()),
                to_conductor: Way(VecDeque::new()),
                configs: Vec::new(),
                begun: None,
                second: 0,
                stopped: false,
                last_heard: now,
                ended: false,
            }
        });
        let machines: Vec<Machine> = machines.collect();
        let mut world = Self {
            chance,
            now,
            plan,
            threads,
            assign,
            conductor: None,
            conductor_back_at: now,
            machines,
            troubles,
            books: Books::default(),
            begins: Vec::new(),
            scratch: Interval::default(),
            is_blank: false,
            alone: Duration::ZERO,
        };
        for machine in &mut world.machines {
            machine.agent = Agent::new(
                Hello { version: "1".into(), node: "n".into(), cores: 4 },
                machine.clock(world.now),
            );
        }
        world.conductor = Some(Conductor::new(world.settings(), world.assign.clone(), now));
        world.books.told = vec![Booked::default(); agents];
        world
    }

    fn settings(&self) -> Settings {
        Settings {
            names: (0..self.machines.len()).map(|index| format!("h{index}")).collect(),
            version: "1".into(),
            ready_within: Duration::from_secs(60),
            resumable: true,
        }
    }

    /// Makes the load one of this length, of which nobody looks at what it does.
    pub fn goes_on_for(&mut self, length: Duration) {
        self.is_blank = true;
        self.lasts(length);
    }

    /// Makes the load one of this length.
    pub fn lasts(&mut self, length: Duration) {
        self.plan.stop.duration = length;
        let (request, expect) = (request(), Expect::default());
        self.assign =
            Assign::new("http://h/", ("h", 80), &self.plan, &request, &expect).expect("an open load");
        self.conductor = Some(Conductor::new(self.settings(), self.assign.clone(), self.now));
    }

    /// Until all is over.
    pub fn run(&mut self) {
        let begun = self.now;
        while self.now.since(begun) < WORLD_MAX && !self.is_over() {
            self.step();
            let next = self.next_instant().unwrap_or(self.now + SECOND);
            self.now = next.max(self.now + Duration::from_nanos(1));
        }
        assert!(self.is_over(), "it goes on for ever");
    }

    fn is_over(&self) -> bool {
        let agents_over = self.machines.iter().all(|it| it.dead || it.agent.is_over());
        let no_conductor = self.conductor.is_none() && self.conductor_back_at == Instant::FAR_FUTURE;
        (self.books.finished || self.books.failed.is_some() || no_conductor) && agents_over
    }

    fn next_instant(&self) -> Option<Instant> {
        let of_machines = self.machines.iter().filter(|it| !it.dead).flat_map(|it| {
            let load = it.begun.filter(|_| !it.ended).map(|_| self.second_end(it, it.second));
            let stream = if it.up { it.breaks_at } else { it.back_at };
            let timeout = it.agent.poll_timeout();
            let timeout = (timeout != Instant::FAR_FUTURE).then(|| it.world_time(timeout));
            [load, Some(stream), timeout, it.to_agent.next(), it.to_conductor.next()]
        });
        let conductor = self.conductor.as_ref().and_then(Conductor::poll_timeout);
        let kills = [self.troubles.restarts.map(|it| it.0), self.troubles.conductor_dies_at];
        let kills = kills.into_iter().flatten().map(|after| BIRTH + after);
        let death = self.troubles.dies_at.map(|it| BIRTH + it.1);
        let all = of_machines.flatten().chain(conductor).chain(kills).chain(death);
        all.chain([self.conductor_back_at]).filter(|at| *at > self.now).min()
    }

    /// When a machine's load threads have done the second with this number, on the world's clock.
    fn second_end(&self, machine: &Machine, second: u64) -> Instant {
        machine.begun.unwrap_or(self.now) + SECOND * (second + 1)
    }

    fn step(&mut self) {
        self.kill();
        for index in 0..self.machines.len() {
            if !self.machines[index].dead {
                self.turn_stream(index);
                self.turn_agent(index);
            }
        }
        self.turn_conductor();
    }

    fn kill(&mut self) {
        if let Some((index, after)) = self.troubles.dies_at
            && self.now >= BIRTH + after
            && !self.machines[index].dead
        {
            self.machines[index].dead = true;
            self.break_stream(index);
        }
        if let Some((at, away)) = self.troubles.restarts
            && self.now >= BIRTH + at
            && self.books.begin.is_some_and(|begin| self.now >= begin)
            && !self.books.finished
        {
            self.troubles.restarts = None;
            self.conductor = None;
            self.conductor_back_at = self.now + away;
            (0..self.machines.len()).for_each(|index| self.break_stream(index));
        }
        if let Some(at) = self.troubles.conductor_dies_at
            && self.now >= BIRTH + at
        {
            self.troubles.conductor_dies_at = None;
            self.conductor = None;
            self.conductor_back_at = Instant::FAR_FUTURE;
            (0..self.machines.len()).for_each(|index| self.break_stream(index));
        }
        if self.conductor.is_none() && self.now >= self.conductor_back_at {
            let begin = self.books.begin.expect("it is killed after the begin");
            let mut books = self.books.told.clone();
            for (booked, threads) in books.iter_mut().zip(&self.threads) {
                booked.seen.resize(threads.get() as usize, Seen::default());
            }
            let (settings, assign) = (self.settings(), self.assign.clone());
            self.conductor = Some(Conductor::restarted(settings, assign, begin, books, self.now));
            self.books.missed.clear();
        }
    }

    fn break_stream(&mut self, index: usize) {
        let away = Duration::from_millis(50) + self.chance.micros(4_000_000);
        let machine = &mut self.machines[index];
        if !machine.up {
            return;
        }
        (machine.up, machine.back_at) = (false, self.now + away);
        machine.to_agent = Way(VecDeque::new());
        machine.to_conductor = Way(VecDeque::new());
        machine.agent.detach();
        machine.is_visited(self.now);
        if let Some(conductor) = &mut self.conductor {
            conductor.detach(index, "the stream broke");
        }
    }

    fn turn_stream(&mut self, index: usize) {
        let breaks_after = self.troubles.breaks_every_s.map(|every| self.chance.micros(2_000_000 * every));
        let has_conductor = self.conductor.is_some();
        // Before the begin a broken stream is the end of it all, which is another law's matter.
        let may_break = self.books.begin.is_some_and(|begin| self.now >= begin);
        let machine = &mut self.machines[index];
        if machine.up && may_break && machine.breaks_at == Instant::FAR_FUTURE {
            machine.breaks_at = breaks_after.map_or(Instant::FAR_FUTURE, |after| self.now + after);
        }
        if machine.up && self.now >= machine.breaks_at {
            machine.breaks_at = Instant::FAR_FUTURE;
            return self.break_stream(index);
        }
        if !machine.up && has_conductor && self.now >= machine.back_at {
            machine.up = true;
            machine.agent.attach();
            if let Some(conductor) = &mut self.conductor {
                conductor.attach(index, self.now);
            }
        }
    }

    fn turn_agent(&mut self, index: usize) {
        let clock = self.machines[index].clock(self.now);
        while let Some(message) = self.machines[index].to_agent.take(self.now) {
            self.machines[index].last_heard = self.now;
            let step = self.machines[index].agent.handle(clock, message).expect("the conductor keeps to it");
            self.carry_out(index, step);
        }
        let step = self.machines[index].agent.handle_timeout(clock);
        self.carry_out(index, step);
        self.make_load(index);
        let delays: Vec<Duration> = (0..4).map(|_| self.chance.micros(900)).collect();
        let machine = &mut self.machines[index];
        let mut delays = delays.into_iter().cycle();
        while let Some(message) = machine.agent.poll_message() {
            let bytes = agent::encode(&message).expect("it is not too long");
            let mut frames = agent::Frames::default();
            frames.push(&bytes);
            let message = frames.next().expect("its own message").expect("all of it");
            let delay = Duration::from_micros(40) + delays.next().unwrap_or_default();
            machine.to_conductor.send(message, self.now + delay);
        }
    }

    fn carry_out(&mut self, index: usize, step: Option<Step>) {
        let threads = self.threads[index];
        let machine = &mut self.machines[index];
        match step {
            Some(Step::Prepare(assign)) => {
                let (plan, share) = (assign.plan().expect("a load"), assign.share().expect("a share"));
                let (request, expect) = assign.request().expect("a request");
                machine.configs = plan.configs_of(share, threads, &request, &expect);
                machine.agent.ready(machine.configs.len() as u32, "epoll", None);
            }
            Some(Step::Begin(at)) => {
                let at = machine.world_time(at);
                machine.begun = Some(at);
                let begin = self.books.begin.expect("it was told");
                let off = at.since(begin).max(begin.since(at));
                let conductor = self.conductor.as_ref().expect("it said so");
                let bounds = conductor.bounds_at_begin(index).expect("it compared clocks");
                self.begins.push((off, bounds.half()));
                assert!(at >= self.now, "it is told in time");
            }
            Some(Step::Stop) => machine.stopped = true,
            Some(Step::Leave(_)) | None => {}
        }
    }

    /// Each thread's seconds that are over by now.
    fn make_load(&mut self, index: usize) {
        let whole = self.plan.warm_up + self.plan.stop.duration;
        let machine = &mut self.machines[index];
        let Some(begun) = machine.begun else { return };
        while !machine.ended {
            let second = machine.second;
            let over = begun + SECOND * (second + 1);
            if machine.stopped || self.now < over {
                break;
            }
            for (thread, config) in machine.configs.iter().enumerate() {
                self.scratch.clear();
                if !self.is_blank {
                    add_seconds(config, (second, second + 1), &mut self.scratch);
                }
                let interval = &self.scratch;
                let (from, to) = (SECOND * second, SECOND * (second + 1));
                let told = Told::new(thread as u32, from, to, interval, &[]).ending(to >= whole);
                machine.agent.tell(told, interval.tally.intended);
            }
            self.alone = self.alone.max(over.since(machine.last_heard));
            machine.second += 1;
            machine.ended = SECOND * machine.second >= whole;
        }
        if machine.stopped {
            machine.ended = true;
        }
        if machine.ended && machine.begun.is_some() {
            machine.begun = None;
            let threads = vec![ThreadTotals::default(); machine.configs.len()];
            machine.agent.end(End { threads, interrupted: machine.stopped, ..End::default() });
        }
    }

    fn turn_conductor(&mut self) {
        let now = self.now;
        let Some(mut conductor) = self.conductor.take() else { return };
        for index in 0..self.machines.len() {
            while let Some(message) = self.machines[index].to_conductor.take(now) {
                conductor.handle(index, now, message);
            }
        }
        conductor.handle_timeout(now);
        while let Some(event) = conductor.poll_event() {
            self.keep(&mut conductor, event);
        }
        while let Some((index, message)) = conductor.poll_message() {
            let delay = Duration::from_micros(40) + self.chance.micros(900);
            if self.machines[index].up {
                self.machines[index].to_agent.send(message, now + delay);
            }
        }
        self.conductor = Some(conductor);
    }

    fn keep(&mut self, conductor: &mut Conductor, event: Event) {
        match event {
            Event::Begin { at, agents } => {
                self.books.begin = Some(at);
                for (booked, Joined { bounds, .. }) in self.books.told.iter_mut().zip(agents) {
                    booked.bounds = bounds;
                }
            }
            Event::Interval { agent, told, interval } => {
                self.books.whole.merge(&interval);
                let booked = &mut self.books.told[agent];
                booked.seen.resize(self.threads[agent].get() as usize, Seen::default());
                booked.seen[told.thread as usize] =
                    Seen { last: told.last, told_to: told.to(), ended: told.ends };
                booked.intended += interval.tally.intended;
                conductor.booked(agent, told.thread, told.last);
            }
            Event::Ended { agent, .. } => self.books.told[agent].done = true,
            Event::Broken { agent, .. } => {
                assert!(self.books.missed.insert(agent), "said once until it is back");
            }
            Event::Back { agent } => assert!(self.books.missed.remove(&agent), "nobody missed it"),
            Event::Lost(lost) => self.books.lost.push(lost),
            Event::Failed(why) => self.books.failed = Some(why),
            Event::Finished => self.books.finished = true,
        }
    }

    /// What one sink of all samples would hold that agent `index` made up to its second with this number, by thread.
    pub fn one_sink(&self, index: usize, seconds: &[u64]) -> Interval {
        let mut whole = Interval::default();
        for (config, seconds) in self.machines[index].configs.iter().zip(seconds) {
            add_seconds(config, (0, *seconds), &mut whole);
        }
        whole
    }

    pub fn agents(&self) -> usize {
        self.machines.len()
    }
}
