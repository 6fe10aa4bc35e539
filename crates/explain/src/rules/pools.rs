//! Is there a number K of requests that can be under way, and whose number is it?
//!
//! By Little's law X · S is the number of requests under way. Where CPU is left and answers take as long as on an idle
//! server once their turn comes, X · S₀ is how many had their turn at a time: K.

use record::{Held, Upstream};

use crate::alone::{self, LetIn, Pause};
use crate::asked::{as_many_to, or_behind_words};
use crate::facts::{Alone, Facts, Group, ONE_THREAD_CORES};
use crate::idle::Concurrency;
use crate::others::held_up;
use crate::rates::whole_rate_words;
use crate::verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};
use crate::workers::{
    Are, Workers, at_work, carries_any_number, have_a_front, reads_ahead, runtime_words, unread_words,
    with_a_lock, workers,
};

/// A bound on connections to an upstream is reached nearly all the time when it is the limit.
const HELD_MEAN_MIN: f64 = 0.9;
/// Share of the clients that so many connections must lie below: as many as clients follow the load.
const HELD_OF_CLIENTS_MAX: f64 = 0.9;
/// Users of accepted connections for each request that is under way, at least. Between two answers a worker may hold none.
const ACCEPTED_MIN: f64 = 0.5;
/// How close a proxy comes to what is behind it when that is the limit.
const OF_BACKEND_MIN: f64 = 0.9;
/// Threads that carry virtual ones: the JVM's own pool for them, also as Linux cuts its name.
const CARRIERS: [&str; 2] = ["ForkJoinPool-*-worker", "ForkJoinPool-*-"];
/// JFR's event for a virtual thread that blocks its carrier, for so long that it is worth an event.
const PINNED: &str = "jdk.VirtualThreadPinned";
/// Share of the requests from which it is most of them that pin one.
const PINNED_MOST: f64 = 0.5;

/// Service time from which X·S₀ is trusted beside a CPU that is busy: mostly waiting, not computing.
const WAITING_S_MIN: f64 = 0.005;

/// Cores of its own from which what a server does one at a time is its own work, and nobody's behind it: most of the time.
const OWN_WORK_MIN: f64 = 0.5;

/// Requests that have their turn at a time, where something other than the CPU may hold the others back; `None` where the
/// CPU may, and where many at once were let through: they take no turns.
///
/// A CPU that is busy, and not used up, does not speak against a pool: were requests waiting for it, they would take
/// longer than on an idle server, and X·S₀ would be less than K.
pub(crate) fn under_way(facts: &Facts<'_>) -> Option<Concurrency> {
    let waits = facts.idle_s.is_some_and(|idle_s| idle_s >= WAITING_S_MIN);
    let may_be = facts.has_cpu_left() || (waits && !facts.is_full() && facts.used_share().is_some());
    let takes_turns = alone::let_in(facts) != LetIn::Through;
    facts.concurrency().filter(|it| may_be && takes_turns && it.tells_a_number())
}

/// No surer than X·S₀ is sharp: where the interval holds several numbers, one that fits is a possibility.
fn as_sharp(under_way: Concurrency, verdict: Verdict) -> Verdict {
    let most = if under_way.is_sharp() { Confidence::Sure } else { Confidence::Possible };
    Verdict { confidence: verdict.confidence.max(most), ..verdict }
}

