//! Is there a limit inside the server that no thread and no process stands for? It is seen by its effect alone.
//!
//! A semaphore or a pool of connections lets K requests have their turn at a time; a limiter lets so many through in a second.
//! From one level of load the two are told apart by X·S₀ only: a whole number of requests, or hardly any; and by what an idle
//! server does for one user alone and for many at once ([`crate::alone`]). Another level of load tells whether either is there.

use crate::alone::{self, LetIn};
use crate::asked::{as_many_to, or_behind_words};
use crate::even::{SCATTER_MAX, scatter, undisturbed};
use crate::facts::{Facts, Group, SECOND_S_MIN};
use crate::others::held_up;
use crate::rates::rate_words;
use crate::verdict::{Confidence, Verdict, VerdictKind};
use crate::workers::{
    as_often_as_requests, at_work, carries_any_number, come_and_go, reads_ahead, unread_words, workers,
};

use super::cpu::some_procs_words;
use super::pools;

/// How far X·S₀ may lie from a whole number that is a limit's: a thirtieth, a tenth at least, as whole numbers are one apart,
/// and a quarter at most, beyond which every number is near one.
const WHOLE_SHARE: f64 = 0.03;
const WHOLE_MIN: f64 = 0.1;
const WHOLE_MAX: f64 = 0.25;
/// Waiting for a core that can make up for what is missing to a whole number, threads: beyond, any number could be reached.
const HELD_UP_MAX: f64 = 0.5;
/// As many requests at a time as users, or nearly, follow the load.
const OF_USERS_MAX: f64 = 0.9;
/// X·S₀ up to which the server does nothing most of the time, while users wait: no number of workers is as small.
const HARDLY_ANY_MAX: f64 = 0.5;
/// How much the good answers may scatter, as a share of how much all do, where it is their rate that is kept.
const OF_ALL_SCATTER_MAX: f64 = 0.5;
/// By so many answers a second a share of the requests would differ at least, from second to second, to be told from a rate.
const ANSWERS_APART_MIN: f64 = 0.5;
/// Share of the users who may wait outside of the server.
const OUTSIDE_MAX: f64 = 0.1;
/// Share of the answers that are rejections from which they are the limiter's doing: the bound of any reason.
const REJECTED_MIN: f64 = 0.1;
/// Share of the wrong answers that say *too many requests*, where they are what is wrong.
const OF_WRONG_MIN: f64 = 0.9;
/// *Too Many Requests* (RFC 6585).
const TOO_MANY: &str = "429";
/// *Service Unavailable*: also what a server says that is out of order.
const UNAVAILABLE: &str = "503";
/// Share of the quickest answer of an idle server up to which an answer under load is no answer to the request: whoever gave it did
/// not do the work.
const AT_ONCE_OF_IDLE_MAX: f64 = 0.5;
/// How likely it may be at most that a server which refuses a share of all requests had refused none of those to the idle one.
const UNSEEN_MAX: f64 = 0.05;
/// So many groups are named as those that it is not.
const GROUPS_TOLD_MAX: usize = 4;

