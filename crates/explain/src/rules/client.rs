//! Was it the client, or something else on the machine?

use crate::audit::{ReasonKind, audit_trial};
use crate::facts::{FULL_SHARE, Facts};
use crate::verdict::{Confidence, Verdict, VerdictKind};

/// Share of the machine that others may use: within blocks it is a source of noise, and above a tenth it moves a rate by
/// more than any comparison here calls a difference.
pub const OTHERS_SHARE_MAX: f64 = 0.1;
/// The same of what a hypervisor takes.
pub const STEAL_SHARE_MAX: f64 = 0.1;
/// Share of its time that a thread waits for a CPU when others are in its way: a fifth of its time is a fifth of its rate.
const WAIT_SHARE_MIN: f64 = 0.2;
/// Share of its time that a thread waits for a CPU when it is starved: as long as it runs.
const WAIT_SHARE_STARVED: f64 = 0.5;
/// How much more than the server's the generator's wait must be for it to be the one that is starved.
const WAIT_OF_SERVER: f64 = 2.0;
/// Thread-seconds a second in which a quota may hold the generator back: as much as the least effect.
const THROTTLED_MAX: f64 = 0.02;

pub(crate) fn client_bound(facts: &Facts<'_>) -> Option<Verdict> {
    starved(facts).or_else(|| {
        let validity = audit_trial(facts.trial, facts.context.ceiling_per_s);
        let reason = validity.reasons.into_iter().find(|reason| reason.kind == ReasonKind::ClientBound)?;
        let load = &facts.trial.load;
        let of_control = facts.context.ceiling_per_s.filter(|it| *it > 0.0).map(|it| load.goodput_per_s / it);
        let used = load.generator.busy_share.max(of_control.unwrap_or(0.0));
        let verdict = Verdict::new(VerdictKind::ClientBound, Confidence::Likely, "client-bound", reason.text);
        Some(
            verdict
                .accounting_for(used)
                .confirmed_by("give the client more cores; the rate should rise", facts.rate),
        )
    })
}

/// The generator wanted a CPU and did not get one, because of others or of a quota, while the server got its own.
fn starved(facts: &Facts<'_>) -> Option<Verdict> {
    let host = facts.host()?;
    if let Some(throttled) = host.generator_throttled_cores.filter(|it| *it > THROTTLED_MAX) {
        let text = format!("a quota kept the generator's threads from running for {throttled:.2} s a second");
        let phrase = "client-bound (its quota)";
        let verdict = Verdict::new(VerdictKind::ClientBound, Confidence::Sure, phrase, text);
        return Some(
            verdict
                .accounting_for(of_load_threads(facts, throttled))
                .confirmed_by("lift the quota; the rate should rise", facts.rate),
        );
    }
    let (ran, waited) = (host.generator_cores?, host.generator_wait_cores?);
    let wait_share = share(waited, ran);
    let of_server = server_wait_share(facts).unwrap_or(0.0);
    let others = host.others_cores.unwrap_or(0.0);
    let is_starved = wait_share >= WAIT_SHARE_STARVED
        && wait_share >= WAIT_OF_SERVER * of_server
        && others >= OTHERS_SHARE_MAX * facts.cores;
    is_starved.then(|| {
        let text = format!(
            "its threads waited {:.0} % of their time for a CPU and the server's {:.0} %, while others used {others:.2} cores",
            wait_share * 100.0,
            of_server * 100.0
        );
        let phrase = "client-bound (starved of CPU)";
        Verdict::new(VerdictKind::ClientBound, Confidence::Sure, phrase, text)
            .accounting_for(of_load_threads(facts, waited))
            .confirmed_by("end what runs on the client's cores; the rate should rise", facts.rate)
    })
}

/// Share of their time that load threads were kept from running, which is what they can have lost.
fn of_load_threads(facts: &Facts<'_>, kept: f64) -> f64 {
    kept / f64::from(facts.trial.load.load.threads.max(1))
}

fn share(waited: f64, ran: f64) -> f64 {
    let whole = waited + ran;
    if whole > 0.0 { waited / whole } else { 0.0 }
}

fn server_wait_share(facts: &Facts<'_>) -> Option<f64> {
    let groups = &facts.signals()?.groups;
    let (waited, ran) =
        groups.iter().fold((0.0, 0.0), |(waited, ran), it| (waited + it.wait_cores, ran + it.cpu_cores));
    Some(share(waited, ran))
}

/// Others used what the server or the client needed.
pub(crate) fn noisy_host(facts: &Facts<'_>) -> Option<Verdict> {
    noise(facts).filter(|_| noise_decides(facts))
}

/// Others used the machine, and there was enough of it.
pub(crate) fn noise_beside(facts: &Facts<'_>) -> Option<Verdict> {
    noise(facts).filter(|_| !noise_decides(facts))
}

/// Whether threads waited for a CPU while others used one; or the machine was full with what the hypervisor took, which no
/// thread is seen to wait for.
fn noise_decides(facts: &Facts<'_>) -> bool {
    let Some(host) = facts.host() else { return false };
    let others = host.others_cores.unwrap_or(0.0);
    let waits = wait_share(facts).is_some_and(|share| share >= WAIT_SHARE_MIN);
    (others > OTHERS_SHARE_MAX * facts.cores && waits) || is_full_with_noise(facts)
}

/// Share of their time that the server's threads, or the client's, waited for a CPU: the greater of the two.
fn wait_share(facts: &Facts<'_>) -> Option<f64> {
    let of_client =
        facts.host().and_then(|host| Some(share(host.generator_wait_cores?, host.generator_cores?)));
    server_wait_share(facts).into_iter().chain(of_client).reduce(f64::max)
}

fn is_full_with_noise(facts: &Facts<'_>) -> bool {
    facts.used_share().is_none_or(|share| share + taken(facts) >= FULL_SHARE)
}

/// Share of the machine that others and the hypervisor took.
fn taken(facts: &Facts<'_>) -> f64 {
    let Some(host) = facts.host() else { return 0.0 };
    host.steal_share.unwrap_or(0.0) + host.others_cores.unwrap_or(0.0) / facts.cores
}

fn noise(facts: &Facts<'_>) -> Option<Verdict> {
    let host = facts.host()?;
    let steal = host.steal_share.filter(|share| *share > STEAL_SHARE_MAX);
    let others = host.others_cores.filter(|cores| *cores > OTHERS_SHARE_MAX * facts.cores);
    if steal.is_none() && others.is_none() {
        return None;
    }
    let mut parts = Vec::new();
    parts.extend(others.map(|cores| format!("other processes used {cores:.2} of {} cores", facts.cores)));
    parts.extend(steal.map(|share| format!("the hypervisor took {:.0} % of the CPU", share * 100.0)));
    let pressure = host
        .pressure
        .get("cpu")
        .map(|share| format!("some task waited for a CPU in {:.0} % of the time", share * 100.0));
    let verdict = Verdict::new(VerdictKind::NoisyHost, Confidence::Sure, "noisy host", parts.join(", "));
    // While cores are left, others cost a request the time that it waited for one.
    let of_client = host.generator_wait_cores.map(|waited| of_load_threads(facts, waited));
    let waited = server_wait_share(facts).into_iter().chain(of_client).reduce(f64::max);
    let cost = if is_full_with_noise(facts) { Some(taken(facts).max(waited.unwrap_or(0.0))) } else { waited };
    let verdict = verdict.accounting_for(cost.unwrap_or_else(|| taken(facts)));
    Some(verdict.and_maybe(pressure).confirmed_by("measure again when the machine is idle", facts.rate))
}