pub(crate) fn upstream_pool(facts: &Facts<'_>) -> Option<Verdict> {
    let under_way = under_way(facts)?;
    let is_bound = |held: &Held| {
        held.mean >= HELD_MEAN_MIN * f64::from(held.max)
            && f64::from(held.max) <= HELD_OF_CLIENTS_MAX * facts.users
            && under_way.may_be(held.max)
    };
    let bound: Vec<(&str, Held)> = held_behind(facts).filter(|(_, held)| is_bound(held)).collect();
    let off = |held: Held| (under_way.mid - f64::from(held.max)).abs();
    let (_, held) = *bound.iter().min_by(|(_, a), (_, b)| off(*a).total_cmp(&off(*b)))?;
    // A thread that forwards a request holds a connection meanwhile: as many of both are the threads' number.
    let own = fitting(facts, under_way, false).is_some_and(|own| own.count == held.max);
    // Connections that are kept are as many whoever uses them: a burst of which another number came together speaks against them.
    let is_other = is_of_another(facts, held.max);
    (!own).then(|| {
        let k = held.max;
        let stacks: Vec<&str> = bound.iter().filter(|(_, it)| it.max == k).map(|(stack, _)| *stack).collect();
        // Where every request goes through several, as many are held to each, and any may be whose number it is.
        let is_sure = stacks.len() == 1 && !is_other;
        let confidence = if is_sure { Confidence::Sure } else { Confidence::Likely };
        let stack = stacks.join(" or ");
        let text = format!(
            "{} ≈ the {k} connections held to {stack} (mean {:.1})",
            facts.under_way_words(),
            held.mean
        );
        let phrase = format!("{k} connections to {stack}");
        as_sharp(under_way, Verdict::new(VerdictKind::UpstreamPoolLimit, confidence, phrase, text))
            .accounting_for(under_way.mid / f64::from(k))
            .and_maybe(is_other.then(|| alone::burst_words(facts)).flatten())
            .and(facts.cpu_words())
            .confirmed_with(larger(facts, Setting::UpstreamPool, k, &[], "connections to it"))
    })
}

/// Connections that each stack behind the loaded one held, as far as they were counted.
fn held_behind<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'a str, Held)> + use<'a> {
    let held = |it: &'a Upstream| Some((it.stack.as_str(), it.server.signals.as_ref()?.connections?));
    facts.trial.upstreams.iter().filter_map(held)
}

/// How close the rate comes to what a stack behind carries when it is asked directly.
struct OfAlone<'a> {
    alone: &'a Alone,
    share: f64,
    /// Whether it may be the limit by that.
    is_reached: bool,
}

/// Of each stack behind that was asked directly; of a pool whose `owners` are known, of those that tell about one of them.
fn of_alone<'a>(facts: &Facts<'a>, owners: Option<&[String]>) -> Vec<OfAlone<'a>> {
    let is_about = |alone: &&Alone| owners.is_none_or(|all| all.iter().any(|it| alone.tells_of(it)));
    let of = |alone: &'a Alone| {
        let share = facts.rate / alone.per_s;
        // Where others stand beside it, not every request need ask it: what carries far less than the rate is not asked for all.
        let is_all = facts.trial.upstreams.iter().all(|it| alone.tells_of(&it.stack));
        let most = if is_all { f64::INFINITY } else { 1.0 / OF_BACKEND_MIN };
        OfAlone { alone, share, is_reached: !alone.is_least && (OF_BACKEND_MIN..=most).contains(&share) }
    };
    let asked = facts.context.backends_alone.iter().filter(|it| it.per_s > 0.0 && facts.has_cpu_left());
    asked.filter(is_about).map(of).collect()
}

