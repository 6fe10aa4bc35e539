//! What limited a stack, from the few signals that every trial has: rates, times, CPU, thread groups.

use record::Measured;

/// X·S₀ counts as K when it is within this share of it.
const POOL_TOLERANCE: f64 = 0.05;
/// Share of all cores, client and server together, above which the machine itself was full.
const BOX_SHARE_MIN: f64 = 0.9;
/// Share of all cores below which CPU cannot have been the limit.
const CPU_SHARE_LOW: f64 = 0.7;

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

/// Requests under way at an idle server's pace: X · S₀.
fn busy_at_idle_pace(trial: &Measured) -> f64 {
    trial.load.throughput_per_s * trial.contract.idle_service_time_us / 1e6
}

fn cores_used(trial: &Measured) -> Option<f64> {
    let generator = trial.load.generator.cpu_s / trial.load.window.duration_s.max(f64::MIN_POSITIVE);
    Some(trial.server.cpu_cores? + generator)
}

fn load_itself(trial: &Measured) -> Option<Verdict> {
    let load = &trial.load.load;
    if let Some(rate) = load.rate_per_s {
        let kept = (trial.load.throughput_per_s - rate).abs() <= POOL_TOLERANCE * rate;
        return kept.then(|| Verdict {
            limit: Limit::Load,
            phrase: "none: keeps the rate".into(),
            evidence: format!("{:.0}/s of {rate:.0}/s due", trial.load.throughput_per_s),
            confirm: Some("raise the rate".into()),
        });
    }
    let (users, under_way) = (f64::from(load.connections), busy_at_idle_pace(trial));
    // Only where the answer takes its time by design: a fast answer's S₀ is mostly the cost of asking once.
    let slow = trial.contract.idle_service_time_us >= 5_000.0;
    (slow && (under_way - users).abs() <= POOL_TOLERANCE * users).then(|| Verdict {
        limit: Limit::Load,
        phrase: "none: every user is served at idle pace".into(),
        evidence: format!(
            "X·S₀ = {:.1}/s × {:.1} ms = {under_way:.1} = the {users} connections",
            trial.load.throughput_per_s,
            trial.contract.idle_service_time_us / 1e3
        ),
        confirm: Some("double the connections; the rate should double".into()),
    })
}

fn pool(trial: &Measured, cores: usize) -> Option<Verdict> {
    if cores_used(trial)? > CPU_SHARE_LOW * cores as f64 {
        return None;
    }
    let under_way = busy_at_idle_pace(trial);
    let fits = |threads: u32| (under_way - f64::from(threads)).abs() <= POOL_TOLERANCE * f64::from(threads);
    let groups = trial.server.thread_groups.iter();
    let (name, threads) = groups
        .filter(|(_, threads)| **threads < trial.load.load.connections && fits(**threads))
        .map(|(name, threads)| (name.clone(), *threads))
        .next()?;
    Some(Verdict {
        limit: Limit::Pool(threads),
        phrase: format!("pool of {threads} ({name})"),
        evidence: format!(
            "X·S₀ = {:.1}/s × {:.1} ms = {under_way:.1} ≈ {threads} threads `{name}`, with {:.0} % of the CPU used",
            trial.load.throughput_per_s,
            trial.contract.idle_service_time_us / 1e3,
            cores_used(trial)? / cores as f64 * 100.0
        ),
        confirm: Some(format!("make the pool {}; the rate should double", threads * 2)),
    })
}

fn whole_box(trial: &Measured, cores: usize) -> Option<Verdict> {
    let used = cores_used(trial)?;
    (used >= BOX_SHARE_MIN * cores as f64).then(|| Verdict {
        limit: Limit::Box,
        phrase: "box-bound: client and server share the cores".into(),
        evidence: format!(
            "{used:.2} of {cores} cores used, {:.2} by the server",
            trial.server.cpu_cores.unwrap_or(0.0)
        ),
        confirm: Some("put client and server on cores of their own".into()),
    })
}