/// So many requests at a time, and nobody has that number.
pub(crate) fn limit(facts: &Facts<'_>) -> Option<Verdict> {
    let scatter = undisturbed(facts)?;
    let under_way = pools::under_way(facts)?;
    let near = || whole(under_way.mid).or_else(|| whole(under_way.mid + waiting(facts)?));
    let (k, confidence) = match alone::let_in(facts) {
        LetIn::ByTurns(counted) => (counted, Confidence::Likely),
        LetIn::Through | LetIn::OneByOne | LetIn::Sooner => return None,
        // The way there is in what their users wait for, whatever number that makes.
        LetIn::Unclear if facts.is_loaded_from_elsewhere() => return None,
        // Where a burst did not tell, a limiter at such a rate may do the same.
        LetIn::Unclear => {
            let asked = alone::has_burst(facts);
            let confidence = if asked { Confidence::Possible } else { Confidence::Likely };
            (near().filter(|_| under_way.is_sharp())?, confidence)
        }
    };
    let is_number =
        k >= 2 && f64::from(k) <= OF_USERS_MAX * facts.users && alone::waits_by_connection(facts).is_none();
    let groups = sizes_words(facts)?;
    let theirs = may_be_theirs(facts, k);
    let connections = as_many_to(facts, k).map(|at| {
        let at = plain::line(at);
        format!("the server held {k} connections to {at}: a pool of connections has that number")
    });
    let behind = or_behind_words(facts).filter(|_| connections.is_none());
    let confidence = if theirs.is_some() || behind.is_some() { Confidence::Possible } else { confidence };
    is_number.then(|| {
        let text = format!("{} ≈ {k}, and the rate was the same in every second (± {:.1} %)", facts.under_way_words(), scatter * 100.0);
        let inside = (reads_ahead(facts, f64::from(k)) == Some(true)).then(|| unread_words(facts)).flatten();
        let inside = inside.map(|unread| format!("requests wait inside: {unread}"));
        let confirm = format!(
            "double what lets {k} in at a time (a semaphore, a pool of connections?); the rate should double. Other numbers of \
             users tell, too: the rate stays from {k} users on, and follows them below",
        );
        Verdict::new(VerdictKind::LimitInside, confidence, format!("about {k} at a time (a limit inside)"), text)
            .accounting_for(under_way.mid / f64::from(k))
            .and(theirs.unwrap_or_else(|| format!("no group of threads or processes has {k}: {groups}")))
            .and_maybe(inside)
            .and_maybe(connections)
            .and_maybe(behind)
            .and_maybe(alone::burst_words(facts))
            .and(facts.cpu_words())
            .and_maybe(some_procs_words(facts))
            .confirmed_by(confirm, facts.rate)
    })
}

/// So many a second: the server does hardly anything, its users wait, and the rate is even.
pub(crate) fn limiter(facts: &Facts<'_>) -> Option<Verdict> {
    let scatter = undisturbed(facts)?;
    let idle_s = alone::unpaced_s(facts).into_iter().chain(facts.idle_at_most_s()).reduce(f64::min)?;
    let signals = facts.signals()?;
    let held = signals.connections.map_or(facts.users, |held| facts.users_of(held.mean));
    let are_inside = held >= (1.0 - OUTSIDE_MAX) * facts.users;
    let under_way = facts.rate * idle_s;
    let paced = alone::paced_words(facts);
    // Users on other machines wait for the way there as well, and neither the idle server nor a burst has it.
    let is_here = !facts.is_loaded_from_elsewhere();
    let has_nothing_to_do = is_here && under_way <= HARDLY_ANY_MAX || paced.is_some();
    let is_through = is_here && alone::let_in(facts) == LetIn::Through;
    let waits = facts.users >= 2.0 && (has_nothing_to_do || is_through);
    let is_of_all = alone::waits_by_connection(facts).is_none();
    (facts.keeps_connections() && are_inside && waits && is_of_all).then(|| {
        let rate = rate_words(facts.rate);
        let why = if has_nothing_to_do { "the server had nothing to do for some of the time, and " } else { "" };
        let text = format!(
            "the rate was {rate} in every second (± {:.1} %), though X·S₀ is {under_way:.2}: {why}{:.0} users waited",
            scatter * 100.0,
            facts.users
        );
        Verdict::new(VerdictKind::RateLimiter, Confidence::Possible, format!("limiter at {rate}"), text)
            .and_maybe(paced)
            .and_maybe(alone::burst_words(facts))
            .and_maybe(alone::or_a_lock_words(facts))
            .and(facts.cpu_words())
            .confirmed_by(confirm_words(facts.rate), facts.rate)
    })
}

