//! Did the rate, or the memory, have a trend?

use record::{Runtime, Server, ServerSignals};

use crate::facts::{Facts, stood_still};
use crate::steps;
use crate::trend::{BOUNDS, BOUNDS_OF_COMPILING, is_trend, thirds, thirds_words};
use crate::verdict::{Confidence, Verdict, VerdictKind};

/// What would show that it was warming up.
const WARM_UP: &str = "warm up for longer; the trend should go";
/// What would show why it slows down: a warm-up comes to an end, and what grows, is used up or gets hot does so under any load.
const GOES_ON: &str = "measure for longer, and look for what grows or is used up (data, memory, burst \
                       credits, heat); the rate should go on falling";
/// Growth of memory within a window that is more than buffers of connections, bytes and share.
const GROWTH_BYTES_MIN: f64 = 32.0 * 1024.0 * 1024.0;
const GROWTH_SHARE_MIN: f64 = 0.1;
/// What the second half grows of what the first did, where growth does not level out.
const GOES_ON_SHARE_MIN: f64 = 0.5;
/// To how much of what there is Go lets its heap grow before it collects it, unless it is told otherwise (`GOGC=100`): where answers
/// leave little behind, that takes longer than a window.
const GO_GROWS_TO: f64 = 2.0;
/// Share of its threads that a server adds within a window, from which their number may have a part in a rate: more than the few that a
/// runtime adds for itself while it warms up.
const THREADS_ADDED_MIN: f64 = 0.25;
/// Compilers that are busy for so much of a core are still at work, as in a warm-up.
const JIT_CORES_QUIET: f64 = stats::STEADY_JIT_SHARE_MAX;

/// The rate rises or falls over the window, or goes over from one level to another.
pub(crate) fn not_steady(facts: &Facts<'_>) -> Option<Verdict> {
    trend_of_rate(facts).or_else(|| two_levels(facts))
}

fn two_levels(facts: &Facts<'_>) -> Option<Verdict> {
    let step = steps::of(&facts.trial.load)?;
    let (less, more) = (step.before_per_s.min(step.after_per_s), step.before_per_s.max(step.after_per_s));
    // Collections may come in rows, and have a rule of their own.
    if stood_still_share(facts) >= 1.0 - less / more {
        return None;
    }
    let verdict = Verdict::new(
        VerdictKind::NotSteady,
        Confidence::Sure,
        "not steady (two levels)",
        steps::words(&step),
    );
    let change = "warm up for longer; the whole window should be at the later level";
    Some(verdict.accounting_for(1.0 - less / more).confirmed_by(change, facts.rate))
}

/// Share of the time in which a JVM stood still for its collections.
fn stood_still_share(facts: &Facts<'_>) -> f64 {
    facts.signals().and_then(|signals| signals.jvm).map_or(0.0, |jvm| stood_still(&jvm)).max(0.0)
}

/// The rate of the first third of the window and of the last, where there is a trend from the one to the other.
fn trend_of_thirds(facts: &Facts<'_>) -> Option<(f64, f64)> {
    if steps::has_ramp(&facts.trial.load) {
        return None;
    }
    let rates = steps::rates(&facts.trial.load.seconds);
    let (first, last) = thirds(&rates)?;
    let drift = last / first - 1.0;
    let bounds = if is_compiling(facts, drift) { &BOUNDS_OF_COMPILING[..] } else { &BOUNDS[..] };
    // Collections that take as much of the time as the rate drifts by are what it drifts with, and have a rule of their own.
    let is_told = is_trend(&rates, drift, bounds) && stood_still_share(facts) < drift.abs();
    is_told.then_some((first, last))
}

/// By which share the rate fell over the window, by a trend or from one level to another; `None` where it did not.
pub(crate) fn fallen_share(facts: &Facts<'_>) -> Option<f64> {
    let levels = || steps::of(&facts.trial.load).map(|step| (step.before_per_s, step.after_per_s));
    let (before, after) = trend_of_thirds(facts).or_else(levels)?;
    (after < before).then(|| 1.0 - after / before)
}

fn trend_of_rate(facts: &Facts<'_>) -> Option<Verdict> {
    let (first, last) = trend_of_thirds(facts)?;
    let drift = last / first - 1.0;
    let text = thirds_words(first, last);
    let jit = facts.signals().and_then(|signals| signals.jvm).filter(|jvm| jvm.jit_cores > JIT_CORES_QUIET);
    let compiling =
        jit.map(|jvm| format!("the JVM's compilers were busy for {:.2} of a core", jvm.jit_cores));
    let phrase = if drift > 0.0 { "not steady (warming up)" } else { "not steady (slowing down)" };
    let more_threads = more_threads_words(facts).filter(|_| drift > 0.0);
    let verdict = Verdict::new(VerdictKind::NotSteady, Confidence::Sure, phrase, text).and_maybe(compiling);
    let verdict = verdict.accounting_for(drift.abs()).and_maybe(more_threads);
    let change = if drift > 0.0 { WARM_UP } else { GOES_ON };
    Some(verdict.confirmed_by(change, facts.rate))
}

