//! Cores: how many client and servers may use, how much of them they did, and whether any were left.

use record::{HostSignals, Measured, Quota, Server, ServerSignals};

use super::{CPU_SHARE_LOW, FULL_SHARE, Facts, ONE_THREAD_CORES, THROTTLED_MAX};

/// Share of throttled time up to which two counts of it are one count, of one group, read within some milliseconds.
const ONE_COUNT_WITHIN: f64 = 0.02;
/// Share of the machine from which what a hypervisor takes is counted: the least effect that any comparison here calls a difference.
const STOLEN_SHARE_MIN: f64 = stats::LEAST_EFFECT;
/// How much of its quota a server can be seen to use: all, and what two clocks differ by. A quota of which more is used is another
/// group's.
const OF_QUOTA_MAX: f64 = 1.05;

impl Facts<'_> {
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
        is_of_both(quota, self.host())
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
}

/// Cores that client and servers may use, where so many whole ones were counted: of those that a CPU quota allows, a part of one is
/// not (`available_parallelism`). Of a quota that is the servers' alone the client is not told, and counts more. Who knows of the trial
/// alone counts those of the machine: there a quota of both shows by keeping both from running.
pub(super) fn usable_cores(trial: &Measured, counted: usize) -> f64 {
    let counted = counted.max(1) as f64;
    let host = trial.host.as_ref();
    let machine = host.map_or(counted, |host| f64::from(host.cores));
    let quota = trial.server.signals.as_ref().and_then(|signals| signals.quota);
    let is_counted = |allowed: f64| (counted..counted + 1.0).contains(&allowed) && allowed < machine;
    let is_shared =
        |quota: &Quota, allowed: f64| allowed > 0.0 && allowed < counted && is_of_both(quota, host);
    let allowed = quota
        .and_then(|quota| quota.cores.filter(|allowed| is_counted(*allowed) || is_shared(&quota, *allowed)));
    allowed.unwrap_or(counted)
}

/// Whether the kernel counted as much of a server's quota as of the client's.
fn is_of_both(quota: &Quota, host: Option<&HostSignals>) -> bool {
    let of_client = host.and_then(|host| host.generator_throttled_cores);
    let throttled = quota.throttled_cores;
    throttled > 0.0 && of_client.is_some_and(|it| (it - throttled).abs() <= ONE_COUNT_WITHIN * throttled)
}

/// Whether so much of so many cores is as good as all. A single one is used up by a thread that has no time left.
fn is_used_up(used: f64, cores: f64) -> bool {
    let least = FULL_SHARE * cores;
    used >= if cores <= 1.0 { least.min(ONE_THREAD_CORES) } else { least }
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
