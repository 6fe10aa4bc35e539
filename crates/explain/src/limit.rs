//! What limited a stack, from the few signals that every trial has: rates, times, CPU, thread groups.

use record::Measured;

/// X·S₀ counts as K when it is within this share of it: as close as Little's law itself must hold, and
/// close enough to tell a pool of 16 from one of 15 or 17.
const POOL_TOLERANCE: f64 = 0.05;
/// Share of all cores, client and server together, above which the machine itself was full. The rest goes to
/// the kernel's own threads and to whatever else a machine runs.
const BOX_SHARE_MIN: f64 = 0.9;
/// Share of all cores below which CPU cannot have been the limit. Between this and [`BOX_SHARE_MIN`] both a
/// pool and the CPU may be, so neither is named.
const CPU_SHARE_LOW: f64 = 0.7;
/// Service time at low load from which X·S₀ says anything. A faster answer's S₀ is mostly the cost of asking
/// once: cold caches, a sleeping core, code that no JIT has seen.
const IDLE_SERVICE_TIME_US_MIN: f64 = 5_000.0;
/// Share of the window that a ramp-up may take for the rate to be near that of a steady load.
const RAMP_SHARE_MAX: f64 = 0.1;
/// Beginnings of the names of threads that a JVM starts for itself (Linux cuts names at 15 bytes). They serve
/// no request, and with their counts of 1 and of the cores they would often fit by chance.
const JVM_SERVICE_THREADS: [&str; 15] = [
    "Attach Listener",
    "C1 Compiler",
    "C2 Compiler",
    "Common-Cleaner",
    "Finalizer",
    "G1 ",
    "GC Thread",
    "Monitor Deflati",
    "Notification Th",
    "Reference Handl",
    "Service Thread",
    "Signal Dispatch",
    "Sweeper",
    "VM Periodic",
    "VM Thread",
];

/// What limited the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The load: every user always waits for an idle server's answer.
    Load,
    /// A pool of so many threads, each taken for the whole service time.
    Pool(u32),
    /// Client and server together used up the machine.
    Box,
    /// The evidence does not decide.
    Unexplained,
}

/// A limit with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What.
    pub limit: Limit,
    /// In a phrase, for a table.
    pub phrase: String,
    /// The figures.
    pub evidence: String,
    /// One change that would confirm it.
    pub confirm: Option<String>,
}

/// Names the limit of a measured trial on a machine of `cores` cores.
pub fn limit(trial: &Measured, cores: usize) -> Verdict {
    load_itself(trial).or_else(|| pool(trial, cores)).or_else(|| whole_box(trial, cores)).unwrap_or_else(
        || Verdict {
            limit: Limit::Unexplained,
            phrase: "unexplained".into(),
            evidence: "neither the load, nor a pool of threads, nor CPU accounts for the rate".into(),
            confirm: None,
        },
    )
}

/// Requests under way at an idle server's pace, X · S₀, where that says anything.
fn busy_at_idle_pace(trial: &Measured) -> Option<f64> {
    let idle_us = trial.contract.idle_service_time_us;
    (idle_us >= IDLE_SERVICE_TIME_US_MIN).then_some(trial.load.throughput_per_s * idle_us / 1e6)
}

fn is_about(value: f64, whole: u32) -> bool {
    (value - f64::from(whole)).abs() <= POOL_TOLERANCE * f64::from(whole)
}

fn cores_used(trial: &Measured) -> Option<f64> {
    let generator = trial.load.generator.cpu_s / trial.load.window.duration_s.max(f64::MIN_POSITIVE);
    let upstreams: f64 = trial.upstreams.iter().filter_map(|upstream| upstream.server.cpu_cores).sum();
    Some(trial.server.cpu_cores? + upstreams + generator).filter(|cores| cores.is_finite())
}

