//! What speaks against a load that several machines carried, machine by machine: one of two hundred vanishes in figures of
//! all.

use record::{AgentResult, LoadResult, Trial, TrialResult};
use units::Duration;

use crate::validity::{BUSY_SHARE_MAX, GENERATOR_LAG_P99_MAX, Reason, ReasonKind};

/// Share of the window in which a CPU quota kept threads from running, above which it may have been the limit.
const THROTTLED_SHARE_MAX: f64 = 0.01;
/// How late a machine may begin, and how closely its clock must be known, beside what a millisecond of a slice costs.
const BEGIN_LATE_MAX: Duration = Duration::from_millis(1);
const CLOCK_BOUND_MAX: Duration = Duration::from_millis(1);
/// Machines that are named for one reason.
const NAMED_MAX: usize = 3;

/// Where the loads of a run came from, where the run did not make them itself. All of them come from one place, so that the first
/// trial that was measured tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadedFrom<'a> {
    /// The machines, in the order of their shares; at least one.
    pub agents: &'a [AgentResult],
    /// Whether they are other machines than that of the servers, no core of which was the load threads'.
    pub is_elsewhere: bool,
}

impl<'a> LoadedFrom<'a> {
    /// Of a run by its trials; `None` as well where none was measured.
    pub fn of(trials: &'a [Trial]) -> Option<Self> {
        let measured = trials.iter().find_map(|trial| match &trial.result {
            TrialResult::Measured(measured) => Some(measured),
            TrialResult::Failed { .. } => None,
        })?;
        let (agents, is_elsewhere) = (&measured.load.agents, measured.surroundings.client_cpus.is_none());
        (!agents.is_empty()).then_some(Self { agents, is_elsewhere })
    }

    /// The machines by their names, as they were asked for.
    pub(crate) fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }
}

/// All of it.
pub(crate) fn reasons(load: &LoadResult) -> Vec<Reason> {
    let all = [
        lost(load),
        ended_early(load),
        busy(load),
        throttled(load),
        late(load),
        begins_late(load),
        skewed(load),
    ];
    all.into_iter().flatten().collect()
}

/// A reason, if any machine is named for it: which `text` says of the worst.
fn reason(
    load: &LoadResult,
    kind: ReasonKind,
    how_bad: impl Fn(&AgentResult) -> Option<f64>,
    text: impl Fn(&AgentResult) -> String,
    advice: &str,
) -> Option<Reason> {
    let mut bad: Vec<(f64, usize, &AgentResult)> = load
        .agents
        .iter()
        .enumerate()
        .filter_map(|(number, agent)| Some((how_bad(agent).filter(|it| it.is_finite())?, number, agent)))
        .collect();
    bad.sort_by(|a, b| b.0.total_cmp(&a.0));
    let of = load.agents.len();
    let named = bad
        .iter()
        .take(NAMED_MAX)
        .map(|(_, number, agent)| format!("agent {number} of {of} ({}) {}", name(agent), text(agent)));
    let mut named = named.collect::<Vec<_>>().join("; ");
    if named.is_empty() {
        return None;
    }
    if bad.len() > NAMED_MAX {
        named = format!("{named}; and {} more", bad.len() - NAMED_MAX);
    }
    Some(Reason { kind, text: format!("{named}: {advice}") })
}

/// As it was named, and what it calls itself where that is something else.
fn name(agent: &AgentResult) -> String {
    if agent.node.is_empty() || agent.node == agent.name {
        agent.name.clone()
    } else {
        format!("{}, {}", agent.name, agent.node)
    }
}

fn lost(load: &LoadResult) -> Option<Reason> {
    let how = |agent: &AgentResult| agent.lost.as_ref().map(|lost| -lost.told_to_s);
    let text = |agent: &AgentResult| {
        let lost = agent.lost.clone().unwrap_or_default();
        format!(
            "was last heard of at {:.0} s, and {} requests with it: it {}",
            lost.told_to_s, lost.requests, lost.why
        )
    };
    let advice = "whether those were sent is not known; percentiles are bounds; look at the machine and the way to it, and \
                  run it again";
    reason(load, ReasonKind::LostAgent, how, text, advice)
}

