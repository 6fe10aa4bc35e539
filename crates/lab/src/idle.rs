//! What a stack takes for an answer while nothing else is asked of it, before its load and behind it.

use std::time::Instant;

use driver::Control;
use plan::stack::Endpoint;
use record::{AnswerTimes, BurstAnswers, IdleAnswers, Load, LoadResult};
use stack::{BURST_MAX, IdleAsking, Running};
use units::Duration;

/// How long one answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// What is asked of a stack that was not loaded yet: its first answer loads classes and opens connections, so it is not alone.
const COLD: IdleAsking = IdleAsking {
    most: 5,
    least: 1,
    wait: Duration::from_secs(1),
    wait_max: Duration::from_secs(1),
    pause: Duration::ZERO,
    answer_max: ANSWER_MAX,
};
/// Answers of a warm stack at most, and those that are worth a longer wait.
const WARM_ANSWERS_MAX: u32 = 100;
const WARM_ANSWERS_MIN: u32 = 5;
/// How long a warm one is asked for the least answers, which are worth a longer wait; for those behind a rest; and for those on a
/// connection that is kept.
const WARM_WAIT_MAX: Duration = Duration::from_secs(15);
const RESTED_WAIT_MAX: Duration = Duration::from_secs(8);
const KEPT_WAIT_MAX: Duration = Duration::from_secs(4);
/// The part of a look in which answers behind a rest are asked for, and that in which they are on a connection that is kept.
const RESTED_PART: u64 = 2;
const KEPT_PART: u64 = 4;

/// A rest, in mean answers: what lets one through in each of them has two to give away by then.
const REST_ANSWERS: f64 = 2.0;
/// The longest rest. Of what takes longer, requests that come by themselves are none that anybody waits between.
const REST_MAX: Duration = Duration::from_secs(1);
/// The shortest answers that a rest or a burst may tell anything of: of faster ones it is the way there that takes the time.
const MEAN_MIN: Duration = Duration::from_micros(500);
/// X·S₀ up to which one user alone may have waited for what all waited for.
const ALONE_MAX: f64 = 1.5;
/// Requests of a burst for each that has its turn at a time, so that the last come four turns later where there are turns; and so
/// many where that is less.
const BURST_TURNS: f64 = 4.0;
const BURST_USUAL: f64 = 16.0;
/// And how many turns, and requests, it takes to be one.
const BURST_TURNS_MIN: f64 = 2.0;
const BURST_MIN: f64 = 4.0;
/// How long all of them take at the rate under load, at most; and up to where a burst is short.
const BURST_S_MAX: f64 = 1.0;
const SHORT_BURST_S_MAX: f64 = 0.3;
/// How many bursts, where they are short and where they are not.
const BURSTS: u32 = 3;
const LONG_BURSTS: u32 = 2;
/// How long it rests before a burst at least, over how long that takes at the rate under load: what lets so many through in a
/// second has enough to give away by then, if it saves them.
const REST_BEFORE_BURST: f64 = 1.5;
/// How much longer than before the one ahead of it, modulo one, in the same measure: whatever beats in regular ticks is met at
/// another moment each time (the golden ratio's fraction, whose multiples lie apart from each other).
const REST_STEP: f64 = 0.618_034;
/// As many at a time as users, or nearly, wait for nobody.
const OF_USERS_MAX: f64 = 0.9;

/// What is asked of a warm stack that is idle again: a hundred answers tell the mean of exponential times to a fifth. A slow
/// one gives fewer, thirty at 0.1 s each where it is asked for three seconds, and a very slow one five.
const fn warm(look: Duration) -> IdleAsking {
    let (wait, wait_max, pause) = (look, WARM_WAIT_MAX, Duration::ZERO);
    IdleAsking {
        most: WARM_ANSWERS_MAX,
        least: WARM_ANSWERS_MIN,
        wait,
        wait_max,
        pause,
        answer_max: ANSWER_MAX,
    }
}

/// What is asked of it then, with a rest before each, as often as it takes to tell a mean from that of the others: five times of a
/// slow one, which takes them seconds.
fn rested(look: Duration, pause: Duration) -> IdleAsking {
    IdleAsking { wait: look / RESTED_PART, wait_max: RESTED_WAIT_MAX, pause, ..warm(look) }
}

/// What is asked of it on one connection that is kept.
fn kept(look: Duration) -> IdleAsking {
    IdleAsking { wait: look / KEPT_PART, wait_max: KEPT_WAIT_MAX, ..warm(look) }
}

/// A stack that is up and idle.
pub(crate) struct AskedIdle<'a> {
    pub(crate) running: &'a Running,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) interrupt: &'a Control,
    /// How long it is asked once it is warm.
    pub(crate) look: Duration,
}

