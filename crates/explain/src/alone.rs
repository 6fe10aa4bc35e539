//! What an idle server does for one user alone, and for many at once: whether it lets so many requests in at a time, or so many
//! through in a second.
//!
//! Under a load that never ends the two are alike. They differ where nobody has asked for a while:
//!
//! - *A pause.* A lock is held for as long as ever, whoever comes when. A limiter keeps whoever comes right behind another
//!   waiting, and not who comes after a pause. So a pause that makes answers faster speaks for a limiter, and one that does not
//!   for a lock. They are held against each other by their means, with both intervals, and by their quarters, which noise moves
//!   less.
//! - *A burst.* What lets K in at a time takes M / K turns for M at once, always: it can't be done sooner, whatever else goes on.
//!   A limiter that saves what nobody took lets them all through together. Noise makes a burst slower, and never faster. Where
//!   they come one by one, K at a time are not let in; but a limiter that saves nothing and a lock that is held for a part of an
//!   answer do the same, and are not told apart.
//! - *One connection.* What keeps each connection waiting, whoever else there is, keeps one user alone waiting as well who asks
//!   again on a connection that is known, and nobody on a new one.
//!
//! A lock that is held beyond the answer looks like a limiter that saves nothing: where only that was seen, both are said.

use record::{AnswerTimes, BurstAnswers, IdleAnswers, RestedAnswers};

use crate::even::undisturbed;
use crate::facts::Facts;
use crate::rates::rate_words;

/// Where a limiter paces answers of an idle server, a timer of a millisecond included: the quarters of them, as shares of their
/// median; up to which share of it one came at once; and how even the rate is then. Times that differ by themselves do not
/// keep a rate as even.
const PACED_LOW: f64 = 0.6;
const PACED_HIGH: f64 = 1.4;
const AT_ONCE_MAX: f64 = 0.3;
const PACED_SCATTER_MAX: f64 = 0.01;
/// By which share of the mean answer, and by how much, answers after a pause are faster where the others waited for something
/// that a pause makes good: a tenth is more than a timer's grain, and two or three times what it costs a server to turn to the
/// next connection, which those behind each other wait for and those after a pause do not.
const RESTED_GAIN_MIN: f64 = 0.1;
const RESTED_GAIN_US_MIN: f64 = 200.0;
/// And up to which share of it they can be faster at most, by the intervals of both, where a pause makes nothing good: a limiter
/// of which the work takes all but that of the time between two requests is one in name only.
const NO_GAIN_MAX: f64 = 0.2;
/// How much of the others' each quarter of them is at least then: a tenth less is a gain; of the third, which few answers tell
/// less closely, a little more.
const QUARTERS_MIN: [f64; 3] = [0.9, 0.9, 0.85];
/// How far the rate of one user alone may lie from that of all, where one limiter keeps both.
const PACE_OFF_MAX: f64 = 0.1;
/// A burst that takes less than this share of the turns that it would take was not let in by turns, even if each turn were as
/// short as the fastest quarter of all answers.
const THROUGH_MAX: f64 = 0.6;
/// How far the number of those that come together may lie from X·S₀ to be how many have their turn: an answer of the idle server
/// takes longer than the turn itself, by what it takes to get there, and that is a tenth of it at most where it is a turn.
const TOGETHER_OFF_SHARE: f64 = 0.12;
const TOGETHER_OFF: f64 = 0.3;
/// X·S₀ from which one by one is not by turns: nearer two than one.
const ONE_BY_ONE_OF_MIN: f64 = 1.5;
/// The quarters of an idle server's answers over their median, within which they are of one time, and come together if they begin
/// together.
const ONE_TIME: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// How much of the shortest of such answers the first of a burst takes at least, where a turn is what takes it. What gives away so
/// many at once in regular ticks answers the first at the next tick, however soon that is.
const FIRST_MIN: f64 = 0.9;
/// How much of what answers under load take longer than an idle server's one user alone waits for on a connection that is kept,
/// where it is that connection which waits: two users of one limiter, or of one lock, wait for each other, and one alone does not.
const AS_LONG_ALONE_MIN: f64 = 0.7;

