//! Who works: the threads and processes that can be a pool, whatever else has their name.
//!
//! A group of equal names is not a group of equal workers. Node's process has seven threads called `node`, one of which does
//! the work; a pre-fork server has as many workers as processes that are given requests, and a parent of the same name beside
//! them. So a pool is told by threads that were given a CPU about equally often, for the requests there are, and that used
//! the CPU time of their group.

use record::{Runtime, Server, ThreadBand, ThreadGroupUse};

use crate::facts::{CONCURRENT_COLLECTORS, Facts, Group, SWITCHES_A_REQUEST_MIN};
use crate::others::held_up;

/// Share of its group's CPU time that threads use at least if they serve: what helps a thread that does all the work (a
/// collector's, a compiler's) takes a few hundredths.
const SHARE_OF_GROUP_MIN: f64 = 0.1;
/// Share of those who wait, up to which their requests were read all the same. A loop that reads whatever came and serves it
/// then leaves a half unread on average.
const UNREAD_SHARE_MAX: f64 = 0.2;
/// So many who wait, from which that says anything.
const WAITING_MIN: f64 = 2.0;
/// CPU time a second of a collector that works beside the program, from which it may be waited for.
const COLLECTED_BESIDE_MIN: f64 = 0.1;

/// Whether workers are threads or processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Are {
    Threads,
    Processes,
}

impl Are {
    pub(crate) const fn noun(self, count: u32) -> &'static str {
        match (self, count) {
            (Self::Threads, 1) => "thread",
            (Self::Threads, _) => "threads",
            (Self::Processes, 1) => "process",
            (Self::Processes, _) => "processes",
        }
    }
}

/// So many of a group who may be a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workers<'a> {
    pub(crate) group: Group<'a>,
    pub(crate) count: u32,
    pub(crate) are: Are,
    /// Whether they were seen to work alike; else they are all threads of one name.
    pub(crate) seen: bool,
}

/// The workers of a group, in each of the sizes that a pool of it may have.
pub(crate) fn workers<'a>(facts: &Facts<'_>, group: &Group<'a>) -> Vec<Workers<'a>> {
    let of = |count, are, seen| Workers { group: *group, count, are, seen };
    if group.did.is_none_or(|did| did.bands.is_empty()) {
        return if facts.may_serve(group) {
            vec![of(group.threads, Are::Threads, false)]
        } else {
            Vec::new()
        };
    }
    if carries_any_number(group) {
        return Vec::new();
    }
    let of_band = |band: &ThreadBand| {
        let has_one_each = band.processes == band.threads;
        let processes = (band.processes > 1).then(|| of(band.processes, Are::Processes, true));
        let threads = (!has_one_each || band.threads == 1).then(|| of(band.threads, Are::Threads, true));
        processes.into_iter().chain(threads)
    };
    working(facts, group).flat_map(of_band).collect()
}

/// Whether its threads are as many as it takes to run what is ready, or as there are cores, and carry any number of requests.
pub(crate) fn carries_any_number(group: &Group<'_>) -> bool {
    group.did.is_some_and(|did| matches!(did.runtime, Some(Runtime::Go | Runtime::Erlang)))
}

/// Whether somebody else of the same server works, too, such as a process that reads all requests and hands them on.
pub(crate) fn have_a_front(facts: &Facts<'_>, these: &Workers<'_>) -> bool {
    let groups = facts.groups();
    let bands: usize =
        groups.iter().filter(|it| it.of == these.group.of).map(|it| working(facts, it).count()).sum();
    bands > 1
}

/// How many threads of a group work; of older records, all that did anything.
pub(crate) fn at_work(facts: &Facts<'_>, group: &Group<'_>) -> u32 {
    match group.did {
        Some(did) if !did.bands.is_empty() => working(facts, group).map(|band| band.threads).sum(),
        Some(did) if facts.may_serve(group) => did.active,
        None => group.threads.min(1),
        Some(_) => 0,
    }
}

/// The bands of a group that serve requests: they are given a CPU for those there are, and are not a small part of it.
fn working<'a>(facts: &Facts<'_>, group: &Group<'a>) -> impl Iterator<Item = &'a ThreadBand> {
    let all = group.did.map_or(0.0, |did| did.cpu_cores);
    as_often_as_requests(facts, group).filter(move |band| band.cpu_cores >= SHARE_OF_GROUP_MIN * all)
}

/// The bands of a group that are given a CPU for the requests there are, however little they use of it: also those that help, and
/// those that wait for what they are there to wait for.
pub(crate) fn as_often_as_requests<'a>(
    facts: &Facts<'_>,
    group: &Group<'a>,
) -> impl Iterator<Item = &'a ThreadBand> {
    let (rate, did) = (facts.rate, group.did);
    let bands = did.map_or(&[][..], |did| did.bands.as_slice());
    bands.iter().filter(move |band| band.switches_per_s >= SWITCHES_A_REQUEST_MIN * rate)
}

/// Whether threads of a group that may serve ended while it was looked at: in its bands are those that stayed, and no others.
pub(crate) fn come_and_go(facts: &Facts<'_>, group: &Group<'_>) -> bool {
    let stayed = |did: &ThreadGroupUse| did.bands.iter().map(|band| band.threads).sum::<u32>();
    facts.may_serve(group) && group.did.is_some_and(|did| !did.bands.is_empty() && did.active > stayed(did))
}

