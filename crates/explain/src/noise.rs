//! What others on the machine cost a load: how long its requests waited for a core, and how much of that others can have
//! caused.
//!
//! A thread that waits for a core is counted by the kernel. What that costs is measured against the clock, never against
//! the CPU time of whoever waits: a thread that runs for 1 % of the time and waits for 1 % has lost 1 %, and not a half.
//!
//! - *On the way of a request.* By Little's law, of the N requests under way as many wait for a core at a time as threads
//!   do, times the requests that each of those threads has at hand when it is woken: X over its wake-ups, and one at least.
//!   That over N is the share of a request's time that went by like this. It is an upper bound: threads that wait beside
//!   each other for one request are counted one by one.
//! - *Of what sets the pace.* A thread that has no time left loses of its rate the share of the time that it waits, however
//!   many requests queue for it. It has none left where it runs or waits all of the time, or where requests at an idle
//!   server's pace and its waiting fill it together (X·S₀ + waiting = its threads).
//! - *What others can explain.* Threads wait for each other as well. Without the others there would be as much more CPU time
//!   as they used, so of the rate that there would be then they took others / (own + others) at most. What a hypervisor
//!   takes no thread is seen to wait for: it counts as waiting in proportion to what each thread ran, and where the machine
//!   is used up, as what it took.
//! - A load that asks for a rate has lost no more of it than it missed.

use record::{HostSignals, NamedUse, ThreadGroupUse};

use crate::alone;
use crate::facts::{FULL_SHARE, Facts, Group, ONE_THREAD_CORES};
use crate::others::others_cores;
use crate::workers::{at_work, busiest_held_up};

/// Share of the machine that a hypervisor may take, as others on it may ([`crate::OTHERS_SHARE_MAX`]).
pub const STEAL_SHARE_MAX: f64 = 0.1;
/// Share of the rate from which others decide: a quarter, without which it would be a third higher. Up to there the limits
/// of the server's own still fit (a thread on its own is told by X·S₀ from 0.75 on), and are what is named.
const DECIDES_MIN: f64 = 0.25;
/// Thread-seconds a second of waiting below which nobody is starved, whatever the share is of: a twentieth of one thread's
/// time, as much as what a scheduler does to any thread that is woken some thousand times a second.
const WAITED_CORES_MIN: f64 = 0.05;
/// How much more than the server's the cost of the generator's waiting must be for it to be the one that is starved.
const CLIENT_OF_SERVER: f64 = 2.0;
/// So many names are told, whatever a record holds.
const NAMES_TOLD_MAX: usize = 3;

/// What others took, and what that cost.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noise {
    /// Cores that other processes used, where that is more than [`crate::OTHERS_SHARE_MAX`].
    pub(crate) others: Option<f64>,
    /// Share of the machine that the hypervisor took, where that is more than [`STEAL_SHARE_MAX`].
    pub(crate) steal: Option<f64>,
    /// Share of the rate that it can have cost, at most.
    pub(crate) cost: f64,
    /// How long a request waited for a core, and how long it took, seconds.
    pub(crate) request_s: Option<(f64, f64)>,
    /// What sets the pace and waits for a core: its name, and the share of the time.
    pub(crate) pace: Option<(String, f64)>,
    of_server: f64,
    of_client: f64,
    /// Threads that waited, on average.
    waited: f64,
    client_waited: f64,
}

/// Shares of the rate that waiting can have cost one side.
#[derive(Debug, Default)]
struct Side {
    on_the_way: f64,
    pace: Option<(String, f64)>,
    waited: f64,
}

/// Threads that wait.
struct Threads<'a> {
    name: &'a dyn Fn() -> String,
    /// Those who work: how many, and how much of the time they ran and waited. Whoever has their name beside them does neither.
    count: u32,
    ran: f64,
    worker_waited: f64,
    /// All of them.
    waited: f64,
    /// How often they were given a CPU, where that is known.
    switches_per_s: Option<f64>,
    /// Whether requests at an idle server's pace fill them.
    is_filled: bool,
    /// Whether they used most of the CPU time of their process.
    does_the_work: bool,
}