/// What a pause before each answer does to an idle server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Makes them faster.
    Helps,
    /// Leaves them as they are.
    DoesNothing,
    /// Nobody knows.
    Unclear,
}

pub(crate) fn pause(facts: &Facts<'_>) -> Pause {
    // What kept less is judged by what it has.
    let Some(idle) = facts.trial.contract.idle_answers else { return Pause::DoesNothing };
    match (idle.rested, idle.rested_us) {
        (Some(RestedAnswers { times, .. }), _) => by_rested(&idle, &times),
        (None, Some(rested_us)) => by_quarters(&idle, rested_us),
        // It was not asked, though others were by then.
        (None, None) if idle.apart_us.is_some() => Pause::Unclear,
        (None, None) if seems_to_pace(facts, &idle) => Pause::Helps,
        (None, None) => Pause::DoesNothing,
    }
}

fn by_rested(idle: &IdleAnswers, rested: &AnswerTimes) -> Pause {
    let quarters = [
        (rested.p25_us, idle.p25_us, QUARTERS_MIN[0]),
        (rested.p50_us, idle.p50_us, QUARTERS_MIN[1]),
        (rested.p75_us, idle.p75_us, QUARTERS_MIN[2]),
    ];
    let is_as_slow = quarters.into_iter().all(|(rested, behind, least)| rested >= least * behind);
    let gain_us = idle.mean_us - rested.mean_us;
    let is_gain = gain_us >= RESTED_GAIN_MIN * idle.mean_us && gain_us >= RESTED_GAIN_US_MIN;
    let is_apart = rested.mean_high_us < idle.mean_low_us && !is_as_slow;
    if is_gain && (is_apart || is_below(idle, rested.p75_us)) {
        return Pause::Helps;
    }
    let error_us = (idle.mean_high_us - idle.mean_us).hypot(rested.mean_us - rested.mean_low_us);
    let gain_max_us = gain_us + error_us;
    if is_as_slow || gain_max_us <= NO_GAIN_MAX * idle.mean_us || gain_max_us <= RESTED_GAIN_US_MIN {
        Pause::DoesNothing
    } else {
        Pause::Unclear
    }
}

/// Whether three quarters of the rested answers are faster than three quarters of the others.
fn is_below(idle: &IdleAnswers, rested_us: f64) -> bool {
    rested_us <= (1.0 - RESTED_GAIN_MIN) * idle.p25_us && idle.p25_us - rested_us >= RESTED_GAIN_US_MIN
}

/// Of records that kept three quarters of five rested answers alone.
fn by_quarters(idle: &IdleAnswers, rested_us: f64) -> Pause {
    if is_below(idle, rested_us) {
        Pause::Helps
    } else if rested_us <= (1.0 - RESTED_GAIN_MIN) * idle.mean_us {
        Pause::Unclear
    } else {
        Pause::DoesNothing
    }
}

/// The same of records in which no answer was asked for after a pause: one came at once all the same, before all load or behind
/// it, and those right behind each other came at one distance.
fn seems_to_pace(facts: &Facts<'_>, idle: &IdleAnswers) -> bool {
    let spread = PACED_LOW..=PACED_HIGH;
    let are_alike =
        spread.contains(&(idle.p25_us / idle.p50_us)) && spread.contains(&(idle.p75_us / idle.p50_us));
    are_alike
        && at_once_us(facts, idle) <= AT_ONCE_MAX * idle.p50_us
        && undisturbed(facts).is_some_and(|scatter| scatter <= PACED_SCATTER_MAX)
}

/// The shortest answer of the idle server, before its load or behind it: a bucket that the load has emptied lets none through
/// at once, and a server that has warmed up is no slower than it was.
fn at_once_us(facts: &Facts<'_>, warm: &IdleAnswers) -> f64 {
    warm.shortest_us.min(facts.trial.contract.idle_service_time_us)
}

