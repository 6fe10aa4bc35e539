//! The figures of a trial that more than one rule looks at, each worked out in one place.

mod cores;

use record::{HostSignals, JvmUse, Measured, Server, ServerSignals, ThreadGroupUse};

use self::cores::usable_cores;
use crate::idle::{Concurrency, IdleTime, POOL_TOLERANCE};
use crate::rates::rate_words_with_tenths;

/// A second shorter than this is the window's end and too short for a rate.
pub(crate) const SECOND_S_MIN: f64 = 0.5;
/// Share of the window that a ramp-up may take for the rate to be near that of a steady load.
const RAMP_SHARE_MAX: f64 = 0.1;
/// Share of all cores, client and server together, above which the machine itself was full. The rest goes to the
/// kernel's own threads and to whatever else a machine runs.
pub(crate) const FULL_SHARE: f64 = 0.9;
/// Share of all cores below which CPU cannot have been the limit. Between this and [`FULL_SHARE`] both a pool and the
/// CPU may be, so neither is named.
pub(crate) const CPU_SHARE_LOW: f64 = 0.7;
/// CPU time a second from which a thread has no time left: what is missing goes to interrupts on its core.
pub(crate) const ONE_THREAD_CORES: f64 = 0.85;
/// Share of CPU time that answers may have needed, from which it is taken for theirs: the larger half. A core that shares its caches
/// takes longer for the same work than it did when all else was idle.
pub(crate) const OF_ANSWERS_MIN: f64 = 0.5;
/// Thread-seconds a second from which a quota holds anything back: more than the least effect.
pub(crate) const THROTTLED_MAX: f64 = 0.05;
/// Share of the answers that open a connection up to which connections have no part in what answers take.
const OPENED_MAX: f64 = 0.05;
/// Threads that serve are given a CPU at least once a request that blocks; some requests share one, where answers are
/// quick and queues are long.
pub(crate) const SWITCHES_A_REQUEST_MIN: f64 = 0.5;
/// Beginnings of the names of threads with which a runtime collects garbage, also as Linux cuts them: in a HotSpot JVM those of G1 and
/// of the collectors that stop the program (in JDK 8 by other names, which its thread dump tells), of CMS, of Shenandoah, and of ZGC,
/// whose kind of one generation has an X in JDK 21; in OpenJ9; in .NET.
pub(crate) const COLLECTORS: [&str; 24] = [
    ".NET BGC",
    ".NET Server GC",
    "CMS Main Thread",
    "CMS Thread#",
    "Concurrent Mark",
    "G1 ",
    "GC Slave",
    "GC Thread",
    "GC Worker",
    "GC task thread#",
    "Gang worker#",
    "Shenandoah ",
    "XDirector",
    "XDriver",
    "XStat",
    "XUncommitter",
    "XUnmapper",
    "XWorker#",
    "ZDirector",
    "ZDriver",
    "ZStat",
    "ZUncommitter",
    "ZUnmapper",
    "ZWorker",
];
/// Those of them that collect beside the program. Whoever finds no room meanwhile waits for them, at no safepoint.
pub(crate) const CONCURRENT_COLLECTORS: [&str; 3] = ["Shenandoah ", "XWorker#", "ZWorker"];
/// Beginnings of the names of those with which it compiles.
pub(crate) const COMPILERS: [&str; 5] =
    [".NET Tiered", "C1 Compiler", "C2 Compiler", "JIT Compilation", "JIT Diagnostic"];
/// The same of all others that it starts for itself; two of them are such as collectors have for what they do at a safepoint.
const SERVICE_THREADS: [&str; 25] = [
    ".NET EventPipe",
    ".NET Finalizer",
    ".NET SigHandler",
    ".NET SynchManag",
    ".NET TP Gate",
    "Attach API wait",
    "Attach Listener",
    "Common-Cleaner",
    "Finalizer",
    "IProfiler",
    "JIT-Sampler",
    "Monitor Deflati",
    "Notification Th",
    "Reference Handl",
    "RuntimeWorker#",
    "Safepoint Clean",
    "Service Thread",
    "Signal Dispatch",
    "Signal Reporter",
    "Surrogate Locke",
    "Sweeper",
    "Unlinker",
    "VM Periodic",
    "VM Runtime Stat",
    "VM Thread",
];

/// What opening, accepting and closing a connection costs, in requests: three packets each way instead of one, and
/// `accept`, `epoll_ctl` and `close` beside `read` and `write`.
pub(crate) const CONNECTION_COSTS_REQUESTS: f64 = 3.0;

