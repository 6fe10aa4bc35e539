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
use crate::audit::{ReasonKind, audit_trial};
use crate::facts::{Context, Facts};
use crate::idle::POOL_TOLERANCE;
use crate::rules::{client, cpu, exclusions, inside, network, no_limit, pools, protocols, steady, work};
use crate::verdict::{Confidence, Verdict, VerdictKind};
use crate::weight::{may_be_the_reason, minor, sure_before_unsure, weigh};
use crate::workers::collects_beside_words;

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

/// What a rule makes of the figures.
type Look = fn(&Facts<'_>) -> Option<Verdict>;

/// One rule.
struct Rule {
    look: Look,
    /// Whether the load and the client tell it by themselves, of a server whose processes were not watched. Every other rule looks
    /// for the server's CPU, threads or sockets somewhere, and would take what is not known for what is not there.
    is_of_the_load: bool,
}

const fn of_the_load(look: Look) -> Rule {
    Rule { look, is_of_the_load: true }
}

const fn of_the_server(look: Look) -> Rule {
    Rule { look, is_of_the_load: false }
}

/// All rules, in their order; where a kind stands beyond that is said with it ([`VerdictKind`]).
const RULES: &[Rule] = &[
    // What decides before the server does. A quota is among them: it is set from outside, and what the rate does under it is no trend
    // of the server's.
    //
    // Wrong answers come before all that is about how fast they came: only what makes them is told before, the last port, the last
    // descriptor, and a limiter that says so.
    of_the_load(network::port_exhaustion),
    of_the_server(work::descriptor_limit),
    of_the_load(inside::rejections),
    of_the_load(work::incorrect_service),
    of_the_server(work::quota_bound),
    of_the_load(client::client_bound),
    of_the_server(client::noisy_host),
    of_the_server(steady::memory_growth),
    of_the_load(steady::not_steady),
    // What holds a server back. What is full comes after what fills it: a queue is the consequence of whoever does not take from it.
    // Connections come after the thread that has no time left for them, and that thread after the handshakes that took its time. Who
    // waits for a stream was counted doing so; a pool is told by its size, which may be that of the streams by chance.
    of_the_server(network::delayed_ack),
    of_the_load(no_limit::keeps_rate),
    of_the_load(no_limit::idle_pace),
    of_the_load(no_limit::pace_of_kept),
    of_the_load(network::link_full),
    of_the_server(network::most_users_dropped),
    of_the_server(work::log_bound),
    of_the_server(work::garbage_collection),
    of_the_server(protocols::stream_limit),
    of_the_server(pools::upstream_pool),
    of_the_server(pools::backend),
    of_the_server(pools::pool),
    of_the_server(protocols::handshakes),
    of_the_server(cpu::one_thread),
    of_the_server(network::connections_by_request),
    of_the_server(network::accept_queue_overflow),
    // What is left when nothing more particular was found; last of all what is seen by its effect alone. A quota that is not used up
    // is here: most of those who are throttled now and then have time for it.
    of_the_server(work::quota_in_bursts),
    of_the_server(cpu::serial_cpu),
    of_the_server(cpu::full),
    of_the_server(protocols::flow_control),
    of_the_server(inside::limit),
    of_the_server(inside::limiter),
];

/// Explains a measured trial.
pub fn explain(trial: &Measured, context: &Context) -> Explanation {
    let facts = Facts::of(trial, context);
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
    let doubts = audit_trial(trial, context.ceiling_per_s).reasons;
    // Of no request nothing follows, whatever the machine did meanwhile.
    if let Some(empty) = doubts.iter().find(|doubt| doubt.kind == ReasonKind::Empty) {
        let verdict =
            Verdict::new(VerdictKind::Unexplained, Confidence::Possible, "unexplained", empty.text.clone());
        return Explanation { verdicts: vec![verdict], not_known };
    }
    let mut verdicts = all_of(&facts);
    if let Some(doubt) = doubts.iter().find(|doubt| shakes(doubt.kind, &facts)) {
        verdicts = verdicts.into_iter().map(|verdict| shaken(verdict, &doubt.text)).collect();
    }
    Explanation { verdicts, not_known }
}

/// The answer, and what plays a part; each with what it was not.
fn all_of(facts: &Facts<'_>) -> Vec<Verdict> {
    let is_watched = facts.not_measured().is_none();
    let looked = RULES.iter().filter(|rule| is_watched || rule.is_of_the_load);
    let found = looked.filter_map(|rule| (rule.look)(facts));
    let mut verdicts: Vec<Verdict> =
        if is_watched { found.collect() } else { found.map(unwatched).collect() };
    // Whoever keeps the pace has no limit, whatever else there is to see.
    if let Some(at) = verdicts.iter().position(|verdict| verdict.kind.is_no_limit()) {
        verdicts.truncate(at + 1);
    }
    let growth = growth_beside_others(facts, &mut verdicts);
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
        verdicts.insert(0, cpu::contention(facts).unwrap_or_else(|| unexplained(facts)));
    }
    // Whatever the answer is, others who used the machine and memory that may well grow are a doubt about it, and said; never
    // the answer by themselves.
    let noise = client::noise_beside(facts).map(minor);
    let growth = growth.or_else(|| steady::growth_beside(facts));
    let doubts: Vec<Verdict> = noise.into_iter().chain(growth).collect();
    verdicts.truncate(VERDICTS_MAX - doubts.len());
    verdicts.extend(doubts);
    found.extend(verdicts.iter().map(|it| it.kind));
    let excluded = exclusions::of(facts, &found);
    for verdict in &mut verdicts {
        verdict.excluded.clone_from(&excluded);
    }
    verdicts
}