/// What answers of a warm stack took.
pub(crate) struct Warm {
    pub(crate) shortest_us: Option<f64>,
    pub(crate) all: Option<IdleAnswers>,
}

impl AskedIdle<'_> {
    /// What an answer takes before the load: the shortest of a few, of which `first_us` is one.
    pub(crate) fn shortest_cold_us(&self, first_us: f64) -> f64 {
        self.answers(&COLD).iter().map(|it| it.as_micros_f64()).fold(first_us, f64::min)
    }

    /// What answers take once the stack is warm, and idle again after `load`: one right behind the other, and, where that tells
    /// more, some of them rested, some on one connection, and some at once.
    pub(crate) fn warm(&self, load: &LoadResult) -> Warm {
        // The first may have waited for what the load left behind. Where it waits in vain, the server still works for those who
        // gave up, and what it takes meanwhile is not what it takes idle.
        let asking = warm(self.look);
        if self.answers(&IdleAsking { most: 1, ..asking }).is_empty() {
            return Warm { shortest_us: None, all: None };
        }
        let begun = Instant::now();
        let times = self.answers(&asking);
        let apart_us = apart_us(&asking, times.len(), begun.elapsed().into());
        let all = IdleAnswers::of(&times).map(|told| {
            let told = IdleAnswers { apart_us, ..told };
            let idle = Idle { mean_s: told.mean_us / 1e6, rate_per_s: load.throughput_per_s };
            let told = match idle.rest() {
                Some(pause) => told.with_rested(pause, &self.answers(&rested(self.look, pause))),
                None => told,
            };
            let Some(users) = waiting_users(load).filter(|users| idle.lets_wait(*users)) else { return told };
            IdleAnswers {
                kept: load.load.keep_alive.then(|| self.kept()).flatten(),
                burst: idle.burst(users).and_then(|burst| self.burst(&burst)),
                ..told
            }
        });
        Warm { shortest_us: times.iter().min().map(|it| it.as_micros_f64()), all }
    }

    /// What answers take on a connection that is kept, as those of the load are.
    fn kept(&self) -> Option<AnswerTimes> {
        let Self { running, endpoint, interrupt, look } = self;
        let times = stack::kept_answers(running, endpoint, &kept(*look), &|| interrupt.is_interrupted());
        AnswerTimes::of(&times)
    }

    /// What comes of some bursts.
    fn burst(&self, burst: &Burst) -> Option<BurstAnswers> {
        let Self { running, endpoint, interrupt, .. } = self;
        let mut answers = Vec::new();
        for number in 0..burst.count {
            std::thread::sleep(burst.rest(number).into());
            if interrupt.is_interrupted() {
                return None;
            }
            let times = stack::burst_answers(running, endpoint, burst.asked, ANSWER_MAX);
            if times.len() < burst.asked as usize {
                return None;
            }
            answers.push(times);
        }
        BurstAnswers::of(burst.asked, burst.turn, &answers)
    }

    fn answers(&self, asking: &IdleAsking) -> Vec<Duration> {
        let Self { running, endpoint, interrupt, .. } = self;
        stack::idle_answers(running, endpoint, asking, &|| interrupt.is_interrupted())
    }
}

/// Users of a load who wait for an answer and then ask again at once; of others a burst tells nothing.
fn waiting_users(load: &LoadResult) -> Option<u32> {
    let Load { rate_per_s, think_us, ramp_up_s, requests_per_user, .. } = &load.load;
    let stay = rate_per_s.is_none() && ramp_up_s.is_none() && requests_per_user.is_none();
    (stay && think_us.is_none_or(|us| us <= 0.0)).then(|| load.load.exchanges())
}

/// From the beginning of one answer to the next; `None` where they ended before their time, and the last was none.
fn apart_us(asking: &IdleAsking, answers: usize, elapsed: Duration) -> Option<f64> {
    let ended_early = answers < asking.most as usize && elapsed < asking.wait;
    (answers > 0 && !ended_early).then(|| elapsed.as_micros_f64() / answers as f64)
}

/// An idle server, and the rate that it had under load.
#[derive(Debug, Clone, Copy)]
struct Idle {
    mean_s: f64,
    rate_per_s: f64,
}

/// So many requests at once, how many of them have their turn at a time, how often, and how long they take at the rate under load.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Burst {
    asked: u32,
    turn: u32,
    count: u32,
    takes_s: f64,
}

impl Burst {
    /// How long it rests before the burst of this number, from 0 on.
    fn rest(&self, number: u32) -> Duration {
        let more = (REST_STEP * f64::from(number)).fract();
        Duration::from_secs_f64((REST_BEFORE_BURST + more) * self.takes_s)
    }
}

