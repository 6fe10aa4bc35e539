//! Locks, semaphores and limiters of a simulated server, asked as an idle server is, on a quiet machine and beside others: how often
//! each is named, and how often another.

use explain::VerdictKind;
use record::{BurstAnswers, IdleAnswers, Measured};
use units::Duration;

use crate::reasons::{first, kind, signals};
use crate::workers::{all, node};

const TRIES: u64 = 100;
const ANSWERS: u32 = 100;
const RESTED: u32 = 100;
const BURSTS: u32 = 3;
/// What a client does between one answer and the next request, µs, at least.
const CLIENT_US: f64 = 150.0;
/// What it takes to hand a turn on, µs.
const HANDED_ON_US: f64 = 40.0;

/// What a wake-up takes, µs, on average and at least.
const USUAL_US: f64 = 50.0;
const USUAL_LEAST_US: f64 = 30.0;

/// Knuth's MMIX generator; its upper bits are the good ones.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }
}

/// Of how many requests others hold one up, and by how much, µs on average.
#[derive(Clone, Copy)]
pub(crate) struct Others {
    pub(crate) share: f64,
    mean_us: f64,
}

pub(crate) const NOBODY: Others = Others { share: 0.005, mean_us: 500.0 };
pub(crate) const NEIGHBOURS: Others = Others { share: 0.15, mean_us: 2_500.0 };

impl Others {
    pub(crate) fn delay_us(self, chance: &mut Chance) -> f64 {
        // A wake-up takes some time on any machine.
        let usual = USUAL_LEAST_US + chance.exponential(USUAL_US - USUAL_LEAST_US);
        usual + if chance.share() < self.share { chance.exponential(self.mean_us) } else { 0.0 }
    }
}

/// What an answer has to wait for.
#[derive(Clone, Copy)]
enum Limit {
    /// So many at a time, each for so long; of `spread` of that, evenly, it may be more or less.
    AtATime { count: usize, held_us: f64, spread: f64 },
    /// One at a time, each for so long, within an answer that waits for nobody `before_us`, and ends so long before the lock does.
    Within { before_us: f64, held_us: f64, beyond_us: f64 },
    /// So many in each tick of a clock; one is answered at its tick.
    Ticks { every_us: f64, count: f64 },
    /// One in so long, of which so many are saved; each takes so long. Timers end a millisecond late where they are `coarse`.
    ASecond { gap_us: f64, saved: f64, takes_us: f64, coarse: bool },
}

struct Server {
    limit: Limit,
    others: Others,
    chance: Chance,
    /// When each place is free again, or the next token is made.
    free_us: Vec<f64>,
}

impl Server {
    fn new(limit: Limit, others: Others, seed: u64) -> Self {
        let places = match limit {
            Limit::AtATime { count, .. } => count,
            // The tick, and how many it has answered.
            Limit::Ticks { .. } => 2,
            Limit::Within { .. } | Limit::ASecond { .. } => 1,
        };
        Self { limit, others, chance: Chance(seed), free_us: vec![0.0; places] }
    }

    /// When a request that comes at `now_us` has its answer.
    fn done_us(&mut self, now_us: f64) -> f64 {
        let late_us = self.others.delay_us(&mut self.chance);
        match self.limit {
            Limit::AtATime { held_us, spread, .. } => {
                let place = self.free_us.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is one");
                let held_us = held_us * (1.0 + spread * (2.0 * self.chance.share() - 1.0));
                let begun_us = if *place > now_us { *place + HANDED_ON_US } else { now_us };
                *place = begun_us + held_us + late_us;
                *place
            }
            Limit::Within { before_us, held_us, beyond_us } => {
                let [place] = &mut self.free_us[..] else { panic!("one place") };
                let there_us = now_us + before_us;
                let begun_us = if *place > there_us { *place + HANDED_ON_US } else { there_us };
                *place = begun_us + held_us + late_us;
                *place - beyond_us
            }
            Limit::Ticks { every_us, count } => {
                let [tick_us, answered] = &mut self.free_us[..] else { panic!("a tick and a count") };
                let next_us = (now_us / every_us).floor() * every_us + every_us;
                if next_us > *tick_us {
                    (*tick_us, *answered) = (next_us, 0.0);
                } else if *answered >= count {
                    (*tick_us, *answered) = (*tick_us + every_us, 0.0);
                }
                *answered += 1.0;
                *tick_us + late_us
            }
            Limit::ASecond { gap_us, saved, takes_us, coarse } => {
                let made_us = self.free_us[0].max(now_us - saved * gap_us);
                self.free_us[0] = made_us + gap_us;
                let wait_us = (made_us - now_us).max(0.0) + takes_us;
                let waited_us = if coarse { (wait_us / 1e3).floor().max(1.0) * 1e3 + 200.0 } else { wait_us };
                now_us + waited_us + late_us
            }
        }
    }