/// What is behind a proxy is the limit: it carries no more when it is asked directly, or a pool of its own fits.
pub(crate) fn backend(facts: &Facts<'_>) -> Option<Verdict> {
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
    // A pool may be that of any stack behind it, and what another one carries says nothing of it.
    let owners = fitting.as_ref().map(|(_, fitting)| fitting.stacks.as_slice());
    let alone = of_alone(facts, owners);
    let reached: Vec<&OfAlone<'_>> = alone.iter().filter(|it| it.is_reached).collect();
    let direct = reached.iter().map(|it| {
        format!(
            "{:.0} % of what {} carries when it is asked directly ({})",
            it.share * 100.0,
            it.alone.stack,
            whole_rate_words(it.alone.per_s)
        )
    });
    let mut evidence = pool.into_iter().chain(direct);
    let text = evidence.next()?;
    let of_reached = || reached.iter().map(|it| it.alone.stack.clone()).collect::<Vec<String>>();
    let stack = owners.map_or_else(of_reached, <[String]>::to_vec).join(" or ");
    let phrase = format!("backend ({stack})");
    let confidence =
        if reached.is_empty() && !alone.is_empty() { Confidence::Possible } else { Confidence::Likely };
    let of_pool = fitting.as_ref().map(|(under_way, fitting)| under_way.mid / f64::from(fitting.count));
    let shares = of_pool.into_iter().chain(reached.iter().map(|it| it.share));
    let mut verdict = Verdict::new(VerdictKind::BackendBound, confidence, phrase, text)
        .accounting_for_maybe(shares.reduce(f64::max));
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
        // Now and then any program pins one, and other pools of this kind have the carriers' name.
        let load = &facts.trial.load;
        let requests = facts.rate * (load.load.warm_up_s + load.window.duration_s);
        let are_most = recorded.is_some_and(|count| count as f64 >= PINNED_MOST * requests);
        let confidence = if are_most { Confidence::Sure } else { Confidence::Likely };
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
        // A size alone fits by chance as well: that they share the work is a second witness. One against it is a burst of which
        // another number came together, or sooner than a turn takes, and requests that have been read while they wait.
        let only_one = fitting.names.len() == 1 && facts.has_cpu_left();
        let is_other = is_of_another(facts, k);
        // Who has read the requests of those who wait is not what they wait for, unless somebody else reads for them.
        let have_read = read_ahead(facts, k) && (fitting.are == Are::Processes || !fitting.has_front);
        // Each may be what there are so many of.
        let as_many_held = held_behind(facts).find(|(_, held)| held.max == k).map(|(stack, _)| stack);
        let as_many_held = as_many_held.or_else(|| as_many_to(facts, k)).map(plain::line);
        let is_sure = only_one && fitting.seen && !is_other && !have_read && as_many_held.is_none();
        let confidence = if is_sure { Confidence::Sure } else { Confidence::Likely };
        let alike = fitting.seen.then(|| format!("these {k} {noun} share the work alike"));
        let inside = (have_read && fitting.are == Are::Threads).then(|| {
            format!(
                "they have read the requests of those who wait: {k} of something inside (a semaphore, connections) may hold \
                 them as well"
            )
        });
        let beside = as_many_held.map(|whom| {
            format!("{k} connections were held to {whom} as well: their number, or that of the {noun}")
        });
        Verdict::new(VerdictKind::PoolLimit, confidence, phrase, text)
            .and_maybe(alike)
            .and_maybe(inside)
            .and_maybe(beside)
            .confirmed_with(larger(facts, Setting::Pool, k, &fitting.names, noun))
    };
    let verdict = as_sharp(under_way, verdict).accounting_for(under_way.mid / f64::from(k));
    Some(verdict.and_maybe(alone::burst_words(facts)).and(facts.cpu_words()))
}

/// Whether a burst of requests was let in otherwise than K at a time are.
fn is_of_another(facts: &Facts<'_>, k: u32) -> bool {
    match alone::let_in(facts) {
        LetIn::ByTurns(counted) => counted != k,
        LetIn::OneByOne | LetIn::Sooner => true,
        LetIn::Through | LetIn::Unclear => false,
    }
}

/// Whether the requests of those who wait beside `served` others are known to have been read.
fn read_ahead(facts: &Facts<'_>, served: u32) -> bool {
    reads_ahead(facts, f64::from(served)) == Some(true)
}

/// Whether so many can be under way inside: who serves a request has accepted its connection. Where fewer are held, the time goes
/// before that, while a connection is opened or waits to be accepted.
fn are_inside(facts: &Facts<'_>, under_way: Concurrency) -> bool {
    let held = facts.signals().and_then(|signals| signals.connections);
    held.is_none_or(|held| facts.users_of(held.mean) >= ACCEPTED_MIN * under_way.mid)
}