impl Idle {
    /// Whether so many users wait for something under load, which is what is looked for.
    fn lets_wait(&self, users: u32) -> bool {
        self.rate_per_s > 0.0 && self.rate_per_s * self.mean_s <= OF_USERS_MAX * f64::from(users)
    }

    /// X·S₀, where that may tell anything.
    fn under_way(&self) -> Option<f64> {
        let under_way = self.rate_per_s * self.mean_s;
        (under_way.is_finite() && self.mean_s >= MEAN_MIN.as_secs_f64()).then_some(under_way)
    }

    /// How long to rest before an answer; `None` where it is too slow for that, and where one user alone waits for nothing.
    fn rest(&self) -> Option<Duration> {
        let pause_s = Some(REST_ANSWERS * self.mean_s).filter(|it| *it <= REST_MAX.as_secs_f64())?;
        self.under_way().filter(|it| *it <= ALONE_MAX).map(|_| Duration::from_secs_f64(pause_s))
    }

    /// Requests at once that could tell what lets so many in at a time from what lets so many through in a second: more than
    /// have their turn at a time, and no more than there were users.
    fn burst(&self, users: u32) -> Option<Burst> {
        let under_way = self.under_way().filter(|_| self.lets_wait(users))?;
        let users = f64::from(users);
        let turn = under_way.round().max(1.0);
        let most = users.min(f64::from(BURST_MAX)).min((BURST_S_MAX * self.rate_per_s).floor());
        let asked = (BURST_TURNS * turn).max(BURST_USUAL).min(most);
        let takes_s = asked / self.rate_per_s;
        (asked >= BURST_MIN.max(BURST_TURNS_MIN * turn)).then_some(Burst {
            asked: asked as u32,
            turn: turn as u32,
            count: if takes_s <= SHORT_BURST_S_MAX { BURSTS } else { LONG_BURSTS },
            takes_s,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(mean_ms: f64, rate_per_s: f64) -> Idle {
        Idle { mean_s: mean_ms / 1e3, rate_per_s }
    }

    #[test]
    fn a_rest_is_twice_the_mean_answer_where_one_user_alone_may_have_waited() {
        assert_eq!(idle(2.0, 500.0).rest(), Some(Duration::from_millis(4)));
        assert_eq!(idle(500.0, 2.0).rest(), Some(Duration::from_secs(1)));
        assert_eq!(idle(600.0, 1.6).rest(), None, "it would take too long");
        assert_eq!(idle(50.0, 160.0).rest(), None, "eight at a time");
        assert_eq!(idle(0.1, 5_000.0).rest(), None, "nobody knows what that is");
        assert_eq!(idle(f64::NAN, 1.0).rest(), None);
    }

    #[test]
    fn a_burst_is_of_some_turns_and_of_no_more_than_there_were_users() {
        let of = |mean_ms, rate_per_s, users| {
            let burst = idle(mean_ms, rate_per_s).burst(users)?;
            Some((burst.asked, burst.turn, burst.count))
        };
        assert_eq!(of(50.0, 160.0, 64), Some((32, 8, 3)));
        assert_eq!(of(50.0, 160.0, 20), Some((20, 8, 3)));
        assert_eq!(of(50.0, 160.0, 12), None, "one turn and a half");
        assert_eq!(of(50.0, 160.0, 8), None, "nobody waits");
        assert_eq!(of(1.8, 500.0, 64), Some((16, 1, 3)));
        assert_eq!(of(100.0, 10.0, 64), Some((10, 1, 2)), "as many as a second takes");
        assert_eq!(of(150.0, 40.0, 24), Some((24, 6, 2)));
        assert_eq!(of(1_000.0, 4.0, 32), None, "it would take four seconds");
        assert_eq!(of(50.0, 0.0, 32), None);
        let burst = idle(50.0, 160.0).burst(64).unwrap();
        let rests = [0, 1, 2].map(|number| burst.rest(number).as_nanos() / 1_000_000);
        assert_eq!(rests, [300, 423, 347], "a beat is met at another moment each time");
    }

    #[test]
    fn answers_that_ended_before_their_time_have_no_distance() {
        let ms = Duration::from_millis;
        let asking = warm(ms(3_000));
        assert_eq!(apart_us(&asking, 100, ms(200)), Some(2_000.0));
        assert_eq!(apart_us(&asking, 30, ms(3_000)), Some(100_000.0));
        assert_eq!(apart_us(&asking, 30, ms(2_000)), None);
        assert_eq!(apart_us(&asking, 0, ms(4_000)), None);
    }
}
