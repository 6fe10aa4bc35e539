//! Was it the CPU, all of it or one core's worth?

use record::{Runtime, ThreadGroupUse};

use crate::facts::{
    COLLECTORS, COMPILERS, CPU_SHARE_LOW, FULL_SHARE, Facts, Group, OF_ANSWERS_MIN, ONE_THREAD_CORES,
    is_of_runtime,
};
use crate::others::others_cores;
use crate::verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};
use crate::workers::{
    busiest_held_up, busiest_thread, carries_any_number, collector_words, reads_ahead, runtime_words,
    spinning_words, unread_words, with_a_lock,
};

/// Share of the CPU time of all processes from which the server alone is meant.
const SERVER_SHARE_MIN: f64 = 0.85;
/// Share of the server's time that is worth naming.
const PART_SHARE_MIN: f64 = 0.2;
/// One core's worth, of a server of which several threads work.
const ONE_CORE: std::ops::RangeInclusive<f64> = 0.85..=1.1;
/// Share of a group's CPU time of its busiest thread, up to which it is shared.
const BUSIEST_SHARE_MAX: f64 = 0.75;
/// How often threads are given a CPU for each request when they are in each other's way: once to read it and once or
/// twice more to hand it over is usual.
const SWITCHES_A_REQUEST_MANY: f64 = 6.0;
/// How long such threads run at a time, on average, seconds: whoever computes for longer is switched at the end of a slice as well,
/// and nobody is in the way.
const CUT_SHORT_S_MAX: f64 = 0.001;
/// CPU time a second from which threads that are in each other's way may be what holds a rate back: as much of the cores, where there
/// are two or fewer, and no more where there are many, of which a lock leaves most idle.
const CONTENTION_SHARE_MIN: f64 = 0.3;
const CONTENTION_CORES_MIN: f64 = 0.6;
/// What would show that a thread, or a lock, is what limits.
const SHARE_WORK: &str = "let more threads share its work; the rate should rise";
/// The same of a thread on the only core that there is for it: neither helps by itself.
const SHARE_WORK_ON_MORE: &str =
    "give the server twice the cores and let more threads share its work; the rate should rise";
const SHORTEN: &str = "shorten what is done under the lock by half; the rate should double";
/// Share of what was not used of the cores from which it was others who used it, and no core stood idle for it.
const REST_TAKEN_MIN: f64 = 0.5;
/// How far from whole cores the CPU time of a program may lie that may run on so many at a time, as a share of it.
const WHOLE_CORES_OFF_MAX: f64 = 0.03;
/// Cores of which it is worth telling who used them: two digits are shown.
const TOLD_CORES_MIN: f64 = 0.01;
/// So many groups of threads are named as those who used them.
const GROUPS_TOLD_MAX: usize = 3;
/// What the launcher of a JVM is called, and with it all of its threads that were given no name.
const LAUNCHER: &str = "java";

