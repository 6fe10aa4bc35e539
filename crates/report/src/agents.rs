//! The machines that carried a load, for a person.

use std::fmt::Write;

use explain::LoadedFrom;
use record::{AgentResult, LoadResult, Trial};

use crate::figure::{percent, plain_line, time_us};

/// Machines that are shown one by one; the rest are told by their number.
const SHOWN_MAX: usize = 5;
/// Machines of a run that are named; the rest are told by their number.
const NAMED_MAX: usize = 8;

/// A sentence on the machines that the loads of a run came from, where the run did not make them itself.
pub(crate) fn loaded_from(trials: &[Trial]) -> Option<String> {
    let LoadedFrom { agents, is_elsewhere } = LoadedFrom::of(trials)?;
    let names: Vec<String> = agents.iter().take(NAMED_MAX).map(|it| plain_line(&it.name)).collect();
    let more = agents.len() - names.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let count = if agents.len() == 1 { "1 agent".to_owned() } else { format!("{} agents", agents.len()) };
    let apart = if is_elsewhere { ", on other machines than the servers" } else { "" };
    Some(format!("The loads came from {count}{apart}: {}{more}.", names.join(", ")))
}

/// The lines that `hit` shows of them: how closely they began together, and those that did worst. None where one machine
/// carried the load.
pub(crate) fn agents_text(result: &LoadResult) -> String {
    let agents = &result.agents;
    let Some(bound_us) = agents.iter().map(|it| it.clock_bound_us).max_by(f64::total_cmp) else {
        return String::new();
    };
    // One has no other to begin with.
    let mut text = match agents.len() {
        1 => "agents      1 machine".to_owned(),
        several => {
            format!("agents      {several} machines, begun within ±{} of each other", time_us(bound_us))
        }
    };
    if agents.len() > 1 && result.load.arrivals.as_deref() == Some("constant") {
        text += "; the rate is constant within each";
    }
    text.push('\n');
    let mut worst: Vec<(usize, &AgentResult)> = agents.iter().enumerate().collect();
    worst.sort_by(|(_, a), (_, b)| how_bad(b).partial_cmp(&how_bad(a)).unwrap_or(std::cmp::Ordering::Equal));
    for (number, agent) in worst.iter().take(SHOWN_MAX) {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "            {}", line(*number, agent));
    }
    if agents.len() > SHOWN_MAX {
        let _ = writeln!(text, "            and {} more", agents.len() - SHOWN_MAX);
    }
    text
}

/// Lost ones first, then the busiest, then the latest.
fn how_bad(agent: &AgentResult) -> (bool, f64, f64) {
    (agent.lost.is_some(), agent.busy_share.unwrap_or(0.0), agent.generator_lag_p99_us.unwrap_or(0.0))
}

fn line(number: usize, agent: &AgentResult) -> String {
    let node = plain_line(&agent.node);
    let name = plain_line(&agent.name);
    let who = if node.is_empty() || node == name { name } else { format!("{name}, {node}") };
    let head = format!("{number} ({who}): {} requests", agent.intended);
    if let Some(lost) = &agent.lost {
        return format!(
            "{head}, lost after {:.1} s with {} more: {}",
            lost.told_to_s,
            lost.requests,
            plain_line(&lost.why)
        );
    }
    let threads = if agent.threads == 1 { "thread" } else { "threads" };
    let lag = agent.generator_lag_p99_us.map_or_else(String::new, |us| format!(", lag p99 {}", time_us(us)));
    format!(
        "{head} over {} {threads}, the busiest {} of a core{lag}",
        agent.threads,
        percent(agent.busy_share.unwrap_or(0.0))
    )
}