/// Takes out memory that grows, to be told beside the answer, unless it may be the answer itself: where the rate fell along with it, and
/// where nothing holds the server back, of which it is what will.
fn growth_beside_others(facts: &Facts<'_>, verdicts: &mut Vec<Verdict>) -> Option<Verdict> {
    let at = verdicts.iter().position(|it| it.kind == VerdictKind::MemoryGrowth)?;
    let is_other = |it: &&Verdict| it.kind != VerdictKind::MemoryGrowth && !it.kind.is_no_limit();
    let is_held_back = verdicts.iter().filter(is_other).any(may_be_the_reason);
    let has_no_limit = verdicts.last().is_some_and(|it| it.kind.is_no_limit()) && !is_held_back;
    let may_be_the_answer = has_no_limit || steady::fallen_share(facts).is_some();
    (!may_be_the_answer).then(|| steady::without_effect(verdicts.remove(at)))
}

/// Whether what speaks against a load leaves no verdict of its rate sure: users who were not there, or not all the time; or so few
/// answers of each that where the window happens to end is in X·S₀ ([`POOL_TOLERANCE`] of it and more).
fn shakes(doubt: ReasonKind, facts: &Facts<'_>) -> bool {
    match doubt {
        ReasonKind::LostAgent | ReasonKind::RampNotOver => true,
        ReasonKind::TooShort => {
            let window_s = facts.trial.load.window.duration_s;
            facts.idle_s.is_some_and(|idle_s| idle_s > POOL_TOLERANCE * window_s)
        }
        _ => false,
    }
}

/// The same without being sure, and why. What fails requests was counted, whoever asked.
fn shaken(verdict: Verdict, why: &str) -> Verdict {
    if verdict.confidence != Confidence::Sure || verdict.kind.fails_requests() {
        return verdict;
    }
    Verdict { confidence: Confidence::Likely, ..verdict }.and(why)
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
        if let Some(failed) = facts.failed_share() {
            let percent = failed * 100.0;
            return format!(
                "{words}: how long the server worked for the {percent:.0} % of requests that failed is not known, and so not how many \
                 had their turn at a time"
            );
        }
        let answers = facts.idle.and_then(|it| it.answers).unwrap_or(0);
        format!("{words}: {answers} answers of the idle server differ too much to tell how many had their turn at a time")
    });
    Verdict::new(VerdictKind::Unexplained, Confidence::Possible, "unexplained", evidence)
        .and_maybe(cpu::between_words(facts))
        .and_maybe(under_way)
        .and_maybe(alone::lock_or_limiter_words(facts))
        .and_maybe(alone::by_connection_words(facts))
        .and_maybe(inside::evenness_words(facts))
        .and_maybe(cpu::some_procs_words(facts))
        .and_maybe(steady::more_threads_words(facts))
        .and_maybe(collects_beside_words(facts))
        .and_maybe(work::disk_wait_words(facts))
        .and_maybe(work::disk_read_words(facts))
        .and_maybe(work::memory_wait_words(facts))
        .and_maybe(network::repeated_words(facts))
        .and_maybe(asked::not_watched_words(facts))
}
