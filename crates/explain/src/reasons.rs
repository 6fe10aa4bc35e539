//! Why a trial's rate was what it was: rules in a fixed order, each of which looks at the figures for one thing.
//!
//! First whether something beside the server decided (the client, the host, the network's ports), then whether the server
//! did its work at all, then what held it back. The order is that of specificity: a counter of exactly one thing comes
//! before what several things could explain. Each verdict says how much of the rate it can account for, and one that can't
//! account for much is told after all others; of a server's limits one that is sure leads those that only may be
//! ([`crate::weight`]). Each threshold says where it is from; none is fitted to a case.

use record::Measured;
use schemars::JsonSchema;
use serde::Serialize;

use crate::alone;
use crate::asked;
use crate::facts::{Context, Facts};
use crate::rules::{client, cpu, exclusions, inside, network, no_limit, pools, protocols, steady, work};
use crate::verdict::{Confidence, Verdict, VerdictKind};
use crate::weight::{may_be_the_reason, minor, sure_before_unsure, weigh};

/// At most so many are told: beyond, a list is no answer.
const VERDICTS_MAX: usize = 3;

/// Why a rate was what it was.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The first is the answer; those behind it play a part. Never empty.
    pub verdicts: Vec<Verdict>,
    /// Signals that could not be read; what rests on them is not known.
    pub not_known: Vec<String>,
}

impl Explanation {
    /// The answer.
    pub fn first(&self) -> &Verdict {
        &self.verdicts[0]
    }
}

