//! Was it the CPU, all of it or one core's worth?

use crate::facts::{FULL_SHARE, Facts, Group, ONE_THREAD_CORES};
use crate::noise;
use crate::verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};

/// Share of the CPU time of all processes from which the server alone is meant.
const SERVER_SHARE_MIN: f64 = 0.85;
/// Share of the server's time that is worth naming.
const PART_SHARE_MIN: f64 = 0.2;
/// One core's worth, of a server of which several threads work.
const ONE_CORE: std::ops::RangeInclusive<f64> = 0.85..=1.1;
/// How often threads are given a CPU for each request when they are in each other's way: once to read it and once or
/// twice more to hand it over is usual.
const SWITCHES_A_REQUEST_MANY: f64 = 6.0;
/// Beginnings of the names of threads that collect garbage and that compile.
const COLLECTORS: [&str; 3] = ["GC Thread", "G1 ", "ZWorker"];
const COMPILERS: [&str; 2] = ["C1 Compiler", "C2 Compiler"];

/// One thread has no time left, and there are cores that it can't use.
pub(crate) fn one_thread(facts: &Facts<'_>) -> Option<Verdict> {
    if facts.is_full() {
        return None;
    }
    let groups = facts.groups();
    let group = groups
        .iter()
        .filter_map(|group| Some((group, group.did?.busiest_cores)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(group, busiest)| busiest + alone_held_up(facts, group) >= ONE_THREAD_CORES)?;
    let (Group { of, threads, .. }, busiest) = group;
    let name = group.0.shown();
    let text =
        format!("one of the {threads} threads `{name}` was busy for {:.0} % of a core", busiest * 100.0);
    let held_up = Some(alone_held_up(facts, group.0)).filter(|share| *share > 0.0);
    let held_up = held_up.map(|share| {
        format!("it waited for a core in {:.0} % of the time, while others used one", share * 100.0)
    });
    let phrase = format!("1 thread busy ({name})");
    let kind = if of.is_some() { VerdictKind::BackendBound } else { VerdictKind::BlockedEventLoop };
    Some(
        Verdict::new(kind, Confidence::Likely, phrase, text)
            .accounting_for(busiest)
            .and_maybe(held_up)
            .and(facts.cpu_words())
            .confirmed_by("let more threads share its work; the rate should rise", facts.rate),
    )
}

/// Share of the time that a thread on its own waited for a core while others used one.
fn alone_held_up(facts: &Facts<'_>, group: &Group<'_>) -> f64 {
    if group.threads == 1 { noise::held_up(facts, group).min(1.0) } else { 0.0 }
}

/// Several threads work, and together they use one core: what they do is done one at a time.
pub(crate) fn serial_cpu(facts: &Facts<'_>) -> Option<Verdict> {
    let used = facts.trial.server.cpu_cores.filter(|cores| ONE_CORE.contains(cores))?;
    // Whoever waits for a lock does not wait for a core.
    if facts.is_short_of_cores() || facts.cores < 2.0 {
        return None;
    }
    let groups = facts.groups();
    let group = groups.iter().find(|group| {
        let did = group.did.filter(|did| did.active > 1);
        let shared =
            |did: &record::ThreadGroupUse| did.busiest_cores < ONE_THREAD_CORES && did.cpu_cores > used / 2.0;
        group.of.is_none() && did.is_some_and(shared)
    })?;
    let text = format!(
        "{} threads `{}` used {used:.2} cores together, as if one at a time ran",
        group.threads, group.name
    );
    Some(
        Verdict::new(VerdictKind::SerialSection, Confidence::Possible, "one at a time (a lock)", text)
            .and(facts.cpu_words())
            .accounting_for(used)
            .confirmed_by("shorten what is done under the lock by half; the rate should double", facts.rate),
    )
}

/// All cores are used up, or as good as that: by the server, or by client and server together.
pub(crate) fn full(facts: &Facts<'_>) -> Option<Verdict> {
    let servers = facts.servers_cores.filter(|_| facts.is_short_of_cores())?;
    let waiting = facts.waiting_threads().filter(|_| !facts.is_full()).map(|waiting| {
        format!("the rest stood idle between one thread and the next, while {waiting:.1} threads at a time waited for a core")
    });
    let share = servers / (servers + facts.generator_cores);
    let confirm = Intervention {
        text: String::new(),
        setting: Some(Setting::Cores),
        now: Some(facts.cores),
        threads: Vec::new(),
        rate_per_s: facts.rate,
        rate_max_per_s: None,
    };
    if share >= SERVER_SHARE_MIN {
        let parts = parts(facts, servers);
        let phrase =
            parts.first().map_or_else(|| "CPU-bound".to_owned(), |part| format!("CPU-bound ({part})"));
        let text = format!(
            "the servers used {servers:.2} of {} cores, {:.0} µs a request",
            facts.cores,
            servers * 1e6 / facts.rate.max(1.0)
        );
        let verdict = Verdict::new(VerdictKind::CpuBound, Confidence::Likely, phrase, text)
            .accounting_for_maybe(facts.saturation());
        let split = (!parts.is_empty()).then(|| format!("of that {}", parts.join(", ")));
        let text = "give the server twice the cores; the rate should rise".into();
        return Some(
            verdict.and_maybe(waiting).and_maybe(split).confirmed_with(Intervention { text, ..confirm }),
        );
    }
    let used = facts.used_cores().unwrap_or(servers + facts.generator_cores);
    let text = format!(
        "client and server share the cores: {used:.2} of {} used, {servers:.2} by the server and {:.2} by the client",
        facts.cores, facts.generator_cores
    );
    let verdict = Verdict::new(VerdictKind::BoxBound, Confidence::Likely, "box-bound", text)
        .accounting_for_maybe(facts.saturation());
    let text = "put client and server on cores of their own".into();
    Some(verdict.and_maybe(waiting).confirmed_with(Intervention { text, ..confirm }))
}

/// What the servers' CPU time goes to, where a part of it is worth naming.
fn parts(facts: &Facts<'_>, servers: f64) -> Vec<String> {
    let kernel: f64 =
        facts.servers().filter_map(|(_, server)| server.signals.as_ref()?.cpu_system_cores).sum();
    let of_threads = |names: &[&str]| -> f64 {
        let groups =
            facts.servers().filter_map(|(_, server)| server.signals.as_ref()).flat_map(|it| &it.groups);
        groups
            .filter(|group| names.iter().any(|name| group.name.starts_with(name)))
            .map(|group| group.cpu_cores)
            .sum()
    };
    let all = [("kernel", kernel), ("GC", of_threads(&COLLECTORS)), ("JIT", of_threads(&COMPILERS))];
    let mut named: Vec<(f64, &str)> = all.into_iter().map(|(name, cores)| (cores / servers, name)).collect();
    named.retain(|(share, _)| *share >= PART_SHARE_MIN);
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    named.into_iter().map(|(share, name)| format!("{name} {:.0} %", share * 100.0)).collect()
}

/// CPU is left, and threads are given one far more often than there are requests.
pub(crate) fn contention(facts: &Facts<'_>) -> Option<Verdict> {
    let share = facts.used_share().filter(|share| *share < FULL_SHARE)?;
    let switches: f64 = facts.signals()?.groups.iter().map(|group| group.switches_per_s).sum();
    let a_request = switches / facts.rate.max(1.0);
    (a_request >= SWITCHES_A_REQUEST_MANY && share >= 0.3).then(|| {
        let text = format!("threads were given a CPU {a_request:.1} times for each request");
        Verdict::new(VerdictKind::Contention, Confidence::Possible, "contention", text)
            .and(facts.cpu_words())
            .confirmed_by("use fewer threads; the rate should rise", facts.rate)
    })
}
