//! The figures of a trial that more than one rule looks at, each worked out in one place.

use record::{HostSignals, JvmUse, Measured, Quota, Server, ServerSignals, ThreadGroupUse};

use crate::idle::{Concurrency, IdleTime};
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
/// Share of it up to which two counts of throttled time are one count, of one group, read within some milliseconds.
const ONE_COUNT_WITHIN: f64 = 0.02;
/// Thread-seconds a second from which a quota holds anything back: more than the least effect.
pub(crate) const THROTTLED_MAX: f64 = 0.05;
/// Share of the answers that open a connection up to which connections have no part in what answers take.
const OPENED_MAX: f64 = 0.05;
/// Share of the machine from which what a hypervisor takes is counted: the least effect that any comparison here calls a difference.
const STOLEN_SHARE_MIN: f64 = stats::LEAST_EFFECT;
/// How much of its quota a server can be seen to use: all, and what two clocks differ by. A quota of which more is used is another
/// group's.
const OF_QUOTA_MAX: f64 = 1.05;
/// Threads that serve are given a CPU at least once a request that blocks; some requests share one, where answers are
/// quick and queues are long.
pub(crate) const SWITCHES_A_REQUEST_MIN: f64 = 0.5;
/// Beginnings of the names of threads with which a JVM collects garbage, also as Linux cuts them: those of G1 and of the
/// collectors that stop the program, of Shenandoah, and of ZGC, whose kind of one generation has an X in JDK 21.
pub(crate) const COLLECTORS: [&str; 15] = [
    "G1 ",
    "GC Thread",
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
/// The same of those with which it compiles.
pub(crate) const COMPILERS: [&str; 2] = ["C1 Compiler", "C2 Compiler"];
/// The same of all others that it starts for itself; two of them are such as collectors have for what they do at a safepoint.
const JVM_SERVICE_THREADS: [&str; 14] = [
    "Attach Listener",
    "Common-Cleaner",
    "Finalizer",
    "Monitor Deflati",
    "Notification Th",
    "Reference Handl",
    "RuntimeWorker#",
    "Safepoint Clean",
    "Service Thread",
    "Signal Dispatch",
    "Sweeper",
    "Unlinker",
    "VM Periodic",
    "VM Thread",
];

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

/// What is known beside a trial itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// Cores of the machine.
    pub cores: usize,
    /// What the same client reached of the calibration target, answers a second.
    pub ceiling_per_s: Option<f64>,
    /// What the stacks behind it carry by themselves, as far as that was measured.
    pub backends_alone: Vec<Alone>,
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
        // On other machines, load threads take nothing from the servers.
        let is_elsewhere = !load.agents.is_empty() && trial.surroundings.client_cpus.is_none();
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
                .filter(|it| it.is_finite() && !is_elsewhere)
                .unwrap_or(0.0),
        }
    }

    /// Requests under way at an idle server's pace, X · S₀.
    pub(crate) fn concurrency(&self) -> Option<Concurrency> {
        Concurrency::at(self.full_rate()?, &self.idle?)
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

    /// All groups of threads but those that a JVM keeps for itself.
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
        all.filter(|group| !is_of_jvm(group.name)).collect()
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

    /// Interrupts included, which do half of a network's work on loopback, wherever the kernel books them. No more than there
    /// are: some of what goes into it is counted in ticks.
    pub(crate) fn used_cores(&self) -> Option<f64> {
        // A quota is of the time that threads run: interrupts take none of it, and are known of the whole machine only.
        let interrupts = if self.has_quota() { 0.0 } else { self.interrupts_cores() };
        Some((self.servers_cores? + self.generator_cores + interrupts).min(self.cores))
    }

    /// What interrupts took that no process's CPU time holds.
    fn interrupts_cores(&self) -> f64 {
        let apart = self.host().filter(|host| host.interrupts_within != Some(true));
        apart.and_then(|host| host.interrupts_cores).unwrap_or(0.0)
    }

    /// Cores that the machine's figures are of: more than client and servers may use at a time, where a quota allows fewer.
    pub(crate) fn machine_cores(&self) -> f64 {
        self.host().map_or(self.cores, |host| f64::from(host.cores).max(self.cores))
    }

    /// Whether a CPU quota allows client and servers fewer cores than they may run on.
    pub(crate) fn has_quota(&self) -> bool {
        self.machine_cores() > self.cores
    }

    /// Whether a server's quota is the client's as well, as in a container that holds both: the kernel counts once for all in a group.
    /// Where nothing was counted, that says nothing: one that the client has as well is among the cores that it counts.
    pub(crate) fn holds_client(&self, quota: &Quota) -> bool {
        let of_client = self.host().and_then(|host| host.generator_throttled_cores);
        let throttled = quota.throttled_cores;
        throttled > 0.0 && of_client.is_some_and(|it| (it - throttled).abs() <= ONE_COUNT_WITHIN * throttled)
    }

    /// Cores that a CPU quota of its own allows a server, the loaded one or the stack of that name, where these are fewer than there
    /// are.
    pub(crate) fn quota_of(&self, of: Option<&str>) -> Option<f64> {
        let (_, server) = self.servers().find(|(stack, _)| *stack == of)?;
        let quota = server.signals.as_ref()?.quota.filter(|quota| !self.holds_client(quota))?;
        let is_its_own = |allowed: f64| server.cpu_cores.is_none_or(|used| used <= OF_QUOTA_MAX * allowed);
        quota.cores.filter(|it| *it > 0.0 && *it < self.cores && is_its_own(*it))
    }

    /// The same of the loaded server, where the CPU time of all servers is its own: what stands behind it is in other groups.
    pub(crate) fn own_quota(&self) -> Option<f64> {
        self.quota_of(None).filter(|_| self.trial.upstreams.is_empty())
    }

    /// By how much of itself a rate could be more at most, if client and servers used what they left of the machine.
    pub(crate) fn machine_left(&self) -> f64 {
        let apart = if self.has_quota() { self.interrupts_cores() } else { 0.0 };
        self.used_cores().map_or(1.0, |used| (1.0 - (used + apart) / self.machine_cores()).max(0.0))
    }

    /// Cores that the hypervisor took from whoever ran so much: it takes from each by what it ran. Nothing is left of that time.
    fn stolen_from(&self, used: f64) -> f64 {
        // What it took of a machine is not known of the part that a quota allows.
        let Some(host) = self.host().filter(|_| !self.has_quota()) else { return 0.0 };
        let stolen = host.steal_share.filter(|share| *share >= STOLEN_SHARE_MIN).unwrap_or(0.0) * self.cores;
        let others = host.others_cores.unwrap_or(0.0).max(0.0);
        let all_ran = self.used_cores().unwrap_or(used).max(used) + others;
        if all_ran > 0.0 { stolen * used / all_ran } else { 0.0 }
    }

    /// Threads that a quota of a server's own may have kept waiting, on average, which the kernel counts as waiting for a core: all that
    /// work, and no more than there are requests for, for as long as any core was closed to them.
    fn held_by_quota(&self, signals: &ServerSignals) -> f64 {
        let Some(quota) = signals.quota.filter(|quota| !self.holds_client(quota)) else { return 0.0 };
        let threads: f64 = signals.groups.iter().map(|group| f64::from(group.active)).sum();
        quota.throttled_cores.clamp(0.0, 1.0) * threads.min(self.users.max(1.0))
    }

    /// Whether a quota of a server's own keeps threads from running, which the kernel counts as waiting for a core.
    fn is_throttled(&self) -> bool {
        let mut quotas = self.servers().filter_map(|(_, server)| server.signals.as_ref()?.quota);
        quotas.any(|quota| quota.throttled_cores > THROTTLED_MAX && !self.holds_client(&quota))
    }

    /// Whether the machine had cores left beyond what a quota allows, of client and servers or of a server alone. Then nobody else
    /// took any from them, and what their threads waited for may be the quota itself, which the kernel counts as waiting for a core.
    pub(crate) fn has_cores_beyond_quota(&self) -> bool {
        let is_held = self.has_quota() || self.is_throttled();
        let Some(host) = self.host().filter(|_| is_held) else { return false };
        let all = self.machine_cores();
        let apart = if self.has_quota() { self.interrupts_cores() } else { 0.0 };
        let ours = self.used_cores().unwrap_or(self.cores) + apart;
        let taken = host.others_cores.unwrap_or(0.0) + host.steal_share.unwrap_or(0.0) * all;
        ours + taken < FULL_SHARE * all
    }

    /// Of all cores, client and server together.
    pub(crate) fn used_share(&self) -> Option<f64> {
        Some(self.used_cores()? / self.cores)
    }

    /// Whether the cores that the servers had were used up.
    pub(crate) fn is_full(&self) -> bool {
        let of_own = self.servers_cores.zip(self.bounding_cores());
        let of_all = self.used_cores().map(|used| (used, self.cores));
        of_own.into_iter().chain(of_all).any(|(used, cores)| is_used_up(used, cores))
    }

    /// Whether cores were what there was too little of: all used up, or as good as that.
    pub(crate) fn is_short_of_cores(&self) -> bool {
        self.is_full() || self.is_queued_for()
    }

    /// Whether the cores were what there was too little of, though not all were used up: on average as many threads waited for
    /// a core as cores stood idle. A core that runs out of work does not see at once what waits at another, so that with few
    /// cores and short requests a tenth to a quarter of the time goes by like this.
    fn is_queued_for(&self) -> bool {
        let is_short = |cores: f64, used: f64, waiting: f64| {
            let gone = used + self.stolen_from(used);
            used >= CPU_SHARE_LOW * cores
                && used < FULL_SHARE * cores
                && (gone + waiting >= cores || gone >= FULL_SHARE * cores)
        };
        let servers = self.servers_waiting().zip(self.allotted_cores()).zip(self.servers_cores);
        let of_own = servers.is_some_and(|((waiting, own), used)| is_short(own, used, waiting));
        let of_all = self.used_cores().zip(self.waiting_threads());
        of_own || of_all.is_some_and(|(used, waiting)| is_short(self.cores, used, waiting))
    }

    /// How much of the cores that there are, or that bound the servers, was used: the fuller of the two.
    pub(crate) fn saturation(&self) -> Option<f64> {
        let of_own = self.bounding_cores().zip(self.servers_cores).map(|(own, used)| used / own);
        of_own.into_iter().chain(self.used_share()).reduce(f64::max)
    }

    /// Cores that bound the servers, where these were fuller than all there are.
    pub(crate) fn fuller_own_cores(&self) -> Option<f64> {
        let (own, used) = self.bounding_cores().zip(self.servers_cores)?;
        // Where the client may run there as well, it may have used what they did not.
        let is_theirs = self.allotted_cores().is_some() || is_used_up(used, own);
        let is_fuller = self.used_share().is_none_or(|of_all| used / own >= of_all);
        (is_theirs && is_fuller).then_some(own)
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

    /// Threads of client and servers that waited for a core, on average.
    pub(crate) fn waiting_threads(&self) -> Option<f64> {
        Some(self.servers_waiting()? + self.host()?.generator_wait_cores.unwrap_or(0.0))
    }

    /// The same of the servers alone, but for those that a quota may have kept waiting.
    fn servers_waiting(&self) -> Option<f64> {
        let of = |server: &Server| -> Option<f64> {
            let signals = server.signals.as_ref()?;
            let waited: f64 = signals.groups.iter().map(|it| it.wait_cores).sum();
            Some((waited - self.held_by_quota(signals)).max(0.0))
        };
        self.servers().map(|(_, server)| of(server)).sum()
    }

    /// Whether the CPU can be ruled out.
    pub(crate) fn has_cpu_left(&self) -> bool {
        let own = self.cores_to_run_on();
        let is_left = |used: f64, cores: f64| used + self.stolen_from(used) <= CPU_SHARE_LOW * cores;
        let of_own = own.zip(self.servers_cores).is_none_or(|(own, used)| is_left(used, own));
        // Whom a quota keeps from running is counted by itself, so that it is the limit only where next to nothing of it is left.
        let of_quota = self.own_quota().zip(self.servers_cores);
        let is_quota_left = of_quota.is_none_or(|(allowed, used)| !is_used_up(used, allowed));
        of_own && is_quota_left && self.used_cores().is_some_and(|used| is_left(used, self.cores))
    }

    /// Whether there may be too little of the CPU, as far as its use is known at all.
    pub(crate) fn may_lack_cpu(&self) -> bool {
        self.used_share().is_some() && !self.has_cpu_left()
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

    /// Cores that the servers had for themselves, where they did not share them with the client.
    pub(crate) fn allotted_cores(&self) -> Option<f64> {
        let around = &self.trial.surroundings;
        let (client, servers) =
            (cpus(around.client_cpus.as_deref()?)?, cpus(around.server_cpus.as_deref()?)?);
        let apart = servers.iter().all(|cpu| !client.contains(cpu));
        (apart && !servers.is_empty()).then_some(servers.len() as f64)
    }

    /// Cores beyond which the servers can't use any: those that they may run on, or what a quota of their own allows.
    pub(crate) fn bounding_cores(&self) -> Option<f64> {
        self.cores_to_run_on().into_iter().chain(self.own_quota()).reduce(f64::min)
    }

    /// Cores that the servers had for themselves, or those that they may run on where these are fewer than all, whoever else may run
    /// there.
    fn cores_to_run_on(&self) -> Option<f64> {
        let may_run_on = || {
            let servers = cpus(self.trial.surroundings.server_cpus.as_deref()?)?.len() as f64;
            (servers > 0.0 && servers < self.cores).then_some(servers)
        };
        self.allotted_cores().or_else(may_run_on)
    }

    /// Cores that the servers can use at most.
    pub(crate) fn cores_within_reach(&self) -> f64 {
        self.bounding_cores().unwrap_or(f64::INFINITY).min(self.cores)
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

/// Cores that client and servers may use, where so many whole ones were counted: of those that a CPU quota allows, a part of one is
/// not (`available_parallelism`). Of a quota that is the servers' alone the client is not told, and counts more.
fn usable_cores(trial: &Measured, counted: usize) -> f64 {
    let counted = counted.max(1) as f64;
    let machine = trial.host.as_ref().map_or(counted, |host| f64::from(host.cores));
    let quota = trial.server.signals.as_ref().and_then(|signals| signals.quota?.cores);
    let is_counted = |quota: &f64| (counted..counted + 1.0).contains(quota) && *quota < machine;
    quota.filter(is_counted).unwrap_or(counted)
}

/// Whether so much of so many cores is as good as all. A single one is used up by a thread that has no time left.
fn is_used_up(used: f64, cores: f64) -> bool {
    let least = FULL_SHARE * cores;
    used >= if cores <= 1.0 { least.min(ONE_THREAD_CORES) } else { least }
}

/// Share of the time in which a JVM stood still for its collections. Whoever stops the program does so at a safepoint, and what a
/// collector counts beyond those is done beside the program, as most of Shenandoah's work. Where no time was counted at any, nobody
/// counted it.
pub(crate) fn stood_still(jvm: &JvmUse) -> f64 {
    let at_safepoints = Some(jvm.safepoint_share).filter(|share| *share > 0.0);
    at_safepoints.map_or(jvm.gc_share, |share| jvm.gc_share.min(share))
}

/// Whether threads of this name are some that a JVM starts for itself. They serve no request, and with their counts of 1 and
/// of the cores they would often fit by chance.
fn is_of_jvm(name: &str) -> bool {
    let mut all = COLLECTORS.iter().chain(&COMPILERS).chain(&JVM_SERVICE_THREADS);
    all.any(|begins| name.starts_with(begins))
}

/// `0-1,4`, as Linux lists cores.
fn cpus(list: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        all.extend(first..=last.min(first.saturating_add(4096)));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_read_as_linux_lists_them() {
        assert_eq!(cpus("0-1,4"), Some(vec![0, 1, 4]));
        assert_eq!(cpus(""), Some(vec![]));
        assert_eq!(cpus("a"), None);
    }
}
