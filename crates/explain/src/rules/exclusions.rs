//! What a verdict was not, and by which figure.

use super::work::GC_SHARE_MIN;
use crate::audit::{BUSY_SHARE_MAX, CEILING_SHARE_MAX, of_ceiling};
use crate::facts::{CPU_SHARE_LOW, Facts, stood_still};
use crate::others::{others_cores, used_by_others};
use crate::verdict::VerdictKind;
use crate::workers::collects_beside;

/// What the figures rule out. What a rule has `found` is not among it, however little of the rate it accounts for: another figure
/// of the client, or the queue and the collector of another server, speaks for it.
pub(crate) fn of(facts: &Facts<'_>, found: &[VerdictKind]) -> Vec<String> {
    let all = [
        (VerdictKind::ClientBound, client(facts)),
        (VerdictKind::NoisyHost, host(facts).filter(|_| facts.not_measured().is_none())),
        (VerdictKind::QuotaBound, quota(facts)),
        (VerdictKind::GarbageCollection, collections(facts)),
        (VerdictKind::AcceptQueueOverflow, queue(facts)),
        (VerdictKind::CpuBound, cpu(facts)),
    ];
    all.into_iter().filter(|(kind, _)| !found.contains(kind)).filter_map(|(_, text)| text).collect()
}

fn client(facts: &Facts<'_>) -> Option<String> {
    let busy = facts.trial.load.generator.busy_share;
    // All that it did counts here, and no good answers alone: those that fail take its time as well.
    let of_control = of_ceiling(&facts.trial.load, facts.rate, facts.context.ceiling_per_s);
    let is_apart = of_control.is_none_or(|share| share <= CEILING_SHARE_MAX);
    let of_control = of_control
        .map(|share| format!(", {:.0} % of what it reaches of the calibration target", share * 100.0));
    ((0.0..=BUSY_SHARE_MAX).contains(&busy) && is_apart).then(|| {
        format!(
            "the client: its busiest thread was busy {:.0} % of the time{}",
            busy * 100.0,
            of_control.unwrap_or_default()
        )
    })
}

fn host(facts: &Facts<'_>) -> Option<String> {
    let others = used_by_others(facts).filter(|_| others_cores(facts).is_none())?;
    Some(if facts.has_cores_beyond_quota() {
        let machine = facts.machine_cores();
        format!("others on the machine: {others:.2} of its {machine} cores, and some stood idle")
    } else {
        format!("others on the machine: {others:.2} cores")
    })
}

fn quota(facts: &Facts<'_>) -> Option<String> {
    // Who was watched to the end of the window, and in groups that could be seen.
    let signals = facts.signals().filter(|it| it.cpu_user_cores.is_some())?;
    let is_hidden = facts.host()?.not_known.iter().any(|what| what.starts_with("CPU quotas"));
    (signals.quota.is_none() && !is_hidden).then(|| "a CPU quota: there is none".to_owned())
}

/// What a collector does beside the program stops nobody, and may be waited for all the same.
fn collections(facts: &Facts<'_>) -> Option<String> {
    if collects_beside(facts).is_some() {
        return None;
    }
    let share = stood_still(&facts.signals()?.jvm?);
    (share < GC_SHARE_MIN).then(|| format!("garbage collection: {:.1} % of the time", share * 100.0))
}

fn queue(facts: &Facts<'_>) -> Option<String> {
    let queue = facts.signals()?.accept_queue.filter(|queue| queue.max < queue.limit)?;
    Some(format!("the accept queue: up to {} of {} waited", queue.max, queue.limit))
}

/// What others take of it, whom the server may ask, is left for nobody.
fn cpu(facts: &Facts<'_>) -> Option<String> {
    let machine = facts.machine_cores();
    let left = machine - facts.used_cores()?;
    let is_taken = others_cores(facts).is_some_and(|it| left - it < (1.0 - CPU_SHARE_LOW) * machine);
    (facts.has_cpu_left() && !is_taken).then(|| format!("the CPU: {}", facts.cpu_words()))
}
