//! Is there a number K of requests that can be under way, and whose number is it?
//!
//! By Little's law X · S is the number of requests under way. Where CPU is left and answers take as long as on an idle
//! server once their turn comes, X · S₀ is how many had their turn at a time: K.

use crate::facts::{Facts, Group, ONE_THREAD_CORES};
use crate::idle::{Concurrency, POOL_TOLERANCE};
use crate::noise::held_up;
use crate::verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};
use crate::workers::{Are, Workers, at_work, reads_ahead, runtime_words, unread_words, with_a_lock, workers};

/// Beyond the middle half of an idle server's answers, so far from it the median of the load may be and still be theirs.
const MEDIAN_OFF_MAX: f64 = 0.1;
/// The third quarter of an idle server's answers over the first, up to which their median is as good as one time.
const MIDDLE_HALF_NEAR: f64 = 1.25;
/// How much longer answers may take than an idle server's when nobody waits for anybody: a tenth of it is no queue.
const LONGER_THAN_IDLE_MAX: f64 = 0.1;
/// A bound on connections to an upstream is reached nearly all the time when it is the limit.
const HELD_MEAN_MIN: f64 = 0.9;
/// Share of the clients that so many connections must lie below: as many as clients follow the load.
const HELD_OF_CLIENTS_MAX: f64 = 0.9;
/// Accepted connections for each request that is under way, at least. Between two answers a worker may hold none.
const ACCEPTED_MIN: f64 = 0.5;
/// How close a proxy comes to what is behind it when that is the limit.
const OF_BACKEND_MIN: f64 = 0.9;
/// Threads that carry virtual ones: the JVM's own pool for them, also as Linux cuts its name.
const CARRIERS: [&str; 2] = ["ForkJoinPool-*-worker", "ForkJoinPool-*-"];
/// JFR's event for a virtual thread that blocks its carrier.
const PINNED: &str = "jdk.VirtualThreadPinned";

pub(crate) fn keeps_rate(facts: &Facts<'_>) -> Option<Verdict> {
    let asked = facts.trial.load.load.rate_per_s?;
    ((facts.rate - asked).abs() <= POOL_TOLERANCE * asked).then(|| {
        let text = format!("{:.0}/s of {asked:.0}/s due", facts.rate);
        Verdict::new(VerdictKind::KeepsRate, Confidence::Sure, "none: keeps the rate", text)
            .confirmed_by("raise the rate", facts.rate)
    })
}