/// What an answer takes that waits for nobody, seconds, where an idle server makes the others wait.
pub(crate) fn unpaced_s(facts: &Facts<'_>) -> Option<f64> {
    let idle = facts.trial.contract.idle_answers?;
    let rested_us = idle.rested.map(|it| it.times.p50_us).or(idle.rested_us);
    let at_once_us = (pause(facts) == Pause::Helps).then(|| at_once_us(facts, &idle));
    rested_us.or(at_once_us).map(|us| us / 1e6)
}

/// Where one user alone is served at the rate of all, and each request would take less: by that, a limiter is seen.
pub(crate) fn paced_words(facts: &Facts<'_>) -> Option<String> {
    let idle = facts.trial.contract.idle_answers.filter(|_| pause(facts) == Pause::Helps)?;
    let rested_us = idle.rested.map(|it| it.times.p50_us).or(idle.rested_us)?;
    let alone_per_s = 1e6 / idle.apart_us.unwrap_or(idle.mean_us);
    ((alone_per_s / facts.rate - 1.0).abs() <= PACE_OFF_MAX).then(|| {
        format!(
            "one user alone was answered {} as well, and in {:.1} ms after a pause",
            rate_words(alone_per_s),
            rested_us / 1e3
        )
    })
}

/// How a burst was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LetIn {
    /// All at once, or faster than turns allow.
    Through,
    /// One by one, though several could have had their turn.
    OneByOne,
    /// Some sooner than a turn takes, though all would have had to wait for one.
    Sooner,
    /// So many together, as many as have their turn, and the others behind them.
    ByTurns(u32),
    /// Nobody knows.
    Unclear,
}

pub(crate) fn let_in(facts: &Facts<'_>) -> LetIn {
    let Some(((idle, burst), under_way)) = burst(facts).zip(facts.concurrency()) else {
        return LetIn::Unclear;
    };
    let turns = f64::from(burst.asked) / under_way.mid.max(1.0);
    if burst.last_us <= THROUGH_MAX * turns * idle.p25_us {
        return LetIn::Through;
    }
    let is_of_one_time =
        ONE_TIME.contains(&(idle.p25_us / idle.p50_us)) && ONE_TIME.contains(&(idle.p75_us / idle.p50_us));
    let Some(together) = burst.together.filter(|_| is_of_one_time) else { return LetIn::Unclear };
    if burst.soonest_us.unwrap_or(burst.first_us) < FIRST_MIN * idle.shortest_us {
        return LetIn::Sooner;
    }
    match together {
        1 if under_way.mid >= ONE_BY_ONE_OF_MIN => LetIn::OneByOne,
        2.. if is_near(together, under_way.mid) => LetIn::ByTurns(together),
        _ => LetIn::Unclear,
    }
}

fn is_near(count: u32, under_way: f64) -> bool {
    (under_way - f64::from(count)).abs() <= (TOGETHER_OFF_SHARE * under_way).max(TOGETHER_OFF)
}

/// Whether any burst was asked for.
pub(crate) fn has_burst(facts: &Facts<'_>) -> bool {
    burst(facts).is_some()
}

/// A burst, of what it was asked, and what it is held against.
fn burst(facts: &Facts<'_>) -> Option<(IdleAnswers, BurstAnswers)> {
    let idle = facts.trial.contract.idle_answers?;
    let burst = idle.burst.filter(|it| (1..=it.asked).contains(&it.turn) && it.last_us.is_finite())?;
    (idle.p25_us > 0.0 && idle.p50_us > 0.0 && facts.rate > 0.0).then_some((idle, burst))
}

/// What came of a burst, where it tells anything.
pub(crate) fn burst_words(facts: &Facts<'_>) -> Option<String> {
    let (_, BurstAnswers { asked, first_us, soonest_us, last_us, .. }) = burst(facts)?;
    let [first_ms, soonest_ms, last_ms] =
        [first_us, soonest_us.unwrap_or(first_us), last_us].map(|us| us / 1e3);
    match let_in(facts) {
        LetIn::Through => Some(format!(
            "{asked} requests at once, after a pause, were all answered within {last_ms:.1} ms: {:.0}/s, which nothing does that \
             lets so many in at a time",
            f64::from(asked) / last_ms * 1e3
        )),
        LetIn::OneByOne => Some(format!(
            "{asked} requests at once, after a pause, were answered one by one, the first by {first_ms:.1} ms and the last by \
             {last_ms:.1} ms"
        )),
        LetIn::ByTurns(count) => Some(format!(
            "of {asked} requests at once, after a pause, {count} were answered together, from {first_ms:.1} ms on, and the others \
             by turns, the last by {last_ms:.1} ms"
        )),
        LetIn::Sooner => Some(format!(
            "of {asked} requests at once, after a pause, the first was answered by {soonest_ms:.1} ms, sooner than one alone: they \
             waited for something that comes by itself, as the tick of a clock does"
        )),
        LetIn::Unclear => None,
    }
}