/// One thread has no time left, and there are cores that it can't use, whoever has its name beside it. Where no thread has
/// work of its own, as in Go, and those who wait have been read, it is their program that lets one of them run.
pub(crate) fn one_thread(facts: &Facts<'_>) -> Option<Verdict> {
    if facts.is_full() || facts.cores_within_reach() <= 1.0 {
        return None;
    }
    let groups = facts.groups();
    let wanted = |group: &Group<'_>| Some(group.did?.busiest_cores + busiest_held_up(facts, group));
    let (group, _) = groups
        .iter()
        .filter_map(|group| Some((group, wanted(group)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, wanted)| *wanted >= ONE_THREAD_CORES)?;
    let (did, name) = (group.did?, group.shown());
    let (busy, cores) = busy_ones(did);
    // What is beyond a whole core is what two clocks differ by.
    let (all, percent) = (group.threads, (cores / f64::from(busy)).min(1.0) * 100.0);
    let text = match busy {
        1 if all == 1 => format!("the thread `{name}` was busy for {percent:.0} % of a core"),
        1 => format!("one of the {all} threads `{name}` was busy for {percent:.0} % of a core"),
        _ => format!("{busy} of the {all} threads `{name}` were busy for {percent:.0} % of a core each"),
    };
    let siblings = (group.threads > busy).then(|| {
        format!("all others of that name together for {:.0} %", (did.cpu_cores - cores).max(0.0) * 100.0)
    });
    // Of a quota of one core it has all, whoever shares its work.
    let only_core = facts.quota_of(group.of).filter(|allowed| *allowed <= 1.0);
    let share_work = if only_core.is_some() { SHARE_WORK_ON_MORE } else { SHARE_WORK };
    let allowed = only_core.map(|allowed| format!("a CPU quota allows it {allowed:.2} cores"));
    let held_up = Some(busiest_held_up(facts, group)).filter(|share| *share > 0.0);
    let held_up = held_up.map(|share| {
        format!("it waited for a core in {:.0} % of the time, while others used one", share * 100.0)
    });
    let others = others_ran_words(facts, group, busy, cores);
    // Threads that run whatever is ready stand for each other.
    if others.is_some() && carries_any_number(group) {
        return None;
    }
    let is_let_in = busy == 1 && only_core.is_none() && is_of_go_that_reads(facts, group);
    let are_busy = match busy {
        1 => format!("1 thread busy ({name})"),
        _ => format!("{busy} threads busy ({name})"),
    };
    let (kind, phrase, change) = if group.of.is_some() {
        (VerdictKind::BackendBound, are_busy, share_work)
    } else if is_let_in {
        (VerdictKind::SerialSection, "one at a time (a lock)".to_owned(), SHORTEN)
    } else {
        (VerdictKind::BlockedEventLoop, are_busy, share_work)
    };
    let of_go = is_let_in.then(|| "its process runs Go, whose threads run what is ready".to_owned());
    let beside = beside_answers_words(facts, did.busiest_cores, 1.0);
    let unnamed = unnamed_words(facts, group);
    // The load is put on few of its schedulers, and what those find nothing in looks like work.
    let spins = (did.runtime == Some(Runtime::Erlang)).then(|| spinning_words(facts)).flatten();
    let is_doubted = beside.is_some() || others.is_some() || unnamed.is_some() || spins.is_some();
    let confidence = if is_doubted { Confidence::Possible } else { Confidence::Likely };
    Some(
        Verdict::new(kind, confidence, phrase, text)
            .accounting_for(did.busiest_cores)
            .and_maybe(beside)
            .and_maybe(siblings)
            .and_maybe(others)
            .and_maybe(allowed)
            .and_maybe(held_up)
            .and_maybe(of_go)
            .and_maybe(unnamed)
            .and_maybe(spins)
            .and_maybe(is_let_in.then(|| unread_words(facts)).flatten())
            .and_maybe(runtime_words(group))
            .and_maybe(collector_words(facts))
            .and(facts.cpu_words())
            .confirmed_by(change, facts.rate),
    )
}

/// Where most of so much CPU time went to something else than answers: to look for work again and again, to collect garbage, to what
/// grows with the users. An answer of the idle server took no thread longer than it took, and so many threads may have worked for it
/// side by side.
fn beside_answers_words(facts: &Facts<'_>, used: f64, side_by_side: f64) -> Option<String> {
    let idle_s = facts.idle_work_s()?;
    let each_s = facts.a_request(used)?;
    (each_s * OF_ANSWERS_MIN > idle_s * side_by_side).then(|| {
        format!(
            "each answer took {:.0} µs of CPU time, and one of the idle server {:.0} µs in all: most of this CPU time went to \
             something else (spinning, collections, what grows with the users), or cores were slower than those of the \
             idle server (hyperthreads, their clock)",
            each_s * 1e6,
            idle_s * 1e6
        )
    })
}

/// Of a busy thread of a JVM that gave its threads no names, as that of JDK 8 does where no thread dump tells them: then its own threads
/// can't be told from the program's.
fn unnamed_words(facts: &Facts<'_>, group: &Group<'_>) -> Option<String> {
    let is_of_jvm = group.did.is_some_and(|did| did.runtime == Some(Runtime::Jvm));
    let (_, server) = facts.servers().find(|(of, _)| *of == group.of)?;
    let has_names = server.signals.as_ref()?.groups.iter().any(|it| is_of_runtime(&it.name));
    (is_of_jvm && group.name == LAUNCHER && !has_names).then(|| {
        "the threads of this JVM have no names: it may be one that compiles or collects garbage".to_owned()
    })
}

/// Whether a group is of the loaded server, which runs Go and has read the requests of those who wait.
fn is_of_go_that_reads(facts: &Facts<'_>, group: &Group<'_>) -> bool {
    let is_of_go = group.did.is_some_and(|did| did.runtime == Some(Runtime::Go));
    group.of.is_none() && is_of_go && reads_ahead(facts, 1.0) == Some(true)
}

/// Of a group of the loaded server that has `busy` threads without time left: that others of the server ran as much meanwhile, and that
/// the requests of those who wait have been read. Then somebody else may be whom they wait for, and nothing tells.
fn others_ran_words(facts: &Facts<'_>, group: &Group<'_>, busy: u32, cores: f64) -> Option<String> {
    let groups = facts.groups();
    let own = groups.iter().filter(|it| it.of.is_none()).filter_map(|it| it.did);
    let others = own.map(|did| did.cpu_cores).sum::<f64>() - cores;
    let have_read = group.of.is_none() && reads_ahead(facts, f64::from(busy)) == Some(true);
    (have_read && others >= cores).then(|| {
        format!(
            "other threads of the server ran for {others:.2} cores meanwhile, and those who wait have had their requests read: \
             whether they wait for this one is not known"
        )
    })
}

/// The threads of a group that have no time left, one in each worker process say, and what they ran together: one at least.
fn busy_ones(did: &ThreadGroupUse) -> (u32, f64) {
    let is_busy = |threads: u32, cores: f64| threads > 0 && cores >= ONE_THREAD_CORES * f64::from(threads);
    let bands = did.bands.iter().filter(|it| is_busy(it.threads, it.cpu_cores));
    let (threads, cores) = bands.fold((0, 0.0), |sum, it| (sum.0 + it.threads, sum.1 + it.cpu_cores));
    if threads > 1 { (threads, cores) } else { (1, did.busiest_cores) }
}

/// Several threads work, and together they use one core (of each process): what they do is done one at a time.
pub(crate) fn serial_cpu(facts: &Facts<'_>) -> Option<Verdict> {
    let used = facts.trial.server.cpu_cores?;
    // Whoever waits for a lock does not wait for a core, and of one core no more than one core's worth is used.
    if facts.is_short_of_cores() || facts.cores_within_reach() < 2.0 {
        return None;
    }
    let groups = facts.groups();
    let group = groups.iter().find(|group| group.of.is_none() && shares_one_core(group, used))?;
    let lock = group.did.and_then(|did| with_a_lock(did.runtime));
    let (phrase, confidence) = match lock {
        Some(name) => (format!("one at a time ({name}'s lock)"), Confidence::Likely),
        None => ("one at a time (a lock)".to_owned(), Confidence::Possible),
    };
    let of_each = match group.did.map_or(1, taking_turns) {
        1 => String::new(),
        processes => format!(" in each of {processes} processes"),
    };
    let text = format!(
        "{} threads `{}` used {used:.2} cores together, as if one at a time ran{of_each}",
        group.threads, group.name
    );
    let change = match lock {
        Some(_) => "let more processes share the work; the rate should rise",
        None => SHORTEN,
    };
    // In a container of one core that is what its runtime sets by itself.
    let is_of_go = group.did.is_some_and(|did| did.runtime == Some(Runtime::Go));
    let of_go = is_of_go.then(|| "its process runs Go: a GOMAXPROCS of 1 looks like a lock".to_owned());
    Some(
        Verdict::new(VerdictKind::SerialSection, confidence, phrase, text)
            .and_maybe(runtime_words(group))
            .and_maybe(of_go)
            .and(facts.cpu_words())
            .accounting_for(used)
            .confirmed_by(change, facts.rate),
    )
}

/// In how many processes of a group one thread at a time may run, each with a lock of its own; 1 where no runtime has one.
fn taking_turns(did: &ThreadGroupUse) -> u32 {
    let processes = did.bands.iter().map(|band| band.processes).max().unwrap_or(1).max(1);
    if with_a_lock(did.runtime).is_some() { processes } else { 1 }
}

/// Whether several threads of a group share the one core's worth of CPU time that the server used, or one core's of each
/// process where the runtime lets one thread of each run.
fn shares_one_core(group: &Group<'_>, used: f64) -> bool {
    let Some(did) = group.did.filter(|did| did.active > 1) else { return false };
    let each = used / f64::from(taking_turns(did));
    // The busiest has its part, and no more: a thread that does nearly all of it waits for nobody.
    let is_shared =
        did.busiest_cores < ONE_THREAD_CORES && did.busiest_cores <= BUSIEST_SHARE_MAX * did.cpu_cores;
    ONE_CORE.contains(&each) && is_shared && did.cpu_cores > used / 2.0
}

/// All cores are used up, or as good as that: by the server, or by client and server together.
pub(crate) fn full(facts: &Facts<'_>) -> Option<Verdict> {
    let servers = facts.servers_cores.filter(|_| facts.is_short_of_cores())?;
    let waiting = facts.waiting_threads().filter(|_| !facts.is_full()).map(|waiting| {
        format!("{}, while {waiting:.1} threads at a time waited for a core", rest_words(facts))
    });
    // On cores of its own a client takes none of them, nor of those that the servers used up by themselves.
    let own = facts.fuller_own_cores();
    let share = if own.is_some() { 1.0 } else { servers / (servers + facts.generator_cores) };
    let of_runtime = facts.cores_of_threads(&COLLECTORS) + facts.cores_of_threads(&COMPILERS);
    let beside = beside_answers_words(facts, servers - of_runtime, facts.cores_within_reach());
    let whose = groups_words(facts);
    let confidence = if beside.is_some() { Confidence::Possible } else { Confidence::Likely };
    let confirm = Intervention {
        text: String::new(),
        setting: Some(Setting::Cores),
        now: Some(own.unwrap_or(facts.cores)),
        threads: Vec::new(),
        rate_per_s: facts.rate,
        rate_max_per_s: None,
    };
    if share >= SERVER_SHARE_MIN {
        let parts = parts(facts, servers);
        let phrase =
            parts.first().map_or_else(|| "CPU-bound".to_owned(), |part| format!("CPU-bound ({part})"));
        let of = own.map_or_else(
            || format!("{} cores", facts.cores),
            |own| format!("{own} cores {}", whose_words(facts, own)),
        );
        let each = facts.a_request(servers * 1e6).map(|us| format!(", {us:.0} µs a request"));
        // What is beyond all of them is what two clocks differ by.
        let used = servers.min(own.unwrap_or(facts.cores));
        let text = format!("the servers used {used:.2} of {of}{}", each.unwrap_or_default());
        let verdict = Verdict::new(VerdictKind::CpuBound, confidence, phrase, text)
            .accounting_for_maybe(facts.saturation());
        let split = (!parts.is_empty()).then(|| format!("of that {}", parts.join(", ")));
        let is_of_one = facts.cores_within_reach() <= 1.0 && busiest_thread(facts) >= ONE_THREAD_CORES;
        let text = if is_of_one {
            SHARE_WORK_ON_MORE
        } else {
            "give the server twice the cores; the rate should rise"
        };
        return Some(
            verdict
                .and_maybe(waiting)
                .and_maybe(split)
                .and_maybe(whose)
                .and_maybe(beside)
                .and_maybe(collector_words(facts))
                .and_maybe(spinning_words(facts))
                .confirmed_with(Intervention { text: text.into(), ..confirm }),
        );
    }
    let used = facts.used_cores().unwrap_or(servers + facts.generator_cores);
    let text = format!(
        "client and server share the cores: {used:.2} of {} used, {servers:.2} by the server and {:.2} by the client",
        facts.cores, facts.generator_cores
    );
    let verdict = Verdict::new(VerdictKind::BoxBound, confidence, "box-bound", text)
        .accounting_for_maybe(facts.saturation());
    // Of fewer than two cores neither can have one of its own.
    let text = if facts.cores < 2.0 {
        "load it from another machine; the rate should rise"
    } else {
        "put client and server on cores of their own"
    };
    let verdict = verdict.and_maybe(waiting).and_maybe(whose).and_maybe(beside);
    let verdict = verdict.and_maybe(collector_words(facts)).and_maybe(spinning_words(facts));
    Some(verdict.confirmed_with(Intervention { text: text.into(), ..confirm }))
}

/// Whose so many cores are, which bound the servers.
fn whose_words(facts: &Facts<'_>, own: f64) -> &'static str {
    if facts.own_quota().is_some_and(|allowed| allowed <= own) {
        "that their CPU quota allows"
    } else if facts.allotted_cores().is_some() {
        "of their own"
    } else {
        "that they may run on"
    }
}

/// Where the rest of the cores was: what others took, less of which than [`crate::OTHERS_SHARE_MAX`] is told by nobody else, stood
/// idle for nobody.
fn rest_words(facts: &Facts<'_>) -> String {
    // What others use of a larger machine is no part of it.
    if facts.has_quota() {
        return "the rest of the quota was not used".to_owned();
    }
    let rest = facts.cores - facts.used_cores().unwrap_or(facts.cores);
    let host = facts.host();
    let others = host.and_then(|host| host.others_cores).unwrap_or(0.0).max(0.0);
    let stolen = host.and_then(|host| host.steal_share).unwrap_or(0.0).max(0.0) * facts.cores;
    if others + stolen < REST_TAKEN_MIN * rest {
        return "the rest stood idle between one thread and the next".to_owned();
    }
    let of = [(others, "other processes"), (stolen, "the hypervisor")];
    let told = of.iter().filter(|(cores, _)| *cores >= TOLD_CORES_MIN);
    let told: Vec<String> = told.map(|(cores, who)| format!("{who} used {cores:.2}")).collect();
    format!("of the other {rest:.2} cores {}", told.join(" and "))
}

/// Whose threads used it, where there are several groups that work: of a service behind a sidecar, or before a database, it may be the
/// other one's.
fn groups_words(facts: &Facts<'_>) -> Option<String> {
    let groups = facts.groups();
    let mut used: Vec<(f64, String)> =
        groups.iter().filter_map(|group| Some((group.did?.cpu_cores, group.shown()))).collect();
    used.sort_by(|a, b| b.0.total_cmp(&a.0));
    used.retain(|(cores, _)| *cores >= TOLD_CORES_MIN);
    let told: Vec<String> =
        used.iter().take(GROUPS_TOLD_MAX).map(|(cores, name)| format!("`{name}` {cores:.2}")).collect();
    (told.len() > 1).then(|| format!("cores by groups of threads: {}", told.join(", ")))
}

/// What the servers' CPU time goes to, where a part of it is worth naming.
fn parts(facts: &Facts<'_>, servers: f64) -> Vec<String> {
    let kernel: f64 =
        facts.servers().filter_map(|(_, server)| server.signals.as_ref()?.cpu_system_cores).sum();
    let of = |names: &[&str]| facts.cores_of_threads(names);
    let all = [("kernel", kernel), ("GC", of(&COLLECTORS)), ("JIT", of(&COMPILERS))];
    let mut named: Vec<(f64, &str)> = all.into_iter().map(|(name, cores)| (cores / servers, name)).collect();
    named.retain(|(share, _)| *share >= PART_SHARE_MIN);
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    named.into_iter().map(|(share, name)| format!("{name} {:.0} %", share * 100.0)).collect()
}

/// Of a server in Go that used as much as two whole cores or more, and had more of them: so many of its threads may run its code at a
/// time.
pub(crate) fn some_procs_words(facts: &Facts<'_>) -> Option<String> {
    let groups = facts.groups();
    let of_go = groups.iter().filter(|group| group.of.is_none()).filter_map(|group| group.did);
    let used: f64 = of_go.filter(|did| did.runtime == Some(Runtime::Go)).map(|did| did.cpu_cores).sum();
    let whole = used.round();
    let is_whole = whole >= 2.0 && (used / whole - 1.0).abs() <= WHOLE_CORES_OFF_MAX;
    (is_whole && whole + 1.0 <= facts.cores_within_reach()).then(|| {
        format!("its process runs Go and used {used:.2} cores, as many as a GOMAXPROCS of {whole:.0} allows")
    })
}

/// Of a rate that nothing explains, that the cores were used too much to rule them out, and too little to name them.
pub(crate) fn between_words(facts: &Facts<'_>) -> Option<String> {
    let share = facts.saturation().filter(|share| *share > CPU_SHARE_LOW)?;
    Some(format!(
        "{:.0} % of the cores that there were for it were used: too much to rule them out, and too little to name them",
        share * 100.0
    ))
}

/// CPU is left, and threads are given one far more often than there are requests. Where others use the cores, they take them
/// away in the middle of a request, and how often is no word of its threads.
pub(crate) fn contention(facts: &Facts<'_>) -> Option<Verdict> {
    let used = facts.used_cores().filter(|used| *used < FULL_SHARE * facts.cores)?;
    if others_cores(facts).is_some() {
        return None;
    }
    let groups = &facts.signals()?.groups;
    let switches: f64 = groups.iter().map(|group| group.switches_per_s).sum();
    let ran: f64 = groups.iter().map(|group| group.cpu_cores).sum();
    let a_request = facts.a_request(switches)?;
    let are_many = a_request >= SWITCHES_A_REQUEST_MANY && ran <= CUT_SHORT_S_MAX * switches;
    let least = CONTENTION_CORES_MIN.min(CONTENTION_SHARE_MIN * facts.cores);
    (are_many && used >= least).then(|| {
        let text = format!("threads were given a CPU {a_request:.1} times for each request");
        Verdict::new(VerdictKind::Contention, Confidence::Possible, "contention", text)
            .and(facts.cpu_words())
            .confirmed_by("use fewer threads; the rate should rise", facts.rate)
    })
}