fn ended_early(load: &LoadResult) -> Option<Reason> {
    let how = |agent: &AgentResult| agent.ended_early_s.map(|after_s| -after_s);
    let text = |agent: &AgentResult| {
        format!("ended its load by itself after {:.1} s", agent.ended_early_s.unwrap_or(0.0))
    };
    let advice = "an agent does so that does not hear of whoever conducts it for 30 s; what was due later was not sent; keep \
                  whoever conducts it running and in reach, and run it again";
    reason(load, ReasonKind::Interrupted, how, text, advice)
}

fn busy(load: &LoadResult) -> Option<Reason> {
    let how = |agent: &AgentResult| agent.busy_share.filter(|busy| *busy > BUSY_SHARE_MAX);
    let text = |agent: &AgentResult| {
        format!("had a load thread busy {:.0} % of the time", agent.busy_share.unwrap_or(0.0) * 100.0)
    };
    let advice =
        "the rate may be its limit and not the server's; take more machines, or more --threads on free cores";
    reason(load, ReasonKind::ClientBound, how, text, advice)
}

fn throttled(load: &LoadResult) -> Option<Reason> {
    let window_s = load.window.duration_s;
    let how = |agent: &AgentResult| {
        agent.throttled_s.filter(|throttled_s| *throttled_s > window_s * THROTTLED_SHARE_MAX)
    };
    let text = |agent: &AgentResult| {
        format!("was kept from running for {:.2} s by a CPU quota", agent.throttled_s.unwrap_or(0.0))
    };
    reason(load, ReasonKind::Throttled, how, text, "its requests were late by it; give it whole cores")
}

fn late(load: &LoadResult) -> Option<Reason> {
    let p99 = |agent: &AgentResult| agent.generator_lag_p99_us;
    let how = |agent: &AgentResult| p99(agent).filter(|us| *us > GENERATOR_LAG_P99_MAX.as_micros_f64());
    let text = |agent: &AgentResult| {
        let p99 = Duration::from_nanos((p99(agent).unwrap_or(0.0) * 1e3) as u64);
        format!("sent one request in a hundred more than {p99} late")
    };
    reason(load, ReasonKind::LateGenerator, how, text, "by its own fault; load it less")
}

fn begins_late(load: &LoadResult) -> Option<Reason> {
    // With a warm-up all are long under way when the window opens.
    if load.load.warm_up_s > 0.0 {
        return None;
    }
    let most = |agent: &AgentResult| agent.clock_bound_us + BEGIN_LATE_MAX.as_micros_f64();
    let how = |agent: &AgentResult| agent.begin_late_us.filter(|us| *us > most(agent));
    let text = |agent: &AgentResult| format!("began {:.1} ms late", agent.begin_late_us.unwrap_or(0.0) / 1e3);
    reason(
        load,
        ReasonKind::LateGenerator,
        how,
        text,
        "what was due before was sent in a burst; add a --warm-up",
    )
}

fn skewed(load: &LoadResult) -> Option<Reason> {
    // Independent users do not feel it, and those of a closed model follow the server.
    let is_constant = load.load.arrivals.as_deref() == Some("constant");
    let how = |agent: &AgentResult| {
        let is_skewed =
            agent.clock_jumped || (is_constant && agent.clock_bound_us > CLOCK_BOUND_MAX.as_micros_f64());
        is_skewed.then_some(agent.clock_bound_us)
    };
    let text = |agent: &AgentResult| {
        if agent.clock_jumped {
            "has a clock that jumped".to_owned()
        } else {
            format!("has a clock that is known within {:.1} ms only", agent.clock_bound_us / 1e3)
        }
    };
    // Other arrivals help where a clock is not known well, and not where one jumped, which is told of closed models as well.
    let advice = if load.agents.iter().any(|agent| agent.clock_jumped) {
        "it slept, or was moved to another host; counts are exact, and the gaps between requests of several machines are \
         not; keep it awake and where it is, and run it again"
    } else {
        "counts are exact, and the gaps between requests of several machines are not; try --poisson"
    };
    reason(load, ReasonKind::SkewedClocks, how, text, advice)
}
