//! Is there a limit inside the server that no thread and no process stands for? It is seen by its effect alone.
//!
//! A semaphore or a pool of connections lets K requests have their turn at a time; a limiter lets so many through in a second.
//! From one level of load the two are told apart by X·S₀ only: a whole number of requests, or hardly any. Another level of
//! load tells more.

use record::IdleAnswers;

use crate::facts::{Facts, Group, SECOND_S_MIN};
use crate::others::held_up;
use crate::verdict::{Confidence, Verdict, VerdictKind};
use crate::workers::{busiest_thread, reads_ahead, unread_words, workers};

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
/// A thread that is busy for more than that has a part in it.
const BUSY_MAX: f64 = 0.7;
/// Where a limiter paces answers of an idle server, a timer of a millisecond included: the quarters of them, as shares of their
/// median; up to which share of it one came at once; and how even the rate is then. Times that differ by themselves do not
/// keep a rate as even.
const PACED_LOW: f64 = 0.6;
const PACED_HIGH: f64 = 1.4;
const AT_ONCE_MAX: f64 = 0.3;
const PACED_SCATTER_MAX: f64 = 0.01;
/// Of the fastest quarter of an idle server's answers right behind each other, what those after a pause take at most where the
/// others waited for something that a pause makes good: a tenth less is more than a timer's grain.
const RESTED_MAX: f64 = 0.9;
/// And how much less: two or three times what it costs a server to turn to the next connection, which those behind each other wait
/// for and those after a pause do not.
const RESTED_GAIN_US_MIN: f64 = 200.0;
/// How far the rate of one user alone may lie from that of all, where one limiter keeps both.
const PACE_OFF_MAX: f64 = 0.1;
/// How much the rates of seconds may scatter, as a share of their mean, where something keeps them even; and how many seconds
/// say so.
const SCATTER_MAX: f64 = 0.05;
/// Requests that are let in together are done together, so many at each S₀: of such a batch, by so much the count of a second may
/// be off by where the second happens to end. And up to which scatter a rate is called even all the same.
const OF_BATCH_MAX: f64 = 0.6;
const SCATTER_OF_BATCHES_MAX: f64 = 0.18;
const SECONDS_MIN: usize = 3;
/// How much the good answers may scatter, as a share of how much all do, where it is their rate that is kept.
const OF_ALL_SCATTER_MAX: f64 = 0.5;
/// By so many answers a second a share of the requests would differ at least, from second to second, to be told from a rate.
const ANSWERS_APART_MIN: f64 = 0.5;
/// Share of the answers that open a connection up to which connections have no part in it.
const OPENED_MAX: f64 = 0.05;
/// Share of the users who may wait outside of the server.
const OUTSIDE_MAX: f64 = 0.1;
/// Share of the answers that are rejections from which they are the limiter's doing: the bound of any reason.
const REJECTED_MIN: f64 = 0.1;
/// Share of the wrong answers that say *too many requests*, where they are what is wrong.
const OF_WRONG_MIN: f64 = 0.9;
/// *Too Many Requests* (RFC 6585). A 503 is also what a server says that is out of order.
const TOO_MANY: &str = "429";
/// So many groups are named as those that it is not.
const GROUPS_TOLD_MAX: usize = 4;

/// So many requests at a time, and nobody has that number.
pub(crate) fn limit(facts: &Facts<'_>) -> Option<Verdict> {
    let scatter = undisturbed(facts)?;
    let under_way = pools::under_way(facts)?;
    let k = whole(under_way.mid).or_else(|| whole(under_way.mid + waiting(facts)?))?;
    let is_number = k >= 2 && under_way.is_sharp() && f64::from(k) <= OF_USERS_MAX * facts.users;
    let groups = sizes_words(facts)?;
    is_number.then(|| {
        let text = format!("{} ≈ {k}, and the rate was the same in every second (± {:.1} %)", facts.under_way_words(), scatter * 100.0);
        let inside = (reads_ahead(facts, f64::from(k)) == Some(true)).then(|| unread_words(facts)).flatten();
        let inside = inside.map(|unread| format!("requests wait inside: {unread}"));
        let confirm = format!(
            "double what lets {k} in at a time (a semaphore, a pool of connections?); the rate should double. Other numbers of \
             users tell, too: the rate stays from {k} users on, and follows them below",
        );
        Verdict::new(VerdictKind::LimitInside, Confidence::Likely, format!("about {k} at a time (a limit inside)"), text)
            .accounting_for(under_way.mid / f64::from(k))
            .and(format!("no group of threads or processes has {k}: {groups}"))
            .and_maybe(inside)
            .and(facts.cpu_words())
            .confirmed_by(confirm, facts.rate)
    })
}