/// One rule.
type Rule = fn(&Facts<'_>) -> Option<Verdict>;

/// What decides before the server does. A quota is among them: it is set from outside, and what the rate does under it is
/// no trend of the server's.
///
/// Wrong answers come before all that is about how fast they came: only what makes them is told before, the last port, the
/// last descriptor, and a limiter that says so.
const BESIDE: [Rule; 9] = [
    network::port_exhaustion,
    work::descriptor_limit,
    inside::rejections,
    work::incorrect_service,
    work::quota_bound,
    client::client_bound,
    client::noisy_host,
    steady::memory_growth,
    steady::not_steady,
];
/// What holds a server back. What is full comes after what fills it: a queue is the consequence of whoever does not take from
/// it. Connections come after the thread that has no time left for them, and that thread after the handshakes that took its time.
/// Who waits for a stream was counted doing so; a pool is told by its size, which may be that of the streams by chance.
const SERVER: [Rule; 16] = [
    network::delayed_ack,
    no_limit::keeps_rate,
    no_limit::idle_pace,
    no_limit::pace_of_kept,
    network::link_full,
    network::most_users_dropped,
    work::log_bound,
    work::garbage_collection,
    protocols::stream_limit,
    pools::upstream_pool,
    pools::backend,
    pools::pool,
    protocols::handshakes,
    cpu::one_thread,
    network::connections_by_request,
    network::accept_queue_overflow,
];
/// What is left when nothing more particular was found; last of all what is seen by its effect alone. A quota that is not used up is
/// here: most of those who are throttled now and then have time for it.
const GENERAL: [Rule; 6] = [
    work::quota_in_bursts,
    cpu::serial_cpu,
    cpu::full,
    protocols::flow_control,
    inside::limit,
    inside::limiter,
];

/// What the load and the client tell by themselves, of a server whose processes were not watched. Every other rule looks for the
/// server's CPU, threads or sockets somewhere, and would take what is not known for what is not there.
const OF_THE_LOAD: [Rule; 9] = [
    network::port_exhaustion,
    inside::rejections,
    work::incorrect_service,
    client::client_bound,
    steady::not_steady,
    no_limit::keeps_rate,
    no_limit::idle_pace,
    no_limit::pace_of_kept,
    network::link_full,
];

/// Explains a measured trial.
pub fn explain(trial: &Measured, context: &Context) -> Explanation {
    let facts = Facts::of(trial, context);
    let mut verdicts: Vec<Verdict> = match facts.not_measured() {
        None => {
            let all = BESIDE.iter().chain(&SERVER).chain(&GENERAL);
            all.filter_map(|rule| rule(&facts)).collect()
        }
        Some(_) => OF_THE_LOAD.iter().filter_map(|rule| rule(&facts)).map(unwatched).collect(),
    };
    // Whoever keeps the pace has no limit, whatever else there is to see.
    if let Some(at) = verdicts.iter().position(|verdict| verdict.kind.is_no_limit()) {
        verdicts.truncate(at + 1);
    }
    let mut found: Vec<VerdictKind> = verdicts.iter().map(|it| it.kind).collect();
    // One core's worth is what several threads use by chance as well, where something else holds them back; and whatever else
    // holds them back keeps a rate as even as a limit inside does.
    let is_guess = |it: &Verdict| {
        it.kind == VerdictKind::SerialSection && it.confidence == Confidence::Possible
            || it.kind.is_last_resort()
    };
    let mut verdicts = weigh(verdicts);
    sure_before_unsure(&mut verdicts);
    let mut is_first = true;
    verdicts.retain(|it| std::mem::take(&mut is_first) || !is_guess(it));
    if !verdicts.first().is_some_and(may_be_the_reason) {
        // Whatever holds threads up makes them switch; only where nothing else is seen do they do it to each other.
        verdicts.insert(0, cpu::contention(&facts).unwrap_or_else(|| unexplained(&facts)));
    }
    // Whatever the answer is, others who used the machine and memory that may well grow are a doubt about it, and said; never
    // the answer by themselves.
    let noise = client::noise_beside(&facts).map(minor);
    let doubts: Vec<Verdict> = noise.into_iter().chain(steady::growth_beside(&facts)).collect();
    verdicts.truncate(VERDICTS_MAX - doubts.len());
    verdicts.extend(doubts);
    found.extend(verdicts.iter().map(|it| it.kind));
    let excluded = exclusions::of(&facts, &found);
    for verdict in &mut verdicts {
        verdict.excluded.clone_from(&excluded);
    }
    let mut not_known = facts.host().map_or_else(
        || {
            vec![
                "what the server and the machine did: the record is of a version that took no signals".into(),
            ]
        },
        |host| host.not_known.clone(),
    );
    not_known.extend(
        facts.not_measured().map(|why| format!("the server's CPU, memory, threads and sockets: {why}")),
    );
    Explanation { verdicts, not_known }
}

/// What is told of a server that was not watched: a pause of its collector, or others who ask it, may look the same as what
/// depends on how steadily it served.
fn unwatched(mut verdict: Verdict) -> Verdict {
    if matches!(verdict.kind, VerdictKind::NotSteady | VerdictKind::IdlePace) {
        verdict.confidence = verdict.confidence.max(Confidence::Likely);
    }
    verdict
}

fn unexplained(facts: &Facts<'_>) -> Verdict {
    if let Some(why) = facts.not_measured() {
        let evidence = format!(
            "what held the server back shows in its CPU, threads and sockets, and they were not measured: {why}"
        );
        return Verdict::new(VerdictKind::Unexplained, Confidence::Possible, "unexplained", evidence)
            .and_maybe(facts.concurrency().is_some().then(|| facts.under_way_words()));
    }
    let evidence = "neither the load, nor a pool of threads, nor CPU accounts for the rate";
    let under_way = facts.concurrency().map(|it| {
        let words = facts.under_way_words();
        if it.tells_a_number() {
            return words;
        }
        let answers = facts.idle.and_then(|it| it.answers).unwrap_or(0);
        format!("{words}: {answers} answers of the idle server differ too much to tell how many had their turn at a time")
    });
    Verdict::new(VerdictKind::Unexplained, Confidence::Possible, "unexplained", evidence)
        .and_maybe(under_way)
        .and_maybe(alone::lock_or_limiter_words(facts))
        .and_maybe(alone::by_connection_words(facts))
        .and_maybe(inside::evenness_words(facts))
        .and_maybe(cpu::some_procs_words(facts))
        .and_maybe(work::disk_wait_words(facts))
        .and_maybe(work::memory_wait_words(facts))
        .and_maybe(network::repeated_words(facts))
        .and_maybe(asked::not_watched_words(facts))
}
