//! What the readings come to within a window: rates, shares and maxima.
//!
//! Pure. Counters are interpolated to the window's ends where readings are frequent; of threads, which are read more
//! seldom, the readings that enclose the window count, divided by the time between them.

use std::collections::BTreeMap;

use record::{
    AcceptQueue, Held, HostSignals, JvmUse, LinkReading, LinkUse, NamedUse, ProcessReading, Quota,
    SIGNALS_VERSION, ServerSignals, SignalReading, ThreadGroupUse,
};
use units::{Duration, Instant};

use crate::accounting::MachineCores;
use crate::diag::Queue;
use crate::groups::{Names, groups_of, uses};
use crate::links::Link;
use crate::others;
use crate::sampler::{Limits, Reading, Sampled, ThreadReading, Watched};

/// The names of the threads of each server, whole, by their ids.
pub type WholeNames = Vec<BTreeMap<i32, String>>;

/// All of it.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The stack that was loaded, and then those behind it.
    pub servers: Vec<ServerSummary>,
    /// The machine and the generator.
    pub host: HostSignals,
    /// What makes the load: all of its process, or processes.
    pub generator: GeneratorUse,
    /// The readings, to be kept.
    pub readings: Vec<SignalReading>,
}

/// What makes the load, within the window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GeneratorUse {
    /// CPU time a second, all threads together.
    pub cpu_cores: Option<f64>,
    /// CPU time a second of its busiest thread.
    pub busiest_cores: Option<f64>,
}

/// One stack.
#[derive(Debug, Clone, Default)]
pub struct ServerSummary {
    /// CPU time a second, within the window.
    pub cpu_cores: Option<f64>,
    /// Most resident memory seen, bytes.
    pub rss_bytes_max: u64,
    /// Most threads seen.
    pub threads_max: u32,
    /// Threads by group at the end.
    pub thread_groups: BTreeMap<String, u32>,
    /// The rest.
    pub signals: ServerSignals,
}

/// Sums up what was seen from `start` on for `length`, on a machine of `cores` cores. `names` are the whole names of the
/// servers' threads, as far as they are known.
pub fn summarise(
    sampled: &Sampled,
    names: &WholeNames,
    start: Instant,
    length: Duration,
    cores: u32,
) -> Summary {
    let span = Span { readings: &sampled.readings, start, end: start + length };
    let servers: Vec<ServerSummary> = (0..sampled.limits.len())
        .map(|index| {
            let names = names_of(sampled, names, index);
            let mut seen = server(&span, index, &sampled.limits[index], &names);
            seen.signals.asks = sampled.asks.get(index).cloned().unwrap_or_default();
            seen
        })
        .collect();
    let (host, generator) = host(&span, sampled, &servers, cores);
    let jvms: Vec<Option<i32>> = (0..servers.len()).map(|index| busiest_jvm(span.readings, index)).collect();
    let readings = sampled.readings.iter().map(|reading| kept(reading, sampled, names, &jvms)).collect();
    Summary { servers, host, generator, readings }
}

/// What is known of the threads of the server at `index`.
fn names_of<'a>(sampled: &'a Sampled, whole: &'a WholeNames, index: usize) -> Names<'a> {
    Names {
        kernel: sampled.names.get(index + 1),
        whole: whole.get(index),
        runtimes: sampled.runtimes.get(index),
    }
}

/// The readings, and the window that they are looked at for.
struct Span<'a> {
    readings: &'a [Reading],
    start: Instant,
    end: Instant,
}

impl<'a> Span<'a> {
    /// Growth a second of a counter over the window; `None` where no reading lies before or after it.
    fn rate(&self, of: impl Fn(&Reading) -> Option<f64>) -> Option<f64> {
        let length_s = self.end.since(self.start).as_secs_f64();
        let (from, to) = (self.at(self.start, &of)?, self.at(self.end, &of)?);
        (length_s > 0.0).then(|| (to - from) / length_s)
    }