impl Side {
    fn add(&mut self, threads: &Threads<'_>, rate: f64, engaged: Option<f64>) {
        let count = f64::from(threads.count.max(1));
        let of_time = (threads.worker_waited / count).min(1.0);
        self.waited += threads.waited;
        let is_busy = threads.ran + threads.worker_waited >= ONE_THREAD_CORES * count;
        if (is_busy || threads.is_filled) && self.pace.as_ref().is_none_or(|(_, most)| of_time > *most) {
            self.pace = Some(((threads.name)(), of_time));
        }
        let at_hand = threads.switches_per_s.filter(|it| *it > 0.0).map_or(1.0, |it| (rate / it).max(1.0));
        // No thread has more requests at hand than there are. One that seems to goes on while others come in, or is woken for
        // something else: only who does the work is known to be on their way.
        let is_on_the_way = |engaged: &f64| at_hand <= engaged.max(1.0) || threads.does_the_work;
        if let Some(engaged) = engaged.filter(is_on_the_way) {
            self.on_the_way += (threads.waited * at_hand / engaged).min(of_time);
        }
    }

    /// At most, as far as others explain it.
    fn cost(&self, most: f64) -> f64 {
        self.on_the_way.max(self.pace.as_ref().map_or(0.0, |(_, share)| *share)).min(most)
    }
}

impl Noise {
    /// `None` where nobody else took enough of the machine to be a noise.
    pub(crate) fn of(facts: &Facts<'_>) -> Option<Self> {
        let host = facts.host()?;
        let others = others_cores(facts);
        let steal = host.steal_share.filter(|share| *share > STEAL_SHARE_MAX);
        if others.is_none() && steal.is_none() {
            return None;
        }
        let machine = facts.machine_cores();
        let stolen = steal.unwrap_or(0.0) * machine;
        let taken = others.unwrap_or(0.0) + stolen;
        let used = facts.used_cores();
        // What the hypervisor takes while somebody runs, it takes from each by what it ran.
        let all_ran = used.unwrap_or(0.0) + host.others_cores.unwrap_or(0.0).max(0.0);
        let stolen_a_core = stolen / all_ran.max(stolen).max(f64::MIN_POSITIVE);
        let waited = |ran: f64, waited: f64| ran * stolen_a_core + others.map_or(0.0, |_| waited);
        let engaged = engaged(facts);
        let groups = facts.groups();
        let server = of_servers(facts, &groups, &waited, engaged);
        let client = of_generator(facts, host, &waited, engaged);
        let is_apart = facts.allotted_cores().is_some();
        let most = |own: Option<f64>| taken / (own.unwrap_or(machine - taken).max(0.0) + taken);
        let of_servers_cores = most(if is_apart { facts.servers_cores } else { used });
        let of_clients_cores = most(if is_apart { Some(facts.generator_cores) } else { used });
        let (of_server, of_client) = (server.cost(of_servers_cores), client.cost(of_clients_cores));
        let of_both = (of_server + of_client).min(of_servers_cores.max(of_clients_cores));
        let is_full = used.is_none_or(|used| used + taken >= FULL_SHARE * machine);
        let was_looked_at = groups.iter().any(|group| group.did.is_some());
        // Of a machine that is used up, what was taken is lost; of others, where nobody is known not to have waited.
        let of_full = if was_looked_at { stolen } else { taken };
        let of_full =
            if is_full { of_full / (used.unwrap_or(machine - taken).max(0.0) + taken) } else { 0.0 };
        let on_the_way = (server.on_the_way + client.on_the_way).min(1.0);
        let request_s = engaged.map(|engaged| engaged / facts.rate).filter(|it| it.is_finite());
        let pace = [server.pace, client.pace].into_iter().flatten().max_by(|a, b| a.1.total_cmp(&b.1));
        Some(Self {
            others,
            steal,
            cost: of_both.max(of_full).min(facts.missed_share()),
            request_s: request_s.map(|took| (on_the_way * took, took)),
            pace,
            of_server,
            of_client,
            waited: server.waited + client.waited,
            client_waited: client.waited,
        })
    }

    /// Whether it is the answer, and not only a doubt.
    pub(crate) fn decides(&self) -> bool {
        let is_seen = self.steal.is_some() || self.waited >= WAITED_CORES_MIN || self.waited <= 0.0;
        self.cost >= DECIDES_MIN && is_seen
    }

    /// The share of its time that the generator lost by waiting for a core that others used, where the server got its own. A
    /// load that asks for a rate may have caught up with it, and was late all the same.
    pub(crate) fn starves_client(&self) -> Option<f64> {
        let is_starved = self.others.is_some()
            && self.client_waited >= WAITED_CORES_MIN
            && self.of_client >= DECIDES_MIN
            && self.of_client >= CLIENT_OF_SERVER * self.of_server;
        is_starved.then_some(self.of_client)
    }

    /// The share of its time that the server lost by waiting for a core that others used, at most.
    pub(crate) const fn of_server(&self) -> f64 {
        self.of_server
    }