/// Whether one request at a time can't be what holds the server back: some at once, or one after a pause, were answered faster
/// than that allows.
pub(crate) fn is_no_lock(facts: &Facts<'_>) -> bool {
    pause(facts) == Pause::Helps || let_in(facts) == LetIn::Through
}

/// Of a server that one request at a time has its turn in, that a pause does nothing, where that was asked.
pub(crate) fn no_limiter_words(facts: &Facts<'_>) -> Option<String> {
    let rested = facts.trial.contract.idle_answers?.rested.filter(|_| pause(facts) == Pause::DoesNothing)?;
    Some(format!(
        "after a pause an answer took {:.1} ms, too: no limiter made others wait",
        rested.times.p50_us / 1e3
    ))
}

/// Of a server of which nothing tells whether a lock makes its rate, or a limiter: that. Either one request at a time has its turn
/// by its figures, or requests that came at once were let through one by one.
pub(crate) fn lock_or_limiter_words(facts: &Facts<'_>) -> Option<String> {
    let let_in = let_in(facts);
    if let_in == LetIn::Sooner {
        return burst_words(facts);
    }
    if let_in == LetIn::OneByOne {
        let held_ms = 1e3 / facts.rate;
        return burst_words(facts).map(|seen| {
            format!(
                "{seen}: a lock that is held for {held_ms:.1} ms of an answer's time, or a limiter at {} that saves nothing; the two \
                 look alike from outside",
                rate_words(facts.rate)
            )
        });
    }
    let is_one = facts.concurrency().is_some_and(|it| it.may_be(1));
    (is_one && pause(facts) == Pause::Unclear).then(|| {
        format!(
            "one request at a time seems to have its turn: a lock, or a limiter at {}; answers after a pause did not tell which",
            rate_words(facts.rate)
        )
    })
}

/// Of a limiter that was seen by a pause alone: what else a pause makes good.
pub(crate) fn or_a_lock_words(facts: &Facts<'_>) -> Option<String> {
    (let_in(facts) != LetIn::Through).then(|| {
        let held_ms = 1e3 / facts.rate;
        format!("a lock that is held for {held_ms:.1} ms, beyond the answer, would do the same; no burst told the two apart")
    })
}

/// What answers took on one connection that is kept, where the load keeps its connections and each of its users waits as long as
/// one alone does there, who waits for nothing on a new one: it is each connection that waits, and nobody for anybody else.
pub(crate) fn waits_by_connection(facts: &Facts<'_>) -> Option<AnswerTimes> {
    let load = &facts.trial.load;
    let idle = facts.trial.contract.idle_answers?;
    let kept = idle.kept.filter(|_| load.load.keep_alive && facts.users >= 2.0)?;
    let waited_us = load.service_time_us.mean? - idle.mean_us;
    let alone_us = kept.p75_us - idle.p75_us;
    (kept.p25_us > idle.p75_us && alone_us >= AS_LONG_ALONE_MIN * waited_us).then_some(kept)
}

/// The same in words.
pub(crate) fn by_connection_words(facts: &Facts<'_>) -> Option<String> {
    let (kept, idle) = waits_by_connection(facts).zip(facts.trial.contract.idle_answers)?;
    Some(format!(
        "one user alone was answered in {:.1} ms on a connection that is kept, and in {:.1} ms on a new one: each connection waits, \
         whoever else there is (a timer, a limit for each connection?)",
        kept.p50_us / 1e3,
        idle.p50_us / 1e3
    ))
}