fn load_itself(trial: &Measured) -> Option<Verdict> {
    let load = &trial.load.load;
    let throughput = trial.load.throughput_per_s;
    if let Some(rate) = load.rate_per_s
        && (throughput - rate).abs() <= POOL_TOLERANCE * rate
    {
        return Some(Verdict {
            limit: Limit::Load,
            phrase: "none: keeps the rate".into(),
            evidence: format!("{throughput:.0}/s of {rate:.0}/s due"),
            confirm: Some("raise the rate".into()),
        });
    }
    // Users who come and go are not all under way at once, so X·S₀ says nothing of their number.
    if load.ramp_up_s.is_some() || load.requests_per_user.is_some() {
        return None;
    }
    // A user who thinks is as much of the load as one who waits.
    let thinking = throughput * load.think_us.unwrap_or(0.0) / 1e6;
    let engaged = busy_at_idle_pace(trial)? + thinking;
    let users = load.connections;
    is_about(engaged, users).then(|| Verdict {
        limit: Limit::Load,
        phrase: "none: idle pace".into(),
        evidence: format!(
            "all wait for an idle server: X·S₀ = {throughput:.1}/s × {:.1} ms{} = {engaged:.1} ≈ the {users} connections",
            trial.contract.idle_service_time_us / 1e3,
            if thinking > 0.0 { format!(" + {thinking:.1} users who think") } else { String::new() },
        ),
        confirm: Some("double the connections; the rate should double".into()),
    })
}

fn pool(trial: &Measured, cores: usize) -> Option<Verdict> {
    // While users come and go, the rate is an average over different numbers of them.
    let ramp_s = trial.load.load.ramp_up_s.unwrap_or(0.0);
    if ramp_s > RAMP_SHARE_MAX * trial.load.window.duration_s {
        return None;
    }
    let used = cores_used(trial)?;
    if used > CPU_SHARE_LOW * cores as f64 {
        return None;
    }
    let under_way = busy_at_idle_pace(trial)?;
    let (threads, names) = fitting_group(trial, under_way)?;
    let (noun, names) = (if threads == 1 { "thread" } else { "threads" }, names.join(", "));
    Some(Verdict {
        limit: Limit::Pool(threads),
        phrase: if threads == 1 {
            format!("1 thread ({names})")
        } else {
            format!("pool of {threads} ({names})")
        },
        evidence: format!(
            "X·S₀ = {:.1}/s × {:.1} ms = {under_way:.1} ≈ {threads} {noun} `{names}`, with {:.0} % of the CPU used",
            trial.load.throughput_per_s,
            trial.contract.idle_service_time_us / 1e3,
            used / cores.max(1) as f64 * 100.0
        ),
        confirm: Some(format!("make it {} threads; the rate should double", u64::from(threads) * 2)),
    })
}

/// The size closest to `under_way` among those of the groups that may be the pool, and the names of all
/// groups of that size: between them the evidence does not decide.
fn fitting_group(trial: &Measured, under_way: f64) -> Option<(u32, Vec<String>)> {
    // As many threads as connections is a thread a connection: that follows the load and limits nothing.
    let connections = trial.load.load.connections;
    let behind = trial.upstreams.iter().map(|it| (Some(it.stack.as_str()), &it.server));
    let servers: Vec<_> = std::iter::once((None, &trial.server)).chain(behind).collect();
    let candidates = || {
        let groups = servers.iter().flat_map(|(stack, server)| {
            server.thread_groups.iter().map(|(name, threads)| (name.as_str(), *threads, *stack))
        });
        groups
            .filter(|(_, threads, _)| (1..connections).contains(threads) && is_about(under_way, *threads))
            .filter(|(name, _, _)| !JVM_SERVICE_THREADS.iter().any(|service| name.starts_with(service)))
    };
    let off = |threads: u32| (under_way - f64::from(threads)).abs();
    let (_, threads, _) = candidates().min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?;
    let named = |(name, _, stack): (&str, u32, Option<&str>)| {
        stack.map_or_else(|| name.to_owned(), |stack| format!("{name} of {stack}"))
    };
    Some((threads, candidates().filter(|it| it.1 == threads).map(named).collect()))
}

fn whole_box(trial: &Measured, cores: usize) -> Option<Verdict> {
    let used = cores_used(trial)?;
    (used > 0.0 && used >= BOX_SHARE_MIN * cores as f64).then(|| Verdict {
        limit: Limit::Box,
        phrase: "box-bound".into(),
        evidence: format!(
            "client and server share the cores: {used:.2} of {cores} used, {:.2} by the server",
            trial.server.cpu_cores.unwrap_or(0.0)
        ),
        confirm: Some("put client and server on cores of their own".into()),
    })
}