/// Share of the time that the busiest thread of a group waited for a core while others used one.
pub(crate) fn busiest_held_up(facts: &Facts<'_>, group: &Group<'_>) -> f64 {
    let all = held_up(facts, group);
    let alone = (group.threads == 1).then_some(all);
    let of_busiest = group.did.and_then(|did| did.busiest_wait_cores).or(alone);
    of_busiest.map_or(0.0, |waited| waited.min(all).min(1.0))
}

/// Share of the time that the busiest thread ran or waited for a core that others used.
pub(crate) fn busiest_thread(facts: &Facts<'_>) -> f64 {
    let groups = facts.groups();
    let wanted =
        groups.iter().filter_map(|group| Some(group.did?.busiest_cores + busiest_held_up(facts, group)));
    wanted.reduce(f64::max).unwrap_or(0.0)
}

/// Whether the requests of those who wait, beside `served` others, have been read: then whoever reads has time for it, and
/// they wait for something else. `None` where that was not looked at, or nobody waits.
pub(crate) fn reads_ahead(facts: &Facts<'_>, served: f64) -> Option<bool> {
    let unread = facts.signals()?.unread?;
    let waiting = facts.users - served;
    // Exchanges that share a connection are unread with it.
    let most = waiting.min(f64::from(facts.trial.load.load.connections));
    (waiting >= WAITING_MIN).then_some(unread.mean <= UNREAD_SHARE_MAX * most)
}

/// The same in words.
pub(crate) fn unread_words(facts: &Facts<'_>) -> Option<String> {
    let unread = facts.signals()?.unread?;
    let connections = facts.trial.load.load.connections;
    Some(format!("{:.1} of {connections} connections held a request that was not read", unread.mean))
}

/// What runs a program that lets one thread of a process run its code at a time.
pub(crate) const fn with_a_lock(runtime: Option<Runtime>) -> Option<&'static str> {
    match runtime {
        Some(Runtime::Python) => Some("Python"),
        Some(Runtime::Ruby) => Some("Ruby"),
        _ => None,
    }
}

/// What is known of a group's runtime that bears on who may work, as evidence beside others.
pub(crate) fn runtime_words(group: &Group<'_>) -> Option<String> {
    let runtime = group.did?.runtime;
    let of_lock = with_a_lock(runtime)
        .map(|name| format!("its process runs {name}, whose code one thread of a process runs at a time"));
    let of_one = (runtime == Some(Runtime::JavaScript))
        .then(|| "its process runs JavaScript, on one thread".to_owned());
    of_lock.or(of_one)
}

/// Runtimes among the servers' that collect garbage and say nothing of it outside: a JVM that is no HotSpot, or that was told to keep
/// no counters, among them.
pub(crate) fn unseen_collectors(facts: &Facts<'_>) -> Vec<&'static str> {
    let has_counters = |server: &Server| server.signals.as_ref().is_some_and(|it| it.jvm.is_some());
    let counts =
        |of: Option<&str>| facts.servers().any(|(stack, server)| stack == of && has_counters(server));
    let name = |group: &Group<'_>| match group.did?.runtime? {
        Runtime::Go => Some("Go"),
        Runtime::JavaScript => Some("JavaScript"),
        Runtime::DotNet => Some(".NET"),
        Runtime::Ruby => Some("Ruby"),
        Runtime::Jvm if !counts(group.of) => Some("a JVM without counters"),
        Runtime::Jvm | Runtime::Python | Runtime::Erlang | Runtime::Other => None,
    };
    let mut names: Vec<&str> = facts.groups().iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What can't be known of a collector.
pub(crate) fn collector_words(facts: &Facts<'_>) -> Option<String> {
    let names = unseen_collectors(facts);
    (!names.is_empty()).then(|| {
        format!(
            "a garbage collector may be part of it; that of {} can't be seen from outside",
            names.join(", ")
        )
    })
}

/// How much of the CPU collectors used that work beside the program, where that is enough to be waited for: a tenth of a core, as a
/// tenth of the time is of those that stop it.
pub(crate) fn collects_beside(facts: &Facts<'_>) -> Option<f64> {
    let cores = facts.cores_of_threads(&CONCURRENT_COLLECTORS);
    (cores >= COLLECTED_BESIDE_MIN).then_some(cores)
}

/// The same in words.
pub(crate) fn collects_beside_words(facts: &Facts<'_>) -> Option<String> {
    collects_beside(facts).map(|cores| {
        format!(
            "the JVM's collector ran for {cores:.2} cores beside the program: how long threads waited for it to make room (allocation \
             stalls, pacing) is counted nowhere"
        )
    })
}

/// Whether something else than work is known to take CPU time of a server: Erlang's schedulers look for more to do for a while before
/// they sleep.
pub(crate) fn spins(facts: &Facts<'_>) -> bool {
    facts.groups().iter().any(|it| it.did.is_some_and(|did| did.runtime == Some(Runtime::Erlang)))
}

/// The same in words.
pub(crate) fn spinning_words(facts: &Facts<'_>) -> Option<String> {
    spins(facts).then(|| {
        "Erlang's schedulers spin for a while before they sleep, and a part of this CPU time may be that: start it with \
         `+sbwt none` to tell"
            .to_owned()
    })
}