    /// The value at an instant, interpolated between the readings around it; never extrapolated.
    fn at(&self, at: Instant, of: &impl Fn(&Reading) -> Option<f64>) -> Option<f64> {
        let after = self.readings.iter().position(|reading| reading.at >= at)?;
        let (before, after) = (&self.readings[after.checked_sub(1)?], &self.readings[after]);
        let (low, high) = (of(before)?, of(after)?);
        let between = after.at.since(before.at).as_secs_f64();
        let share = if between > 0.0 { at.since(before.at).as_secs_f64() / between } else { 0.0 };
        Some(low + share * (high - low))
    }

    fn within(&self) -> impl Iterator<Item = &'a Reading> + '_ {
        self.readings.iter().filter(|reading| reading.at >= self.start && reading.at <= self.end)
    }

    /// The readings next to the window's ends, outside of it where there are such.
    fn ends(&self) -> Option<(&'a Reading, &'a Reading)> {
        let first = self.readings.iter().rev().find(|reading| reading.at <= self.start);
        let last = self.readings.iter().find(|reading| reading.at >= self.end);
        Some((first.or(self.readings.first())?, last.or(self.readings.last())?))
    }

    /// What the groups of some threads did between the readings that enclose the window.
    fn group_uses(
        &self,
        names: &Names<'_>,
        threads: impl Fn(&'a Reading) -> Option<&'a [ThreadReading]>,
    ) -> Vec<ThreadGroupUse> {
        let looked: Vec<(Instant, &[ThreadReading])> =
            self.readings.iter().filter_map(|reading| Some((reading.at, threads(reading)?))).collect();
        let first = looked.iter().rposition(|(at, _)| *at <= self.start).unwrap_or(0);
        let last = looked.iter().position(|(at, _)| *at >= self.end);
        let Some(seen) = looked.get(first..=last.unwrap_or(looked.len().saturating_sub(1))) else {
            return Vec::new();
        };
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return Vec::new() };
        let threads: Vec<&[ThreadReading]> = seen.iter().map(|(_, threads)| *threads).collect();
        uses(&threads, last.0.since(first.0), names)
    }
}

fn server(span: &Span<'_>, index: usize, limits: &Limits, names: &Names<'_>) -> ServerSummary {
    let of_jvm = busiest_jvm(span.readings, index);
    let of = |reading: &Reading| reading.servers.get(index).map(|it| it.with_jvm(of_jvm)).unwrap_or_default();
    let all = || span.readings.iter().map(of);
    let thread_groups =
        span.readings.iter().rev().find_map(|reading| reading.servers.get(index)?.threads.as_deref()).map(
            |threads| groups_of(threads, names).into_iter().map(|(name, it)| (name, it.threads)).collect(),
        );
    // Of its processes, the one that came nearest its own limit.
    let seen = span.readings.iter().filter_map(|reading| reading.servers.get(index)?.files);
    let files = seen.max_by(|a, b| a.share().total_cmp(&b.share()));
    let signals = ServerSignals {
        cpu_user_cores: span.rate(|reading| Some(of(reading).cpu_user_s)),
        cpu_system_cores: span.rate(|reading| Some(of(reading).cpu_system_s)),
        groups: span.group_uses(names, |reading| reading.servers.get(index)?.threads.as_deref()),
        rss_bytes: over_window(span, index, |it| Some(it.rss_bytes)),
        anonymous_bytes: over_window(span, index, |it| it.anonymous_bytes),
        threads: over_window(span, index, |it| Some(it.threads.into()))
            .map(|counts| counts.map(|count| count as u32)),
        open_files_max: files.map(|it| it.open).or_else(|| all().filter_map(|it| it.open_files).max()),
        open_files_limit: files.map(|it| it.limit),
        disk_write_bytes_per_s: span.rate(|reading| of(reading).disk_write_bytes.map(|it| it as f64)),
        disk_read_bytes_per_s: span.rate(|reading| of(reading).disk_read_bytes.map(|it| it as f64)),
        disk_wait_share: span.rate(|reading| of(reading).disk_wait_s),
        accept_queue: accept_queue(span, index),
        connections: connections(span, &of),
        unread: held(span.within().map(of).filter_map(|it| it.unread)),
        unacknowledged: held(span.within().map(of).filter_map(|it| it.unacknowledged)),
        quota: limits.quota_cores.and_then(|cores| {
            let throttled_cores = span.rate(|reading| of(reading).throttled_s)?;
            Some(Quota { cores: Some(cores), throttled_cores })
        }),
        jvm: jvm(span, &of),
        gc_pauses: None,
        jvm_events: BTreeMap::new(),
        asks: Vec::new(),
    };
    ServerSummary {
        cpu_cores: signals.cpu_user_cores.zip(signals.cpu_system_cores).map(|(user, system)| user + system),
        rss_bytes_max: all().map(|it| it.rss_bytes).max().unwrap_or(0),
        threads_max: all().map(|it| it.threads).max().unwrap_or(0),
        thread_groups: thread_groups.unwrap_or_default(),
        signals,
    }
}