/// A limiter that says so; or whoever has room for so much, and refuses the rest at once.
pub(crate) fn rejections(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let count = |status: &str| load.statuses.get(status).copied().unwrap_or(0);
    let sheds = count(UNAVAILABLE) > count(TOO_MANY);
    let (status, says) =
        if sheds { (UNAVAILABLE, "service unavailable") } else { (TOO_MANY, "too many requests") };
    let rejected = count(status);
    let answered = load.outcomes.answered.max(1);
    let wrong = answered.saturating_sub(load.answered_as_expected);
    let share = rejected as f64 / answered as f64;
    let scatter = kept_scatter(facts)?;
    let is_what_is_wrong = rejected as f64 >= OF_WRONG_MIN * wrong as f64 && rejected <= wrong;
    if share < REJECTED_MIN || !is_what_is_wrong {
        return None;
    }
    // Who is out of order says the same, and takes its time for it as a rule.
    let at_once = if sheds { Some(at_once_words(facts, share)?) } else { None };
    let only_many = if sheds { Some(refuses_only_many_words(facts)?) } else { None };
    let rate = rate_words(load.goodput_per_s);
    let text = format!(
        "{:.1} % of {answered} answers were {status} ({says}), and {rate} were good in every second (± {:.1} %)",
        share * 100.0,
        scatter * 100.0
    );
    let phrase = if sheds { format!("sheds load beyond {rate}") } else { format!("limiter at {rate}") };
    let or = "a limiter, or a bound on what may wait before something that serves no more".to_owned();
    Some(
        Verdict::new(VerdictKind::RateLimiter, Confidence::Likely, phrase, text)
            .accounting_for(share)
            .and_maybe(at_once)
            .and_maybe(only_many)
            .and_maybe(sheds.then_some(or))
            .confirmed_by(confirm_words(load.goodput_per_s), load.goodput_per_s),
    )
}

/// How much the rate of good answers scatters, where it is a rate that is kept and no share of the requests: a share scatters as they
/// do. Where the requests themselves come so evenly that a share of them would not differ by a whole answer, nothing tells the two
/// apart.
fn kept_scatter(facts: &Facts<'_>) -> Option<f64> {
    let whole = facts.trial.load.seconds.iter().filter(|it| it.length_s >= SECOND_S_MIN);
    let good: Vec<f64> = whole.map(|it| it.goodput_per_s).collect();
    let scatter_of_all = scatter(&facts.rates_by_second())?;
    let good_mean = good.iter().sum::<f64>() / good.len() as f64;
    let would_differ = scatter_of_all * good_mean >= ANSWERS_APART_MIN;
    let is_kept = |it: &f64| would_differ && *it <= SCATTER_MAX && *it <= OF_ALL_SCATTER_MAX * scatter_of_all;
    scatter(&good).filter(is_kept)
}

/// How quickly those were refused that are so large a `share` of the answers, where most of them took less time than any answer of
/// the idle server.
fn at_once_words(facts: &Facts<'_>, share: f64) -> Option<String> {
    let load = &facts.trial.load;
    let (fast, times) = (load.fast_service_time_us, &load.service_time_us);
    // Whoever is refused at once is among the quickest. Of what takes as long as the others the quantile is no word.
    let known = [
        (0.9, times.p90),
        (0.75, times.p75),
        (0.5, times.p50),
        (0.25, fast.map(|it| it.p25)),
        (0.1, fast.map(|it| it.p10)),
    ];
    let (quantile, us) = known.into_iter().find(|(quantile, _)| *quantile <= share)?;
    let (us, idle_us) = (us?, shortest_idle_us(facts));
    (us <= AT_ONCE_OF_IDLE_MAX * idle_us).then(|| {
        format!(
            "{:.0} % of all requests were done within {:.1} ms, and no answer of the idle server took less than {:.1} ms",
            quantile * 100.0,
            us / 1e3,
            idle_us / 1e3
        )
    })
}

/// What tells who refuses where many ask from one broken server of several, which refuses its share of the requests whoever asks, and
/// may be given most of them since it is done at once. Of so many answers of the idle server, asked for one at a time until one was
/// wrong, such a share would have shown. A limiter below the rate of one user refuses him as well, and needs no such proof: no server
/// that works is as slow as that.
fn refuses_only_many_words(facts: &Facts<'_>) -> Option<String> {
    let answers = facts.trial.contract.idle_answers.map_or(0, |it| it.count);
    let would_be_unseen = (1.0 - REJECTED_MIN).powf(f64::from(answers));
    if would_be_unseen <= UNSEEN_MAX {
        return Some(format!(
            "{answers} requests to the idle server, one after the other, were all answered as expected"
        ));
    }
    let good_per_s = facts.trial.load.goodput_per_s;
    let idle_s = facts.idle_at_most_s().filter(|idle_s| good_per_s * idle_s <= HARDLY_ANY_MAX)?;
    Some(format!(
        "one user alone, at {:.0} µs an answer, would ask more often than it lets through",
        idle_s * 1e6
    ))
}