/// Of a server that had more threads all the time: so a rate rises that waits for them.
pub(crate) fn more_threads_words(facts: &Facts<'_>) -> Option<String> {
    let [start, middle, end] = facts.signals()?.threads?;
    let goes_on = start < middle && middle < end;
    let is_much = f64::from(end) >= (1.0 + THREADS_ADDED_MIN) * f64::from(start);
    (goes_on && is_much).then(|| {
        format!(
            "its threads grew from {start} to {middle} to {end} over the window, as those of a pool do that adds some while all of \
             them wait (that of .NET one or two a second)"
        )
    })
}

/// Whether the CPU time that a JVM's compilers still take is as much as the rate rises by.
fn is_compiling(facts: &Facts<'_>, drift: f64) -> bool {
    let jit = facts.signals().and_then(|signals| signals.jvm).map_or(0.0, |jvm| jvm.jit_cores);
    drift > 0.0 && facts.used_cores().is_some_and(|used| jit > JIT_CORES_QUIET && jit >= drift * used)
}

/// Memory grows through the whole window, of the loaded server, where its memory is what it holds. It accounts for what the rate fell
/// by meanwhile.
pub(crate) fn memory_growth(facts: &Facts<'_>) -> Option<Verdict> {
    let own = &facts.trial.server;
    let verdict = growth(facts, None, own).filter(|_| !has_growing_heap(own))?;
    Some(verdict.accounting_for_maybe(fallen_share(facts)))
}

/// The same beside another answer: a rate that does not fall while memory grows stopped where it did for another reason.
pub(crate) fn without_effect(growth: Verdict) -> Verdict {
    Verdict { confidence: Confidence::Possible, ..growth }.and("the rate was not seen to fall with it")
}

/// The same of a heap that its runtime lets grow before it collects it, and of what stands behind the server. That may be all there is
/// to it, so it is told beside the answer and never is the answer.
pub(crate) fn growth_beside(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| {
        let why = if has_growing_heap(server) {
            "its runtime collects garbage, and may let its heap grow like this for a while"
        } else {
            of.map(|_| "to keep what it is given is what a cache or a database is for")?
        };
        let verdict = growth(facts, of, server)?;
        Some(Verdict { confidence: Confidence::Possible, ..verdict }.and(why))
    })
}

/// Whether a server's runtime lets its heap grow for seconds, also where nothing leaks. Go's follows what is in use, and grows to twice
/// of that before it is collected; Ruby's, in as many arenas as it has threads, grows for minutes.
fn has_growing_heap(server: &Server) -> bool {
    let Some(signals) = &server.signals else { return false };
    let is_within_a_cycle = grown_bytes(signals).is_some_and(|[start, _, end]| end <= GO_GROWS_TO * start);
    signals.groups.iter().any(|it| match it.runtime {
        Some(Runtime::JavaScript | Runtime::DotNet | Runtime::Ruby) => true,
        Some(Runtime::Go) => is_within_a_cycle,
        _ => false,
    })
}

/// What a server holds at the window's start, middle and end: memory that no file stands behind, or all that is resident in records that
/// did not tell the two apart.
fn grown_bytes(signals: &ServerSignals) -> Option<[f64; 3]> {
    Some(signals.anonymous_bytes.or(signals.rss_bytes)?.map(|bytes| bytes as f64))
}

/// Whether it is a JVM, also one that keeps no counters (`-XX:-UsePerfData`, `-XX:+PerfDisableSharedMem`).
fn is_jvm(signals: &ServerSignals) -> bool {
    signals.jvm.is_some() || signals.groups.iter().any(|it| it.runtime == Some(Runtime::Jvm))
}

/// Growth of a server that does not level out. The memory of a JVM follows its heap, which fills up and is emptied, so it says
/// nothing.
fn growth(facts: &Facts<'_>, of: Option<&str>, server: &Server) -> Option<Verdict> {
    let signals = server.signals.as_ref().filter(|signals| !is_jvm(signals))?;
    let [start, middle, end] = grown_bytes(signals)?;
    let (first, second) = (middle - start, end - middle);
    let grown = end - start;
    let is_large = grown >= GROWTH_BYTES_MIN && grown >= GROWTH_SHARE_MIN * start;
    let goes_on = first > 0.0 && second >= GOES_ON_SHARE_MIN * first;
    (is_large && goes_on).then(|| {
        let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
        let requests = facts.rate * facts.trial.load.window.duration_s;
        // What is mapped from files is read in, and none of it is the server's.
        let which = match signals.anonymous_bytes {
            Some(_) => "memory that no file stands behind (heap, stacks)",
            None => "resident memory",
        };
        let text = format!(
            "{which} grew from {:.0} to {:.0} to {:.0} MiB over the window, {:.0} bytes a request, and did not \
             level out",
            mebibytes(start),
            mebibytes(middle),
            mebibytes(end),
            grown / requests.max(1.0)
        );
        let whose = of.map_or_else(String::new, |stack| format!(" ({stack})"));
        Verdict::new(VerdictKind::MemoryGrowth, Confidence::Likely, format!("memory grows{whose}"), text)
            .confirmed_by("measure for longer; memory should go on growing with the requests", facts.rate)
    })
}