/// One request at a time has its turn. Where several threads work for that, they wait for each other; where one does, it
/// blocks the many connections that it serves, or has read their requests and lets one of them in, or takes one connection
/// after the other.
fn one_at_a_time(facts: &Facts<'_>) -> Option<Verdict> {
    if alone::is_no_lock(facts) {
        return None;
    }
    let groups = facts.groups();
    let own = || groups.iter().filter(|group| group.of.is_none());
    // What waits inside waits for a lock or for a limiter; only who reads nothing meanwhile is busy for sure.
    let may_be_a_lock = alone::pause(facts) == Pause::DoesNothing;
    if let Some(group) = own().find(|group| at_work(facts, group) > 1) {
        return may_be_a_lock.then(|| serial_section(facts, group));
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
    // A thread that has no time left is what those wait for that it has read. Threads of Go run whatever is ready.
    let is_busy = single.iter().any(|group| !carries_any_number(group) && has_no_time_left(group));
    if reads_ahead == Some(true) && (is_busy || !may_be_a_lock) {
        return None;
    }
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

fn has_no_time_left(group: &Group<'_>) -> bool {
    group.did.is_some_and(|did| did.busiest_cores >= ONE_THREAD_CORES)
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
    let is_own_work = facts.trial.server.cpu_cores.is_some_and(|cores| cores >= OWN_WORK_MIN);
    let behind = or_behind_words(facts).filter(|_| !is_own_work);
    let confidence = if behind.is_some() { Confidence::Possible } else { Confidence::Likely };
    Verdict::new(VerdictKind::SerialSection, confidence, "one at a time (a lock)", text)
        .and_maybe(runtime)
        .and_maybe(behind)
        .and_maybe(alone::no_limiter_words(facts))
        .and(facts.cpu_words())
        .confirmed_by("shorten what is done under the lock by half; the rate should double", facts.rate)
}

/// A size that fits, and the groups that have it.
struct Fitting {
    count: u32,
    are: Are,
    names: Vec<String>,
    /// The stacks behind the one that is loaded whose groups these are, each once.
    stacks: Vec<String>,
    /// Whether all of them were seen to work alike.
    seen: bool,
    /// Whether somebody else of their server works as well, and may read for them.
    has_front: bool,
}

/// The size closest to `under_way` among those of the workers that may be the pool, and the names of all groups of that
/// size: between them the evidence does not decide. `None` also where the interval of `under_way` is wide and holds several
/// sizes: one of them fits by chance.
fn fitting(facts: &Facts<'_>, under_way: Concurrency, behind: bool) -> Option<Fitting> {
    // As many threads as users is a thread for each: that follows the load and limits nothing.
    let users = facts.trial.load.load.exchanges();
    let groups = facts.groups();
    let mut fitting: Vec<Workers<'_>> = groups
        .iter()
        .filter(|group| group.of.is_some() == behind)
        .flat_map(|group| workers(facts, group))
        .filter(|it| {
            // Of threads that wait for a core the requests wait, too, and have their turn all the same.
            let is_filled = under_way.plus(held_up(facts, &it.group)).may_be(it.count);
            (1..users).contains(&it.count) && (under_way.may_be(it.count) || is_filled)
        })
        // Processes that take one request after the other read none ahead, unless another reads for them.
        .filter(|it| it.are == Are::Threads || !read_ahead(facts, it.count) || have_a_front(facts, it))
        .collect();
    let off = |it: &Workers<'_>| (under_way.mid - f64::from(it.count)).abs();
    let (count, are) =
        fitting.iter().min_by(|a, b| off(a).total_cmp(&off(b))).map(|it| (it.count, it.are))?;
    if !under_way.is_sharp() && fitting.iter().any(|it| it.count != count) {
        return None;
    }
    fitting.retain(|it| it.count == count && it.are == are);
    let mut stacks: Vec<String> = fitting.iter().filter_map(|it| it.group.of.map(str::to_owned)).collect();
    stacks.dedup();
    Some(Fitting {
        count,
        are,
        stacks,
        names: fitting.iter().map(|it| it.group.shown()).collect(),
        seen: fitting.iter().all(|it| it.seen),
        has_front: fitting.iter().all(|it| have_a_front(facts, it)),
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
        "make it {} {what}; the rate should become {}",
        u64::from(now) * 2,
        whole_rate_words(confirm.predict(2.0))
    );
    Intervention { text, ..confirm }
}
