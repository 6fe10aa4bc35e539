//! Was there no limit at all at this load: is the rate kept that was asked for, or does nobody wait for anybody?

use crate::alone;
use crate::audit::FAILED_SHARE_MAX;
use crate::facts::Facts;
use crate::idle::{Concurrency, IdleTime, POOL_TOLERANCE};
use crate::rates::whole_rate_words;
use crate::shape::{Alike, alike};
use crate::verdict::{Confidence, Verdict, VerdictKind};

/// Beyond the middle half of an idle server's answers, so far from it the median of the load may be and still be theirs.
const MEDIAN_OFF_MAX: f64 = 0.1;
/// The third quarter of an idle server's answers over the first, up to which their median is as good as one time.
const MIDDLE_HALF_NEAR: f64 = 1.25;
/// How much longer answers may take than an idle server's when nobody waits for anybody: a tenth of it is no queue.
const LONGER_THAN_IDLE_MAX: f64 = 0.1;
/// Share of the users who may be anywhere else but under way: as closely as Little's law holds here, and as much again.
const ELSEWHERE_MAX: f64 = 2.0 * stats::LITTLE_TOLERANCE;
/// So many answers of an idle server, from which their ranks tell anything: the longest of them lies above three quarters of all.
const RANKS_MIN: u32 = 11;
/// Share of the requests due that must be left at the window's end for them to pile up: less is what its two ends differ by.
const PILED_SHARE_MIN: f64 = 0.01;
/// What is under way on average where requests pile up from the load's first second on, over what is: the same. Who is there in the
/// end and was not at the beginning, for want of a warm-up, makes half of it; what is more than this is in no time that was told,
/// such as a pause at the end.
const PILED_OF_UNDER_WAY: std::ops::RangeInclusive<f64> = 0.75..=2.0;
/// By so many deviations of what is under way at two instants, which comes and goes by chance, more must be left at the end.
const LEFT_DEVIATIONS_MIN: f64 = 3.0;

pub(crate) fn keeps_rate(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let asked = load.load.rate_per_s?;
    // What never went out is in no rate, and whoever gave up waiting was not served at one.
    let unserved = load.outcomes.never_sent() + load.outcomes.timed_out;
    let unserved = unserved as f64 / load.intended.max(1) as f64;
    let is_near = (facts.rate - asked).abs() <= POOL_TOLERANCE * asked;
    let is_kept = is_near && unserved <= FAILED_SHARE_MAX && !piles_up(facts, asked);
    is_kept.then(|| {
        let text = format!("{} of {} due", whole_rate_words(facts.rate), whole_rate_words(asked));
        Verdict::new(VerdictKind::KeepsRate, Confidence::Sure, "none: keeps the rate", text)
            .confirmed_by("raise the rate", facts.rate)
    })
}

/// Whether requests come faster than they are served, by however little: then each waits for longer than the one before it, and the
/// rate is the server's own. By Little's law as many are under way on average as the rate times the mean response; where they pile
/// up, those are the ones that were not served until the middle of the window.
fn piles_up(facts: &Facts<'_>, asked: f64) -> bool {
    let load = &facts.trial.load;
    let window_s = load.window.duration_s;
    let due_per_s = asked.min(load.intended as f64 / window_s);
    let left_per_s = due_per_s - facts.rate;
    let piled = left_per_s * (load.load.warm_up_s + window_s / 2.0);
    let Some(under_way) = load.response_time_us.mean.map(|us| facts.rate * us / 1e6) else { return false };
    let is_more_than_chance = left_per_s * window_s >= LEFT_DEVIATIONS_MIN * (2.0 * under_way).sqrt();
    left_per_s >= PILED_SHARE_MIN * due_per_s
        && is_more_than_chance
        && PILED_OF_UNDER_WAY.contains(&(piled / under_way))
}

pub(crate) fn idle_pace(facts: &Facts<'_>) -> Option<Verdict> {
    // A server that stands still for its collections is never idle: the answer that was to tell its idle pace waited for
    // them, too.
    if super::work::garbage_collection(facts).is_some() {
        return None;
    }
    let load = &facts.trial.load.load;
    // Users who come and go, or think, are not all under way at once, so X·S₀ says nothing of their number; their times do. Of many who
    // think, a full pool is too small a part to be seen in their sum.
    let thinks = load.think_us.is_some_and(|us| us > 0.0);
    if thinks || load.ramp_up_s.is_some() || load.requests_per_user.is_some() {
        return answered_as_when_idle(facts);
    }
    let engaged = facts.concurrency()?;
    let users = load.exchanges();
    let confidence = if engaged.is_sharp() { Confidence::Sure } else { Confidence::Likely };
    // A mean that is hardly known decides nothing where the ranks of all answers are.
    let by_ranks = !engaged.is_sharp() && has_ranks(facts);
    let alike = alike_to_idle(facts).filter(|_| by_ranks && are_all_under_way(facts));
    let is_theirs = if by_ranks {
        alike.is_some()
    } else {
        engaged.reaches(users) && (engaged.is_sharp() || is_shaped_as_idle(facts, engaged.tells_a_number()))
    };
    is_theirs.then(|| {
        let (under_way, users) = (facts.under_way_words(), facts.users_words());
        let text = match alike {
            Some(_) => format!("the {users} were answered as an idle server answers: {under_way}"),
            None => format!("all wait for an idle server: {under_way} ≈ the {users}"),
        };
        Verdict::new(VerdictKind::IdlePace, confidence, "none: idle pace", text)
            .and_maybe(spread_words(facts).filter(|_| !engaged.is_sharp()))
            .and_maybe(alike.map(alike_words))
            .confirmed_by("double the connections; the rate should double", facts.rate)
    })
}

