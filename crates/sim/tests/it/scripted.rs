//! The laws of a load hold for scripted users as well: one outcome each, pauses to the nanosecond, same seed same run.

use std::num::NonZeroU64;
use std::ops::Range;

use engine::{ConnectFailure, Due, Engine, Next, Outcome, Sample, Script, Waits};
use http::{AnswerHead, Http1, RequestKind, Response};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim::{Fault, Scenario, ServerPlan, SimIo, drive_until};
use units::{Duration, Instant, Seed};

use sim::seeds::{ALL, FEW, seeds};

/// Users who send, pause and change servers at random, have more patience with some requests, and leave after some of them.
struct Wanderers {
    random: Xoshiro256PlusPlus,
    users: Vec<User>,
    /// How long each request may take at least.
    timeout: Duration,
    requests: Vec<u8>,
}

#[derive(Debug, Clone, Default)]
struct User {
    left_to_send: u32,
    out: bool,
    asked_back_at: Option<Instant>,
    /// Whether an answer has begun, and the status of its head.
    answer: (bool, Option<u16>),
    body: Vec<u8>,
    /// How long its request may take.
    timeout: Duration,
    answered: u32,
}

impl Wanderers {
    fn new(seed: u64, users: u32) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let users = (0..users)
            .map(|_| User { left_to_send: (random.next_u64() % 20) as u32, ..User::default() })
            .collect();
        Self { random, users, timeout: Duration::ZERO, requests: b"GET / HTTP/1.1\r\n\r\n".to_vec() }
    }
}

impl Script for Wanderers {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        let chance = self.random.next_u64();
        let it = &mut self.users[user as usize];
        assert!(!it.out, "user {user} is asked while its request is out");
        if let Some(at) = it.asked_back_at.take() {
            assert_eq!(now, at, "a pause is as long as it was said to be");
        }
        if it.left_to_send == 0 {
            return Next::Leave;
        }
        if chance.is_multiple_of(3) {
            let length = Duration::from_micros(chance % 5_000);
            it.asked_back_at = Some(now + length);
            return Next::Pause(length);
        }
        it.left_to_send -= 1;
        it.out = true;
        (it.answer, it.body) = ((false, None), Vec::new());
        let target = (chance >> 20) as u32 % 2;
        let [connect, request] = [24, 44].map(|bits| Duration::from_micros((chance >> bits) % 10_000));
        it.timeout = self.timeout.max(request);
        let waits = Waits { connect, request };
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target, waits })
    }

    fn ask(&mut self, user: u32, _: u32, _: &mut Http1, out: &mut Vec<u8>) {
        assert!(self.users[user as usize].out, "user {user} has nothing to send");
        out.extend_from_slice(&self.requests);
    }

    fn begun(&mut self, user: u32, _: Instant) {
        let it = &mut self.users[user as usize];
        assert!(it.out && !std::mem::replace(&mut it.answer.0, true), "user {user}: once an answer");
    }

    fn head(&mut self, user: u32, head: &AnswerHead<'_>, _: Instant) {
        let it = &mut self.users[user as usize];
        assert!(
            it.answer.0 && it.body.is_empty(),
            "user {user}: a head without a beginning, or after its body"
        );
        assert_eq!(it.answer.1.replace(head.status), None, "user {user}: a second head");
        assert_eq!(head.reason, "X");
    }

    fn body(&mut self, user: u32, piece: &[u8]) {
        let it = &mut self.users[user as usize];
        assert!(it.answer.1.is_some(), "user {user}: a body without a head");
        it.body.extend_from_slice(piece);
    }

    fn ended(&mut self, user: u32, sample: &Sample, response: Option<&Response>) -> bool {
        let it = &mut self.users[user as usize];
        assert!(std::mem::take(&mut it.out), "user {user} had nothing out");
        assert_eq!(response.is_some(), sample.outcome.is_answered(), "{sample:?}");
        if sample.outcome == Outcome::TimedOut {
            let lasted = sample.sent.map(|sent| sample.done.since(sent));
            assert_eq!(lasted, Some(it.timeout), "{sample:?}");
        }
        if let Some(response) = response {
            it.answered += 1;
            assert_eq!(it.answer, (true, Some(response.status)), "the script was told of the answer");
            assert_eq!(it.body.len() as u64, response.body_bytes, "the script saw all of the body");
        }
        it.body == b"hello"
    }
}

