//! Did the rate, or the memory, have a trend?

use std::cmp::Ordering;

use record::{Runtime, Server, ServerSignals};

use crate::facts::{Facts, stood_still};
use crate::rates::whole_rate_words;
use crate::steps;
use crate::verdict::{Confidence, Verdict, VerdictKind};

/// How far the last third of the window may lie from the first, and the rank correlation of rate and time from which it is
/// a trend and not a leap (1 is strictly rising), by the seconds up to which they hold.
///
/// Beyond a tenth the mean of the window is the rate of no part of it. With a handful of seconds chance makes a trend of any
/// noise (a third of all triples rise or fall throughout), and more so where a second is like the one before it. So there it
/// must be larger: such that of servers without a trend, whose seconds scatter by a tenth and have a correlation of up to a half
/// with the one before, one in a hundred is called not steady at most. The test below draws them. Beyond a half a window is a
/// part of a slow wave, which is a trend for as long as anybody looked.
const BOUNDS: [(usize, f64, f64); 5] =
    [(4, 0.4, 1.0), (8, 0.37, 0.8), (14, 0.32, 0.8), (19, 0.24, 0.8), (usize::MAX, 0.1, 0.8)];
/// The same where a JVM's compilers took as much of the CPU as the rate rose by: a second witness, which chance is not.
const BOUNDS_OF_COMPILING: [(usize, f64, f64); 2] = [(5, 0.2, 1.0), (usize::MAX, 0.1, 0.8)];
/// Ranks are whole numbers, and their correlation is a quotient.
const TREND_EPSILON: f64 = 1e-9;
/// What would show that it was warming up.
const WARM_UP: &str = "warm up for longer; the trend should go";
/// What would show why it slows down: a warm-up comes to an end, and what grows, is used up or gets hot does so under any load.
const GOES_ON: &str = "measure for longer, and look for what grows or is used up (data, memory, burst \
                       credits, heat); the rate should go on falling";
/// Seconds that make thirds.
const SECONDS_MIN: usize = 3;
/// Growth of memory within a window that is more than buffers of connections, bytes and share.
const GROWTH_BYTES_MIN: f64 = 32.0 * 1024.0 * 1024.0;
const GROWTH_SHARE_MIN: f64 = 0.1;
/// What the second half grows of what the first did, where growth does not level out.
const GOES_ON_SHARE_MIN: f64 = 0.5;
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

fn trend_of_rate(facts: &Facts<'_>) -> Option<Verdict> {
    if steps::has_ramp(&facts.trial.load) {
        return None;
    }
    let rates = steps::rates(&facts.trial.load.seconds);
    let (first, last) = thirds(&rates)?;
    let drift = last / first - 1.0;
    let bounds = if is_compiling(facts, drift) { &BOUNDS_OF_COMPILING[..] } else { &BOUNDS[..] };
    if !is_trend(&rates, drift, bounds) {
        return None;
    }
    // Collections that take as much of the time as the rate drifts by are what it drifts with, and have a rule of their own.
    if stood_still_share(facts) >= drift.abs() {
        return None;
    }
    let (first, last) = (whole_rate_words(first), whole_rate_words(last));
    let text = format!("{first} in the first third of the window and {last} in the last");
    let jit = facts.signals().and_then(|signals| signals.jvm).filter(|jvm| jvm.jit_cores > JIT_CORES_QUIET);
    let compiling =
        jit.map(|jvm| format!("the JVM's compilers were busy for {:.2} of a core", jvm.jit_cores));
    let phrase = if drift > 0.0 { "not steady (warming up)" } else { "not steady (slowing down)" };
    let verdict = Verdict::new(VerdictKind::NotSteady, Confidence::Sure, phrase, text).and_maybe(compiling);
    let verdict = verdict.accounting_for(drift.abs());
    let change = if drift > 0.0 { WARM_UP } else { GOES_ON };
    Some(verdict.confirmed_by(change, facts.rate))
}

/// Whether the CPU time that a JVM's compilers still take is as much as the rate rises by.
fn is_compiling(facts: &Facts<'_>, drift: f64) -> bool {
    let jit = facts.signals().and_then(|signals| signals.jvm).map_or(0.0, |jvm| jvm.jit_cores);
    drift > 0.0 && facts.used_cores().is_some_and(|used| jit > JIT_CORES_QUIET && jit >= drift * used)
}

fn is_trend(rates: &[f64], drift: f64, bounds: &[(usize, f64, f64)]) -> bool {
    let of = bounds.iter().find(|(seconds, ..)| rates.len() <= *seconds);
    of.is_some_and(|(_, most, least)| drift.abs() > *most && trend(rates).abs() >= least - TREND_EPSILON)
}

/// The means of the first and the last third.
fn thirds(rates: &[f64]) -> Option<(f64, f64)> {
    let size = (rates.len() >= SECONDS_MIN).then_some(rates.len() / 3)?;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&rates[..size]), mean(&rates[rates.len() - size..]));
    (first > 0.0).then_some((first, last))
}