pub(crate) fn idle_pace(facts: &Facts<'_>) -> Option<Verdict> {
    // A server that stands still for its collections is never idle: the answer that was to tell its idle pace waited for
    // them, too.
    if super::work::garbage_collection(facts).is_some() {
        return None;
    }
    let load = &facts.trial.load.load;
    // Users who come and go are not all under way at once, so X·S₀ says nothing of their number; their times do.
    if load.ramp_up_s.is_some() || load.requests_per_user.is_some() {
        return answered_as_when_idle(facts);
    }
    // A user who thinks is as much of the load as one who waits.
    let thinking = facts.rate * load.think_us.unwrap_or(0.0) / 1e6;
    let engaged = facts.concurrency()?.plus(thinking);
    let users = load.exchanges();
    let confidence = if engaged.is_sharp() { Confidence::Sure } else { Confidence::Likely };
    let is_theirs = engaged.is_sharp() || is_shaped_as_idle(facts, engaged.tells_a_number());
    (engaged.reaches(users) && is_theirs).then(|| {
        let thinkers =
            if thinking > 0.0 { format!(" + {thinking:.1} users who think") } else { String::new() };
        let text = format!(
            "all wait for an idle server: {}{thinkers} ≈ the {users} connections",
            facts.under_way_words()
        );
        Verdict::new(VerdictKind::IdlePace, confidence, "none: idle pace", text)
            .and_maybe(spread_words(facts).filter(|_| !engaged.is_sharp()))
            .confirmed_by("double the connections; the rate should double", facts.rate)
    })
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

/// Service time from which X·S₀ is trusted beside a CPU that is busy: mostly waiting, not computing.
const WAITING_S_MIN: f64 = 0.005;

/// Requests that have their turn at a time, where something other than the CPU may hold the others back; `None` where the
/// CPU may.
///
/// A CPU that is busy, and not used up, does not speak against a pool: were requests waiting for it, they would take
/// longer than on an idle server, and X·S₀ would be less than K.
pub(crate) fn under_way(facts: &Facts<'_>) -> Option<Concurrency> {
    let waits = facts.idle_s.is_some_and(|idle_s| idle_s >= WAITING_S_MIN);
    let may_be = facts.has_cpu_left() || (waits && !facts.is_full() && facts.used_share().is_some());
    facts.concurrency().filter(|it| may_be && it.tells_a_number())
}

/// No surer than X·S₀ is sharp: where the interval holds several numbers, one that fits is a possibility.
fn as_sharp(under_way: Concurrency, verdict: Verdict) -> Verdict {
    let most = if under_way.is_sharp() { Confidence::Sure } else { Confidence::Possible };
    Verdict { confidence: verdict.confidence.max(most), ..verdict }
}

pub(crate) fn upstream_pool(facts: &Facts<'_>) -> Option<Verdict> {
    let under_way = under_way(facts)?;
    let behind = facts.trial.upstreams.first()?;
    let held = behind.server.signals.as_ref()?.connections?;
    let is_bound = held.mean >= HELD_MEAN_MIN * f64::from(held.max)
        && f64::from(held.max) <= HELD_OF_CLIENTS_MAX * facts.users
        && under_way.may_be(held.max);
    is_bound.then(|| {
        let (k, stack) = (held.max, &behind.stack);
        let text = format!(
            "{} ≈ the {k} connections held to {stack} (mean {:.1})",
            facts.under_way_words(),
            held.mean
        );
        let phrase = format!("{k} connections to {stack}");
        as_sharp(under_way, Verdict::new(VerdictKind::UpstreamPoolLimit, Confidence::Sure, phrase, text))
            .accounting_for(under_way.mid / f64::from(k))
            .and(facts.cpu_words())
            .confirmed_with(larger(facts, Setting::UpstreamPool, k, &[], "connections to it"))
    })
}

/// What is behind a proxy is the limit: it carries no more when it is asked directly, or a pool of its own fits.
pub(crate) fn backend(facts: &Facts<'_>) -> Option<Verdict> {
    let behind = facts.trial.upstreams.first()?;
    let stack = &behind.stack;
    let alone = facts.context.backend_alone_per_s.filter(|alone| *alone > 0.0 && facts.has_cpu_left());
    let of_alone = alone.map(|alone| facts.rate / alone).filter(|share| *share >= OF_BACKEND_MIN);
    let fitting = under_way(facts).and_then(|under_way| Some((under_way, fitting(facts, under_way, true)?)));
    let pool = fitting.as_ref().map(|(_, fitting)| {
        format!(
            "{} ≈ {} {} `{}`",
            facts.under_way_words(),
            fitting.count,
            fitting.are.noun(fitting.count),
            fitting.names.join(", ")
        )
    });
    let direct = of_alone.map(|share| {
        format!(
            "{:.0} % of what {stack} carries when it is asked directly ({:.0}/s)",
            share * 100.0,
            alone.unwrap_or(0.0)
        )
    });
    let mut evidence = [pool, direct].into_iter().flatten();
    let text = evidence.next()?;
    let phrase = format!("backend ({stack})");
    let confidence =
        if alone.is_some() && of_alone.is_none() { Confidence::Possible } else { Confidence::Likely };
    let of_pool = fitting.as_ref().map(|(under_way, fitting)| under_way.mid / f64::from(fitting.count));
    let mut verdict = Verdict::new(VerdictKind::BackendBound, confidence, phrase, text)
        .accounting_for_maybe(of_pool.into_iter().chain(of_alone).reduce(f64::max));
    verdict.evidence.extend(evidence);
    Some(
        verdict
            .and(facts.cpu_words())
            .confirmed_by(format!("make {stack} faster; the rate should follow it"), facts.rate),
    )
}

/// A pool of K threads, a single one, or a section that one at a time may be in.
pub(crate) fn pool(facts: &Facts<'_>) -> Option<Verdict> {
    let under_way = under_way(facts).filter(|it| are_inside(facts, *it))?;
    let one = || one_at_a_time(facts).map(|it| as_sharp(under_way, it).accounting_for(under_way.mid));
    if under_way.may_be(1) {
        return one();
    }
    let fitting = fitting(facts, under_way, false)?;
    if fitting.count == 1 {
        return one();
    }
    let (k, names, noun) = (fitting.count, fitting.names.join(", "), fitting.are.noun(fitting.count));
    let text = format!("{} ≈ {k} {noun} `{names}`", facts.under_way_words());
    let carriers = fitting.names.iter().any(|name| CARRIERS.iter().any(|carrier| name.starts_with(carrier)));
    let verdict = if carriers {
        let phrase = format!("{k} pinned carriers");
        let recorded = facts.signals().and_then(|signals| signals.jvm_events.get(PINNED).copied());
        let confidence = if recorded.is_some() { Confidence::Sure } else { Confidence::Likely };
        let events =
            recorded.map(|count| format!("the JVM recorded {count} times that a virtual thread was pinned"));
        Verdict::new(VerdictKind::PinnedCarriers, confidence, phrase, text)
            .and("they carry virtual threads, and hold one each for as long as an answer takes")
            .and_maybe(events)
            .confirmed_by("block without pinning; the rate should no longer follow the cores", facts.rate)
    } else {
        let phrase = match fitting.are {
            Are::Threads => format!("pool of {k} ({names})"),
            Are::Processes => format!("pool of {k} processes ({names})"),
        };
        // A size alone fits by chance as well: that they share the work is a second witness.
        let only_one = fitting.names.len() == 1 && facts.has_cpu_left();
        let confidence = if only_one && fitting.seen { Confidence::Sure } else { Confidence::Likely };
        let alike = fitting.seen.then(|| format!("these {k} {noun} share the work alike"));
        Verdict::new(VerdictKind::PoolLimit, confidence, phrase, text)
            .and_maybe(alike)
            .confirmed_with(larger(facts, Setting::Pool, k, &fitting.names, noun))
    };
    Some(as_sharp(under_way, verdict).accounting_for(under_way.mid / f64::from(k)).and(facts.cpu_words()))
}

/// Whether so many can be under way inside: who serves a request has accepted its connection. Where fewer are held, the time goes
/// before that, while a connection is opened or waits to be accepted.
fn are_inside(facts: &Facts<'_>, under_way: Concurrency) -> bool {
    let held = facts.signals().and_then(|signals| signals.connections);
    held.is_none_or(|held| held.mean >= ACCEPTED_MIN * under_way.mid)
}

/// One request at a time has its turn. Where several threads work for that, they wait for each other; where one does, it
/// blocks the many connections that it serves, or has read their requests and lets one of them in, or takes one connection
/// after the other.
fn one_at_a_time(facts: &Facts<'_>) -> Option<Verdict> {
    if super::inside::paces_idle_answers(facts) {
        return None;
    }
    let groups = facts.groups();
    let own = || groups.iter().filter(|group| group.of.is_none());
    if let Some(group) = own().find(|group| at_work(facts, group) > 1) {
        return Some(serial_section(facts, group));
    }
    let single: Vec<&Group<'_>> = own()
        .filter(|group| at_work(facts, group) == 1 && (group.did.is_some() || group.threads == 1))
        .collect();
    let names: Vec<String> = single.iter().map(|group| group.shown()).collect();
    if names.is_empty() {
        return None;
    }
    let name = names.join(", ");
    let runtime = single.iter().find_map(|group| runtime_words(group));
    let held = facts.signals().and_then(|signals| signals.connections);
    let text = format!("{} ≈ 1 thread `{name}`", facts.under_way_words());
    let Some(held) = held.filter(|held| held.mean >= 2.0) else {
        let phrase = format!("1 thread ({name})");
        let verdict = Verdict::new(VerdictKind::PoolLimit, Confidence::Likely, phrase, text);
        let confirm = larger(facts, Setting::Pool, 1, &names, "threads");
        return Some(verdict.and_maybe(runtime).and(facts.cpu_words()).confirmed_with(confirm));
    };
    let reads_ahead = reads_ahead(facts, 1.0);
    if reads_ahead == Some(true) {
        let text = format!(
            "{} ≈ 1 request at a time, though thread `{name}` has read the others: {}",
            facts.under_way_words(),
            unread_words(facts).unwrap_or_default()
        );
        return Some(one_inside(facts, text, runtime));
    }
    let change = "hand what blocks to other threads; answers should no longer wait for each other";
    let phrase = format!("event loop blocked ({name})");
    // That requests wait unread is a second witness.
    let unread = reads_ahead.and_then(|_| unread_words(facts));
    let confidence = if unread.is_some() { Confidence::Sure } else { Confidence::Likely };
    Some(
        Verdict::new(VerdictKind::BlockedEventLoop, confidence, phrase, text)
            .and(format!("it holds {:.0} connections and waits for one request", held.mean))
            .and_maybe(unread)
            .and_maybe(runtime)
            .and(facts.cpu_words())
            .confirmed_by(change, facts.rate),
    )
}

fn serial_section(facts: &Facts<'_>, group: &Group<'_>) -> Verdict {
    let text = format!(
        "{} ≈ 1 request at a time, though the {} threads `{}` all work",
        facts.under_way_words(),
        at_work(facts, group),
        group.shown()
    );
    // A lock of the interpreter's is one that somebody computes under.
    let computes = group.did.is_some_and(|did| did.cpu_cores >= ONE_THREAD_CORES);
    let lock = group.did.and_then(|did| with_a_lock(did.runtime)).filter(|_| computes);
    let verdict = one_inside(facts, text, lock.and_then(|_| runtime_words(group)));
    match lock {
        Some(name) => Verdict { phrase: format!("one at a time ({name}'s lock)"), ..verdict },
        None => verdict,
    }
}

/// A section that one request at a time may be in.
fn one_inside(facts: &Facts<'_>, text: String, runtime: Option<String>) -> Verdict {
    Verdict::new(VerdictKind::SerialSection, Confidence::Likely, "one at a time (a lock)", text)
        .and_maybe(runtime)
        .and(facts.cpu_words())
        .confirmed_by("shorten what is done under the lock by half; the rate should double", facts.rate)
}

/// A size that fits, and the groups that have it.
struct Fitting {
    count: u32,
    are: Are,
    names: Vec<String>,
    /// Whether all of them were seen to work alike.
    seen: bool,
}

/// The size closest to `under_way` among those of the workers that may be the pool, and the names of all groups of that
/// size: between them the evidence does not decide. `None` also where the interval of `under_way` is wide and holds several
/// sizes: one of them fits by chance.
fn fitting(facts: &Facts<'_>, under_way: Concurrency, behind: bool) -> Option<Fitting> {
    // As many threads as connections is a thread a connection: that follows the load and limits nothing.
    let connections = facts.trial.load.load.connections;
    let groups = facts.groups();
    let mut fitting: Vec<Workers<'_>> = groups
        .iter()
        .filter(|group| group.of.is_some() == behind)
        .flat_map(|group| workers(facts, group))
        .filter(|it| {
            // Of threads that wait for a core the requests wait, too, and have their turn all the same.
            let is_filled = under_way.plus(held_up(facts, &it.group)).may_be(it.count);
            (1..connections).contains(&it.count) && (under_way.may_be(it.count) || is_filled)
        })
        // Processes that take one request after the other read none ahead.
        .filter(|it| it.are == Are::Threads || reads_ahead(facts, f64::from(it.count)) != Some(true))
        .collect();
    let off = |it: &Workers<'_>| (under_way.mid - f64::from(it.count)).abs();
    let (count, are) =
        fitting.iter().min_by(|a, b| off(a).total_cmp(&off(b))).map(|it| (it.count, it.are))?;
    if !under_way.is_sharp() && fitting.iter().any(|it| it.count != count) {
        return None;
    }
    fitting.retain(|it| it.count == count && it.are == are);
    Some(Fitting {
        count,
        are,
        names: fitting.iter().map(|it| it.group.shown()).collect(),
        seen: fitting.iter().all(|it| it.seen),
    })
}

/// Twice as many of something.
fn larger(facts: &Facts<'_>, setting: Setting, now: u32, threads: &[String], what: &str) -> Intervention {
    let confirm = Intervention {
        text: String::new(),
        setting: Some(setting),
        now: Some(f64::from(now)),
        threads: threads.to_vec(),
        rate_per_s: facts.rate,
        rate_max_per_s: facts.next_limit_per_s(),
    };
    let text = format!(
        "make it {} {what}; the rate should become {:.0}/s",
        u64::from(now) * 2,
        confirm.predict(2.0)
    );
    Intervention { text, ..confirm }
}