struct Ran {
    samples: Vec<Sample>,
    script: Wanderers,
    fingerprint: u64,
}

fn run(scenario: &Scenario, seed: u64) -> Ran {
    let mut io = SimIo::new(scenario.server.clone(), scenario.seed);
    let mut samples = Vec::new();
    let mut script = Wanderers::new(seed, scenario.config.connections.get());
    script.timeout = scenario.config.timeouts.request;
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = Engine::scripted(scenario.config.clone(), sink, script, Instant::ORIGIN);
    drive_until(&mut engine, &mut io, scenario.interrupt_at);
    assert_eq!(engine.outstanding(), 0, "seed {seed}: requests without an outcome");
    assert_eq!(io.open_connections(), 0, "seed {seed}: connections left open");
    let intended = engine.counters().intended;
    let (_, script) = engine.into_sink_and_script();
    assert_eq!(samples.len() as u64, intended, "seed {seed}: one outcome for each request");
    Ran { samples, script: script.expect("it was given one"), fingerprint: io.fingerprint() }
}

#[test]
fn scripted_users_keep_the_laws_whatever_the_server_does() {
    keeps_the_laws_on(seeds(FEW));
}

#[test]
#[ignore = "slow: ten thousand seeds"]
fn scripted_users_keep_the_laws_on_all_seeds() {
    keeps_the_laws_on(seeds(ALL));
}

fn keeps_the_laws_on(seeds: Range<u64>) {
    let tried = seeds.end - seeds.start;
    let mut answered: u64 = 0;
    for seed in seeds {
        let scenario = Scenario::from_seed(Seed(seed));
        let ran = run(&scenario, seed);
        for sample in &ran.samples {
            let sent = sample.sent.unwrap_or(sample.done);
            assert!(sample.intended <= sample.ready && sent <= sample.done, "seed {seed}: {sample:?}");
        }
        answered += ran.samples.iter().filter(|it| it.outcome.is_answered()).count() as u64;
        assert!(ran.script.users.iter().all(|user| !user.out), "seed {seed}: a request without its end");
        assert_eq!(run(&scenario, seed).fingerprint, ran.fingerprint, "seed {seed}: not the same run again");
    }
    assert!(tried == 1 || answered > 6 * tried, "the seeds hardly tried anything: {answered}");
}

#[test]
fn all_is_done_when_all_have_left_and_the_script_judges_answers() {
    let server = sim::ServerPlan::healthy(2, Duration::from_millis(1));
    let mut scenario = Scenario::closed(10, Duration::MAX, server);
    let wanted: u32 = Wanderers::new(7, 10).users.iter().map(|user| user.left_to_send).sum();
    let ran = run(&scenario, 7);
    let good = Outcome::Answered { status: 200, expected: true };
    assert_eq!(ran.samples.len(), wanted as usize);
    assert!(ran.samples.iter().all(|sample| sample.outcome == good));

    scenario.server.body = "hell".into();
    let bad = Outcome::Answered { status: 200, expected: false };
    assert!(run(&scenario, 7).samples.iter().all(|sample| sample.outcome == bad));

    scenario.config.stop.requests = NonZeroU64::new(5);
    assert_eq!(run(&scenario, 7).samples.len(), 5, "a bound on requests ends it too");
}

/// A user with requests that may take different times.
struct Patient(Vec<Waits>);

impl Script for Patient {
    fn next(&mut self, _: u32, now: Instant) -> Next {
        let Some(waits) = self.0.pop() else { return Next::Leave };
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target: 0, waits })
    }

    fn ask(&mut self, _: u32, _: u32, _: &mut Http1, out: &mut Vec<u8>) {
        out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
    }

    fn ended(&mut self, _: u32, _: &Sample, _: Option<&Response>) -> bool {
        true
    }
}

/// What becomes of requests that may take so many milliseconds each, for a connection and for an answer, or else 50 and 100.
fn of_patient(server: ServerPlan, waits_ms: &[(u64, u64)]) -> Vec<Sample> {
    let ms = Duration::from_millis;
    let waits = |(connect, request): &(u64, u64)| Waits { connect: ms(*connect), request: ms(*request) };
    let script = Patient(waits_ms.iter().rev().map(waits).collect());
    let mut scenario = Scenario::closed(1, Duration::MAX, server);
    (scenario.config.timeouts.connect, scenario.config.timeouts.request) = (ms(50), ms(100));
    let mut io = SimIo::new(scenario.server, scenario.seed);
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = Engine::scripted(scenario.config, sink, script, Instant::ORIGIN);
    drive_until(&mut engine, &mut io, None);
    drop(engine);
    samples
}