/// The same where an idle server is as slow on a connection that is kept, and not on a new one: each connection waits, whoever else
/// there is, so that twice as many users have twice the rate.
pub(crate) fn pace_of_kept(facts: &Facts<'_>) -> Option<Verdict> {
    let words = alone::by_connection_words(facts)?;
    let kept = alone::waits_by_connection(facts)?;
    let idle = IdleTime {
        low_s: kept.mean_low_us / 1e6,
        mean_s: kept.mean_us / 1e6,
        high_s: kept.mean_high_us / 1e6,
        answers: Some(kept.count),
    };
    let under_way = Concurrency::at(facts.full_rate()?, &idle)?;
    let users = facts.trial.load.load.exchanges();
    under_way.may_be(users).then(|| {
        let text = format!(
            "all wait for an idle server, each on its own connection: X × {:.1} ms = {} ≈ the {}",
            kept.mean_us / 1e3,
            under_way.words(),
            facts.users_words()
        );
        Verdict::new(VerdictKind::IdlePace, Confidence::Likely, "none: idle pace", text)
            .and(words)
            .confirmed_by("double the connections; the rate should double", facts.rate)
    })
}

/// Whether the ranks of answers are on record, of the idle server and of the load, and tell anything.
fn has_ranks(facts: &Facts<'_>) -> bool {
    let of_idle =
        facts.trial.contract.idle_answers.is_some_and(|it| it.bounds.is_some() && it.count >= RANKS_MIN);
    of_idle && facts.trial.load.fast_service_time_us.is_some()
}

/// Whether the users are those who wait for an answer: what they do else, such as connecting, answers do not show.
fn are_all_under_way(facts: &Facts<'_>) -> bool {
    let mean_us = facts.trial.load.service_time_us.mean;
    let engaged = mean_us.map(|us| facts.rate * us / 1e6);
    engaged.is_some_and(|engaged| (engaged / facts.users - 1.0).abs() <= ELSEWHERE_MAX)
}

fn alike_to_idle(facts: &Facts<'_>) -> Option<Alike> {
    alike(&facts.trial.contract.idle_answers?, &facts.trial.load)
}

fn alike_words(alike: Alike) -> String {
    format!(
        "rank by rank, fast ones and slow ones, they took as long as those of the idle server; {:.0} % of the time is what all of \
         them can have waited for each other at most",
        alike.waited_share_max * 100.0
    )
}

/// Where answers of an idle server differ, a mean says less than all of them: whether the median under load is among the middle
/// half of those, too. It decides by itself where these are near each other, as those of a cache that seldom misses; else only
/// beside a mean that is known.
fn is_shaped_as_idle(facts: &Facts<'_>, is_mean_known: bool) -> bool {
    let (idle, loaded) = (facts.trial.contract.idle_answers, facts.trial.load.service_time_us.p50);
    idle.zip(loaded).is_some_and(|(idle, p50_us)| {
        let of_idle = idle.p25_us * (1.0 - MEDIAN_OFF_MAX)..=idle.p75_us * (1.0 + MEDIAN_OFF_MAX);
        of_idle.contains(&p50_us) && (is_mean_known || idle.p75_us <= MIDDLE_HALF_NEAR * idle.p25_us)
    })
}

/// The mean answer under load beside those of the idle server.
fn spread_words(facts: &Facts<'_>) -> Option<String> {
    let idle = facts.trial.contract.idle_answers?;
    let mean_us = facts.trial.load.service_time_us.mean?;
    let ms = |us: f64| us / 1e3;
    Some(format!(
        "the mean answer took {:.1} ms; {} answers of the idle server took {:.1} to {:.1} ms, and their mean is {:.1} ms \
         ({:.1} to {:.1})",
        ms(mean_us),
        idle.count,
        ms(idle.shortest_us),
        ms(idle.longest_us),
        ms(idle.mean_us),
        ms(idle.mean_low_us),
        ms(idle.mean_high_us)
    ))
}

fn answered_as_when_idle(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let (idle, mean_us) = (facts.idle?, load.response_time_us.mean.or(load.service_time_us.mean)?);
    let longer = mean_us / 1e6 / idle.mean_s - 1.0;
    let is_within_reach = mean_us / 1e6 <= idle.high_s && is_shaped_as_idle(facts, idle.tells_a_mean());
    let is_no_longer = longer <= LONGER_THAN_IDLE_MAX;
    let confidence = if is_no_longer { Confidence::Sure } else { Confidence::Likely };
    (is_no_longer || is_within_reach).then(|| {
        let text = format!(
            "the mean answer took {:.1} ms, and that of an idle server {:.1} ms",
            mean_us / 1e3,
            idle.mean_s * 1e3
        );
        Verdict::new(VerdictKind::IdlePace, confidence, "none: idle pace", text)
            .and_maybe(spread_words(facts).filter(|_| !is_no_longer))
            .confirmed_by("let twice as many users come; the rate should double", facts.rate)
    })
}