/// Of the JVMs of a server, the one that ran the most while it was watched: who started the server, such as Maven, may be one, too.
pub(crate) fn busiest_jvm(readings: &[Reading], index: usize) -> Option<i32> {
    let mut ran: BTreeMap<i32, (Duration, Duration)> = BTreeMap::new();
    for jvm in readings.iter().filter_map(|reading| reading.servers.get(index)).flat_map(|it| &it.jvms) {
        ran.entry(jvm.pid).or_insert((jvm.cpu, jvm.cpu)).1 = jvm.cpu;
    }
    let most = ran.into_iter().max_by_key(|(_, (first, last))| last.saturating_sub(*first));
    most.map(|(pid, _)| pid)
}

/// A figure of a server at the window's start, middle and end.
fn over_window(
    span: &Span<'_>,
    index: usize,
    figure: fn(&ProcessReading) -> Option<u64>,
) -> Option<[u64; 3]> {
    let of = |reading: &Reading| Some(figure(&reading.servers.get(index)?.reading)? as f64);
    let middle = span.start + span.end.since(span.start) / 2;
    let at = |instant| span.at(instant, &of).map(|it| it as u64);
    Some([at(span.start)?, at(middle)?, at(span.end)?])
}

/// Where several sockets listen, bound and length are those of the queue that came nearest its bound: its handshakes are dropped,
/// however empty the others are. The mean is of all that wait.
fn accept_queue(span: &Span<'_>, index: usize) -> Option<AcceptQueue> {
    let seen: Vec<(u32, Queue)> = span
        .within()
        .filter_map(|reading| {
            let server = reading.servers.get(index)?;
            Some((server.reading.accept_queue?, server.fullest?))
        })
        .collect();
    let count = Some(seen.len() as f64).filter(|count| *count > 0.0)?;
    let fullest = seen.iter().map(|(_, it)| *it).max_by(|a, b| a.share().total_cmp(&b.share()))?;
    // The kernel lets one more wait than it was told.
    let full =
        seen.iter().filter(|(_, it)| it.waiting > it.limit || it.waiting == it.limit && it.limit > 0).count();
    Some(AcceptQueue {
        limit: fullest.limit,
        max: fullest.waiting,
        mean: seen.iter().map(|(waiting, _)| f64::from(*waiting)).sum::<f64>() / count,
        full_share: full as f64 / count,
    })
}

fn connections(span: &Span<'_>, of: &impl Fn(&Reading) -> ProcessReading) -> Option<Held> {
    held(span.within().map(of).filter_map(|it| {
        let established = it.sockets.as_ref()?.get("established").copied().unwrap_or(0);
        // Whoever waits to be accepted is established to the kernel and not to the server.
        Some(established.saturating_sub(it.accept_queue.unwrap_or(0)))
    }))
}