/// A stack behind another, asked directly at the same load.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Alone {
    /// Which stack.
    pub stack: String,
    /// What stands behind it in turn, and was asked by it then as well.
    pub asks: Vec<String>,
    /// What it carries so, answers a second.
    pub per_s: f64,
    /// Whether it carries more: nothing held it back, or the client was the limit.
    pub is_least: bool,
}

impl Alone {
    /// Whether its rate says anything of `stack`.
    pub(crate) fn tells_of(&self, stack: &str) -> bool {
        self.stack == stack || self.asks.iter().any(|it| it == stack)
    }
}

/// What an answer took of the CPU where the same run asked the same of the same stack on connections that are kept, µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptAnswer {
    /// Of the server.
    pub server_us: f64,
    /// Of the client.
    pub client_us: f64,
}

/// What is known beside a trial itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// Cores of the machine.
    pub cores: usize,
    /// What the same client reached of the calibration target, answers a second.
    pub ceiling_per_s: Option<f64>,
    /// What the stacks behind it carry by themselves, as far as that was measured.
    pub backends_alone: Vec<Alone>,
    /// Where each request may have a connection of its own within TLS, what an answer takes without one, as far as that was measured.
    pub kept: Option<KeptAnswer>,
}

/// A trial, looked at.
pub(crate) struct Facts<'a> {
    pub(crate) trial: &'a Measured,
    pub(crate) context: &'a Context,
    pub(crate) cores: f64,
    /// X, requests done a second.
    pub(crate) rate: f64,
    /// N.
    pub(crate) users: f64,
    /// S₀ as far as it is known, where it says anything.
    pub(crate) idle: Option<IdleTime>,
    /// The same, seconds, as the best guess has it.
    pub(crate) idle_s: Option<f64>,
    /// CPU time a second of the loaded stack and of those behind it, where it is known of all.
    pub(crate) servers_cores: Option<f64>,
    pub(crate) generator_cores: f64,
}

/// A group of threads, of the stack that is loaded or of one behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a> {
    /// The stack, where it is one behind.
    pub(crate) of: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) threads: u32,
    /// What it did; absent in records of versions that did not look.
    pub(crate) did: Option<&'a ThreadGroupUse>,
}

impl Group<'_> {
    pub(crate) fn shown(&self) -> String {
        let name = self.name;
        self.of.map_or_else(|| name.to_owned(), |stack| format!("{name} of {stack}"))
    }
}

impl<'a> Facts<'a> {
    pub(crate) fn of(trial: &'a Measured, context: &'a Context) -> Self {
        let idle = IdleTime::of(&trial.contract);
        let load = &trial.load;
        // What one of them used is not known where nobody saw it, and is not nothing: then what all used is not known either.
        let behind: Option<f64> = trial.upstreams.iter().map(|upstream| upstream.server.cpu_cores).sum();
        let servers_cores = trial.server.cpu_cores.zip(behind).map(|(own, behind)| own + behind);
        Self {
            trial,
            context,
            cores: usable_cores(trial, context.cores),
            rate: load.throughput_per_s,
            users: f64::from(load.load.exchanges()),
            idle,
            idle_s: idle.map(|it| it.mean_s),
            servers_cores: servers_cores.filter(|it| it.is_finite()),
            generator_cores: Some(load.generator.cpu_s / load.window.duration_s.max(f64::MIN_POSITIVE))
                .filter(|it| it.is_finite() && !is_from_elsewhere(trial))
                .unwrap_or(0.0),
        }
    }

    /// Whether the load came from other machines: what its users wait for has the way there in it, and what the idle server took, which
    /// was asked from here, does not.
    pub(crate) fn is_loaded_from_elsewhere(&self) -> bool {
        is_from_elsewhere(self.trial)
    }

    /// Requests under way at an idle server's pace, X · S₀. Of those that fail nobody knows whether the server worked for them as long as
    /// for an answer, or hardly at all: where they are more than such figures are known by, it lies between the two.
    pub(crate) fn concurrency(&self) -> Option<Concurrency> {
        let of_all = Concurrency::at(self.full_rate()?, &self.idle?)?;
        Some(self.failed_share().map_or(of_all, |failed| of_all.perhaps_only(1.0 - failed)))
    }

    /// Share of the requests that brought no good answer, where these are more than such figures are known by.
    pub(crate) fn failed_share(&self) -> Option<f64> {
        let load = &self.trial.load;
        let failed = 1.0 - load.goodput_per_s / load.throughput_per_s;
        (POOL_TOLERANCE..=1.0).contains(&failed).then_some(failed)
    }

