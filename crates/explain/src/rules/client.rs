//! Was it the client, or something else on the machine?

use crate::asked::{among_others_words, may_be_among_others};
use crate::audit::{NO_DESCRIPTOR, audit_trial, is_short_of_cpu, of_ceiling};
use crate::facts::Facts;
use crate::noise::{Noise, who};
use crate::verdict::{Confidence, Verdict, VerdictKind};

use super::network::Unconnected;
use super::protocols::client_handshakes_words;
use super::work::quota_holds_both;

/// Thread-seconds a second in which a quota may hold the generator back: as much as the least effect.
const THROTTLED_MAX: f64 = 0.02;
/// What would show that it was the hypervisor. Of a machine of which it keeps a part back, it is no help to be idle.
const UNSTOLEN: &str = "measure again while the hypervisor gives all of the CPU (are burst credits used up? \
                        is its host shared?)";
/// A share of the time that would be told as none of it.
const LEAST_TOLD: f64 = 0.005;

pub(crate) fn client_bound(facts: &Facts<'_>) -> Option<Verdict> {
    out_of_descriptors(facts).or_else(|| starved(facts)).or_else(|| {
        let validity = audit_trial(facts.trial, facts.context.ceiling_per_s);
        let load = &facts.trial.load;
        let reason = validity.reasons.into_iter().find(|reason| is_short_of_cpu(reason, load))?;
        let of_control = of_ceiling(load, load.goodput_per_s, facts.context.ceiling_per_s);
        let used = load.generator.busy_share.max(of_control.unwrap_or(0.0));
        let verdict = Verdict::new(VerdictKind::ClientBound, Confidence::Likely, "client-bound", reason.text);
        Some(
            verdict
                .accounting_for(used)
                .and_maybe(client_handshakes_words(facts))
                .confirmed_by("give the client more cores; the rate should rise", facts.rate),
        )
    })
}

/// The client may have no more files open, so that it could not connect, whatever the server would have done.
fn out_of_descriptors(facts: &Facts<'_>) -> Option<Verdict> {
    let failed = Unconnected::of(facts, NO_DESCRIPTOR)?;
    let text = failed.words(facts, "the client without a file descriptor to connect with (EMFILE)");
    let phrase = "client-bound (its file descriptors)";
    Some(
        Verdict::new(VerdictKind::ClientBound, Confidence::Sure, phrase, text)
            .accounting_for(failed.cost)
            .confirmed_by("raise the client's limit of open files (ulimit -n)", facts.rate),
    )
}

/// The generator wanted a CPU and did not get one, because of others or of a quota, while the server got its own.
fn starved(facts: &Facts<'_>) -> Option<Verdict> {
    let host = facts.host()?;
    let throttled = host.generator_throttled_cores.filter(|it| *it > THROTTLED_MAX);
    if let Some(throttled) = throttled.filter(|_| !quota_holds_both(facts)) {
        let text = format!("a quota kept the generator's threads from running for {throttled:.2} s a second");
        let phrase = "client-bound (its quota)";
        let verdict = Verdict::new(VerdictKind::ClientBound, Confidence::Sure, phrase, text);
        return Some(
            verdict
                .accounting_for(of_load_threads(facts, throttled))
                .confirmed_by("lift the quota; the rate should rise", facts.rate),
        );
    }
    // That the server did not wait meanwhile is seen in its threads.
    let noise = &Noise::of(facts).filter(|_| facts.not_measured().is_none())?;
    noise.starves_client().map(|share| {
        let phrase = "client-bound (starved of CPU)";
        let verdict =
            Verdict::new(VerdictKind::ClientBound, Confidence::Sure, phrase, taken_words(facts, noise));
        let servers = noise.of_server();
        let and_server = if servers < LEAST_TOLD {
            "the server did not wait".to_owned()
        } else {
            format!("the server lost {:.0} % of its time by that at most", servers * 100.0)
        };
        let waited = host.generator_wait_cores.zip(host.generator_cores).map(|(waited, ran)| {
            format!(
                "its threads waited for a core for {waited:.2} s a second and ran for {ran:.2}; {and_server}"
            )
        });
        with_waiting(facts, verdict, noise)
            .and_maybe(waited)
            .accounting_for(share)
            .confirmed_by("end what runs on the client's cores; the rate should rise", facts.rate)
    })
}

/// Share of their time that load threads were kept from running, which is what they can have lost.
fn of_load_threads(facts: &Facts<'_>, kept: f64) -> f64 {
    kept / f64::from(facts.trial.load.load.threads.max(1))
}

/// Others took what the server or the client needed, and that accounts for the rate.
pub(crate) fn noisy_host(facts: &Facts<'_>) -> Option<Verdict> {
    Noise::of(facts).filter(Noise::decides).map(|noise| verdict(facts, &noise))
}

/// Others used the machine, and the rate was another's: a doubt, with its size.
pub(crate) fn noise_beside(facts: &Facts<'_>) -> Option<Verdict> {
    let is_doubt = |noise: &Noise| !noise.decides() || facts.not_measured().is_some();
    Noise::of(facts).filter(is_doubt).map(|noise| verdict(facts, &noise))
}

fn verdict(facts: &Facts<'_>, noise: &Noise) -> Verdict {
    // Whom the server asks is no noise to it.
    let (confidence, change) = if noise.others.is_some() && may_be_among_others(facts) {
        (
            Confidence::Likely,
            "declare whom the server asks (`upstream`), and measure again; the others should be few",
        )
    } else if noise.others.is_some() {
        (Confidence::Sure, "measure again when the machine is idle")
    } else {
        (Confidence::Sure, UNSTOLEN)
    };
    let verdict = Verdict::new(VerdictKind::NoisyHost, confidence, "noisy host", taken_words(facts, noise));
    with_waiting(facts, verdict, noise).accounting_for(noise.cost).confirmed_by(change, facts.rate)
}

fn with_waiting(facts: &Facts<'_>, mut verdict: Verdict, noise: &Noise) -> Verdict {
    verdict.evidence.extend(noise.others.map_or_else(Vec::new, |_| among_others_words(facts)));
    verdict.evidence.extend(noise.waiting_words());
    verdict
}

/// Who took how much.
fn taken_words(facts: &Facts<'_>, noise: &Noise) -> String {
    let names =
        facts.host().and_then(|host| who(&host.others)).map_or_else(String::new, |who| format!(" ({who})"));
    let all = facts.machine_cores();
    let others = noise.others.map(|cores| format!("other processes used {cores:.2} of {all} cores{names}"));
    let steal = noise.steal.map(|share| format!("the hypervisor took {:.0} % of the CPU", share * 100.0));
    let parts: Vec<String> = others.into_iter().chain(steal).collect();
    parts.join(", ")
}