    /// Answers one after the other, each after a pause, and when they ended.
    fn one_by_one(&mut self, mut now_us: f64, count: u32, pause_us: f64) -> (Vec<Duration>, f64) {
        let mut times = Vec::new();
        for _ in 0..count {
            now_us += CLIENT_US + pause_us + self.others.delay_us(&mut self.chance);
            let done_us = self.done_us(now_us);
            times.push(micros(done_us - now_us));
            now_us = done_us;
        }
        (times, now_us)
    }

    /// Its rate under a load that never ends.
    fn rate_per_s(&mut self) -> f64 {
        match self.limit {
            Limit::ASecond { gap_us, .. } => 1e6 / gap_us,
            Limit::Ticks { every_us, count } => count / every_us * 1e6,
            Limit::Within { held_us, .. } => 1e6 / (held_us + HANDED_ON_US + USUAL_US),
            Limit::AtATime { count, .. } => {
                let many = 300 * count;
                let last_us = (0..many).map(|_| self.done_us(0.0)).fold(0.0, f64::max);
                many as f64 / last_us * 1e6
            }
        }
    }
}

fn micros(us: f64) -> Duration {
    Duration::from_secs_f64(us / 1e6)
}

/// What `limit` shows of itself, asked as an idle server is.
fn asked(limit: Limit, others: Others, seed: u64) -> Measured {
    let mut server = Server::new(limit, others, seed);
    let rate = server.rate_per_s();
    // The load has left nothing behind, and nothing saved.
    let mut now_us = 1e12;
    server.free_us.fill(now_us);
    let begun_us = now_us;
    let (times, ended_us) = server.one_by_one(now_us, ANSWERS, 0.0);
    let idle = IdleAnswers::of(&times).unwrap();
    let idle = IdleAnswers { apart_us: Some((ended_us - begun_us) / f64::from(ANSWERS)), ..idle };
    now_us = ended_us;
    let under_way = rate * idle.mean_us / 1e6;
    let idle = if under_way <= 1.5 {
        let pause_us = 2.0 * idle.mean_us;
        let (rested, ended_us) = server.one_by_one(now_us, RESTED, pause_us);
        now_us = ended_us;
        idle.with_rested(micros(pause_us), &rested)
    } else {
        idle
    };
    let turn = under_way.round().max(1.0) as u32;
    let asked = (4 * turn).clamp(16, 64);
    let bursts: Vec<Vec<Duration>> = (0..BURSTS)
        .map(|_| {
            // Whoever sends it comes when it comes.
            now_us += (1.5 + server.chance.share()) * f64::from(asked) / rate * 1e6;
            let begun_us = now_us;
            let done_us: Vec<f64> = (0..asked).map(|_| server.done_us(begun_us)).collect();
            now_us = done_us.iter().copied().fold(now_us, f64::max);
            done_us.into_iter().map(|at| micros(at - begun_us)).collect()
        })
        .collect();
    let idle = IdleAnswers { burst: BurstAnswers::of(asked, turn, &bursts), ..idle };
    let mut trial = node(rate, 0.05);
    signals(&mut trial).unread = Some(all(0));
    trial.contract.idle_service_time_us = idle.shortest_us;
    trial.contract.idle_answers = Some(idle);
    trial
}

/// Shares of the tries in which it was named so, and so.
fn named(limit: Limit, others: Others, right: VerdictKind, wrong: VerdictKind) -> (f64, f64) {
    let kinds: Vec<VerdictKind> =
        (0..TRIES).map(|seed| kind(&asked(limit, others, 1 + seed * 7_919))).collect();
    let share = |of| kinds.iter().filter(|it| **it == of).count() as f64 / TRIES as f64;
    (share(right), share(wrong))
}