/// Whether a limiter paced the idle server's answers: whoever comes right behind another waits, and whoever comes after a pause
/// does not. A lock and a pool let both in as soon. Then X·S₀ is 1, whatever the server does.
pub(crate) fn paces_idle_answers(facts: &Facts<'_>) -> bool {
    facts.trial.contract.idle_answers.is_some_and(|idle| match idle.rested_us {
        Some(rested_us) => {
            rested_us <= RESTED_MAX * idle.p25_us && idle.p25_us - rested_us >= RESTED_GAIN_US_MIN
        }
        None => seems_to_pace(facts, &idle),
    })
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

/// So many a second: the server does hardly anything, its users wait, and the rate is even.
pub(crate) fn limiter(facts: &Facts<'_>) -> Option<Verdict> {
    let scatter = undisturbed(facts)?;
    let load = &facts.trial.load;
    let idle = facts.trial.contract.idle_answers;
    let rested_s = idle.and_then(|it| it.rested_us).map(|us| us / 1e6);
    let shortest_s = idle.map(|it| at_once_us(facts, &it) / 1e6).filter(|_| paces_idle_answers(facts));
    let idle_s = rested_s.or(shortest_s).into_iter().chain(facts.idle_at_most_s()).reduce(f64::min)?;
    let answers = load.outcomes.answered.max(1) as f64;
    let opened = load
        .connections
        .opened_in_window
        .unwrap_or(load.connections.opened.saturating_sub(u64::from(load.load.connections)));
    let keeps_connections = opened as f64 <= OPENED_MAX * answers;
    let signals = facts.signals()?;
    let held = signals.connections.map_or(facts.users, |held| held.mean);
    let are_inside = held >= (1.0 - OUTSIDE_MAX) * facts.users;
    let under_way = facts.rate * idle_s;
    let paced = paced_words(facts);
    let waits = facts.users >= 2.0 && (under_way <= HARDLY_ANY_MAX || paced.is_some());
    (keeps_connections && are_inside && waits).then(|| {
        let rate = rate_words(facts.rate);
        let text = format!(
            "the rate was {rate} in every second (± {:.1} %), though X·S₀ is {under_way:.2}: the server had nothing to do for some of \
             the time, and {:.0} users waited",
            scatter * 100.0,
            facts.users
        );
        Verdict::new(VerdictKind::RateLimiter, Confidence::Possible, format!("limiter at {rate}"), text)
            .and_maybe(paced)
            .and(facts.cpu_words())
            .confirmed_by(confirm_words(facts.rate), facts.rate)
    })
}

/// Where one user alone is served at the rate of all, and each request would take less: by that, a limiter is seen.
fn paced_words(facts: &Facts<'_>) -> Option<String> {
    let idle = facts.trial.contract.idle_answers.filter(|_| paces_idle_answers(facts))?;
    let (alone_per_s, rested_us) = (1e6 / idle.mean_us, idle.rested_us?);
    ((alone_per_s / facts.rate - 1.0).abs() <= PACE_OFF_MAX).then(|| {
        format!(
            "one user alone was answered {} as well, and in {:.1} ms after a pause",
            rate_words(alone_per_s),
            rested_us / 1e3
        )
    })
}

/// A limiter that says so.
pub(crate) fn rejections(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let rejected = *load.statuses.get(TOO_MANY)?;
    let answered = load.outcomes.answered.max(1);
    let wrong = answered.saturating_sub(load.answered_as_expected);
    let share = rejected as f64 / answered as f64;
    let whole = load.seconds.iter().filter(|it| it.length_s >= SECOND_S_MIN);
    let good: Vec<f64> = whole.map(|it| it.goodput_per_s).collect();
    let scatter_of_all = scatter(&facts.rates_by_second())?;
    // A share of the requests scatters as they do; what is kept at a rate does not. Where the requests themselves come so evenly
    // that a share of them would not differ by a whole answer, nothing tells the two apart.
    let good_mean = good.iter().sum::<f64>() / good.len() as f64;
    let would_differ = scatter_of_all * good_mean >= ANSWERS_APART_MIN;
    let is_kept = |it: &f64| would_differ && *it <= SCATTER_MAX && *it <= OF_ALL_SCATTER_MAX * scatter_of_all;
    let scatter = scatter(&good).filter(is_kept)?;
    let is_what_is_wrong = rejected as f64 >= OF_WRONG_MIN * wrong as f64 && rejected <= wrong;
    (share >= REJECTED_MIN && is_what_is_wrong).then(|| {
        let rate = rate_words(load.goodput_per_s);
        let text = format!(
            "{:.1} % of {answered} answers were {TOO_MANY} (too many requests), and {rate} were good in every second (± {:.1} %)",
            share * 100.0,
            scatter * 100.0
        );
        Verdict::new(VerdictKind::RateLimiter, Confidence::Likely, format!("limiter at {rate}"), text)
            .accounting_for(share)
            .confirmed_by(confirm_words(load.goodput_per_s), load.goodput_per_s)
    })
}

/// Of a rate that nothing explains, whether it was even: then something keeps it so.
pub(crate) fn evenness_words(facts: &Facts<'_>) -> Option<String> {
    let scatter = undisturbed(facts)?;
    Some(format!(
        "the rate was the same in every second (± {:.1} %) with CPU left: a limit inside or a limiter may keep it; measure \
         it with half and twice the users to tell",
        scatter * 100.0
    ))
}

fn confirm_words(rate_per_s: f64) -> String {
    format!("load it with half and twice the users; the rate should stay at {}", rate_words(rate_per_s))
}

fn rate_words(rate_per_s: f64) -> String {
    if rate_per_s >= 100.0 { format!("{rate_per_s:.0}/s") } else { format!("{rate_per_s:.1}/s") }
}

/// How much the rate scatters from second to second, where it is even, there is CPU left, no thread is busy, users neither
/// come nor think, and nothing behind the server has a part in it.
fn undisturbed(facts: &Facts<'_>) -> Option<f64> {
    let load = &facts.trial.load.load;
    let stays = load.ramp_up_s.is_none()
        && load.requests_per_user.is_none()
        && load.rate_per_s.is_none()
        && load.think_us.is_none_or(|think| think <= 0.0);
    let has_time = facts.has_cpu_left() && facts.signals().is_some() && busiest_thread(facts) <= BUSY_MAX;
    let is_alone = facts.trial.upstreams.is_empty();
    scatter(&facts.rates_by_second())
        .filter(|scatter| stays && has_time && is_alone && *scatter <= scatter_max(facts))
}

/// How much the rates of seconds may scatter where K at a time keep them: they are done in batches, 1/S₀ of them in a second.
fn scatter_max(facts: &Facts<'_>) -> f64 {
    facts
        .idle_s
        .map_or(SCATTER_MAX, |idle_s| (OF_BATCH_MAX * idle_s).clamp(SCATTER_MAX, SCATTER_OF_BATCHES_MAX))
}

/// Standard deviation of rates as a share of their mean; `None` of too few.
fn scatter(rates: &[f64]) -> Option<f64> {
    let count = Some(rates.len()).filter(|count| *count >= SECONDS_MIN)? as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean > 0.0).then(|| variance.sqrt() / mean).filter(|it| it.is_finite())
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

/// The sizes that there are; `None` where no thread was seen.
fn sizes_words(facts: &Facts<'_>) -> Option<String> {
    let groups = facts.groups();
    let of = |group: &Group<'_>| {
        let sizes: Vec<String> = workers(facts, group)
            .iter()
            .map(|it| format!("{} {}", it.count, it.are.noun(it.count)))
            .collect();
        let sizes = if sizes.is_empty() { format!("{} threads", group.threads) } else { sizes.join(" or ") };
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

    #[test]
    fn a_scatter_takes_three_seconds() {
        assert_eq!(scatter(&[100.0, 100.0]), None);
        assert_eq!(scatter(&[100.0; 3]), Some(0.0));
        assert!(scatter(&[90.0, 100.0, 110.0]).is_some_and(|it| (it - 0.1).abs() < 1e-9));
        assert_eq!(scatter(&[0.0; 4]), None);
    }
}