/// The shortest holds for all that say nothing, and for none that has more: also behind one that has.
#[test]
fn each_request_is_given_up_when_its_own_time_is_over() {
    let mut server = ServerPlan::healthy(1, Duration::from_millis(1));
    server.faults.per_mille = vec![(Fault::NeverAnswer, 1000)];
    let samples = of_patient(server.clone(), &[(0, 1000), (0, 0), (0, 300), (0, 10), (0, 101), (0, 0)]);
    assert!(samples.iter().all(|sample| sample.outcome == Outcome::TimedOut), "{samples:?}");
    let lasted: Vec<_> = samples.iter().filter_map(Sample::service_time).collect();
    assert_eq!(lasted, [1000, 100, 300, 100, 101, 100].map(Duration::from_millis));

    server.faults.black_hole_per_mille = 1000;
    let samples = of_patient(server, &[(1000, 0), (0, 0), (300, 0), (10, 0), (51, 0), (0, 0)]);
    let no_connection = Outcome::ConnectFailed(ConnectFailure::TimedOut);
    assert!(samples.iter().all(|sample| sample.outcome == no_connection), "{samples:?}");
    let lasted: Vec<_> = samples.iter().map(|sample| sample.done.since(sample.ready)).collect();
    assert_eq!(lasted, [1000, 50, 300, 50, 51, 50].map(Duration::from_millis));
}

/// Two users. The first does this to begin with, and the second releases it after 10 ms, and leaves.
struct Pair {
    first: Next,
    begun: Option<Instant>,
    second_came: bool,
    released: Option<u32>,
    /// Whether the first one's request is over.
    ended: bool,
    /// When the first one was asked but for the end of its request, from its first step on.
    asked: Vec<Duration>,
}

impl Script for Pair {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        let begun = *self.begun.get_or_insert(now);
        if user == 1 {
            if !std::mem::replace(&mut self.second_came, true) {
                return Next::Pause(Duration::from_millis(10));
            }
            self.released = Some(0);
            return Next::Leave;
        }
        let passed = now.since(begun);
        let left = Duration::from_millis(100).saturating_sub(passed);
        if std::mem::take(&mut self.ended) {
            return Next::Pause(left);
        }
        self.asked.push(passed);
        match self.asked.len() {
            1 => self.first,
            2 => {
                let (kind, waits) = (RequestKind::Ordinary, Waits::OF_LOAD);
                Next::Send(Due { intended: now, kind, target: 0, waits })
            }
            _ if left.is_zero() => Next::Leave,
            _ => Next::Pause(left),
        }
    }

    fn released(&mut self) -> Option<u32> {
        self.released.take()
    }

    fn ask(&mut self, _: u32, _: u32, _: &mut Http1, out: &mut Vec<u8>) {
        out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
    }

    fn ended(&mut self, _: u32, _: &Sample, _: Option<&Response>) -> bool {
        self.ended = true;
        true
    }
}

/// Whoever paused is asked once more when the pause would have ended, and whoever waited is not.
#[test]
fn who_is_released_is_asked_at_once() {
    let ms = Duration::from_millis;
    for (first, expected) in [(Next::Pause(ms(50)), &[0, 10, 50, 100][..]), (Next::Wait, &[0, 10, 100][..])] {
        let Scenario { config, server, seed, .. } =
            Scenario::closed(2, Duration::MAX, ServerPlan::healthy(2, ms(1)));
        let mut io = SimIo::new(server, seed);
        let (begun, second_came, released, ended, asked) = (None, false, None, false, Vec::new());
        let pair = Pair { first, begun, second_came, released, ended, asked };
        let mut samples = 0;
        let mut engine = Engine::scripted(config, |_: &Sample| samples += 1, pair, Instant::ORIGIN);
        drive_until(&mut engine, &mut io, None);
        let asked = engine.into_sink_and_script().1.map(|pair| pair.asked);
        let expected: Vec<Duration> = expected.iter().map(|at| ms(*at)).collect();
        assert_eq!((asked, samples), (Some(expected), 1), "{first:?}");
    }
}