#[test]
fn locks_are_no_limiters_and_limiters_are_no_locks() {
    use VerdictKind::{RateLimiter, SerialSection};
    let lock = |held_us, spread| Limit::AtATime { count: 1, held_us, spread };
    let limiter = |per_s: f64, saved, takes_us, coarse| {
        let gap_us = 1e6 / per_s;
        Limit::ASecond { gap_us, saved: saved * per_s, takes_us, coarse }
    };
    let cases = [
        ("a lock of 2 ms", lock(2_000.0, 0.0), SerialSection),
        ("a lock of 3 ms, more or less", lock(3_000.0, 0.5), SerialSection),
        ("a lock of 10 ms", lock(10_000.0, 0.2), SerialSection),
        ("a limiter at 500/s", limiter(500.0, 1.0, 100.0, false), RateLimiter),
        ("a limiter at 500/s by coarse timers", limiter(500.0, 1.0, 0.0, true), RateLimiter),
        ("a limiter at 150/s of 5 ms each", limiter(150.0, 1.0, 5_000.0, false), RateLimiter),
        ("a limiter at 300/s that saves none", limiter(300.0, 0.0, 100.0, false), RateLimiter),
        ("the same by coarse timers", limiter(300.0, 0.0, 0.0, true), RateLimiter),
    ];
    for (name, limit, right) in cases {
        let wrong = if right == RateLimiter { SerialSection } else { RateLimiter };
        for (others, right_min, wrong_max) in [(NOBODY, 0.95, 0.01), (NEIGHBOURS, 0.6, 0.03)] {
            let (named, misnamed) = named(limit, others, right, wrong);
            let share = others.share;
            assert!(misnamed <= wrong_max, "{name}, {share}: misnamed {misnamed}, named {named}");
            assert!(named >= right_min, "{name}, {share}: named {named}");
        }
    }
}

#[test]
fn so_many_at_a_time_are_no_limiter_and_a_limiter_is_no_number_of_them() {
    use VerdictKind::{LimitInside, RateLimiter};
    let inside = |count, held_us| Limit::AtATime { count, held_us, spread: 0.0 };
    let limiter = |per_s: f64, saved: f64, takes_us| Limit::ASecond {
        gap_us: 1e6 / per_s,
        saved: saved * per_s,
        takes_us,
        coarse: false,
    };
    let cases = [
        ("3 of 50 ms", inside(3, 50_000.0), LimitInside),
        ("10 of 40 ms", inside(10, 40_000.0), LimitInside),
        ("250/s of 40 ms each", limiter(250.0, 1.0, 40_000.0), RateLimiter),
    ];
    for (name, limit, right) in cases {
        let wrong = if right == RateLimiter { LimitInside } else { RateLimiter };
        for (others, right_min, wrong_max) in [(NOBODY, 0.95, 0.01), (NEIGHBOURS, 0.6, 0.03)] {
            let (named, misnamed) = named(limit, others, right, wrong);
            let share = others.share;
            assert!(misnamed <= wrong_max, "{name}, {share}: misnamed {misnamed}, named {named}");
            assert!(named >= right_min, "{name}, {share}: named {named}");
        }
    }
}

/// What looks alike from outside is called neither.
#[test]
fn locks_within_an_answer_and_ticks_are_named_as_nothing_that_they_are_not() {
    use VerdictKind::{LimitInside, RateLimiter, Unexplained};
    let within = |before_us, held_us| Limit::Within { before_us, held_us, beyond_us: 0.0 };
    let ticks = |every_us, count| Limit::Ticks { every_us, count };
    let spaced = Limit::ASecond { gap_us: 10_000.0, saved: 0.0, takes_us: 50_000.0, coarse: false };
    for (name, limit, wrong) in [
        ("100/s of 50 ms each, none saved", spaced, LimitInside),
        ("a lock of 4 ms within 40 ms", within(36_000.0, 4_000.0), RateLimiter),
        ("the same, as a limit inside", within(36_000.0, 4_000.0), LimitInside),
        ("a lock of 5 ms within 10 ms", within(5_000.0, 5_000.0), LimitInside),
        ("ten in each tick of 100 ms", ticks(100_000.0, 10.0), LimitInside),
        ("four in each tick of 20 ms", ticks(20_000.0, 4.0), LimitInside),
    ] {
        let (unnamed, misnamed) = named(limit, NOBODY, Unexplained, wrong);
        assert!(misnamed <= 0.01, "{name}: misnamed {misnamed}, unexplained {unnamed}");
    }
    // Which a limiter that saves nothing looks like, and says so.
    let beyond = Limit::Within { before_us: 0.0, held_us: 4_000.0, beyond_us: 3_000.0 };
    for seed in 0..TRIES {
        let told = first(&asked(beyond, NOBODY, 1 + seed * 7_919));
        let says_both = told.evidence.iter().any(|it| it.contains("beyond the answer"));
        assert!(told.kind == Unexplained || told.kind == RateLimiter && says_both, "{told:?}");
    }
}