    /// How long a request waited, and what set the pace.
    pub(crate) fn waiting_words(&self) -> Vec<String> {
        let of_request = self.request_s.map(|(waited, took)| {
            format!("a request waited {} of {} for a core, at most", time(waited), time(took))
        });
        let of_pace = self.pace.as_ref().map(|(name, share)| {
            format!("`{name}`, with no time left, waited for a core in {:.0} % of the time", share * 100.0)
        });
        of_request.into_iter().chain(of_pace).collect()
    }
}

/// What the servers' threads lost, where `waited` is how long those waited that ran for so long and waited for so long.
fn of_servers(
    facts: &Facts<'_>,
    groups: &[Group<'_>],
    waited: &dyn Fn(f64, f64) -> f64,
    engaged: Option<f64>,
) -> Side {
    let of_server = |of: Option<&str>| -> f64 {
        groups.iter().filter(|it| it.of == of).filter_map(|it| Some(it.did?.cpu_cores)).sum()
    };
    let mut side = Side::default();
    for group in groups {
        let Some(did) = group.did else { continue };
        let (count, ran, worker_waited) = who_works(facts, group, did);
        let all_waited = waited(did.cpu_cores, did.wait_cores);
        let threads = Threads {
            name: &|| group.shown(),
            count,
            ran,
            worker_waited: waited(ran, worker_waited),
            waited: all_waited,
            switches_per_s: Some(did.switches_per_s),
            is_filled: is_filled(facts, group, count, all_waited),
            does_the_work: 2.0 * did.cpu_cores >= of_server(group.of),
        };
        side.add(&threads, facts.rate, engaged);
    }
    side
}

/// The same of the generator's.
fn of_generator(
    facts: &Facts<'_>,
    host: &HostSignals,
    waited: &dyn Fn(f64, f64) -> f64,
    engaged: Option<f64>,
) -> Side {
    let ran = host.generator_cores.unwrap_or(facts.generator_cores);
    let waited = waited(ran, host.generator_wait_cores.unwrap_or(0.0));
    let threads = Threads {
        name: &|| "the client's threads".to_owned(),
        count: facts.trial.load.load.threads,
        ran,
        worker_waited: waited,
        waited,
        switches_per_s: host.generator_switches_per_s,
        is_filled: false,
        does_the_work: true,
    };
    let mut side = Side::default();
    side.add(&threads, facts.rate, engaged);
    side
}

/// How many of a group work, and how much of the time those ran and waited for a core, threads on average: one that does all of
/// the work by itself, whoever has its name.
fn who_works(facts: &Facts<'_>, group: &Group<'_>, did: &ThreadGroupUse) -> (u32, f64, f64) {
    match at_work(facts, group) {
        1 if group.threads > 1 => (1, did.busiest_cores, busiest_held_up(facts, group)),
        0 => (did.active, did.cpu_cores, did.wait_cores),
        count => (count, did.cpu_cores, did.wait_cores),
    }
}

/// Users who wait for an answer or think; of those who come and go, or whom a rate is asked of, requests under way.
fn engaged(facts: &Facts<'_>) -> Option<f64> {
    let load = &facts.trial.load;
    let are_there = load.load.rate_per_s.is_none()
        && load.load.ramp_up_s.is_none()
        && load.load.requests_per_user.is_none();
    let engaged =
        if are_there { Some(facts.users) } else { load.service_time_us.mean.map(|us| facts.rate * us / 1e6) };
    engaged.filter(|it| it.is_finite() && *it > 0.0)
}

/// Whether requests at an idle server's pace and the waiting for a core fill those of a group who work together. As many
/// threads as connections follow the load.
fn is_filled(facts: &Facts<'_>, group: &Group<'_>, count: u32, waited: f64) -> bool {
    let may_be = group.threads < facts.trial.load.load.connections && facts.may_serve(group);
    // What lets so many through in a second fills nobody, whatever X·S₀ comes to.
    may_be && !alone::is_no_lock(facts) && facts.concurrency().is_some_and(|it| it.plus(waited).may_be(count))
}

fn time(secs: f64) -> String {
    match secs {
        it if it >= 1.0 => format!("{it:.2} s"),
        it if it >= 0.000_1 => format!("{:.1} ms", it * 1e3),
        it => format!("{:.0} µs", it * 1e6),
    }
}

/// `java 0.81, rustc 0.20`; `None` where nobody is named.
pub fn who(others: &[NamedUse]) -> Option<String> {
    let told =
        others.iter().take(NAMES_TOLD_MAX).map(|it| format!("{} {:.2}", plain::line(&it.name), it.cores));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}