/// Spearman's rank correlation of the rates with their order; 0 where all are alike.
fn trend(rates: &[f64]) -> f64 {
    let ranks = ranks(rates);
    let middle = (rates.len() as f64 - 1.0) / 2.0;
    let (mut together, mut own, mut time) = (0.0, 0.0, 0.0);
    for (index, rank) in ranks.iter().enumerate() {
        let (a, b) = (index as f64 - middle, rank - middle);
        together += a * b;
        own += b * b;
        time += a * a;
    }
    if own > 0.0 && time > 0.0 { together / (own * time).sqrt() } else { 0.0 }
}

/// From 0; equal ones share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let of = |order: Ordering| values.iter().filter(|it| it.total_cmp(value) == order).count() as f64;
            of(Ordering::Less) + (of(Ordering::Equal) - 1.0) / 2.0
        })
        .collect()
}

/// Resident memory grows through the whole window, of the loaded server, where its memory is what it holds.
pub(crate) fn memory_growth(facts: &Facts<'_>) -> Option<Verdict> {
    let own = &facts.trial.server;
    growth(facts, None, own).filter(|_| !has_growing_heap(own))
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

/// Whether a server's runtime lets its heap grow for seconds, also where nothing leaks. Go's follows what is in use; Ruby's, in as
/// many arenas as it has threads, does so after minutes.
fn has_growing_heap(server: &Server) -> bool {
    let mut groups = server.signals.iter().flat_map(|signals| &signals.groups);
    groups.any(|it| matches!(it.runtime, Some(Runtime::JavaScript | Runtime::DotNet | Runtime::Ruby)))
}

/// Whether it is a JVM, also one that keeps no counters (`-XX:-UsePerfData`, `-XX:+PerfDisableSharedMem`).
fn is_jvm(signals: &ServerSignals) -> bool {
    signals.jvm.is_some() || signals.groups.iter().any(|it| it.runtime == Some(Runtime::Jvm))
}

/// Growth of a server that does not level out. The memory of a JVM follows its heap, which fills up and is emptied, so it says
/// nothing.
fn growth(facts: &Facts<'_>, of: Option<&str>, server: &Server) -> Option<Verdict> {
    let signals = server.signals.as_ref().filter(|signals| !is_jvm(signals))?;
    let [start, middle, end] = signals.rss_bytes?.map(|bytes| bytes as f64);
    let (first, second) = (middle - start, end - middle);
    let grown = end - start;
    let is_large = grown >= GROWTH_BYTES_MIN && grown >= GROWTH_SHARE_MIN * start;
    let goes_on = first > 0.0 && second >= GOES_ON_SHARE_MIN * first;
    (is_large && goes_on).then(|| {
        let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
        let requests = facts.rate * facts.trial.load.window.duration_s;
        let text = format!(
            "resident memory grew from {:.0} to {:.0} to {:.0} MiB over the window, {:.0} bytes a request, and did not \
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_one_of_ranks() {
        let close = |rates: &[f64], trend_is: f64| (trend(rates) - trend_is).abs() < 1e-9;
        assert!(close(&[1.0, 2.0, 3.0, 10.0], 1.0));
        assert!(close(&[3.0, 2.0, 1.0], -1.0));
        assert!(close(&[1.0, 1.0, 1.0], 0.0));
        assert!(trend(&[1.0, 3.0, 2.0, 1.0]).abs() < 0.8);
    }

    /// Of windows of 2 to 60 s of servers that scatter and have no trend.
    #[test]
    #[ignore = "slow: thousands of simulated loads"]
    fn one_steady_server_in_a_hundred_is_called_unsteady_at_most() {
        let mut state = 7_u64;
        let mut uniform = || {
            // Knuth's MMIX generator; its upper bits are the good ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // The sum of twelve is as good as normal, with a variance of one.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut window = |seconds: i32, scatter: f64, with_last: f64| -> Vec<f64> {
            let mut at = normal();
            let mut next = |_| {
                let rate = 1.0 + scatter * at;
                at = with_last * at + (1.0 - with_last * with_last).sqrt() * normal();
                rate
            };
            (0..seconds).map(&mut next).collect()
        };
        for (scatter, with_last) in
            [(0.02, 0.0), (0.05, 0.0), (0.1, 0.0), (0.1, 0.3), (0.1, 0.5), (0.05, 0.5)]
        {
            for seconds in [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30, 60] {
                let tries = 4_000;
                let alarms = (0..tries).filter(|_| {
                    let rates = window(seconds, scatter, with_last);
                    thirds(&rates).is_some_and(|(first, last)| is_trend(&rates, last / first - 1.0, &BOUNDS))
                });
                let share = alarms.count() as f64 / f64::from(tries);
                assert!(
                    share <= 0.01,
                    "{share} of windows of {seconds} s that scatter by {scatter}, {with_last}"
                );
            }
        }
    }

    #[test]
    fn thirds_leave_out_the_middle() {
        assert_eq!(thirds(&[1.0, 2.0, 9.0, 9.0, 5.0, 7.0]), Some((1.5, 6.0)));
        assert_eq!(thirds(&[1.0, 2.0]), None);
        assert_eq!(thirds(&[0.0, 2.0, 3.0]), None);
    }
}