fn held(counts: impl Iterator<Item = u32>) -> Option<Held> {
    let counts: Vec<u32> = counts.collect();
    let max = counts.iter().copied().max()?;
    let mean = counts.iter().map(|it| f64::from(*it)).sum::<f64>() / counts.len() as f64;
    Some(Held { mean, max, readings: counts.len() as u32 })
}

fn jvm(span: &Span<'_>, of: &impl Fn(&Reading) -> ProcessReading) -> Option<JvmUse> {
    let rate = |pick: fn(&record::JvmReading) -> f64| span.rate(|reading| of(reading).jvm.as_ref().map(pick));
    let within = || span.within().map(of).filter_map(|it| it.jvm);
    Some(JvmUse {
        gc_share: rate(|it| it.gc_s)?,
        gc_per_s: rate(|it| it.gc_count as f64)?,
        jit_cores: rate(|it| it.jit_s)?,
        safepoint_share: rate(|it| it.safepoint_s)?,
        heap_used_bytes_max: within().map(|it| it.heap_used_bytes).max()?,
        heap_max_bytes: within().map(|it| it.heap_max_bytes).max()?,
    })
}

/// The names that load threads have, in `lab`.
const LOAD_THREADS: &str = "load-*";

fn host(
    span: &Span<'_>,
    sampled: &Sampled,
    servers: &[ServerSummary],
    cores: u32,
) -> (HostSignals, GeneratorUse) {
    let own = Names { kernel: sampled.names.first(), ..Names::default() };
    let load: Vec<ThreadGroupUse> = span
        .group_uses(&own, |reading| reading.generator.threads.as_deref())
        .into_iter()
        // All threads of another program make the load, and of ours those that are called so.
        .filter(|group| sampled.is_foreign || group.name == LOAD_THREADS)
        .collect();
    let sum = |of: fn(&ThreadGroupUse) -> f64| load.iter().map(of).reduce(|sum, it| sum + it);
    let generator_cpu = span.rate(|reading: &Reading| {
        let ProcessReading { cpu_user_s, cpu_system_s, .. } = reading.generator.reading;
        Some(cpu_user_s + cpu_system_s)
    });
    let ours =
        servers.iter().filter_map(|server| server.cpu_cores).sum::<f64>() + generator_cpu.unwrap_or(0.0);
    let machine = machine(span, cores, sampled.interrupts_within);
    let (network_before, network) = network(span);
    let host = HostSignals {
        cores,
        others_cores: machine.map(|it| it.others(ours)),
        others: who(span),
        interrupts_cores: machine.map(|it| it.interrupts),
        interrupts_within: machine.and_then(|it| it.interrupts_within(ours)),
        steal_share: span
            .rate(|reading| told(reading, reading.host.steal_s))
            .map(|it| it / f64::from(cores.max(1))),
        pressure: pressures(span),
        network,
        network_before,
        links: links(span, sampled),
        generator_cores: sum(|group| group.cpu_cores),
        generator_wait_cores: sum(|group| group.wait_cores),
        generator_switches_per_s: sum(|group| group.switches_per_s),
        generator_throttled_cores: span.rate(|reading| reading.generator.reading.throttled_s),
        sampler_cores: cost(sampled),
        readings: span.within().count() as u32,
        not_known: sampled.not_known.iter().cloned().collect(),
    };
    let busiest_cores = load.iter().map(|group| group.busiest_cores).reduce(f64::max);
    (host, GeneratorUse { cpu_cores: generator_cpu, busiest_cores })
}

/// Which other processes used the most between the looks at them that enclose the window.
fn who(span: &Span<'_>) -> Vec<NamedUse> {
    let looks: Vec<(Instant, &BTreeMap<String, Duration>)> =
        span.readings.iter().filter_map(|reading| Some((reading.at, reading.others.as_ref()?))).collect();
    let first = looks.iter().rfind(|(at, _)| *at <= span.start).or(looks.first());
    let last = looks.iter().find(|(at, _)| *at >= span.end).or(looks.last());
    let Some(((from, before), (to, after))) = first.zip(last) else { return Vec::new() };
    others::most(before, after, to.since(*from))
}