    /// X while all users are there. Where they come and go the mean is over different numbers of them, and the median of
    /// the faster half of the seconds is near what it was in between; `None` where those were not kept.
    pub(crate) fn full_rate(&self) -> Option<f64> {
        let load = &self.trial.load;
        let ramp_s = load.load.ramp_up_s.unwrap_or(0.0);
        if ramp_s <= RAMP_SHARE_MAX * load.window.duration_s {
            return Some(self.rate);
        }
        let mut rates: Vec<f64> =
            load.seconds.iter().map(|it| it.goodput_per_s + it.failures_per_s).collect();
        rates.sort_by(f64::total_cmp);
        let faster = &rates[rates.len() / 2..];
        faster.get(faster.len() / 2).copied()
    }

    pub(crate) fn signals(&self) -> Option<&'a ServerSignals> {
        self.trial.server.signals.as_ref()
    }

    /// Why nothing is known of the server but its answers: it was running already, and is no process of the run's.
    pub(crate) fn not_measured(&self) -> Option<&'a str> {
        self.trial.server.not_measured.as_deref()
    }

    pub(crate) fn host(&self) -> Option<&'a HostSignals> {
        self.trial.host.as_ref()
    }

    /// The stack that is loaded, and then those behind it, with their names.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (Option<&'a str>, &'a Server)> + use<'a> {
        let behind = self.trial.upstreams.iter().map(|it| (Some(it.stack.as_str()), &it.server));
        std::iter::once((None, &self.trial.server)).chain(behind)
    }

    /// All groups of threads but those that a runtime keeps for itself.
    pub(crate) fn groups(&self) -> Vec<Group<'a>> {
        let all = self.servers().flat_map(|(of, server)| {
            let looked = server.signals.as_ref().map_or(&[][..], |signals| signals.groups.as_slice());
            let did = looked.iter().map(move |group| Group {
                of,
                name: &group.name,
                threads: group.threads,
                did: Some(group),
            });
            let only_counted = server.thread_groups.iter().filter(move |_| looked.is_empty());
            did.chain(only_counted.map(move |(name, threads)| Group {
                of,
                name,
                threads: *threads,
                did: None,
            }))
        });
        all.filter(|group| !is_of_runtime(group.name)).collect()
    }

    /// CPU time a second of the servers' threads whose names begin so.
    pub(crate) fn cores_of_threads(&self, names: &[&str]) -> f64 {
        let groups =
            self.servers().filter_map(|(_, server)| server.signals.as_ref()).flat_map(|it| &it.groups);
        groups
            .filter(|group| names.iter().any(|name| group.name.starts_with(name)))
            .map(|group| group.cpu_cores)
            .sum()
    }

    /// So much a second for each request; `None` where none was done.
    pub(crate) fn a_request(&self, per_s: f64) -> Option<f64> {
        (self.rate > 0.0).then(|| per_s / self.rate).filter(|it| it.is_finite())
    }

    /// What an answer of the idle server takes at most, seconds, however short that is.
    pub(crate) fn idle_at_most_s(&self) -> Option<f64> {
        let contract = &self.trial.contract;
        let shortest_us = contract.warm_service_time_us.unwrap_or(contract.idle_service_time_us);
        let idle_us = contract.idle_answers.map_or(shortest_us, |it| it.mean_high_us);
        Some(idle_us / 1e6).filter(|it| *it > 0.0 && it.is_finite())
    }

    /// Whether next to all answers came on connections that were there already.
    pub(crate) fn keeps_connections(&self) -> bool {
        let load = &self.trial.load;
        let beyond_the_first = load.connections.opened.saturating_sub(u64::from(load.load.connections));
        let opened = load.connections.opened_in_window.unwrap_or(beyond_the_first);
        opened as f64 <= OPENED_MAX * load.outcomes.answered.max(1) as f64
    }

    /// What an answer of the idle server took at most, seconds, its connection included: no thread worked for longer for it. `None` where
    /// users ask for something else by turns, and where answers have connections of their own and what one takes was not measured.
    pub(crate) fn idle_work_s(&self) -> Option<f64> {
        let apart_us = self.trial.contract.idle_answers.and_then(|it| it.apart_us);
        let with_connection_s = apart_us.map(|us| us / 1e6).filter(|it| it.is_finite());
        let answer_s = self.idle_at_most_s().filter(|_| self.trial.load.steps.is_empty())?;
        match with_connection_s {
            Some(all_s) => Some(answer_s.max(all_s)),
            None => self.keeps_connections().then_some(answer_s),
        }
    }

    /// Answers a second of the whole seconds of the window, good ones and others.
    pub(crate) fn rates_by_second(&self) -> Vec<f64> {
        let whole = self.trial.load.seconds.iter().filter(|it| it.length_s >= SECOND_S_MIN);
        whole.map(|it| it.goodput_per_s + it.failures_per_s).collect()
    }

    /// Whether the threads of a group may be those that serve: they are given a CPU for the requests there are.
    pub(crate) fn may_serve(&self, group: &Group<'_>) -> bool {
        group.did.is_none_or(|did| did.switches_per_s >= SWITCHES_A_REQUEST_MIN * self.rate)
    }

    /// By how much of itself a rate could still rise, whatever else is taken away: a thread that has no time left, and cores
    /// that all are used, go on setting it.
    pub(crate) fn headroom(&self) -> f64 {
        let groups = self.groups();
        let busiest = groups.iter().filter_map(|group| Some(group.did?.busiest_cores)).reduce(f64::max);
        let thread = busiest.filter(|busiest| *busiest >= ONE_THREAD_CORES);
        let cores = self.saturation().filter(|_| self.is_short_of_cores());
        1.0 - thread.into_iter().chain(cores).reduce(f64::max).unwrap_or(0.0).min(1.0)
    }

    /// Share of the rate that was asked for and missed, which is all that anything can have cost of it; 1 where users ask as fast as
    /// they are answered.
    pub(crate) fn missed_share(&self) -> f64 {
        let asked = self.trial.load.load.rate_per_s.filter(|asked| *asked > 0.0);
        asked.map_or(1.0, |asked| (1.0 - self.rate / asked).max(0.0))
    }

    /// Users of so many connections: exchanges share one where HTTP/2 is spoken.
    pub(crate) fn users_of(&self, connections: f64) -> f64 {
        connections * f64::from(self.trial.load.load.streams.unwrap_or(1).max(1))
    }

    /// The users in words: each has a connection of its own, unless exchanges share them.
    pub(crate) fn users_words(&self) -> String {
        let load = &self.trial.load.load;
        let (users, connections) = (load.exchanges(), load.connections);
        if users == connections {
            format!("{connections} connections")
        } else {
            format!("{users} users of {connections} connections")
        }
    }

    /// What the load and the CPU would allow if nothing else were in the way, requests a second.
    pub(crate) fn next_limit_per_s(&self) -> Option<f64> {
        let of_users = self.idle_s.map(|idle| self.users / idle);
        // Compilers work for the time being, and not for each request.
        let jit: f64 =
            self.servers().filter_map(|(_, server)| Some(server.signals.as_ref()?.jvm?.jit_cores)).sum();
        let rate_of = |(used, cores): (f64, f64)| {
            let core_s = self.a_request(used - jit).filter(|it| *it > 0.0)?;
            Some(FULL_SHARE * cores / core_s)
        };
        let of_cpu = self.used_cores().and_then(|used| rate_of((used, self.cores)));
        // What the client leaves of its own is no use to them.
        let of_own = self.servers_cores.zip(self.bounding_cores()).and_then(rate_of);
        [of_users, of_cpu, of_own].into_iter().flatten().reduce(f64::min)
    }

    pub(crate) fn cpu_words(&self) -> String {
        match self.used_share() {
            Some(share) => format!("{:.0} % of the CPU used", share * 100.0),
            None => "CPU use not known".into(),
        }
    }

    /// What an answer takes when the server is idle, and so X·S₀.
    pub(crate) fn under_way_words(&self) -> String {
        let (Some(idle_s), Some(rate)) = (self.idle_s, self.full_rate()) else { return String::new() };
        let under_way = self.concurrency().map_or_else(String::new, Concurrency::words);
        let rate = rate_words_with_tenths(rate);
        format!("X·S₀ = {rate} × {:.1} ms = {under_way}", idle_s * 1e3)
    }
}

/// Whether the load threads were on other machines, where they take nothing from the servers.
fn is_from_elsewhere(trial: &Measured) -> bool {
    !trial.load.agents.is_empty() && trial.surroundings.client_cpus.is_none()
}

/// Share of the time in which a JVM stood still for its collections. Whoever stops the program does so at a safepoint, and what a
/// collector counts beyond those is done beside the program, as most of Shenandoah's work. Where no time was counted at any, nobody
/// counted it.
pub(crate) fn stood_still(jvm: &JvmUse) -> f64 {
    let at_safepoints = Some(jvm.safepoint_share).filter(|share| *share > 0.0);
    at_safepoints.map_or(jvm.gc_share, |share| jvm.gc_share.min(share))
}

/// Whether threads of this name are some that a JVM, or .NET, starts for itself. They serve no request, and with their counts of 1
/// and of the cores they would often fit by chance.
pub(crate) fn is_of_runtime(name: &str) -> bool {
    let mut all = COLLECTORS.iter().chain(&COMPILERS).chain(&SERVICE_THREADS);
    all.any(|begins| name.starts_with(begins))
}
