//! The laws of a load hold for scripted users as well: one outcome each, pauses to the nanosecond, same seed same run.

use std::num::NonZeroU64;
use std::ops::Range;

use engine::{Due, Engine, Next, Outcome, Sample, Script};
use http::{AnswerHead, Http1, RequestKind, Response};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim::{Scenario, SimIo, drive_until};
use units::{Duration, Instant, Seed};

use sim::seeds::{ALL, FEW, seeds};

/// Users who send, pause and change servers at random, and leave after some requests.
struct Wanderers {
    random: Xoshiro256PlusPlus,
    users: Vec<User>,
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
    answered: u32,
}

impl Wanderers {
    fn new(seed: u64, users: u32) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let users = (0..users)
            .map(|_| User { left_to_send: (random.next_u64() % 20) as u32, ..User::default() })
            .collect();
        Self { random, users, requests: b"GET / HTTP/1.1\r\n\r\n".to_vec() }
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
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target })
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
    let script = Wanderers::new(seed, scenario.config.connections.get());
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
