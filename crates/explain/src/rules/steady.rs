//! Did the rate, or the memory, have a trend?

use std::cmp::Ordering;

use record::Second;

use crate::facts::Facts;
use crate::verdict::{Confidence, Verdict, VerdictKind};

/// How far the last third of the window may lie from the first: beyond a tenth the mean of the window is the rate of no
/// part of it.
const DRIFT_MAX: f64 = 0.1;
/// With a handful of seconds chance makes a trend of any noise, so it must be larger there.
const DRIFT_MAX_OF_FEW: f64 = 0.2;
const FEW_SECONDS: usize = 6;
/// Rank correlation of rate and time from which it is a trend and not a leap: 1 is strictly rising.
const TREND_MIN: f64 = 0.8;
/// Of four seconds in any order a third correlate by 0.8, and a twelfth rise or fall throughout.
const TREND_MIN_OF_FEW: f64 = 1.0;
/// Ranks are whole numbers, and their correlation is a quotient.
const TREND_EPSILON: f64 = 1e-9;
/// Seconds that make thirds.
const SECONDS_MIN: usize = 3;
/// A second shorter than this is the window's end and too short for a rate.
const LENGTH_S_MIN: f64 = 0.5;
/// Growth of memory within a window that is more than buffers of connections, bytes and share.
const GROWTH_BYTES_MIN: f64 = 32.0 * 1024.0 * 1024.0;
const GROWTH_SHARE_MIN: f64 = 0.1;
/// What the second half grows of what the first did, where growth does not level out.
const GOES_ON_SHARE_MIN: f64 = 0.5;
/// Compilers that are busy for so much of a core are still at work (the same bound as in the warm-up).
const JIT_CORES_QUIET: f64 = 0.05;

/// The rate rises or falls over the window.
pub(crate) fn not_steady(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load.load;
    // Users who come one after another make a trend of their own.
    if load.ramp_up_s.is_some() || load.requests_per_user.is_some() {
        return None;
    }
    let rates = rates(&facts.trial.load.seconds);
    let (first, last) = thirds(&rates)?;
    let drift = last / first - 1.0;
    let is_few = rates.len() < FEW_SECONDS;
    let (bound, trend_min) =
        if is_few { (DRIFT_MAX_OF_FEW, TREND_MIN_OF_FEW) } else { (DRIFT_MAX, TREND_MIN) };
    if drift.abs() <= bound || trend(&rates).abs() < trend_min - TREND_EPSILON {
        return None;
    }
    // Collections that take as much of the time as the rate drifts by are what it drifts with, and have a rule of their own.
    let stood_still =
        facts.signals().and_then(|signals| signals.jvm).map_or(0.0, |jvm| jvm.gc_share).max(0.0);
    if stood_still >= drift.abs() {
        return None;
    }
    let text = format!("{first:.0}/s in the first third of the window and {last:.0}/s in the last");
    let jit = facts.signals().and_then(|signals| signals.jvm).filter(|jvm| jvm.jit_cores > JIT_CORES_QUIET);
    let compiling =
        jit.map(|jvm| format!("the JVM's compilers were busy for {:.2} of a core", jvm.jit_cores));
    let phrase = if drift > 0.0 { "not steady (warming up)" } else { "not steady (slowing down)" };
    let verdict = Verdict::new(VerdictKind::NotSteady, Confidence::Sure, phrase, text).and_maybe(compiling);
    let verdict = verdict.accounting_for(drift.abs());
    Some(verdict.confirmed_by("warm up for longer; the trend should go", facts.rate))
}

/// Of good answers: a service that fails more and more, however fast, is none that is steady.
fn rates(seconds: &[Second]) -> Vec<f64> {
    seconds.iter().filter(|it| it.length_s >= LENGTH_S_MIN).map(|it| it.goodput_per_s).collect()
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

/// Resident memory grows through the whole window. That of a JVM follows its heap, which fills up and is emptied, so it
/// says nothing.
pub(crate) fn memory_growth(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| {
        let signals = server.signals.as_ref().filter(|signals| signals.jvm.is_none())?;
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

    #[test]
    fn thirds_leave_out_the_middle() {
        assert_eq!(thirds(&[1.0, 2.0, 9.0, 9.0, 5.0, 7.0]), Some((1.5, 6.0)));
        assert_eq!(thirds(&[1.0, 2.0]), None);
        assert_eq!(thirds(&[0.0, 2.0, 3.0]), None);
    }
}