/// What the quickest answer of the idle server took, µs.
fn shortest_idle_us(facts: &Facts<'_>) -> f64 {
    let contract = &facts.trial.contract;
    let warm_us = contract.idle_answers.map(|it| it.shortest_us).or(contract.warm_service_time_us);
    warm_us.map_or(contract.idle_service_time_us, |us| us.min(contract.idle_service_time_us))
}

/// Of a rate that nothing explains, whether it was even: then something keeps it so.
pub(crate) fn evenness_words(facts: &Facts<'_>) -> Option<String> {
    let scatter = undisturbed(facts)? * 100.0;
    let who = if facts.is_loaded_from_elsewhere() {
        "the way from the machines that made the load, a limit inside or a limiter"
    } else {
        "a limit inside or a limiter"
    };
    Some(format!(
        "the rate was the same in every second (± {scatter:.1} %) with CPU left: {who} may keep it; measure it with half and \
         twice the users to tell"
    ))
}

fn confirm_words(rate_per_s: f64) -> String {
    format!("load it with half and twice the users; the rate should stay at {}", rate_words(rate_per_s))
}

/// The whole number that `under_way` is, if it is one.
fn whole(under_way: f64) -> Option<u32> {
    let near = under_way.round();
    let is_near = (under_way - near).abs() <= (WHOLE_SHARE * near).clamp(WHOLE_MIN, WHOLE_MAX);
    (is_near && near >= 1.0 && near < f64::from(u32::MAX)).then_some(near as u32)
}

/// Threads that waited for a core while others used one: of those the requests waited, too, and had their turn all the same.
fn waiting(facts: &Facts<'_>) -> Option<f64> {
    let waited: f64 = facts.groups().iter().map(|group| held_up(facts, group)).sum();
    (waited > 0.0 && waited <= HELD_UP_MAX).then_some(waited)
}

/// Whose number it may be all the same, though nobody is a pool of that size by what was seen: of threads that are given a CPU for the
/// requests and use hardly any of it, since they wait; of all who work together, under several names; or of a group of which some
/// ended meanwhile.
fn may_be_theirs(facts: &Facts<'_>, k: u32) -> Option<String> {
    let groups = facts.groups();
    let own: Vec<&Group<'_>> =
        groups.iter().filter(|it| it.of.is_none() && !carries_any_number(it)).collect();
    let of_number = own.iter().find(|group| as_often_as_requests(facts, group).any(|it| it.threads == k));
    if let Some(group) = of_number {
        let name = group.shown();
        return Some(format!(
            "{k} threads `{name}` run for the requests, too, however little: that number may be theirs"
        ));
    }
    let sizes: Vec<u32> = own.iter().map(|group| at_work(facts, group)).filter(|count| *count > 0).collect();
    if sizes.len() > 1 && sizes.iter().sum::<u32>() == k {
        let names = sizes.len();
        return Some(format!("{k} threads of {names} names work, all together: that number may be theirs"));
    }
    own.iter().find(|group| come_and_go(facts, group)).map(|group| {
        format!("threads `{}` ended meanwhile: how many there were at a time is not known", group.shown())
    })
}

/// The sizes that there are; `None` where no thread was seen.
fn sizes_words(facts: &Facts<'_>) -> Option<String> {
    let groups = facts.groups();
    let of = |group: &Group<'_>| {
        let sizes: Vec<String> = workers(facts, group)
            .iter()
            .map(|it| format!("{} {}", it.count, it.are.noun(it.count)))
            .collect();
        let sizes = if sizes.is_empty() && carries_any_number(group) {
            format!("{} threads for any number of requests", group.threads)
        } else if sizes.is_empty() {
            format!("{} threads", group.threads)
        } else {
            sizes.join(" or ")
        };
        format!("`{}` {sizes}", group.shown())
    };
    let told: Vec<String> =
        groups.iter().filter(|it| it.did.is_some()).take(GROUPS_TOLD_MAX).map(of).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_as_near_as_chance_allows() {
        for (value, is) in [
            (8.0, Some(8)),
            (7.8, Some(8)),
            (7.7, None),
            (2.05, Some(2)),
            (2.2, None),
            (3.5, None),
            (20.5, None),
            (20.2, Some(20)),
            (0.3, None),
        ] {
            assert_eq!(whole(value), is, "{value}");
        }
    }
}