/// All of the machine; `None` where the readings do not enclose the window.
fn machine(span: &Span<'_>, cores: u32, configured_within: Option<bool>) -> Option<MachineCores> {
    let busy = span.rate(|reading| told(reading, reading.host.busy_s))?;
    let interrupts = span.rate(|reading| told(reading, reading.host.interrupts_s))?;
    Some(MachineCores { cores, busy, interrupts, configured_within })
}

/// What a reading says of the machine: one that was busy for no moment since it started could not have said so.
fn told(reading: &Reading, figure: f64) -> Option<f64> {
    Some(figure).filter(|_| reading.host.busy_s > 0.0)
}

fn cost(sampled: &Sampled) -> f64 {
    let (first, last) = (sampled.readings.first(), sampled.readings.last());
    let Some((first, last)) = first.zip(last) else { return 0.0 };
    let watched_s = last.at.since(first.at).as_secs_f64();
    if watched_s > 0.0 { sampled.cost.as_secs_f64() / watched_s } else { 0.0 }
}

fn pressures(span: &Span<'_>) -> BTreeMap<String, f64> {
    let names =
        span.readings.first().map(|reading| reading.host.pressure_s.keys().cloned()).into_iter().flatten();
    names
        .filter_map(|name| {
            let share = span.rate(|reading| reading.host.pressure_s.get(&name).copied())?;
            Some((name, share))
        })
        .collect()
}

/// What the kernel counted until the window, and within it.
fn network(span: &Span<'_>) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let Some(((from, to), begin)) = span.ends().zip(span.readings.first()) else {
        return (BTreeMap::new(), BTreeMap::new());
    };
    let grown = |a: &Reading, b: &Reading| -> BTreeMap<String, u64> {
        let counts = b.host.network.iter().map(|(name, count)| {
            (name.clone(), count.saturating_sub(a.host.network.get(name).copied().unwrap_or(0)))
        });
        counts.filter(|(_, count)| *count > 0).collect()
    };
    (grown(begin, from), grown(from, to))
}

/// What went over each link.
fn links(span: &Span<'_>, sampled: &Sampled) -> Vec<LinkUse> {
    let of = |link: &Link| {
        let rate = |bytes: fn(&LinkReading) -> u64| {
            span.rate(|reading| reading.host.links.get(&link.name).map(|it| bytes(it) as f64))
        };
        Some(LinkUse {
            name: link.name.clone(),
            bytes_per_s: link.bytes_per_s,
            received_bytes_per_s: rate(|it| it.received_bytes)?,
            sent_bytes_per_s: rate(|it| it.sent_bytes)?,
        })
    };
    sampled.links.iter().filter_map(of).collect()
}

/// A reading as it is kept: threads by group.
fn kept(reading: &Reading, sampled: &Sampled, names: &WholeNames, jvms: &[Option<i32>]) -> SignalReading {
    let process = |watched: &Watched, names: &Names<'_>, jvm: Option<i32>| ProcessReading {
        groups: watched.threads.as_deref().map(|threads| groups_of(threads, names)),
        ..watched.with_jvm(jvm)
    };
    let servers = reading.servers.iter().enumerate().map(|(index, watched)| {
        process(watched, &names_of(sampled, names, index), jvms.get(index).copied().flatten())
    });
    let own = Names { kernel: sampled.names.first(), ..Names::default() };
    SignalReading {
        version: SIGNALS_VERSION,
        at_monotonic_ns: reading.at.as_nanos(),
        host: reading.host.clone(),
        generator: process(&reading.generator, &own, None),
        servers: servers.collect(),
    }
}

#[cfg(test)]
mod tests;
